/**
 * A device of a household as the relay meets it: keys, proofs and calls, with Node's own
 * cryptography and real sockets.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { WebSocket } from 'ws';
import {
  type FromDevice,
  type FromRelay,
  fromRelaySchema,
  recoveryBytes,
  type Register,
  registrationBytes,
  type Rotation,
  rotationBytes,
  socketBytes,
} from '../../src/shared/protocol/sync/control.ts';
import type { TestRelay } from './relay.ts';
import { headersOf } from './sign-in.ts';
import { protocolsOf } from '../../src/shared/relay-client/page-key.ts';

/** Of a household, a device or a writer. */
export const newSyncId = (): string => randomBytes(16).toString('base64url');

/** An Ed25519 key; `publicKey` is 32 bytes as base64url. */
export interface TestKey {
  readonly publicKey: string;
  sign(bytes: Uint8Array): string;
}

export function newTestKey(): TestKey {
  const { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ed25519');
  return {
    publicKey: publicKey.export({ format: 'jwk' }).x ?? '',
    sign: (bytes) => sign(null, bytes, privateKey).toString('base64url'),
  };
}

export interface TestHousehold {
  readonly id: string;
  readonly epoch: number;
  readonly authKey: TestKey;
  readonly rotations: readonly Rotation[];
}
export interface TestDevice {
  readonly id: string;
  readonly key: TestKey;
  /** X25519; the id follows from both. */
  readonly boxKey: string;
}

export const newTestHousehold = (): TestHousehold => ({
  id: newSyncId(),
  epoch: 1,
  authKey: newTestKey(),
  rotations: [],
});
/** The id of a device, a second time: with Node's own cryptography. */
export const testDeviceId = (signKey: string, boxKey: string): string =>
  createHash('sha256')
    .update('roost device id 1')
    .update(Buffer.from(signKey, 'base64url'))
    .update(Buffer.from(boxKey, 'base64url'))
    .digest()
    .subarray(0, 16)
    .toString('base64url');
export function newTestDevice(): TestDevice {
  const [key, boxKey] = [newTestKey(), generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }).x ?? ''];
  return { id: testDeviceId(key.publicKey, boxKey), key, boxKey };
}

/** The household after a rotation of its key. Each that stays gets a box. */
export function renew(
  before: TestHousehold,
  {
    removed = [],
    stay = [],
    recovery = null,
  }: { removed?: readonly TestDevice[]; stay?: readonly TestDevice[]; recovery?: Rotation['recovery'] } = {},
): TestHousehold & { readonly rotation: Rotation } {
  const [epoch, authKey, out] = [before.epoch + 1, newTestKey(), removed.map(({ id }) => id)];
  const boxes = Object.fromEntries(stay.map(({ id }) => [id, boxOf(id, epoch)]));
  const rotation: Rotation = {
    epoch,
    authKey: authKey.publicKey,
    proof: before.authKey.sign(rotationBytes(before.id, epoch, authKey.publicKey, out)),
    removed: out,
    boxes,
    recovery,
  };
  return { id: before.id, epoch, authKey, rotations: [...before.rotations, rotation], rotation };
}
/** What stands for keys that are sealed to a device. */
export const boxOf = (device: string, epoch: number): string =>
  Buffer.from(`box ${epoch} ${device}`).toString('base64url');

export const registrationOf = ({ id, epoch, authKey, rotations }: TestHousehold, device: TestDevice): Register => ({
  epoch,
  authKey: authKey.publicKey,
  rotations: [...rotations],
  device: device.id,
  deviceKey: device.key.publicKey,
  boxKey: device.boxKey,
  deviceProof: device.key.sign(registrationBytes(id, epoch, device.id, device.key.publicKey)),
  proof: authKey.sign(registrationBytes(id, epoch, device.id, device.key.publicKey)),
});
export const recoveryOf = (
  { id, epoch, authKey }: TestHousehold,
  recovery: { readonly id: string; readonly box: string },
): FromDevice => ({
  kind: 'recovery',
  recovery,
  proof: authKey.sign(recoveryBytes(id, epoch, recovery.id)),
});

/** Where a device calls: a relay, with a sign-in of its own if it is to have one. */
export type Home = Pick<TestRelay, 'url' | 'signIn'>;

/** Registers; answers with the whole response. */
export async function register(
  home: Home,
  household: TestHousehold,
  device: TestDevice,
  changed: Partial<Register> = {},
): Promise<Response> {
  return await fetch(new URL(`/api/sync/households/${household.id}`, home.url), {
    method: 'PUT',
    headers: { ...headersOf(await home.signIn()), 'content-type': 'application/json' },
    body: JSON.stringify({ ...registrationOf(household, device), ...changed }),
  });
}

type Kind = FromRelay['kind'];
export interface TestSocket {
  readonly socket: WebSocket;
  /** Every text message so far that was not waited for. */
  readonly heard: FromRelay[];
  send(message: FromDevice): void;
  sendFrame(frame: Uint8Array): void;
  /** The next message of this kind; those before it are let go of. */
  next<K extends Kind>(kind: K): Promise<Extract<FromRelay, { kind: K }>>;
  /** Called with each binary message, those included that have come already. */
  onFrame(listener: (frame: Uint8Array) => void): void;
  /** Resolves when the relay has closed it, with the code. */
  readonly closed: Promise<number>;
  close(): Promise<void>;
}

const WAIT_MS = 15_000;

/** Opens a socket as a page of the relay's does. Rejects with the status where it is refused. */
export async function openSocket(home: Home, headers: Record<string, string> = {}): Promise<TestSocket> {
  const url = new URL('/api/sync/socket', home.url);
  url.protocol = 'ws:';
  const { cookie, key } = await home.signIn();
  const socket = new WebSocket(url, protocolsOf(key), {
    perMessageDeflate: true,
    headers: { cookie, origin: home.url, ...headers },
  });
  const heard: FromRelay[] = [];
  const early: Uint8Array[] = [];
  let onFrame: (frame: Uint8Array) => void = (frame) => early.push(frame);
  let check = (): void => undefined;
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('message', (data, isBinary) => {
    if (isBinary) return onFrame(new Uint8Array(data as Buffer));
    heard.push(fromRelaySchema.parse(JSON.parse(String(data))));
    check();
  });
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let said = '';
      response.setEncoding('utf8').on('data', (text: string) => (said += text));
      response.on('end', () => reject(new Refused(response.statusCode ?? 0, said, response.headers['content-type'])));
    });
  });
  void closed.then(() => check());
  await opened;
  socket.on('error', () => undefined);
  return {
    socket,
    heard,
    send: (message) => socket.send(JSON.stringify(message)),
    sendFrame: (frame) => socket.send(frame),
    next: (kind) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${kind} came, but ${JSON.stringify(heard)}`)), WAIT_MS);
        check = () => {
          for (let message = heard.shift(); message; message = heard.shift()) {
            if (!isKind(message, kind)) continue;
            clearTimeout(timer);
            check = () => undefined;
            return resolve(message);
          }
          if (socket.readyState !== WebSocket.CLOSED) return;
          clearTimeout(timer);
          reject(new Error(`the socket closed before ${kind}`));
        };
        check();
      }),
    onFrame(listener) {
      onFrame = listener;
      for (const frame of early.splice(0)) listener(frame);
    },
    closed,
    async close() {
      socket.close();
      await closed;
    },
  };
}
const isKind = <K extends Kind>(message: FromRelay, kind: K): message is Extract<FromRelay, { kind: K }> =>
  message.kind === kind;

/** The relay answered, but not with a socket. */
export class Refused extends Error {
  readonly status: number;
  readonly body: string;
  readonly type: string | undefined;
  constructor(status: number, body: string, type: string | undefined) {
    super(`${status} ${body}`);
    this.status = status;
    this.body = body;
    this.type = type;
  }
}

/** Opens a socket and says hello; whether it is let in is the next message. */
export async function hello(
  home: Home,
  household: Pick<TestHousehold, 'id'>,
  device: TestDevice,
  headers: Record<string, string> = {},
): Promise<TestSocket> {
  const line = await openSocket(home, headers);
  const { nonce } = await line.next('challenge');
  line.send({
    kind: 'hello',
    household: household.id,
    device: device.id,
    deviceKey: device.key.publicKey,
    boxKey: device.boxKey,
    signature: device.key.sign(socketBytes(household.id, device.id, nonce)),
  });
  return line;
}

/** Registers, says hello, and is welcome. */
export async function enter(
  home: Home,
  household: TestHousehold,
  device: TestDevice,
): Promise<TestSocket & { readonly welcome: Extract<FromRelay, { kind: 'welcome' }> }> {
  const registered = await register(home, household, device);
  if (!registered.ok)
    throw new Refused(registered.status, await registered.text(), registered.headers.get('content-type') ?? undefined);
  const line = await hello(home, household, device);
  return { ...line, welcome: await line.next('welcome') };
}
