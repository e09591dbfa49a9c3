/**
 * A device within its household, while it runs: its entries and their replica, sealing and
 * receiving, and the connections to the relay and to other browsers. The parts are created from the
 * lowest up. Lower parts notify higher ones by events.
 */
import { MOST_AHEAD_MS } from '../../../shared/domain/stamp.ts';
import type { DeviceView, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { shownName } from '../../../shared/domain/names.ts';
import type { DeviceSeen } from '../../../shared/protocol/sync/control.ts';
import { runAgain } from '../../../shared/domain/platform/single-flight.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { subtract } from '../../../shared/domain/ranges.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { MIRROR, type SealedLog } from '../mirror/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import { streamOf } from '../crypto/index.ts';
import {
  cameOf,
  createMembers,
  createSyncState,
  type Facts,
  goesWith,
  type KnownDevice,
  type SyncState,
} from './members.ts';
import { withoutForgotten } from './forgotten.ts';
import { writeJson } from './json.ts';
import { type FirstSeal, type Membership, readPayload, type Returning } from './records.ts';
import { type DeviceEntryStore, readMeta, type SyncDatabase, writeMeta, type WriteMeta } from './entry-store.ts';
import type { LedgerPort } from './ports.ts';
import { createAhead, createUnacknowledged } from './mark-writer.ts';
import { createBackfill, createFileMirror, createConnections, createExchange } from './exchange.ts';
import { createDeviceEvents, type Shared, type SharedDeps } from './contract.ts';
import { createReceived } from './relay-connection.ts';
import { createHolding } from './holding.ts';
import { createKeys, createOwnWriters } from './keys.ts';
import { createWriting } from './writing.ts';

// The status of a device within its household, for the tabs.

/** The devices of the household, for the page: this one first, then in the order of joining. */
export function deviceViews({
  records,
  seen,
  self,
  isLive,
  direct,
}: {
  readonly records: readonly KnownDevice[];
  /** What the relay reports of them, by device id. */
  readonly seen: ReadonlyMap<string, DeviceSeen>;
  readonly self: string;
  /** Is there a connection to the relay? */
  readonly isLive: boolean;
  /** Devices with a direct connection. */
  readonly direct: readonly string[];
}): readonly DeviceView[] {
  return records
    .filter(({ removed }) => !removed)
    .map(({ deviceId, name, addedAt }) => ({
      deviceId,
      name: shownName(name, 'device'),
      self: deviceId === self,
      addedAt,
      came: cameOf(records, deviceId, self),
      along: deviceId === self ? [] : goesWith(records, deviceId, self),
      lastSeen: seen.get(deviceId)?.lastSeen ?? null,
      online: isLive && (deviceId === self || (seen.get(deviceId)?.online ?? false)),
      direct: direct.includes(deviceId),
    }))
    .sort((a, b) => Number(b.self) - Number(a.self) || a.addedAt - b.addedAt);
}

interface StatusParts {
  readonly facts: Facts;
  readonly trouble: string | null;
  readonly membership: Membership;
  readonly devices: readonly KnownDevice[];
  /** Devices with a direct connection. */
  readonly direct: readonly string[];
  readonly isLetIn: boolean;
  readonly hasFiles: boolean;
  /** Entries that the relay lacks, and rows that are not sealed. */
  readonly toSend: number;
  readonly arriving: readonly string[];
  /** ms since the epoch */
  readonly now: number;
}

function sharedStatus({
  facts: { seen, link, backlog, attachments, sealing, shut, ahead, refused },
  trouble,
  membership: { household, deviceId, recovery },
  devices,
  direct,
  isLetIn,
  hasFiles,
  toSend,
  arriving,
  now,
}: StatusParts): Extract<SyncStatus, { kind: 'shared' }> {
  return {
    kind: 'shared',
    household,
    deviceId,
    link: link !== 'live' && link !== 'off' && !isLetIn ? 'locked-out' : link,
    files: hasFiles,
    devices: deviceViews({ records: devices, seen, self: deviceId, isLive: link === 'live', direct }),
    toSend: toSend + (sealing ? 1 : 0),
    backlog: sealing ?? (backlog && { done: backlog.done, of: backlog.of }),
    attachments,
    arriving,
    phrase: recovery !== null,
    newer: shut,
    ahead: ahead.entries === 0 ? null : { ...ahead, taken: ahead.latest <= now + MOST_AHEAD_MS },
    refused,
    trouble,
  };
}

// Makes files and database hold the same entries, whichever of the two lost some. Where everything
// was lost, files are read first, then the relay is asked. New data goes under new writers
// meanwhile, so nothing that comes back is overwritten.

interface SecondHomeDeps {
  readonly entries: Pick<DeviceEntryStore, 'have' | 'put' | 'read' | 'takeAgain'>;
  readonly log: SealedLog | null;
  readonly ledger: Pick<LedgerPort, 'team'>;
  readonly timers: Timers;
  /** Null: nothing was lost, as far as is known. */
  readonly returning: Returning | null;
  /** Has the replica read the store again. */
  readonly reread: () => Promise<void>;
  /** Has the relay announced its entries? */
  readonly relayHasAnnounced: () => boolean;
  readonly db: SyncDatabase;
  readonly syncState: SyncState;
  /** Everything that could be found is here. Called once. */
  readonly onReturned: () => void;
  /** Files had entries that the database lacked, and no loss was known. */
  readonly onFound: () => void;
  readonly isClosed: () => boolean;
}

interface SecondHome {
  /**
   * Reads and fills the files. `toRelay` begins to ask the relay. Where data was lost, it is called
   * after the files were read.
   */
  begin(toRelay: () => void): Promise<void>;
  /** The connection to the relay, or its backlog, has changed. */
  check(): void;
  /** A write into the files failed some time ago. Writes what they lack. */
  refill(): Promise<void>;
  progress(): { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
}

function createSecondHome(deps: SecondHomeDeps): SecondHome {
  const { db, entries, log, ledger, timers, returning, syncState } = deps;
  const onTrouble = syncState.trouble('files');
  let fromFiles: { readonly done: number; readonly of: number } | null = null;
  let asked = false;
  let over = returning === null;
  let looking: Promise<void> | null = null;
  /** The relay admitted this device and has had time to announce its entries. */
  let patient = false;
  let cancel: (() => void) | null = null;

  const pause = () => new Promise<void>((resolve) => void timers.after(MIRROR.readPause, resolve));

  /** Takes what the database lacks. */
  async function takeFromFiles(from: SealedLog) {
    let stored = 0;
    // While a lost team is being restored, everything readable is read. Otherwise entries that are
    // here are skipped.
    const here = over ? await entries.have() : null;
    await from.read(
      async (some, progress) => {
        if (!over) {
          fromFiles = progress;
          syncState.changed();
        }
        stored += (await entries.put(some, { replace: false })).stored.length;
      },
      here
        ? {
            pause,
            isHere: (have) =>
              [...have].every(([writer, ranges]) => subtract(ranges, here.get(writer) ?? []).length === 0),
          }
        : {},
    );
    if (stored === 0) return;
    await deps.reread();
    if (over) deps.onFound();
  }

  /** Writes what the files lack. */
  async function fill(to: SealedLog) {
    for (const [writer, ranges] of await entries.have())
      for (const [first, last] of subtract(ranges, to.have().get(writer) ?? []))
        for (let at = first; at <= last && !deps.isClosed();) {
          const some = await entries.read(writer, at, last, { newestFirst: false, maxBytes: MIRROR.segmentBytes });
          to.add(some);
          // Bounds the entries in memory.
          await to.flush();
          at = (some.at(-1)?.counter ?? last) + 1;
        }
  }

  async function finish() {
    const { documents, agents, lead } = await ledger.team();
    const { link, backlog, filesRead } = syncState.now();
    const whole =
      returning !== null && documents >= returning.team.documents && agents >= returning.team.agents && lead !== null;
    const heardAll = link === 'off' || (link === 'live' && backlog === null && (deps.relayHasAnnounced() || patient));
    if (over || !filesRead || (!whole && !heardAll)) return;
    over = true;
    cancel?.();
    deps.onReturned();
    syncState.changed();
  }

  function check() {
    if (over) return;
    if (asked && syncState.now().link === 'live') {
      cancel ??= timers.after(SYNC_WORKER.relayHasNone, () => {
        patient = true;
        check();
      });
    }
    looking ??= finish()
      .catch(onTrouble)
      .finally(() => {
        looking = null;
      });
  }

  return {
    async begin(toRelay) {
      if (over) toRelay();
      else await entries.takeAgain(() => undefined);
      if (log) {
        if (await readMeta(db, 'filesStale')) {
          await log.clear();
          await writeMeta(db, { filesStale: false });
        }
        try {
          await takeFromFiles(log);
        } catch (error) {
          onTrouble(error);
        }
      }
      fromFiles = null;
      syncState.set({ filesRead: true });
      if (!asked && !over) toRelay();
      asked = true;
      check();
      if (log) await fill(log);
    },
    check,
    async refill() {
      if (log && syncState.now().filesRead && !deps.isClosed()) await fill(log);
    },
    progress() {
      if (fromFiles) return { from: 'files', ...fromFiles };
      const { backlog } = syncState.now();
      return backlog && { from: 'relay', ...backlog };
    },
  };
}

const NOTHING_SEALED: FirstSeal = { done: false, through: null };

export async function openShared(deps: SharedDeps, membership: Membership): Promise<Shared> {
  const { db, ledger, timers, now, elapsed = now, random, log } = deps;
  const { deviceId } = membership;
  const writeMetaHere: WriteMeta = (values, durability) => writeMeta(db, values, durability);
  const [returning, devices, tips, name, firstSeal, counters, retired, aheadTaken, forgotten = []] = await Promise.all([
    readMeta(db, 'returning'),
    readMeta(db, 'devices'),
    readMeta(db, 'tips'),
    readMeta(db, 'name'),
    readMeta(db, 'firstSeal'),
    readMeta(db, 'counters'),
    readMeta(db, 'retired'),
    readMeta(db, 'aheadTaken'),
    readMeta(db, 'forgotten'),
  ]);
  let closed = false;
  const isClosed = () => closed;
  const events = createDeviceEvents();
  const syncState = createSyncState({
    timers,
    filesRead: log === null,
    onChange: () => deps.events.tell('changed'),
    onTrouble: deps.onTrouble,
  });
  const { trouble } = syncState;

  // The members of the household, and their conversations on this device.
  const keys = createKeys({
    writeMeta: writeMetaHere,
    random,
    now,
    membership,
    onChange: () => deps.events.tell('mark'),
  });
  const members = createMembers({
    writeMeta: writeMetaHere,
    devices: devices ?? [],
    tips: tips ?? [],
    isGenuine: keys.isGenuine,
    isOnRoll: keys.isOnRoll,
    isLetIn: keys.isLetIn,
    onChange: () => events.tell('members'),
  });
  const backfill = createBackfill({ ledger, tips: members.tips, onChange: syncState.changed });
  const checkBackfill = () => void backfill.check().catch(trouble('backfill'));
  /** New documents: check for awaited ones. */
  const checkAwaited = () => {
    if (backfill.arriving().length > 0) checkBackfill();
  };
  events.on('stored', checkAwaited);
  events.on('members', () => {
    if (members.devices().some((one) => one.deviceId === deviceId && one.removed)) deps.events.tell('removed');
    checkBackfill();
    deps.events.tell('mark');
    syncState.changed();
  });

  // The entries here, and those of other replicas.
  const heard = createReceived();
  const fileMirror = createFileMirror(db, log);
  const ahead = createAhead({ db, keys, now, taken: aheadTaken ?? 0 });
  /** Entries of a device that had not heard of a request arrive in many batches. */
  let cancelForgetting: (() => void) | null = null;
  function forgetSoon() {
    cancelForgetting ??= timers.after(SYNC_WORKER.forgetLate, () => {
      cancelForgetting = null;
      removeForgotten().catch(trouble('storing'));
    });
  }
  const holding = createHolding({
    ...{ db, ledger, timers, keys, members, heard, ahead, fileMirror, syncState },
    onForgotten: forgetSoon,
  });
  const { entries } = holding;
  const writers = createOwnWriters({
    db,
    counters: counters ?? {},
    retired: retired ?? [],
  });
  const exchange = createExchange({
    entries,
    writers,
    streamOf: (writer) => streamOf(keys.household(), writer),
    timers,
    syncState,
    events,
  });
  const relayHas = () => exchange.replica().peerHas('relay');
  const unacknowledged = createUnacknowledged(() => exchange.replica().have());
  events.on('peers', () => {
    unacknowledged.heard(relayHas());
    // The relay has taken everything, so it has space again.
    if (unacknowledged.left() === 0) trouble('full')(null);
  });

  const writing = createWriting({
    ...deps,
    elapsed,
    keys,
    members,
    backfill,
    holding,
    heard,
    ahead,
    fileMirror,
    writers,
    exchange,
    unacknowledged,
    syncState,
    events,
    firstSeal: firstSeal ?? NOTHING_SEALED,
    isClosed,
  });
  const { outgoing, tipTeller, say } = writing;
  const connections = createConnections({
    ...deps,
    keys,
    members,
    exchange,
    unacknowledged,
    syncState,
    events,
    say,
    openShut: holding.openShut,
    onRemoved: () => deps.events.tell('removed'),
  });
  const { relayConnection, direct, keyRotation } = connections;

  const home = createSecondHome({
    db,
    entries,
    log,
    ledger,
    timers,
    syncState,
    returning: returning ?? null,
    reread: () => exchange.replica().reread(),
    relayHasAnnounced: () => relayHas().size > 0,
    onFound: () => deps.events.tell('found'),
    onReturned() {
      deps.events.tell('returned');
      // Seal documents that are in no entry: those that only the rest of the ledger held.
      void writing.sealRest();
    },
    isClosed,
  });
  for (const name of ['peers', 'backlog', 'link'] as const) events.on(name, home.check);

  async function introduce(called: string): Promise<void> {
    await writeMeta(db, { name: called });
    const known = members.devices().find((one) => one.deviceId === deviceId);
    const record = keys.record({
      name: called.slice(0, SYNC_WORKER.nameChars),
      addedAt: known?.addedAt ?? now(),
      time: now(),
      letIn: known?.letIn ?? (await readMeta(db, 'letIn')) ?? null,
    });
    await members.hear({ devices: [record] });
    await say({ devices: [record] }, { name: null });
  }

  if (!returning) void writing.sealRest();
  // Without its record, no other device could send it renewed keys.
  if (name) await introduce(name).catch(trouble('introduction'));
  // A newer Roost can open entries that an older one could not.
  void exchange.replica().ready.then(holding.openShut).catch(trouble('storing'));
  checkBackfill();
  outgoing.wake();
  void home.begin(connections.begin).catch(trouble('files'));

  const isLate = (agentIds: readonly AgentId[]) => backfill.arriving().filter((id) => agentIds.includes(id));
  const isCaughtUp = (agentIds: readonly AgentId[]) => {
    const { link, backlog } = syncState.now();
    if (link !== 'live' || relayHas().size === 0 || isLate(agentIds).length > 0) return false;
    if (backlog === null) return true;
    // A device that left right after a session may not have sent its tips. So wait for entries that
    // will be here soon.
    const much = backlog.of - backlog.done > SYNC_WORKER.soonHere;
    return much && backlog.people === 0 && members.tips().length > 0;
  };

  /** Is there more to come: an answer of the relay, or entries that it has? */
  const isFetching = () => {
    const { link, backlog } = syncState.now();
    return link === 'connecting' || (link === 'live' && (relayHas().size === 0 || backlog !== null));
  };

  /**
   * Seals entries anew without what was forgotten. What is done is noted, so that a start after a
   * kill goes on.
   */
  const removeForgotten = runAgain(async () => {
    const forgets = ledger.forgets();
    await entries.rewrite(
      (entry) => {
        const opened = holding.open(entry);
        const payload = opened.ok ? readPayload(opened.payload) : null;
        const left = payload && withoutForgotten(payload, forgets);
        return left && writing.seal(entry.writer, entry.counter, writeJson(left));
      },
      (rewritten) => exchange.replica().wrote(rewritten, { replace: true }),
    );
    await writeMeta(db, { forgotten: forgets.map(({ _id }) => _id) });
  });
  if (ledger.forgets().some(({ _id }) => !forgotten.includes(_id))) removeForgotten().catch(trouble('storing'));

  return {
    keys,
    members,
    keyRotation,
    direct,
    wake: outgoing.wake,
    reconnect: relayConnection.reconnect,
    restart: relayConnection.restart,
    report: direct.report,
    hearDocuments(docs) {
      checkAwaited();
      if (docs.some((doc) => isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'end')) tipTeller.check();
    },
    forget: removeForgotten,
    countWith: entries.countWith,
    introduce,
    progress: home.progress,
    refill: () => void home.refill().catch(trouble('files')),
    async takeAhead() {
      await ahead.takeUpTo(syncState.now().ahead.latest);
      await holding.openShut();
    },
    async keepAtRelay(on) {
      await keys.change({ relay: on });
      relayConnection.switched();
      syncState.changed();
    },
    async flush() {
      await outgoing.flush();
      await tipTeller.tell();
    },
    async caughtUp(agentIds, patience) {
      // Do not wait for the next attempt of a connection that broke just now.
      relayConnection.reconnect();
      await syncState.until(() => isCaughtUp(agentIds), patience);
      const arriving = isLate(agentIds);
      const isHere = isCaughtUp(agentIds);
      // Before a comparison no agent is known to be late. That does not mean that everything is
      // here.
      return { arriving, compared: isHere || arriving.length > 0, fetching: !isHere && isFetching() };
    },
    status: () =>
      sharedStatus({
        facts: syncState.now(),
        trouble: syncState.firstTrouble(),
        membership: keys.membership(),
        devices: members.devices(),
        direct: direct.connections(),
        isLetIn: deps.isLetIn(),
        hasFiles: log !== null,
        toSend: unacknowledged.left() + outgoing.waiting(),
        arriving: backfill.arriving(),
        now: now(),
      }),
    async close() {
      closed = true;
      cancelForgetting?.();
      holding.close();
      await log?.flush();
      connections.close();
      await writing.close();
      await exchange.close();
    },
  };
}
