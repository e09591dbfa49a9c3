/**
 * A device within its household, while it runs: its entries and their replica, what it seals and what it
 * hears, the lines to the relay and to other browsers.
 */
import type { Timers } from '../../domain/platform/timers.ts';
import { MAX_AHEAD_MS, MOST_AHEAD_MS } from '../../domain/stamp.ts';
import type { Doc, ForgetDoc } from '../../protocol/documents.ts';
import { isKnown } from '../../protocol/known.ts';
import type { Entry } from '../../protocol/sync/entries.ts';
import type { DeviceSeen } from '../../protocol/sync/control.ts';
import type { DirectOrder, DirectReport, RelayLink, SyncStatus } from '../../protocol/sync/page.ts';
import type { Stream, RandomBytes } from '../contract.ts';
import { digestOf, streamOf, newWriter, openEntry, sealEntry } from '../crypto/index.ts';
import { createDirect, type Direct } from '../direct/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import { createBackfill } from './backfill.ts';
import { recallMeta, rememberMeta, type Remember, type SyncDatabase, type SyncMeta } from './database.ts';
import { createEntryStore } from './entry-store.ts';
import { deviceViews } from './device-views.ts';
import { createChanges } from './changes.ts';
import { createExchange } from './exchange.ts';
import { sealEverything } from './first-seal.ts';
import { createHandedOver } from './handed-over.ts';
import { createTipTeller } from './tips.ts';
import { createMembers, type Members } from './members.ts';
import type { SealedLog } from '../mirror/index.ts';
import { createSecondHome } from './second-home.ts';
import { createKeys, type Keys } from './keys.ts';
import { openLine, type RelayLine } from './line.ts';
import { createOutgoing } from './outgoing.ts';
import { latestOf, withoutForgotten, writePayload, type Payload } from './payload.ts';
import type { LedgerPort, OpenSocket, SyncRelay } from './ports.ts';
import type { FirstSeal, Membership } from './records.ts';
import { createKeyRotation, type KeyRotation } from './key-rotation.ts';
import { createForks } from './forks.ts';
import { createSealer } from './sealer.ts';
import { createTaking } from './taking.ts';

export interface SharedDeps {
  readonly db: SyncDatabase;
  readonly ledger: LedgerPort;
  readonly relay: SyncRelay;
  readonly openSocket: OpenSocket;
  readonly timers: Timers;
  readonly backoff: (failures: number) => number;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  readonly random: RandomBytes;
  /** Entries once more, in files; null: this browser has none that a worker can write. */
  readonly log: SealedLog | null;
  readonly order: (order: DirectOrder) => void;
  /** Is this browser let in at the relay, as far as is known? */
  readonly isLetIn: () => boolean;
  /** The status may have changed. */
  readonly onChange: () => void;
  /** Something failed, and is tried again. */
  readonly onTrouble: (error: unknown) => void;
  /** Keys, devices or this device's part have changed. */
  readonly onMark: () => void;
  /** What was lost is here again, or was looked for in every place. */
  readonly onReturned: () => void;
  /** Files had what the database did not. */
  readonly onFound: () => void;
  /** This device was removed from its household. */
  readonly onRemoved: () => void;
}

export interface Shared {
  readonly keys: Keys;
  readonly members: Members;
  readonly keyRotation: KeyRotation;
  status(): Extract<SyncStatus, { kind: 'shared' }>;
  /** How far bringing back is; null: nothing is known of it yet. */
  progress(): Extract<SyncStatus, { kind: 'returning' }>['progress'];
  /** Files lack something: it is written again. */
  refill(): void;
  /** The person takes what waits because it is dated ahead, but for what no clock can be. */
  takeAhead(): Promise<void>;
  /** The person wants entries handed to the relay, or no more. */
  keepAtRelay(on: boolean): Promise<void>;
  /** Something waits in the ledger's outbox. */
  wake(): void;
  /** Documents that were new in the ledger, whoever wrote them. */
  hearDocuments(docs: readonly Doc[]): void;
  /** What these cover is gone from the ledger: it goes from the entries too. */
  forget(forgets: readonly ForgetDoc[]): Promise<void>;
  /** This device's record, under this name. */
  introduce(name: string): Promise<void>;
  /** Everything that waits is sealed, and the last conversations are told: before a device joins. */
  flush(): Promise<void>;
  /** Resolves when the last sessions of these agents are here, or after `patience` ms; those that are not. */
  caughtUp(agentIds: readonly string[], patience: number): Promise<readonly string[]>;
  readonly direct: Direct;
  report(report: DirectReport): void;
  reconnect(): void;
  close(): Promise<void>;
}

const NOTHING_SEALED: FirstSeal = { done: false, through: null };

/** Fetched in this order. */
const PRIORITY: Readonly<Record<Stream, number>> = { people: 0, talk: 1 };

export async function openShared(deps: SharedDeps, membership: Membership): Promise<Shared> {
  const { db, ledger, timers, now, elapsed = now, random, log, onChange } = deps;
  const remember: Remember = (values, durability) => rememberMeta(db, values, durability);
  const keys = createKeys({ remember, random, membership, onChange: deps.onMark });
  const [returning, devices, tips, name, firstSeal, counters, retired] = await Promise.all([
    recallMeta(db, 'returning'),
    recallMeta(db, 'devices'),
    recallMeta(db, 'tips'),
    recallMeta(db, 'name'),
    recallMeta(db, 'firstSeal'),
    recallMeta(db, 'counters'),
    recallMeta(db, 'retired'),
  ]);

  let seen: ReadonlyMap<string, DeviceSeen> = new Map();
  let link: Exclude<RelayLink, 'locked-out'> = 'connecting';
  let backlog: { readonly done: number; readonly of: number; readonly people: number } | null = null;
  let sealing: { readonly done: number; readonly of: number } | null = null;
  let shut = 0;
  let ahead = { entries: 0, latest: 0 };
  let lookAgain: (() => void) | null = null;
  /** What is dated up to here, ms since the epoch, the person has taken, or was written on this device. */
  let aheadTaken = (await recallMeta(db, 'aheadTaken')) ?? 0;
  let refused = 0;
  let closed = false;
  const troubles = new Map<string, string>();

  const changes = createChanges(timers, onChange);
  const changed = changes.tell;
  const trouble = (from: string) => (error: unknown) => {
    if (error === null) troubles.delete(from);
    else deps.onTrouble(error);
    if (error !== null) troubles.set(from, error instanceof Error ? error.message : String(error));
    changed();
  };

  const members = createMembers({
    remember,
    devices: devices ?? [],
    tips: tips ?? [],
    isGenuine: keys.isGenuine,
    isOnRoll: keys.isOnRoll,
    isLetIn: keys.isLetIn,
    onChange: membersChanged,
  });
  const isMember = (deviceId: string) => members.devices().some((one) => one.deviceId === deviceId && !one.removed);
  const backfill = createBackfill({ ledger, tips: members.tips, onChange: changed });

  /** Documents have come: is what was awaited among them? */
  const look = () => {
    if (backfill.arriving().length > 0) void backfill.look().catch(trouble('backfill'));
  };

  function membersChanged() {
    const out = members
      .devices()
      .filter(({ removed }) => removed)
      .map(({ deviceId }) => deviceId);
    direct.removed(out);
    if (out.includes(keys.membership().deviceId)) deps.onRemoved();
    void backfill.look().catch(trouble('backfill'));
    deps.onMark();
    changed();
  }

  /** What is dated up to then, ms since the epoch, need not wait any more. */
  async function takeUpTo(time: number): Promise<void> {
    const most = Math.min(time, now() + MOST_AHEAD_MS);
    if (most <= Math.max(now() + MAX_AHEAD_MS, aheadTaken)) return;
    aheadTaken = most;
    await rememberMeta(db, { aheadTaken });
  }

  const open = ({ writer, counter, sealed }: Entry) => openEntry({ keys: keys.household(), writer, counter, sealed });
  const entries = createEntryStore({
    db,
    open,
    digestOf,
    take: createTaking({
      ledger,
      members,
      outgoing: () => outgoing,
      keyRotation: () => keyRotation,
      onMisfit: trouble('misfit'),
    }),
    onKept: (fresh) => log?.add(fresh),
    onChanged: (changes) => home.replace(changes),
    // A household of one device hears only what it wrote itself, as it comes back.
    isAhead: (time) => !keys.membership().alone && time > Math.max(now(), aheadTaken) + MAX_AHEAD_MS,
    onShut(count, waiting) {
      shut = count;
      ahead = waiting;
      // Its time comes, or the clock of this device is set right.
      if (ahead.entries > 0)
        lookAgain ??= timers.after(SYNC_OWNER.aheadAgain, () => {
          lookAgain = null;
          void entries.openShut().catch(trouble('storing'));
        });
      changed();
    },
  });
  const sealer = createSealer({
    db,
    counters: counters ?? { people: null, talk: null },
    retired: retired ?? [],
    entries,
    seal: (writer, counter, payload) => sealEntry({ keys: keys.household(), writer, counter, payload, random }),
    newWriter: (stream) => newWriter(keys.household(), stream, random),
    // A relay that was put back as far as this profile was would agree: the files may know of more.
    agrees: (writer) => home.isLookedThrough() && exchange.replica().agrees(writer),
    onSealed(fresh) {
      log?.add(fresh);
      handed.sealed(fresh.length);
      exchange.replica().wrote(fresh);
      changed();
    },
  });
  /** 0 to 1 */
  const chance = () => (random(1)[0] ?? 0) / 256;
  const outgoing = createOutgoing({
    ledger,
    sealer,
    timers,
    elapsed,
    random: chance,
    // What is written in answer to it is dated after it.
    onOwn: (docs) => takeUpTo(latestOf({ docs: [...docs] })),
    hasOthers: () => members.devices().some((one) => !one.removed && one.deviceId !== membership.deviceId),
    onTrouble: trouble('sealing'),
    onChange: changed,
  });
  const say = (payload: Payload, along?: Partial<SyncMeta>) =>
    sealer.seal([{ stream: 'people', payload: writePayload(payload) }], along);
  const tipTeller = createTipTeller({
    ledger,
    members,
    timers,
    now,
    random: chance,
    isWhole: () => backlog === null && backfill.arriving().length === 0,
    say,
    onTrouble: trouble('sealing'),
  });

  const exchange = createExchange(
    {
      store: entries,
      timers,
      priority: (writer) => PRIORITY[streamOf(keys.household(), writer) ?? 'talk'],
      own: (writer) => forks.isWatched(writer),
      left: (writer) => forks.isLeft(writer),
      onStored() {
        look();
        changed();
      },
      onAhead: (writer) => forks.ahead(writer),
      onPeers() {
        handed.heard(exchange.replica().peerHas('relay'));
        home.look();
        // It took all there is: whatever it had no room for before.
        if (handed.left() === 0) troubles.delete('full');
        changed();
      },
      onBacklog(now) {
        backlog =
          now === null
            ? null
            : { done: now.done, of: now.of, people: now.byPriority.get(PRIORITY.people)?.missing ?? 0 };
        if (now === null) tipTeller.look();
        home.look();
        changed();
      },
      onConflict: ({ writer, counter }, sealed) => forks.conflict({ writer, counter, sealed }),
      onRefused(keys) {
        refused += keys.length;
        changed();
      },
      onTrouble: trouble('storing'),
    },
    changed,
  );
  const handed = createHandedOver(() => exchange.replica().have());
  const forks = createForks({
    entries,
    sealer,
    open,
    restart: exchange.restart,
    timers,
    onTrouble: trouble('sealing'),
  });

  const { deviceId, household } = membership;
  const direct = createDirect({
    deviceId,
    keys: keys.household,
    isMember,
    sendSignal: (to, data) => void line.say({ kind: 'signal', to, data }),
    order: deps.order,
    connect: exchange.connect,
    timers,
    random,
    now,
    onLines: changed,
  });

  const line: RelayLine = openLine({
    household,
    deviceId,
    device: keys.device,
    openSocket: deps.openSocket,
    timers,
    backoff: deps.backoff,
    async register() {
      const answer = await deps.relay.register({ household, body: keys.registration() });
      if (answer.ok) trouble('register')(null);
      else if (answer.type === 'device-removed') deps.onRemoved();
      // Renewed while this device was away: with the newer keys it is let in.
      else if (answer.type === 'old-key' && (await keyRotation.adopt(answer.box))) return true;
      else if (answer.status !== null && answer.status !== 401) trouble('register')(new Error(answer.reason));
      return answer.ok;
    },
    onWelcome: (welcome) => keyRotation.hearWelcome(welcome),
    connect(relay) {
      handed.begin();
      return exchange.connect(relay);
    },
    onDevices(list) {
      seen = new Map(list.map((one) => [one.device, one]));
      direct.setOnline(list.flatMap((one) => (one.online ? [one.device] : [])));
      changed();
    },
    onRotated: (rotated) => void keyRotation.hearRotated(rotated).catch(trouble('keys')),
    onSignal: (from, data) => direct.hearSignal(from, data),
    onAnswer: (message) => keyRotation.hearAnswer(message),
    onRemoved: deps.onRemoved,
    onState(state) {
      link = state;
      if (state === 'lost' || state === 'off') direct.setOnline([]);
      home.look();
      changed();
    },
    isOn: () => keys.membership().relay,
  });

  const keyRotation = createKeyRotation({
    keys,
    members,
    timers,
    now,
    line: () => line,
    register: () => deps.relay.register({ household, body: keys.registration() }),
    say,
    onKeys() {
      membersChanged();
      return entries.openShut();
    },
    onTrouble: trouble('keys'),
    onFull: trouble('full'),
  });

  const sealRest = (state: FirstSeal) =>
    sealEverything(
      {
        db,
        ledger,
        sealer,
        sealed: entries.documentIds,
        onProgress(progress) {
          sealing = progress;
          if (progress === null) tipTeller.look();
          changed();
        },
        isClosed: () => closed,
      },
      state,
    ).catch(trouble('sealing'));
  const home = createSecondHome({
    entries,
    log,
    ledger,
    timers,
    returning: returning ?? null,
    reread: () => exchange.replica().reread(),
    relay: () => ({ link, hasAnnounced: exchange.replica().peerHas('relay').size > 0, backlog }),
    isStale: async () => (await recallMeta(db, 'filesStale')) ?? false,
    setStale: (on) => rememberMeta(db, { filesStale: on }),
    onChange: changed,
    onTrouble: trouble('files'),
    onFound: deps.onFound,
    onReturned() {
      deps.onReturned();
      // What no entry holds: documents that were only in what was left of the ledger.
      if (firstSeal?.done !== true) void sealRest(firstSeal ?? NOTHING_SEALED);
    },
    isClosed: () => closed,
  });
  if (!returning && firstSeal?.done !== true) void sealRest(firstSeal ?? NOTHING_SEALED);
  async function introduce(called: string): Promise<void> {
    await rememberMeta(db, { name: called });
    const known = members.devices().find((one) => one.deviceId === deviceId);
    const record = keys.record({
      name: called.slice(0, SYNC_OWNER.nameChars),
      addedAt: known?.addedAt ?? now(),
      time: now(),
      letIn: known?.letIn ?? (await recallMeta(db, 'letIn')) ?? null,
    });
    await members.hear({ devices: [record] });
    await say({ devices: [record] }, { name: null });
  }
  // Without its record no other device could send it renewed keys.
  if (name) await introduce(name).catch(trouble('introduction'));
  // A newer Roost can open what an older one could not.
  void exchange
    .replica()
    .ready.then(() => entries.openShut())
    .catch(trouble('storing'));
  void backfill.look().catch(trouble('backfill'));
  outgoing.wake();
  void home.begin(() => line.begin()).catch(trouble('files'));

  const isCaughtUp = (agentIds: readonly string[]) => {
    if (link !== 'live' || exchange.replica().peerHas('relay').size === 0) return false;
    if (agentIds.some((id) => backfill.arriving().includes(id))) return false;
    if (backlog === null) return true;
    // A device that went away right after a session may have told no tips of it: what is soon here is waited for.
    const much = backlog.of - backlog.done > SYNC_OWNER.soonHere;
    return much && backlog.people === 0 && members.tips().length > 0;
  };

  return {
    keys,
    members,
    keyRotation,
    direct,
    wake: outgoing.wake,
    reconnect: () => line.reconnect(),
    report: (report) => direct.report(report),
    hearDocuments(docs) {
      look();
      if (docs.some((doc) => isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'end')) tipTeller.look();
    },
    forget: (forgets) =>
      entries.rewrite(
        (entry) => {
          const opened = open(entry);
          const left = opened.ok ? withoutForgotten(opened.payload, forgets) : null;
          return (
            left &&
            sealEntry({ keys: keys.household(), writer: entry.writer, counter: entry.counter, payload: left, random })
          );
        },
        (rewritten) => exchange.replica().wrote(rewritten, { replace: true }),
      ),
    introduce,
    progress: home.progress,
    refill: () => void home.refill().catch(trouble('files')),
    async takeAhead() {
      await takeUpTo(ahead.latest);
      await entries.openShut();
    },
    async keepAtRelay(on) {
      await keys.change({ relay: on });
      line.switched();
      changed();
    },
    async flush() {
      await outgoing.flush();
      await tipTeller.tell();
    },
    caughtUp: (agentIds, patience) => {
      const late = () => backfill.arriving().filter((id) => agentIds.includes(id));
      // A relay that is away has nothing newer; and where nobody is let in, nothing comes either.
      return changes.until(() => isCaughtUp(agentIds) || link === 'lost', patience).then(late);
    },
    status() {
      return {
        kind: 'shared',
        household,
        deviceId,
        link: link !== 'live' && link !== 'off' && !deps.isLetIn() ? 'locked-out' : link,
        files: log !== null,
        devices: deviceViews({
          records: members.devices(),
          seen,
          self: deviceId,
          isLive: link === 'live',
          direct: direct.lines(),
        }),
        toSend: handed.left() + outgoing.waiting() + (sealing ? 1 : 0),
        backlog: sealing ?? (backlog && { done: backlog.done, of: backlog.of }),
        arriving: backfill.arriving(),
        phrase: keys.membership().recovery !== null,
        newer: shut,
        ahead: ahead.entries === 0 ? null : { ...ahead, taken: ahead.latest <= now() + MOST_AHEAD_MS },
        refused,
        trouble: [...troubles.values()][0] ?? null,
      };
    },
    async close() {
      closed = true;
      lookAgain?.();
      await log?.flush();
      forks.close();
      line.close();
      direct.close();
      tipTeller.close();
      await outgoing.close();
      await exchange.close();
    },
  };
}
