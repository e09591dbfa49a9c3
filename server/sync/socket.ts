/**
 * The relay's end of the sync sockets: challenge, hello, welcome. Then text messages one after
 * another, and binary ones for the household's replica. A device that sends anything else is told
 * so and cut, and nothing is changed by it.
 */
import { randomBytes } from 'node:crypto';
import type { RawData, WebSocket } from 'ws';
import {
  type FromDevice,
  fromDeviceSchema,
  type FromRelay,
  socketBytes,
} from '../../src/shared/protocol/sync/control.ts';
import type { Link, LinkEnd } from '../../src/shared/replication/index.ts';
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { createJsonCount } from '../platform/json-bounds.ts';
import { createRateLimit, type RateLimit } from '../access/index.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Households, RecoverySet, Rotated } from './households.ts';
import { SYNC_LIMITS, triesKey } from './settings.ts';
import type { Hub, Member } from './hub.ts';
import { isDeviceOf, isSignedBy } from './offers.ts';

// Messages of a device on a sync socket, and why they are refused.

/** Why a socket is ended: `what` was refused, and a sentence. */
class Refusal extends Error {
  readonly what: string;
  constructor(what: string, reason: string) {
    super(reason);
    this.what = what;
  }
}

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

/** Parses a text message of a device. Throws a `Refusal` where it fits no schema. */
function parse(text: string): FromDevice {
  let value: unknown;
  const tooMuch = createJsonCount(SYNC_LIMITS.json).take(Buffer.from(text));
  if (tooMuch !== null) throw new Refusal('message', 'A text message is too long or nested too deep.');
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal('message', 'A text message must be JSON.');
    throw error;
  }
  const message = fromDeviceSchema.safeParse(value);
  if (message.success) return message.data;
  const [issue] = message.error.issues;
  throw new Refusal(
    'message',
    `A message does not fit${issue && issue.path.length > 0 ? ` at "${issue.path.map(String).join('.')}"` : ''}: ${issue?.message ?? ''}`,
  );
}

/** `ends`: the sender does not belong here, so its socket ends. */
function rotationRefusal({ reason }: Exclude<Rotated, { ok: true }>): {
  readonly reason: string;
  readonly ends: boolean;
} {
  switch (reason) {
    case 'late':
      return {
        reason: 'Another device renewed the household’s key first. Fetch its keys, and try again if needed.',
        ends: false,
      };
    case 'too-early':
      return {
        reason: 'The relay does not know the key before this one: register with the rotations that it lacks.',
        ends: false,
      };
    case 'taken':
      return { reason: 'Another household of this relay has this recovery id.', ends: false };
    case 'not-here':
      return { reason: 'This device does not belong to the household.', ends: true };
    case 'bad-proof':
      return { reason: 'The key before did not sign this rotation.', ends: true };
  }
}
const recoveryRefusal = ({ reason }: Exclude<RecoverySet, { ok: true }>) =>
  reason === 'taken'
    ? { reason: 'Another household of this relay has this recovery id.', ends: false }
    : { reason: 'The household’s current key did not sign this.', ends: true };

/** Codes of RFC 6455: the relay ends, or the message violates the protocol. */
const CLOSE = { ending: 1001, policy: 1008 } as const;
const NONCE_BYTES = 32;

export interface SocketsDeps {
  readonly households: Households;
  readonly hub: Hub;
  /** Failed proofs, by `triesKey`. */
  readonly failures: RateLimit;
  /** Monotonic ms, whatever happens to the wall clock. For durations. */
  readonly elapsed: () => number;
  readonly onError: (error: unknown) => void;
  readonly heartbeatMs?: number;
  readonly limits?: Partial<Record<keyof typeof SYNC_LIMITS, number>>;
}

/** The opener of a socket: the sign-in of its browser, and its address. */
interface Opener {
  readonly browser: string;
  readonly address: string;
}

export interface Sockets {
  /** Whether this sign-in gets no further socket. */
  full(browser: string): boolean;
  open(socket: WebSocket, opener: Opener): void;
  /** Cuts the sockets of these sign-ins. */
  cut(browsers: readonly string[]): void;
  /** Ends all sockets in good order, and after a while by force. */
  close(): Promise<void>;
}

const boundsOf = (limits: SocketsDeps['limits']) => ({
  ...SYNC_LIMITS,
  socketsBySignIn: QUOTAS.socketsBySignIn,
  ...limits,
});
interface Served {
  readonly gone: Promise<void>;
  readonly leave: (code: number, why: string) => void;
}

/** Serves one device. `gone` resolves when its socket is closed and it has left the hub. */
function serve(
  socket: WebSocket,
  { browser, address }: Opener,
  { households, hub, failures, elapsed, onError, heartbeatMs = SYNC.heartbeatMs }: SocketsDeps,
  bounds: ReturnType<typeof boundsOf>,
): Served {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const tries = triesKey({ browser, address });
  const turn = createQueue();
  const texts = createRateLimit({ perSecond: bounds.textsPerSecond, burst: bounds.textBurst, elapsed });
  let state: { readonly household: string; readonly member: Member; readonly end: LinkEnd } | null = null;
  let joining: { readonly household: string; readonly member: Member } | null = null;
  let over = false;
  let closing: NodeJS.Timeout | null = null;
  let waiting = 0;
  let heard = true;
  let silent = 0;
  let unread = 0;
  let isTaken = false;

  const sendText = (message: FromRelay) => {
    if (over || socket.readyState !== socket.OPEN) return;
    send(JSON.stringify(message));
  };
  function send(data: string | Uint8Array): void {
    socket.send(data, () => {
      isTaken = true;
      state?.end.drained();
    });
    if (socket.bufferedAmount > bounds.unsentBytes) socket.terminate();
  }
  /** Later messages are ignored. */
  function close(code: number, why: string): void {
    over = true;
    socket.close(code, why);
    // Unread data would keep the closing handshake from arriving.
    socket.resume();
    closing = setTimeout(() => socket.terminate(), code === CLOSE.ending ? bounds.endGraceMs : bounds.closeGraceMs);
  }
  function endWith(message: FromRelay): void {
    sendText(message);
    close(CLOSE.policy, message.kind);
  }
  const refuse = ({ what, message }: Refusal) => endWith({ kind: 'refused', what, reason: message });

  const link: Link = {
    kind: 'device',
    name: address,
    send(frame) {
      if (over || socket.readyState !== socket.OPEN) return;
      send(frame);
    },
    buffered: () => socket.bufferedAmount,
    close: (reason) => refuse(new Refusal('frame', reason)),
  };

  async function hello({
    household,
    device,
    deviceKey,
    boxKey,
    signature,
  }: Extract<FromDevice, { kind: 'hello' }>): Promise<void> {
    const wait = failures.wait(tries);
    if (wait > 0) throw new Refusal('hello', `Too many proofs of this browser have failed. Try again in ${wait} s.`);
    // Checked before any look-up: only the device itself may learn whether it is known here.
    if (
      !isDeviceOf(device, { deviceKey, boxKey }) ||
      !isSignedBy(deviceKey, socketBytes(household, device, nonce), signature)
    ) {
      failures.take(tries);
      throw new Refusal('hello', 'This device could not prove its identity.');
    }
    const row = await households.device(household, device);
    if (!row) return endWith({ kind: 'unknown' });
    if (row.removed_at !== null) return endWith({ kind: 'removed' });
    if (hub.count(household) >= bounds.householdSockets)
      throw new Refusal(
        'hello',
        'Too many sockets of this household are open at once. Close some pages and try again.',
      );
    if (over) return;
    const member: Member = { device, browser, link, send: sendText, end: endWith };
    joining = { household, member };
    const end = await hub.join(household, member);
    if (end !== null) state = { household, member, end };
  }

  async function handle(message: FromDevice): Promise<void> {
    if (message.kind === 'ping') return sendText({ kind: 'pong' });
    if (state === null) {
      if (message.kind !== 'hello') throw new Refusal(message.kind, 'A device must send hello first.');
      return await hello(message);
    }
    const { household, member } = state;
    switch (message.kind) {
      case 'hello':
        throw new Refusal('hello', 'This device has sent hello already.');
      case 'signal':
        if (!hub.signal(household, member.device, message.to, message.data))
          sendText({ kind: 'refused', what: 'signal', reason: 'That device is not connected to the relay now.' });
        return;
      case 'rotate': {
        const rotated = await households.rotate(household, message.rotation, member.device);
        if (rotated.ok) return await hub.changed(household, rotated.revoked);
        const { reason, ends } = rotationRefusal(rotated);
        if (rotated.reason === 'bad-proof') failures.take(tries);
        if (ends) throw new Refusal('rotate', reason);
        sendText({ kind: 'refused', what: 'rotate', reason });
        const state = rotated.reason === 'late' ? await households.now(household) : null;
        if (state) sendText({ kind: 'rotated', epoch: state.epoch, box: state.boxes[member.device] ?? null });
        return;
      }
      case 'recovery': {
        const { recovery, proof } = message;
        const set = await households.setRecovery(household, recovery, proof);
        if (set.ok) return sendText({ kind: 'recovery-kept', recoveryId: recovery.id });
        const { reason, ends } = recoveryRefusal(set);
        if (set.reason === 'bad-proof') failures.take(tries);
        if (ends) throw new Refusal('recovery', reason);
        return sendText({ kind: 'refused', what: 'recovery', reason });
      }
    }
  }

  async function take(data: Buffer, isBinary: boolean): Promise<void> {
    if (over) return;
    try {
      if (isBinary) {
        if (state === null) throw new Refusal('frame', 'A device must send hello first.');
        return state.end.take(new Uint8Array(data.buffer, data.byteOffset, data.length));
      }
      if (texts.take('') > 0) throw new Refusal('message', 'Too many messages at once.');
      if (data.length > bounds.textBytes)
        throw new Refusal('message', `A text message may have ${bounds.textBytes} bytes at most.`);
      await handle(parse(data.toString('utf8')));
    } catch (error) {
      if (error instanceof Refusal) return refuse(error);
      onError(error);
      endWith({ kind: 'refused', what: 'message', reason: 'The relay had an error. Its log says more.' });
    }
  }

  const tooLate = setTimeout(
    () => state === null && refuse(new Refusal('hello', 'The device sent no hello in time.')),
    bounds.helloMs,
  );
  const beats = setInterval(() => {
    silent = heard ? 0 : silent + 1;
    unread = socket.bufferedAmount > 0 && !isTaken ? unread + 1 : 0;
    [heard, isTaken] = [false, false];
    if (silent > bounds.beatsSilent || unread > bounds.beatsUnread) return socket.terminate();
    socket.ping();
    if (state !== null) sendText({ kind: 'pong' });
  }, heartbeatMs);
  const alive = () => (heard = true);
  const left = new Promise<void>((resolve) =>
    socket.once('close', () => {
      over = true;
      clearTimeout(tooLate);
      if (closing) clearTimeout(closing);
      clearInterval(beats);
      state?.end.gone();
      // After the work in progress.
      const leave = async () => joining && (await hub.leave(joining.household, joining.member));
      turn(leave).then(
        () => resolve(),
        (error: unknown) => resolve(onError(error)),
      );
    }),
  );

  // A socket error ends the socket. The close event that follows is handled.
  socket.on('error', alive);
  socket.on('ping', alive);
  socket.on('pong', alive);
  socket.on('message', (data, isBinary) => {
    heard = true;
    const bytes = bytesOf(data);
    waiting += bytes.length;
    if (waiting > bounds.unreadBytes) socket.pause();
    void turn(() => take(bytes, isBinary)).finally(() => {
      waiting -= bytes.length;
      if (socket.isPaused && waiting <= bounds.unreadBytes) socket.resume();
    });
  });
  sendText({ kind: 'challenge', nonce });
  return { gone: left, leave: close };
}

export function createSockets(deps: SocketsDeps): Sockets {
  const bounds = boundsOf(deps.limits);
  const open = new Map<WebSocket, Served & { readonly browser: string }>();

  return {
    full: (browser) =>
      open.size >= bounds.sockets ||
      [...open.values()].filter((each) => each.browser === browser).length >= bounds.socketsBySignIn,
    open(socket, opener) {
      socket.once('close', () => open.delete(socket));
      open.set(socket, { browser: opener.browser, ...serve(socket, opener, deps, bounds) });
    },
    cut(browsers) {
      for (const { browser, leave } of [...open.values()])
        if (browsers.includes(browser)) leave(CLOSE.policy, 'the sign-in has ended');
    },
    async close() {
      const all = [...open.values()];
      for (const { leave } of all) leave(CLOSE.ending, 'the relay is shutting down');
      await Promise.all(all.map(({ gone }) => gone));
    },
  };
}
