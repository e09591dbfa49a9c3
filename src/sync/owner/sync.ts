/**
 * Synchronisation in the ledger's owner: whether this browser is one of a household's devices, how it becomes
 * one, and everything tabs may ask about it.
 */
import { createQueue } from '../../domain/queue.ts';
import type { Doc, ForgetDoc } from '../../protocol/documents.ts';
import type { DirectOrder, Joining, SyncCalls, SyncStatus } from '../../protocol/sync/page.ts';
import { newHousehold, newId, newPhrase, readKeys, recoveryOf } from '../crypto/index.ts';
import { emptySyncDatabase, recallMeta, rememberMeta, type SyncDatabase } from './database.ts';
import { createPairing } from './pairing.ts';
import type { Membership } from './records.ts';
import { openShared, type Shared, type SharedDeps } from './shared.ts';
import { createStatusTeller } from './status.ts';
import type { Welcoming } from './welcoming.ts';

/** As `SyncCalls`, in its own time. */
export type SyncAnswers = { readonly [Name in keyof SyncCalls]: (...args: Parameters<SyncCalls[Name]>) => Promise<ReturnType<SyncCalls[Name]>> };

export interface SyncDeps extends Omit<SharedDeps, 'onChange' | 'onRemoved' | 'order'> {
  readonly db: SyncDatabase;
  readonly tell: (news: { readonly news: 'sync'; readonly status: SyncStatus } | { readonly news: 'direct'; readonly order: DirectOrder }) => void;
  /** A failure of ours. */
  readonly onCrash: (error: unknown) => void;
}

export interface Sync {
  readonly answers: SyncAnswers;
  stir(): void;
  hearDocuments(docs: readonly Doc[]): void;
  forget(forgets: readonly ForgetDoc[]): void;
  reconnect(): void;
  close(): Promise<void>;
}

const NOT_SHARED = 'This team is not shared with another device yet.';

/** Is this browser one of a household's devices? Asked before the ledger opens, so that nothing it takes is forgotten. */
export async function isSharing(db: SyncDatabase): Promise<boolean> {
  const membership = await recallMeta(db, 'membership');
  return membership !== undefined && !membership.removed;
}

export async function openSync(deps: SyncDeps, sharing: { set(on: boolean): void }): Promise<Sync> {
  const { db, random, timers, tell } = deps;
  let shared: Shared | null = null;
  let removed = (await recallMeta(db, 'membership'))?.removed ?? false;
  let joining: Joining | null = null;
  /** A phrase that was shown and not yet tried. */
  let phrase: readonly string[] | null = null;
  /** Changes of what this device is part of, one after the other. */
  const inTurn = createQueue();

  const status = (): SyncStatus => {
    if (shared) return shared.status();
    return removed ? { kind: 'removed', joining } : { kind: 'alone', joining };
  };
  const teller = createStatusTeller({ timers, status, tell: (now) => tell({ news: 'sync', status: now }) });

  async function run() {
    const membership = await recallMeta(db, 'membership');
    if (!membership || membership.removed) return;
    shared = await openShared({ ...deps, order: (order) => tell({ news: 'direct', order }), onChange: teller.stir, onRemoved: () => void leave().catch(deps.onCrash) }, membership);
    sharing.set(true);
    teller.stir();
  }

  /** Removed: everything stays here as it is, and nothing more goes out. */
  function leave() {
    return inTurn(async () => {
      if (!shared) return;
      sharing.set(false);
      await shared.keys.change({ removed: true });
      await shared.close();
      shared = null;
      removed = true;
      teller.stir();
    });
  }

  /** From now on this device is one of this household. What is in its ledger is shared with the others. */
  async function enter(welcome: Welcoming, name: string): Promise<void> {
    const { keys, rotations, recovery, devices, heads } = welcome;
    if (shared) throw new Error('This browser has become one of a household’s devices meanwhile.');
    await emptySyncDatabase(db);
    const membership: Membership = { household: keys.household, keyring: keys.keyring, deviceId: newId(random), seed: random(32), rotations, recovery, removed: false };
    // From here on appends go through the outbox, and what was there before is sealed by `sealEverything`.
    sharing.set(true);
    await rememberMeta(db, { membership, devices, heads, name, firstSeal: { done: false, through: null } });
    removed = false;
    joining = null;
    await run();
  }

  const need = (): Shared => {
    if (!shared) throw new Error(NOT_SHARED);
    return shared;
  };

  const pairing = createPairing({
    relay: deps.relay,
    timers,
    now: deps.now,
    random,
    enter: (welcome, name) => inTurn(() => enter(welcome, name)),
    async welcome() {
      const { keys, book, settle } = need();
      await settle();
      const { rotations, recovery } = keys.membership();
      return { keys: keys.household(), rotations, recovery, devices: book.devices(), heads: book.heads() };
    },
    onJoining(now) {
      joining = now;
      teller.stir();
    },
  });

  await run();

  const answers: SyncAnswers = {
    syncStatus: () => Promise.resolve(status()),
    shareHousehold: ({ deviceName }) =>
      inTurn(async () => {
        if (shared) return null;
        if (removed) throw new Error('This device was removed from its household. Join again from another device, or restore with the phrase.');
        await enter({ keys: newHousehold(random), rotations: [], recovery: null, devices: [], heads: [] }, deviceName);
        return null;
      }),
    async beginJoin({ deviceName }) {
      if (shared) throw new Error('This browser is one of a household’s devices already.');
      await pairing.beginJoin(deviceName);
      return null;
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
    async makePhrase() {
      need();
      phrase = newPhrase(random).words;
      return { words: phrase };
    },
    async keepPhrase({ answers: given }) {
      const words = phrase;
      if (words === null) throw new Error('Make a phrase first.');
      const wrong = given.find(({ place, word }) => words[place - 1] !== word.trim().toLowerCase());
      if (wrong) throw new Error(`Word ${wrong.place} is another one. Look at what you wrote down.`);
      if (given.length === 0) throw new Error('Type the words that were asked for.');
      const made = recoveryOf(words.join(' '));
      if (!made.ok) throw new Error(made.reason);
      await need().renewals.keepRecovery({ id: made.id, boxKey: made.boxKey });
      phrase = null;
      teller.stir();
      return null;
    },
    async checkPhrase({ phrase: typed }) {
      const read = recoveryOf(typed);
      if (!read.ok) throw new Error(read.reason);
      return { good: need().keys.membership().recovery?.id === read.id };
    },
    async restore({ phrase: typed, deviceName }) {
      if (shared) throw new Error('This browser is one of a household’s devices already.');
      const read = recoveryOf(typed);
      if (!read.ok) throw new Error(read.reason);
      const answer = await deps.relay.recovery(read.id);
      if (!answer.ok) throw new Error(answer.status === 404 ? 'This relay knows no household with this phrase. Is it the relay that your devices used, and the newest phrase you made?' : answer.reason);
      const opened = read.open(answer.value.box);
      const keys = opened === null ? null : readKeys(opened);
      if (keys === null || keys.household !== answer.value.household) throw new Error('What the relay keeps for this phrase cannot be opened: it was changed, or a newer Roost wrote it.');
      const recovery = { id: read.id, boxKey: read.boxKey, box: answer.value.box };
      await inTurn(() => enter({ keys, rotations: [], recovery, devices: [], heads: [] }, deviceName));
      return null;
    },
    async nameDevice({ name }) {
      await need().introduce(name);
      return null;
    },
    async removeDevice({ deviceId }) {
      const here = need();
      if (here.keys.membership().deviceId === deviceId) throw new Error('A device cannot remove itself. Do it on another one.');
      await here.renewals.remove(deviceId);
      return null;
    },
    caughtUp: async ({ agentIds, patience }) => ({ arriving: shared ? await shared.caughtUp(agentIds, patience) : [] }),
    async direct(report) {
      shared?.report(report);
      return null;
    },
    makeDirectOffer: async () => ({ text: await need().direct.makeOffer() }),
    takeDirectText: async ({ text }) => ({ text: await need().direct.takeText(text) }),
  };

  return {
    answers,
    stir: () => shared?.stir(),
    hearDocuments: (docs) => shared?.hearDocuments(docs),
    forget: (forgets) => void shared?.forget(forgets).catch(deps.onCrash),
    reconnect: () => shared?.reconnect(),
    async close() {
      pairing.close();
      teller.close();
      await shared?.close();
    },
  };
}
