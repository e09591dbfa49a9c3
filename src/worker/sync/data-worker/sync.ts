/**
 * Synchronisation in the data worker: this browser's membership, how it changes, and the status for
 * the tabs.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { Joining, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { SyncAnswers } from '../../../shared/protocol/sync/methods.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { betterMark, createSealedLog, type Mark, readMark, type SealedLog } from '../mirror/index.ts';
import { deviceKeys, newHousehold } from '../crypto/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import { emptySyncDatabase, readMeta, type SyncDatabase, type SyncMeta, writeMeta } from './entry-store.ts';
import { createMarkWriter, createMarkStore, type MarkStore } from './mark-writer.ts';
import type { LedgerPort } from './ports.ts';
import type { Membership, Returned, Returning } from './records.ts';
import { createSharedEvents, type Shared, type SharedEvents, type Sync, type SyncDeps } from './contract.ts';
import { openShared } from './shared.ts';
import { createPairing, createPhraseAnswers, IS_SHARED, type Pairing, type Welcoming } from './pairing.ts';

// This device's membership, as a state machine: of no household, of a household, or of one whose
// entries are being restored. Every change of state runs in a queue.

// The membership at the last run, from the database and the mark. Either may be older than the
// other, or incomplete.

interface LastKnown {
  readonly isMember: boolean;
  readonly removed: boolean;
  readonly returning: Returning | null;
  /** The mark outside IndexedDB. */
  readonly mark: Mark | null;
  /** Is the ledger empty? */
  readonly isEmpty: boolean;
}

const NOBODY = { human: null, lead: null, agents: 0, documents: 0 };

async function readLastKnown({
  db,
  ledger,
  mark: store,
  now,
}: {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'team'>;
  readonly mark: MarkStore;
  readonly now: () => number;
}): Promise<LastKnown> {
  const team = await ledger.team();
  await store.load();
  const mark = readMark(store.text());
  const membership = await readMeta(db, 'membership');
  let returning = (await readMeta(db, 'returning')) ?? null;
  // The database is older than the last rotation of the keys, and the mark is not.
  if (
    membership &&
    mark?.membership.household === membership.household &&
    mark.membership.keyring.length > membership.keyring.length
  ) {
    const { keyring, roll, rotations, recovery } = mark.membership;
    await writeMeta(db, { membership: { ...membership, keyring, roll, rotations, recovery } });
  }
  const removed = membership?.removed ?? false;
  const isEmpty = team.documents === 0;
  // The ledger is lost, but the entries are not. They are read again.
  const isGone = membership && !removed && !returning && team.lead === null && team.agents === 0;
  if (isGone && (await db.count('entries')) > 0) {
    returning = { since: now(), team: mark?.team ?? NOBODY };
    await writeMeta(db, { returning, firstSeal: { done: isEmpty, through: null } });
  }
  return { isMember: membership !== undefined, removed, returning, mark, isEmpty };
}

type Part =
  /** Of no household. `removed`: another device removed this one. Its data stays. */
  | { readonly kind: 'none'; readonly removed: boolean }
  /**
   * A device of a household. It may be the only one, and its person may not know of a household.
   */
  | { readonly kind: 'device'; readonly shared: Shared }
  /**
   * The stored data was lost and is being restored. `missing`: every place was searched, and no
   * team was found.
   */
  | {
      readonly kind: 'returning';
      readonly shared: Shared | null;
      readonly returning: Returning;
      readonly missing: boolean;
    };

interface ParticipationDeps extends Omit<SyncDeps, 'files'> {
  readonly log: SealedLog | null;
  readonly mark: MarkStore;
  readonly events: SharedEvents;
}

interface Participation {
  now(): Part;
  /** The running household, in any state. */
  shared(): Shared | null;
  /** Does the person know of a household: other devices, or a phrase? */
  isOpen(): boolean;
  /** Runs between two changes. */
  readonly inTurn: ReturnType<typeof createQueue>;
  /** Continues in the state of the last run. */
  begin(): Promise<void>;
  /**
   * Makes this device a member of this household. The documents in its ledger are sealed for it.
   */
  enter(welcome: Welcoming, seed: Uint8Array, name: string): Promise<void>;
  /** A team lives here. From now on its data has a second copy. */
  beginAlone(): Promise<void>;
  /** The person wants a household, and this name for the device. */
  share(deviceName: string): Promise<void>;
  /** Another place has this mark. Resolves with the mark that it should hold. */
  offer(text: string | null): Promise<string | null>;
  /** Everything that could be found is here. */
  returned(): Promise<void>;
  /** The result of restoring, for the person. Returned once. */
  takeReturned(): Promise<Returned | null>;
  /** The person gives up the lost data. */
  beginAnew(): Promise<void>;
  close(): Promise<void>;
}

const IS_RETURNING = sentence`Your team is being restored here. Wait until that is done.`;
const WAS_REMOVED = sentence`This device was removed from its household. Join again from another device, or restore with the phrase.`;

function createParticipation(deps: ParticipationDeps): Participation {
  const { db, ledger, log, mark, events, random, tell } = deps;
  let part: Part = { kind: 'none', removed: false };
  /** Has everything in the ledger gone through the outbox? */
  let wasEmpty = false;
  const inTurn = createQueue();
  const later = (change: () => Promise<void>) => () => void inTurn(change).catch(deps.onCrash);

  const shared = () => (part.kind === 'none' ? null : part.shared);
  const isOpen = () => shared()?.keys.membership().alone === false;
  /** Does this device belong to no household, without having been removed? */
  const isFree = () => (part.kind === 'none' ? !part.removed : part.shared === null);
  const becomes = (next: Part) => {
    part = next;
    events.tell('changed');
  };

  /** A new household without members. */
  const anew = (): Welcoming => ({
    keys: newHousehold(random),
    roll: [],
    rotations: [],
    recovery: null,
    devices: [],
    tips: [],
    letIn: null,
  });

  async function end() {
    const open = shared();
    if (part.kind === 'returning') part = { ...part, shared: null };
    else if (part.kind === 'device') part = { kind: 'none', removed: false };
    await open?.close();
  }

  /** Opens the membership in the database. */
  async function run(): Promise<void> {
    const membership = await readMeta(db, 'membership');
    if (!membership || membership.removed) return;
    deps.sealing(true);
    const open = await openShared(
      { ...deps, log, events, order: (order) => tell({ news: 'direct', order }) },
      membership,
    );
    becomes(part.kind === 'returning' ? { ...part, shared: open } : { kind: 'device', shared: open });
    events.tell('mark');
  }

  async function returned() {
    if (part.kind !== 'returning') return;
    const { team } = part.returning;
    const now = await ledger.team();
    const missing = now.lead === null && now.agents === 0;
    if (missing || !part.shared) {
      becomes({ ...part, missing });
      return;
    }
    // Missing pictures and files neither count as lost nor are waited for. Each of their entries
    // holds at least one document.
    const known = now.documents + part.shared.status().attachments;
    await writeMeta(db, {
      returning: null,
      returned: { documents: now.documents, lost: Math.max(0, team.documents - known) },
    });
    becomes({ kind: 'device', shared: part.shared });
    events.tell('mark');
    tell({ news: 'returned' });
  }

  /** The database was older than the files. */
  async function found() {
    await writeMeta(db, { returned: { documents: (await ledger.team()).documents, lost: 0 } });
    tell({ news: 'returned' });
  }

  /** A team lived here, and its storage is lost. Begins to restore it. */
  async function bringBack(from: Mark): Promise<void> {
    if (!isFree()) return;
    const { documents } = await ledger.team();
    const returning: Returning = { since: deps.now(), team: from.team };
    await writeMeta(db, {
      membership: from.membership,
      devices: from.devices,
      returning,
      // Nothing was left, so all documents come from entries.
      firstSeal: { done: documents === 0, through: null },
    });
    part = { kind: 'returning', shared: null, returning, missing: false };
    await run();
  }

  /** Another mark knows more than the one that restoring began with. */
  async function tryOther({ membership, devices, team }: Mark) {
    if (part.kind !== 'returning' || !part.shared) return;
    const mine = part.shared.keys.membership();
    if (mine.household === membership.household && membership.keyring.length <= mine.keyring.length) return;
    await end();
    const returning = { ...part.returning, team };
    part = { kind: 'returning', shared: null, returning, missing: false };
    await writeMeta(db, { membership, devices, returning });
    await run();
  }

  async function establish(
    { keys, roll, rotations, recovery, devices, tips, letIn }: Welcoming,
    seed: Uint8Array,
    name: string,
    { alone, ...along }: Pick<Membership, 'alone'> & Partial<SyncMeta>,
  ): Promise<void> {
    await end();
    await emptySyncDatabase(db);
    await log?.clear();
    const membership: Membership = {
      household: keys.household,
      keyring: keys.keyring,
      roll,
      deviceId: deviceKeys(seed).deviceId,
      seed,
      rotations,
      recovery,
      alone,
      relay: true,
      removed: false,
    };
    // From here on appends go through the outbox. `sealEverything` seals the earlier documents.
    deps.sealing(true);
    const firstSeal = { done: false, through: null };
    await writeMeta(db, { membership, devices, tips, name, letIn, firstSeal, ...along });
    part = { kind: 'none', removed: false };
    events.tell('entered');
    await run();
  }

  async function enter(welcome: Welcoming, seed: Uint8Array, name: string): Promise<void> {
    if (isOpen() && part.kind !== 'returning') throw new Error(IS_SHARED);
    await establish(welcome, seed, name, { alone: false });
  }

  async function beginAlone() {
    if (part.kind !== 'none' || part.removed) return;
    const { lead, agents } = await ledger.team();
    if (lead === null && agents === 0) return;
    await establish(anew(), random(SYNC_WORKER.seedBytes), deps.deviceName, {
      alone: true,
      // All documents went through the outbox, if the ledger was empty at the start.
      ...(wasEmpty ? { firstSeal: { done: true, through: null } } : {}),
    });
  }

  /** This device was removed. Its data stays, and nothing more is sent. */
  async function leave() {
    const open = shared();
    if (!open) return;
    deps.sealing(false);
    await open.keys.change({ removed: true });
    await open.close();
    const wasReturning = part.kind === 'returning';
    part = { kind: 'none', removed: true };
    await log?.clear();
    await mark.put(null);
    if (wasReturning) await writeMeta(db, { returning: null });
    events.tell('changed');
  }

  events.on('returned', later(returned));
  events.on('found', later(found));
  events.on('removed', later(leave));
  events.on('lacking', () => shared()?.refill());

  return {
    now: () => part,
    shared,
    isOpen,
    inTurn,
    async begin() {
      const { isMember, removed, returning, mark: known, isEmpty } = await readLastKnown(deps);
      wasEmpty = isEmpty;
      part = returning ? { kind: 'returning', shared: null, returning, missing: false } : { kind: 'none', removed };
      deps.returning(returning !== null);
      if (isMember || !known) await run();
      else await bringBack(known);
      await beginAlone();
    },
    enter: (welcome, seed, name) => inTurn(() => enter(welcome, seed, name)),
    beginAlone: () => inTurn(beginAlone),
    share: (deviceName) =>
      inTurn(async () => {
        if (isOpen()) return;
        if (part.kind === 'returning') throw new Error(IS_RETURNING);
        if (part.kind === 'none') {
          if (part.removed) throw new Error(WAS_REMOVED);
          await enter(anew(), random(SYNC_WORKER.seedBytes), deviceName);
          return;
        }
        await part.shared.introduce(deviceName);
        await part.shared.keys.change({ alone: false });
        events.tell('changed');
      }),
    offer: (text) =>
      inTurn(async () => {
        const offered = readMark(text);
        const held = readMark(mark.text());
        if (offered && isFree()) await bringBack(betterMark(held, offered) ?? offered);
        // The mark in the file knew less, or it led to no team.
        else if (offered && part.kind === 'returning' && (part.missing || betterMark(held, offered) === offered))
          await tryOther(offered);
        const after: Part = part;
        if (after.kind === 'none') return after.removed ? null : text;
        return after.kind === 'device' ? (mark.text() ?? text) : text;
      }),
    returned: () => inTurn(returned),
    takeReturned: () =>
      inTurn(async () => {
        const told = (await readMeta(db, 'returned')) ?? null;
        if (told) await writeMeta(db, { returned: null });
        return told;
      }),
    beginAnew: () =>
      inTurn(async () => {
        if (part.kind !== 'returning') throw new Error(sentence`There is nothing to cancel: your team is here.`);
        await end();
        await emptySyncDatabase(db);
        await log?.clear();
        part = { kind: 'none', removed: false };
        wasEmpty = (await ledger.team()).documents === 0;
        await mark.put(null);
        await beginAlone();
        events.tell('changed');
      }),
    close: async () => shared()?.close(),
  };
}

/** Sends the status to the tabs, at a limited rate. */
interface StatusTeller {
  /** Something may have changed. */
  wake(): void;
  close(): void;
}

function createStatusTeller({
  timers,
  status,
  tell,
}: {
  readonly timers: Timers;
  readonly status: () => SyncStatus;
  readonly tell: (status: SyncStatus) => void;
}): StatusTeller {
  let announced = '';
  let cancel: (() => void) | null = null;
  let woken = false;

  function announce() {
    const now = status();
    const text = JSON.stringify(now);
    if (text === announced) return;
    announced = text;
    tell(now);
  }

  function wake() {
    if (cancel) {
      woken = true;
      return;
    }
    announce();
    cancel = timers.after(SYNC_WORKER.statusEvery, () => {
      cancel = null;
      const again = woken;
      woken = false;
      if (again) wake();
    });
  }

  return { wake, close: () => cancel?.() };
}

/** The tabs' calls to synchronisation. */
interface AnswersDeps {
  readonly participation: Participation;
  readonly pairing: Pairing;
  readonly phrases: ReturnType<typeof createPhraseAnswers>;
  readonly status: () => SyncStatus;
  /** Throws a sentence where this browser is not a device of a household. */
  readonly need: () => Shared;
}

const done = async (work: Promise<unknown>) => {
  await work;
  return null;
};

const createSyncAnswers = ({ participation, pairing, phrases, status, need }: AnswersDeps): SyncAnswers => ({
  ...phrases,
  syncStatus: () => Promise.resolve(status()),
  shareHousehold: ({ deviceName }) => done(participation.share(deviceName)),
  async beginJoin({ deviceName }) {
    if (participation.isOpen() && participation.now().kind !== 'returning') throw new Error(IS_SHARED);
    return done(pairing.beginJoin(deviceName));
  },
  async answerJoin({ same }) {
    pairing.answerJoin(same);
    return null;
  },
  async beginInvite({ offer }) {
    need();
    return { words: await pairing.beginInvite(offer) };
  },
  answerInvite: async ({ same }) => ({ joined: await pairing.answerInvite(same) }),
  keepAtRelay: async ({ on }) => done(need().keepAtRelay(on)),
  offerMark: async ({ text }) => ({ text: await participation.offer(text) }),
  takeReturned: participation.takeReturned,
  beginAnew: () => done(participation.beginAnew()),
  takeAhead: async () => done(need().takeAhead()),
  nameDevice: async ({ name }) => done(need().introduce(name)),
  async removeDevice({ deviceId, keep }) {
    const here = need();
    if (here.keys.membership().deviceId === deviceId)
      throw new Error(sentence`A device cannot remove itself. Do it on another one.`);
    return { removed: await here.keyRotation.remove(deviceId, keep) };
  },
  async caughtUp({ agentIds, patience }) {
    const shared = participation.shared();
    const isAwaited = participation.isOpen() || participation.now().kind === 'returning';
    if (shared && isAwaited) return await shared.caughtUp(agentIds, patience);
    return { arriving: [], compared: !isAwaited, fetching: false };
  },
  async direct(report) {
    participation.shared()?.report(report);
    return null;
  },
  makeDirectOffer: async () => ({ text: await need().direct.makeOffer() }),
  takeDirectText: async ({ text }) => ({ text: await need().direct.takeText(text) }),
});

const NOT_SHARED = sentence`This team is not shared with another device yet.`;

/**
 * Does new data go into entries? Yes from the first document on, unless this device was removed.
 * Asked before the ledger opens, so nothing it accepts is missed.
 */
export async function isSealing(db: SyncDatabase): Promise<boolean> {
  return !(await readMeta(db, 'membership'))?.removed;
}

/** The household of this device. Null: none. Asked before the first event is processed. */
export async function householdOf(db: SyncDatabase): Promise<string | null> {
  const membership = await readMeta(db, 'membership');
  return membership && !membership.removed ? membership.household : null;
}

function statusOf(
  part: Part,
  { joining, hasFiles, fileTrouble }: { joining: Joining | null; hasFiles: boolean; fileTrouble: string | null },
): SyncStatus {
  switch (part.kind) {
    case 'none':
      return part.removed ? { kind: 'removed', joining } : { kind: 'alone', joining, kept: null };
    case 'returning': {
      const now = part.shared?.status();
      return {
        kind: 'returning',
        joining,
        team: part.returning.team,
        link: now?.link ?? 'connecting',
        progress: part.shared?.progress() ?? null,
        arriving: now?.arriving ?? [],
        missing: part.missing,
      };
    }
    case 'device': {
      const now = part.shared.status();
      const trouble = now.trouble ?? fileTrouble;
      if (!part.shared.keys.membership().alone) return { ...now, trouble };
      return { kind: 'alone', joining, kept: { link: now.link, toSend: now.toSend, files: hasFiles, trouble } };
    }
  }
}

export async function openSync(deps: SyncDeps): Promise<Sync> {
  const { files, ledger, random, timers, tell, now } = deps;
  let joining: Joining | null = null;
  let fileTrouble: string | null = null;

  const events = createSharedEvents();
  const log =
    files &&
    createSealedLog({
      files,
      after: timers.after,
      onTrouble(error) {
        fileTrouble =
          error === null
            ? null
            : sentence`Nothing can be written beside the browser’s database: ${errorMessage(error)}`;
        events.tell('changed');
      },
      onLacking: () => events.tell('lacking'),
    });
  const mark = createMarkStore(files, (text) => tell({ news: 'mark', text }));
  const participation = createParticipation({ ...deps, log, mark, events });
  const { enter, inTurn } = participation;

  const status = () => statusOf(participation.now(), { joining, hasFiles: log !== null, fileTrouble });
  const teller = createStatusTeller({ timers, status, tell: (so) => tell({ news: 'sync', status: so }) });
  const marks = createMarkWriter({
    store: mark,
    timers,
    now,
    async facts() {
      const part = participation.now();
      if (part.kind !== 'device') return null;
      const { keys, members } = part.shared;
      return { membership: keys.membership(), devices: members.devices(), team: await ledger.team() };
    },
    inTurn,
    onCrash: deps.onCrash,
  });
  events.on('changed', () => {
    const part = participation.now();
    deps.returning(part.kind === 'returning' && !part.missing);
    deps.belongs(participation.shared()?.keys.membership().household ?? null);
    teller.wake();
  });
  events.on('mark', () => marks.wake());
  events.on('entered', () => (joining = null));

  const need = (): Shared => {
    const part = participation.now();
    if (part.kind !== 'device') throw new Error(NOT_SHARED);
    return part.shared;
  };
  const pairing = createPairing({
    relay: deps.relay,
    timers,
    now,
    random,
    enter,
    device: () => need().keys.device,
    async welcome(deviceId) {
      const { keys, members, flush } = need();
      await flush();
      const { roll, rotations, recovery } = keys.membership();
      return {
        keys: keys.household(),
        roll,
        rotations,
        recovery,
        devices: members.devices(),
        tips: members.tips(),
        letIn: keys.letIn(deviceId, now()),
      };
    },
    joined: (record) => need().members.hear({ devices: [record] }),
    onJoining(so) {
      joining = so;
      teller.wake();
    },
  });
  const phrases = createPhraseAnswers({
    relay: deps.relay,
    random,
    now,
    shared: need,
    mayRestore: () => !participation.isOpen() || participation.now().kind === 'returning',
    enter,
    onKept: teller.wake,
  });

  await participation.begin();

  return {
    answers: createSyncAnswers({ participation, pairing, phrases, status, need }),
    wake: () => participation.shared()?.wake(),
    flush: async () => log?.flush(),
    hearDocuments(docs) {
      const part = participation.now();
      const somebody = docs.some(({ type }) => type === 'agent-identity');
      if (somebody && part.kind === 'none') participation.beginAlone().catch(deps.onCrash);
      // A team has arrived after all, although none was found anywhere.
      if (somebody && part.kind === 'returning' && part.missing) participation.returned().catch(deps.onCrash);
      participation.shared()?.hearDocuments(docs);
      // A new agent is written soon, the number of documents after a while.
      marks.wake(somebody);
    },
    countWith: async (has) => (await participation.shared()?.countWith(has)) ?? 0,
    forget() {
      participation.shared()?.forget().catch(deps.onCrash);
      marks.wake(false);
    },
    reconnect: () => participation.shared()?.reconnect(),
    restart: () => participation.shared()?.restart(),
    async close() {
      pairing.close();
      teller.close();
      marks.close();
      await participation.close();
      await log?.close();
    },
  };
}
