/**
 * A device within its household, while it runs: its entries and their replica, what it seals and
 * what it hears, the connections to the relay and to other browsers. Its parts from the lowest;
 * what one finds that those above are to know goes up as an event.
 */
import { MOST_AHEAD_MS } from '../../../shared/domain/stamp.ts';
import type { DeviceView, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { shownName } from '../../../shared/domain/names.ts';
import type { DeviceSeen } from '../../../shared/protocol/sync/control.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { subtract } from '../../../shared/domain/ranges.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { MIRROR, type SealedLog } from '../mirror/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import { streamOf } from '../crypto/index.ts';
import { createMembers, createStanding, type Facts, type KnownDevice, type Standing } from './members.ts';
import { type FirstSeal, type Membership, type Returning, withoutForgotten } from './records.ts';
import { cameOf, goesWith } from './let-in.ts';
import { type DeviceEntryStore, readMeta, type SyncDatabase, writeMeta, type WriteMeta } from './entry-store.ts';
import type { LedgerPort } from './ports.ts';
import { createAhead, createUnacknowledged } from './mark-keeper.ts';
import { createBackfill, createBeside, createConnections, createExchange } from './exchange.ts';
import { createDeviceEvents, type Shared, type SharedDeps } from './contract.ts';
import { createHeard } from './relay-connection.ts';
import { createHolding } from './holding.ts';
import { createKeys, createOwnWriters } from './keys.ts';
import { createWriting } from './writing.ts';

// What tabs are told of a device within its household.

/**
 * The devices of the household, as the page shows them: this one first, then in the order in which
 * they came.
 */
export function deviceViews({
  records,
  seen,
  self,
  isLive,
  direct,
}: {
  readonly records: readonly KnownDevice[];
  /** What the relay said of them, by device id. */
  readonly seen: ReadonlyMap<string, DeviceSeen>;
  readonly self: string;
  /** Is there a connection to the relay? */
  readonly isLive: boolean;
  /** Devices to which there is a direct connection. */
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
  /** Devices to which there is a direct connection. */
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

// What is kept beside IndexedDB, against what is in it: files and database are made to hold the
// same entries, whichever of the two lost something. Where everything was lost, files are read
// first, then the relay is asked; what is written meanwhile goes under new writers, so nothing that
// comes back is overwritten.

interface SecondHomeDeps {
  readonly entries: Pick<DeviceEntryStore, 'have' | 'put' | 'read' | 'takeAgain'>;
  readonly log: SealedLog | null;
  readonly ledger: Pick<LedgerPort, 'team'>;
  readonly timers: Timers;
  /** null: nothing was lost, as far as is known. */
  readonly returning: Returning | null;
  /** The replica looks at what is here now. */
  readonly reread: () => Promise<void>;
  /** Has the relay said what it has? */
  readonly relayHasAnnounced: () => boolean;
  readonly db: SyncDatabase;
  readonly standing: Standing;
  /** Everything that could be found is here. Once. */
  readonly onReturned: () => void;
  /** Files had what the database did not, and nobody knew of a loss. */
  readonly onFound: () => void;
  readonly isClosed: () => boolean;
}

interface SecondHome {
  /**
   * Reads and fills the files; `toRelay` begins to ask the relay, where something was lost after
   * what the files have.
   */
  begin(toRelay: () => void): Promise<void>;
  /** The connection to the relay, or what comes over it, has changed. */
  look(): void;
  /** A write into the files failed a while ago: what they lack is written now. */
  refill(): Promise<void>;
  progress(): { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
}

function createSecondHome(deps: SecondHomeDeps): SecondHome {
  const { db, entries, log, ledger, timers, returning, standing } = deps;
  const onTrouble = standing.trouble('files');
  let fromFiles: { readonly done: number; readonly of: number } | null = null;
  let asked = false;
  let over = returning === null;
  let looking: Promise<void> | null = null;
  /** The relay let us in, and had the time to say what it has. */
  let patient = false;
  let cancel: (() => void) | null = null;

  const pause = () => new Promise<void>((resolve) => void timers.after(MIRROR.lookPause, resolve));

  /** Whatever the database lacks. */
  async function takeFromFiles(from: SealedLog) {
    let stored = 0;
    // Who waits for a team gets all that can be read; else what is here already need not be read
    // again.
    const here = over ? await entries.have() : null;
    await from.read(
      async (some, progress) => {
        if (!over) {
          fromFiles = progress;
          standing.changed();
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

  /** Whatever the files lack. */
  async function fill(to: SealedLog) {
    for (const [writer, ranges] of await entries.have())
      for (const [first, last] of subtract(ranges, to.have().get(writer) ?? []))
        for (let at = first; at <= last && !deps.isClosed();) {
          const some = await entries.read(writer, at, last, { newestFirst: false, maxBytes: MIRROR.segmentBytes });
          to.add(some);
          // Not all of it in memory at once.
          await to.flush();
          at = (some.at(-1)?.counter ?? last) + 1;
        }
  }

  async function finish() {
    const { documents, agents, lead } = await ledger.team();
    const { link, backlog, filesRead } = standing.now();
    const whole =
      returning !== null && documents >= returning.team.documents && agents >= returning.team.agents && lead !== null;
    const heardAll = link === 'off' || (link === 'live' && backlog === null && (deps.relayHasAnnounced() || patient));
    if (over || !filesRead || (!whole && !heardAll)) return;
    over = true;
    cancel?.();
    deps.onReturned();
    standing.changed();
  }

  function look() {
    if (over) return;
    if (asked && standing.now().link === 'live') {
      cancel ??= timers.after(SYNC_OWNER.relayHasNone, () => {
        patient = true;
        look();
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
      standing.set({ filesRead: true });
      if (!asked && !over) toRelay();
      asked = true;
      look();
      if (log) await fill(log);
    },
    look,
    async refill() {
      if (log && standing.now().filesRead && !deps.isClosed()) await fill(log);
    },
    progress() {
      if (fromFiles) return { from: 'files', ...fromFiles };
      const { backlog } = standing.now();
      return backlog && { from: 'relay', ...backlog };
    },
  };
}

const NOTHING_SEALED: FirstSeal = { done: false, through: null };

export async function openShared(deps: SharedDeps, membership: Membership): Promise<Shared> {
  const { db, ledger, timers, now, elapsed = now, random, log } = deps;
  const { deviceId } = membership;
  const writeMetaHere: WriteMeta = (values, durability) => writeMeta(db, values, durability);
  const [returning, devices, tips, name, firstSeal, counters, retired, aheadTaken] = await Promise.all([
    readMeta(db, 'returning'),
    readMeta(db, 'devices'),
    readMeta(db, 'tips'),
    readMeta(db, 'name'),
    readMeta(db, 'firstSeal'),
    readMeta(db, 'counters'),
    readMeta(db, 'retired'),
    readMeta(db, 'aheadTaken'),
  ]);
  let closed = false;
  const isClosed = () => closed;
  const events = createDeviceEvents();
  const standing = createStanding({
    timers,
    filesRead: log === null,
    onChange: () => deps.events.tell('changed'),
    onTrouble: deps.onTrouble,
  });
  const { trouble } = standing;

  // Who is of the household, and which of their talk is here.
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
  const backfill = createBackfill({ ledger, tips: members.tips, onChange: standing.changed });
  const lookFor = () => void backfill.look().catch(trouble('backfill'));
  /** Documents have come: is what was awaited among them? */
  const look = () => {
    if (backfill.arriving().length > 0) lookFor();
  };
  events.on('stored', look);
  events.on('members', () => {
    if (members.devices().some((one) => one.deviceId === deviceId && one.removed)) deps.events.tell('removed');
    lookFor();
    deps.events.tell('mark');
    standing.changed();
  });

  // What is here, and what others have.
  const heard = createHeard();
  const beside = createBeside(db, log);
  const ahead = createAhead({ db, keys, now, taken: aheadTaken ?? 0 });
  const holding = createHolding({ db, ledger, timers, keys, members, heard, ahead, beside, standing });
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
    standing,
    events,
  });
  const relayHas = () => exchange.replica().peerHas('relay');
  const unacknowledged = createUnacknowledged(() => exchange.replica().have());
  events.on('peers', () => {
    unacknowledged.heard(relayHas());
    // It took all there is: whatever it had no room for before.
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
    beside,
    writers,
    exchange,
    unacknowledged,
    standing,
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
    standing,
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
    standing,
    returning: returning ?? null,
    reread: () => exchange.replica().reread(),
    relayHasAnnounced: () => relayHas().size > 0,
    onFound: () => deps.events.tell('found'),
    onReturned() {
      deps.events.tell('returned');
      // What no entry holds: documents that were only in what was left of the ledger.
      void writing.sealRest();
    },
    isClosed,
  });
  for (const name of ['peers', 'backlog', 'link'] as const) events.on(name, home.look);

  async function introduce(called: string): Promise<void> {
    await writeMeta(db, { name: called });
    const known = members.devices().find((one) => one.deviceId === deviceId);
    const record = keys.record({
      name: called.slice(0, SYNC_OWNER.nameChars),
      addedAt: known?.addedAt ?? now(),
      time: now(),
      letIn: known?.letIn ?? (await readMeta(db, 'letIn')) ?? null,
    });
    await members.hear({ devices: [record] });
    await say({ devices: [record] }, { name: null });
  }

  if (!returning) void writing.sealRest();
  // Without its record no other device could send it renewed keys.
  if (name) await introduce(name).catch(trouble('introduction'));
  // A newer Roost can open what an older one could not.
  void exchange.replica().ready.then(holding.openShut).catch(trouble('storing'));
  lookFor();
  outgoing.wake();
  void home.begin(connections.begin).catch(trouble('files'));

  const isLate = (agentIds: readonly AgentId[]) => backfill.arriving().filter((id) => agentIds.includes(id));
  const isCaughtUp = (agentIds: readonly AgentId[]) => {
    const { link, backlog } = standing.now();
    if (link !== 'live' || relayHas().size === 0 || isLate(agentIds).length > 0) return false;
    if (backlog === null) return true;
    // A device that went away right after a session may have told no tips of it: what is soon here
    // is waited for.
    const much = backlog.of - backlog.done > SYNC_OWNER.soonHere;
    return much && backlog.people === 0 && members.tips().length > 0;
  };

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
      look();
      if (docs.some((doc) => isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'end')) tipTeller.look();
    },
    forget: (forgets) =>
      entries.rewrite(
        (entry) => {
          const opened = holding.open(entry);
          const left = opened.ok ? withoutForgotten(opened.payload, forgets) : null;
          return left && writing.seal(entry.writer, entry.counter, left);
        },
        (rewritten) => exchange.replica().wrote(rewritten, { replace: true }),
      ),
    introduce,
    progress: home.progress,
    refill: () => void home.refill().catch(trouble('files')),
    async takeAhead() {
      await ahead.takeUpTo(standing.now().ahead.latest);
      await holding.openShut();
    },
    async keepAtRelay(on) {
      await keys.change({ relay: on });
      relayConnection.switched();
      standing.changed();
    },
    async flush() {
      await outgoing.flush();
      await tipTeller.tell();
    },
    async caughtUp(agentIds, { patience, comparePatience }) {
      const arriving = () => isLate(agentIds);
      // A line that broke just now is not waited for until its next turn.
      relayConnection.reconnect();
      await standing.until(() => isCaughtUp(agentIds), patience);
      // Nobody is known to be late as long as nothing was compared: that is no reason to think that
      // all is here.
      await standing.until(() => isCaughtUp(agentIds) || arriving().length > 0, comparePatience);
      return { arriving: arriving(), compared: isCaughtUp(agentIds) || arriving().length > 0 };
    },
    status: () =>
      sharedStatus({
        facts: standing.now(),
        trouble: standing.firstTrouble(),
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
      holding.close();
      await log?.flush();
      connections.close();
      await writing.close();
      await exchange.close();
    },
  };
}
