/**
 * A device within its household, while it runs: its entries and their replica, sealing and
 * receiving, and the connections to the relay and to other browsers. The parts are created from the
 * lowest up. Lower parts notify higher ones by events.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { Have } from '../../../shared/protocol/sync/page.ts';
import { SYNC_WORKER } from '../settings.ts';
import { streamOf } from '../crypto/index.ts';
import { createMembers, createSyncState, type Members, type SyncState } from './members.ts';
import { createForgetting } from './forgetting.ts';
import type { FirstSeal, Membership } from './records.ts';
import { readMeta, type SyncDatabase, writeMeta, type WriteMeta } from './entry-store.ts';
import { createAhead, createUnacknowledged } from './mark-writer.ts';
import { type Backfill, createBackfill, createFileMirror, createConnections, createExchange } from './exchange.ts';
import { createDeviceEvents, type Shared, type SharedDeps } from './contract.ts';
import { createReceived } from './relay-connection.ts';
import { createHolding } from './holding.ts';
import { createKeys, createOwnWriters, type Keys } from './keys.ts';
import { createSecondHome } from './second-home.ts';
import { sharedStatus } from './status.ts';
import { createWriting, type Writing } from './writing.ts';

const NOTHING_SEALED: FirstSeal = { done: false, through: null };

interface CaughtUpDeps {
  readonly syncState: SyncState;
  readonly backfill: Pick<Backfill, 'arriving'>;
  readonly members: Pick<Members, 'tips'>;
  readonly relayHas: () => Have;
  readonly reconnect: () => void;
}

/** Waits until the last sessions of some agents are here. */
function createCaughtUp({ syncState, backfill, members, relayHas, reconnect }: CaughtUpDeps): Shared['caughtUp'] {
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

  return async function caughtUp(agentIds, patience) {
    // Do not wait for the next attempt of a connection that broke just now.
    reconnect();
    await syncState.until(() => isCaughtUp(agentIds), patience);
    const arriving = isLate(agentIds);
    const isHere = isCaughtUp(agentIds);
    // Before a comparison no agent is known to be late. That does not mean that everything is
    // here.
    return { arriving, compared: isHere || arriving.length > 0, fetching: !isHere && isFetching() };
  };
}

interface IntroductionDeps {
  readonly db: SyncDatabase;
  readonly keys: Pick<Keys, 'record'>;
  readonly members: Pick<Members, 'devices' | 'hear'>;
  readonly say: Writing['say'];
  /** ms since the epoch */
  readonly now: () => number;
  readonly deviceId: string;
}

function createIntroduction({ db, keys, members, say, now, deviceId }: IntroductionDeps): Shared['introduce'] {
  return async function introduce(name) {
    await writeMeta(db, { name });
    const known = members.devices().find((one) => one.deviceId === deviceId);
    const record = keys.record({
      name: name.slice(0, SYNC_WORKER.nameChars),
      addedAt: known?.addedAt ?? now(),
      time: now(),
      letIn: known?.letIn ?? (await readMeta(db, 'letIn')) ?? null,
    });
    await members.hear({ devices: [record] });
    await say({ devices: [record] }, { name: null });
  };
}

/** What is stored of this device, with what counts where nothing is. */
async function readStored(db: SyncDatabase) {
  const [returning, devices, tips, name, firstSeal, counters, retired, aheadTaken, forgotten] = await Promise.all([
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
  return {
    returning: returning ?? null,
    devices: devices ?? [],
    tips: tips ?? [],
    name,
    firstSeal: firstSeal ?? NOTHING_SEALED,
    counters: counters ?? {},
    retired: retired ?? [],
    aheadTaken: aheadTaken ?? 0,
    forgotten: forgotten ?? [],
  };
}

export async function openShared(deps: SharedDeps, membership: Membership): Promise<Shared> {
  const { db, ledger, timers, now, elapsed = now, random, log } = deps;
  const { deviceId } = membership;
  const writeMetaHere: WriteMeta = (values, durability) => writeMeta(db, values, durability);
  const { returning, devices, tips, name, firstSeal, counters, retired, aheadTaken, forgotten } = await readStored(db);
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
    devices,
    tips,
    isGenuine: keys.isGenuine,
    isOnRoll: keys.isOnRoll,
    isLetIn: keys.isLetIn,
    onChange: () => events.tell('members'),
  });
  const backfill = createBackfill({
    ledger,
    tips: members.tips,
    onChange: syncState.changed,
    onTrouble: trouble('backfill'),
  });
  events.on('stored', backfill.checkAwaited);
  events.on('members', () => {
    if (members.devices().some((one) => one.deviceId === deviceId && one.removed)) deps.events.tell('removed');
    backfill.check();
    deps.events.tell('mark');
    syncState.changed();
  });

  // The entries here, and those of other replicas.
  const heard = createReceived();
  const fileMirror = createFileMirror(db, log);
  const ahead = createAhead({ db, keys, now, taken: aheadTaken });
  const holding = createHolding({
    db,
    ledger,
    timers,
    keys,
    members,
    heard,
    ahead,
    fileMirror,
    syncState,
    onForgotten: () => forgetting.removeSoon(),
  });
  const { entries } = holding;
  const writers = createOwnWriters({ db, counters, retired });
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

  const parts = { ...deps, keys, members, exchange, unacknowledged, syncState, events };
  const writing = createWriting({
    ...parts,
    elapsed,
    backfill,
    holding,
    heard,
    ahead,
    fileMirror,
    writers,
    firstSeal,
    isClosed,
  });
  const forgetting = createForgetting({
    db,
    ledger,
    timers,
    holding,
    writing,
    replica: exchange.replica,
    onTrouble: trouble('storing'),
  });
  const { outgoing, tipTeller, say } = writing;
  const connections = createConnections({
    ...parts,
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
    returning,
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

  const introduce = createIntroduction({ db, keys, members, say, now, deviceId });
  if (!returning) void writing.sealRest();
  // Without its record, no other device could send it renewed keys.
  if (name) await introduce(name).catch(trouble('introduction'));
  // A newer Roost can open entries that an older one could not.
  void exchange.replica().ready.then(holding.openShut).catch(trouble('storing'));
  backfill.check();
  outgoing.wake();
  void home.begin(connections.begin).catch(trouble('files'));

  forgetting.goOn(forgotten);

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
      backfill.checkAwaited();
      if (docs.some((doc) => isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'end')) tipTeller.check();
    },
    forget: forgetting.remove,
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
    caughtUp: createCaughtUp({ syncState, backfill, members, relayHas, reconnect: relayConnection.reconnect }),
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
      forgetting.close();
      holding.close();
      await log?.flush();
      connections.close();
      await writing.close();
      await exchange.close();
    },
  };
}
