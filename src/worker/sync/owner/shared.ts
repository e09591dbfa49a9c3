/**
 * A device within its household, while it runs: its entries and their replica, what it seals and
 * what it hears, the connections to the relay and to other browsers. Its parts from the lowest;
 * what one finds that those above are to know goes up as an event.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { streamOf } from '../crypto/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import { createAhead } from './ahead.ts';
import { createBackfill } from './backfill.ts';
import { createBeside } from './beside.ts';
import { createConnections } from './connections.ts';
import type { Shared, SharedDeps } from './contract.ts';
import { readMeta, writeMeta, type WriteMeta } from './database.ts';
import { createDeviceEvents } from './events.ts';
import { createExchange } from './exchange.ts';
import { createHeard } from './heard.ts';
import { createHolding } from './holding.ts';
import { createKeys } from './keys.ts';
import { createMembers } from './members.ts';
import { createOwnWriters } from './own-writers.ts';
import { withoutForgotten } from './payload.ts';
import type { FirstSeal, Membership } from './records.ts';
import { createSecondHome } from './second-home.ts';
import { createStanding } from './standing.ts';
import { sharedStatus } from './shared-status.ts';
import { createUnacknowledged } from './unacknowledged.ts';
import { createWriting } from './writing.ts';

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
