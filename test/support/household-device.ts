/**
 * A device of a household as the page has it — its keys, its members, its key rotation, its
 * connection and its replica are the real ones — over a real socket to a real relay. Only what is
 * written into IndexedDB lies in memory.
 */
import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { problemSchema } from '../../src/shared/protocol/http.ts';
import { createReplica } from '../../src/shared/replication/index.ts';
import { fromRelaySchema, registeredSchema } from '../../src/shared/protocol/sync/control.ts';
import type { OpenSocket, Called } from '../../src/shared/protocol/sync/relay-connection.ts';
import type { HouseholdKeys } from '../../src/worker/sync/contract.ts';
import { protocolsOf } from '../../src/shared/relay-client/page-key.ts';
import { deviceKeys, newHousehold, newWriter, openEntry, sealEntry } from '../../src/worker/sync/crypto/index.ts';
import { createMembers, type KnownDevice } from '../../src/worker/sync/data-worker/members.ts';
import { createKeyRotation, createKeys, type KeyRotation, type Keys } from '../../src/worker/sync/data-worker/keys.ts';
import { createRelayConnection } from '../../src/worker/sync/data-worker/relay-connection.ts';
import { type LetIn, type Membership, readPayload } from '../../src/worker/sync/data-worker/records.ts';
import { createInbound } from '../../src/worker/sync/data-worker/holding.ts';
import { createMemoryEntries } from './memory-entries.ts';
import { headersOf, type SignIn } from './sign-in.ts';
import type { Home } from './sync-device.ts';

const random = (length: number) => new Uint8Array(randomBytes(length));
const timers = {
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export interface HouseholdDevice {
  readonly id: string;
  readonly seed: Uint8Array;
  readonly keys: Keys;
  readonly keyRotation: KeyRotation;
  /** Those that are one of the household, as far as this one knows. */
  devices(): readonly KnownDevice[];
  /** Those that were removed too. */
  known(): readonly KnownDevice[];
  isRemoved(): boolean;
  isLive(): boolean;
  /**
   * Seals whatever it is given, as an entry of its own. `keys`: with these, left out: its own
   * newest.
   */
  say(payload: unknown, keys?: HouseholdKeys): Promise<void>;
  /** How many entries of others were taken. */
  heard(): number;
  close(): Promise<void>;
}

/** Sockets of a browser of this relay. */
function socketsOf(home: Home, { cookie, key }: SignIn): OpenSocket {
  return (listener) => {
    const url = new URL('/api/sync/socket', home.url);
    url.protocol = 'ws:';
    const socket = new WebSocket(url, protocolsOf(key), { headers: { cookie, origin: home.url } });
    socket.on('message', (data, isBinary) =>
      listener(
        isBinary
          ? { kind: 'frame', frame: new Uint8Array(data as Buffer) }
          : { kind: 'text', message: fromRelaySchema.parse(JSON.parse(String(data))) },
      ),
    );
    socket.on('error', () => undefined);
    socket.on('close', () => listener({ kind: 'lost', reason: 'closed' }));
    return {
      text: (message) => socket.send(JSON.stringify(message)),
      frame: (bytes) => socket.send(bytes, () => listener({ kind: 'drained' })),
      buffered: () => socket.bufferedAmount,
      close: () => socket.close(),
    };
  };
}

export const newHouseholdKeys = (): HouseholdKeys => newHousehold(random);

/**
 * Opens one that has the household's keys, and introduces it. `letIn`: whose word it carries, by
 * its id; left out: nobody's.
 */
export async function openHouseholdDevice(
  home: Home,
  household: HouseholdKeys,
  name: string,
  letIn: (deviceId: string) => LetIn | null = () => null,
): Promise<HouseholdDevice> {
  const seed = random(32);
  const membership: Membership = {
    ...household,
    roll: [],
    deviceId: deviceKeys(seed).deviceId,
    seed,
    rotations: [],
    recovery: null,
    alone: false,
    relay: true,
    removed: false,
  };
  const signIn = await home.signIn();
  let removed = false;
  let heard = 0;
  const remember = () => Promise.resolve();
  const keys = createKeys({ writeMeta: remember, random, now: Date.now, membership, onChange: () => undefined });
  const id = membership.deviceId;
  const onBook = () => {
    if (members.devices().some((one) => one.removed && one.deviceId === id)) removed = true;
  };
  const members = createMembers({
    writeMeta: remember,
    devices: [],
    tips: [],
    isGenuine: keys.isGenuine,
    isOnRoll: keys.isOnRoll,
    isLetIn: keys.isLetIn,
    onChange: onBook,
  });
  const take = createInbound({
    ledger: { append: () => Promise.resolve(undefined), forgets: () => [] },
    members,
    keys,
    heard: { add: () => undefined },
    onMisfit: () => undefined,
    onForgotten: () => undefined,
  });

  const entries = createMemoryEntries();
  /** Sealed with a key that has not come yet. */
  let shut: Parameters<typeof entries.putNow>[0] = [];
  async function open(some: typeof shut) {
    const opened = some.map((entry) => ({ entry, opened: openEntry({ keys: keys.household(), ...entry }) }));
    shut = [
      ...shut,
      ...opened.flatMap(({ entry, opened: one }) => (!one.ok && one.reason === 'unknown-epoch' ? [entry] : [])),
    ];
    const payloads = opened.flatMap(({ opened: one }) => {
      const payload = one.ok ? readPayload(one.payload) : null;
      return payload ? [payload] : [];
    });
    await take(payloads);
    heard += payloads.length;
  }
  const store = {
    ...entries,
    async put(...args: Parameters<typeof entries.put>) {
      const outcome = entries.putNow(...args);
      await open(
        args[0].filter(({ writer: by, counter: at }) =>
          outcome.stored.some((one) => one.writer === by && one.counter === at),
        ),
      );
      return outcome;
    },
  };
  const writer = newWriter(household, 'people', random);
  let counter = 0;
  const replica = createReplica({ store, timers, priority: () => 0, own: (one) => one === writer });
  await replica.ready;
  async function say(payload: unknown, sealedWith = keys.household()) {
    const place = { writer, counter: ++counter };
    const entry = {
      ...place,
      sealed: sealEntry({
        keys: sealedWith,
        ...place,
        payload: new TextEncoder().encode(JSON.stringify(payload)),
        random,
      }),
    };
    entries.write([entry]);
    replica.wrote([entry]);
  }

  async function register(): Promise<Called<{ readonly epoch: number }>> {
    const response = await fetch(new URL(`/api/sync/households/${membership.household}`, home.url), {
      method: 'PUT',
      headers: { ...headersOf(signIn), 'content-type': 'application/json' },
      body: JSON.stringify(keys.registration()),
    });
    const answer: unknown = await response.json();
    if (response.ok) return { ok: true, value: registeredSchema.parse(answer) };
    const { type, detail, box } = problemSchema.loose().parse(answer);
    return {
      ok: false,
      status: response.status,
      type: type.replace('about:roost/', ''),
      reason: detail ?? '',
      box: typeof box === 'string' ? box : null,
    };
  }
  const relayConnection = createRelayConnection({
    household: membership.household,
    deviceId: id,
    device: keys.device,
    openSocket: socketsOf(home, signIn),
    timers,
    backoff: () => 100,
    isOn: () => true,
  });
  const keyRotation = createKeyRotation({
    keys,
    members,
    timers,
    now: Date.now,
    relayConnection,
    register,
    say,
    async onKeys() {
      onBook();
      const waiting = shut;
      shut = [];
      await open(waiting);
    },
    onTrouble: () => undefined,
    onFull: () => undefined,
  });
  relayConnection.begin({
    async register() {
      const answer = await register();
      if (!answer.ok && answer.type === 'device-removed') removed = true;
      if (!answer.ok && answer.type === 'old-key') return await keyRotation.adopt(answer.box);
      return answer.ok;
    },
    onWelcome: (welcome) => keyRotation.hearWelcome(welcome),
    connect: (link) => replica.connect(link),
    onDevices: () => undefined,
    onRotated: (rotated) => void keyRotation.hearRotated(rotated),
    onSignal: () => undefined,
    onAnswer: (message) => keyRotation.hearAnswer(message),
    onRemoved: () => (removed = true),
    onState: () => undefined,
  });
  const record = keys.record({ name, addedAt: Date.now(), time: Date.now(), letIn: letIn(id) });
  await members.hear({ devices: [record] });
  await say({ devices: [record] });
  return {
    id,
    seed,
    keys,
    keyRotation,
    devices: () => members.devices().filter((one) => !one.removed),
    known: members.devices,
    isRemoved: () => removed,
    isLive: relayConnection.isLive,
    say,
    heard: () => heard,
    async close() {
      relayConnection.close();
      await replica.close();
    },
  };
}
