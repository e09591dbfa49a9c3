/**
 * This device's membership, as a state machine: of no household, of a household, or of one whose
 * entries are being restored. Every change of state runs in a queue.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import { betterMark, type Mark, readMark, type SealedLog } from '../mirror/index.ts';
import { deviceKeys, newHousehold } from '../crypto/index.ts';
import type { RandomBytes } from '../contract.ts';
import { SYNC_WORKER } from '../settings.ts';
import { emptySyncDatabase, readMeta, type SyncDatabase, type SyncMeta, writeMeta } from './entry-store.ts';
import type { MarkStore } from './mark-writer.ts';
import type { LedgerPort } from './ports.ts';
import type { Membership, Returned, Returning } from './records.ts';
import type { Shared, SharedEvents, SyncDeps } from './contract.ts';
import { openShared } from './shared.ts';
import { IS_SHARED, type Welcoming } from './pairing.ts';

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

export type Part =
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

export interface Participation {
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

/** A new household without members. */
const newWelcome = (random: RandomBytes): Welcoming => ({
  keys: newHousehold(random),
  roll: [],
  rotations: [],
  recovery: null,
  devices: [],
  tips: [],
  letIn: null,
});

/** Deletes everything that is stored of a household, except its mark. */
async function emptyHousehold({ db, log }: Pick<ParticipationDeps, 'db' | 'log'>): Promise<void> {
  await emptySyncDatabase(db);
  await log?.clear();
}

type Along = Pick<Membership, 'alone'> & Partial<SyncMeta>;

/** Stores the membership with which a device starts in a household. */
async function storeMembership(
  db: SyncDatabase,
  { keys, roll, rotations, recovery, devices, tips, letIn }: Welcoming,
  seed: Uint8Array,
  name: string,
  { alone, ...along }: Along,
): Promise<void> {
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
  const firstSeal = { done: false, through: null };
  await writeMeta(db, { membership, devices, tips, name, letIn, firstSeal, ...along });
}

/** The result of restoring, for the person. Returned once. */
async function takeReturned(db: SyncDatabase): Promise<Returned | null> {
  const returned = (await readMeta(db, 'returned')) ?? null;
  if (returned) await writeMeta(db, { returned: null });
  return returned;
}

export function createParticipation(deps: ParticipationDeps): Participation {
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

  async function establish(welcome: Welcoming, seed: Uint8Array, name: string, along: Along): Promise<void> {
    await end();
    await emptyHousehold(deps);
    // From here on appends go through the outbox. `sealEverything` seals the earlier documents.
    deps.sealing(true);
    await storeMembership(db, welcome, seed, name, along);
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
    await establish(newWelcome(random), random(SYNC_WORKER.seedBytes), deps.deviceName, {
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
          await enter(newWelcome(random), random(SYNC_WORKER.seedBytes), deviceName);
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
    takeReturned: () => inTurn(() => takeReturned(db)),
    beginAnew: () =>
      inTurn(async () => {
        if (part.kind !== 'returning') throw new Error(sentence`There is nothing to cancel: your team is here.`);
        await end();
        await emptyHousehold(deps);
        part = { kind: 'none', removed: false };
        wasEmpty = (await ledger.team()).documents === 0;
        await mark.put(null);
        await beginAlone();
        events.tell('changed');
      }),
    close: async () => shared()?.close(),
  };
}
