/**
 * Synchronisation in the ledger's owner: whether this browser is one of a household's devices, how it becomes
 * one, and everything tabs may ask about it.
 */
import { createQueue } from '../../domain/platform/queue.ts';
import type { SyncAnswers } from '../../protocol/sync/methods.ts';
import type { Joining, SyncStatus } from '../../protocol/sync/page.ts';
import { deviceKeys, newHousehold } from '../crypto/index.ts';
import { betterMark, createSealedLog, readMark, type Mark } from '../mirror/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { Sync, SyncDeps } from './contract.ts';
import { emptySyncDatabase, recallMeta, rememberMeta, type SyncDatabase, type SyncMeta } from './database.ts';
import { createMarkKeeper } from './mark-keeper.ts';
import { createPairing } from './pairing.ts';
import { createPhraseAnswers, IS_SHARED } from './phrase.ts';
import type { Membership, Returning } from './records.ts';
import { openShared, type Shared } from './shared.ts';
import { createStatusTeller } from './status.ts';
import type { Welcoming } from './welcoming.ts';

const NOT_SHARED = 'This team is not shared with another device yet.';
const IS_RETURNING = 'Your team is being brought back here. Wait until that is done.';

/** Does what is written here go into entries? From the first document on, unless this device was removed. Asked before the ledger opens, so that nothing it takes is forgotten. */
export async function isSealing(db: SyncDatabase): Promise<boolean> {
  return !(await recallMeta(db, 'membership'))?.removed;
}

export async function openSync(deps: SyncDeps, sealing: { set(on: boolean): void }): Promise<Sync> {
  const { db, files, ledger, random, timers, tell } = deps;
  let shared: Shared | null = null;
  let removed = (await recallMeta(db, 'membership'))?.removed ?? false;
  let returning = (await recallMeta(db, 'returning')) ?? null;
  /** Looked for in every place, and nobody was found. */
  let missing = false;
  let joining: Joining | null = null;
  let fileTrouble: string | null = null;
  /** Has everything that is in the ledger gone through the outbox? */
  let wasEmpty = false;
  /** Changes of what this device is part of, one after the other. */
  const inTurn = createQueue();

  const log =
    files &&
    createSealedLog({
      files,
      after: timers.after,
      onTrouble(error) {
        fileTrouble =
          error === null
            ? null
            : `Nothing can be written beside the browser’s database: ${error instanceof Error ? error.message : String(error)}`;
        teller.wake();
      },
      onLacking: () => shared?.refill(),
    });
  /** Does its person know of a household: other devices, or a phrase? */
  const isOpen = () => shared !== null && !shared.keys.membership().alone;

  const status = (): SyncStatus => {
    if (returning)
      return {
        kind: 'returning',
        joining,
        team: returning.team,
        link: shared?.status().link ?? 'connecting',
        progress: shared?.progress() ?? null,
        arriving: shared?.status().arriving ?? [],
        missing,
      };
    if (!shared) return removed ? { kind: 'removed', joining } : { kind: 'alone', joining, kept: null };
    const now = shared.status();
    const trouble = now.trouble ?? fileTrouble;
    return isOpen()
      ? { ...now, trouble }
      : { kind: 'alone', joining, kept: { link: now.link, toSend: now.toSend, files: log !== null, trouble } };
  };
  const teller = createStatusTeller({ timers, status, tell: (now) => tell({ news: 'sync', status: now }) });
  const marks = createMarkKeeper({
    files,
    timers,
    now: deps.now,
    tell: (text) => tell({ news: 'mark', text }),
    async facts() {
      if (!shared || returning) return null;
      const { keys, members } = shared;
      return { membership: keys.membership(), devices: members.devices(), team: await ledger.team() };
    },
    inTurn,
    onCrash: deps.onCrash,
  });

  async function run() {
    const membership = await recallMeta(db, 'membership');
    if (!membership || membership.removed) return;
    sealing.set(true);
    shared = await openShared(
      {
        ...deps,
        log,
        order: (order) => tell({ news: 'direct', order }),
        onChange: teller.wake,
        onMark: () => marks.wake(),
        onReturned: () => void inTurn(returned).catch(deps.onCrash),
        onFound: () => void inTurn(found).catch(deps.onCrash),
        onRemoved: () => void leave().catch(deps.onCrash),
      },
      membership,
    );
    marks.wake();
    teller.wake();
  }

  /** A household of nobody yet. */
  const anew = (): Welcoming => ({
    keys: newHousehold(random),
    roll: [],
    rotations: [],
    recovery: null,
    devices: [],
    tips: [],
    letIn: null,
  });

  /** Everything that could be found is here. */
  async function returned() {
    if (!returning) return;
    const { team } = returning;
    const now = await ledger.team();
    missing = now.lead === null && now.agents === 0;
    if (!missing) {
      await rememberMeta(db, {
        returning: null,
        returned: { documents: now.documents, lost: Math.max(0, team.documents - now.documents) },
      });
      returning = null;
      marks.wake();
      tell({ news: 'returned' });
    }
    teller.wake();
  }

  /** The database was of before, and the files were not. */
  async function found() {
    await rememberMeta(db, { returned: { documents: (await ledger.team()).documents, lost: 0 } });
    tell({ news: 'returned' });
  }

  /** A team lived here, and its storage is gone: begins to bring it back. */
  async function bringBack(mark: Mark): Promise<void> {
    const { documents } = await ledger.team();
    if (shared || removed) return;
    const since: Returning = { since: deps.now(), team: mark.team };
    await rememberMeta(db, {
      membership: mark.membership,
      devices: mark.devices,
      returning: since,
      // Nothing was left: whatever comes has come in entries.
      firstSeal: { done: documents === 0, through: null },
    });
    returning = since;
    await run();
  }

  /** `welcome` is this browser's own household now. What is in its ledger is sealed for it. */
  async function establish(
    { keys, roll, rotations, recovery, devices, tips, letIn }: Welcoming,
    seed: Uint8Array,
    name: string,
    part: Pick<Membership, 'alone'> & Partial<SyncMeta>,
  ): Promise<void> {
    const { alone, ...along } = part;
    await shared?.close();
    shared = null;
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
    // From here on appends go through the outbox, and what was there before is sealed by `sealEverything`.
    sealing.set(true);
    const firstSeal = { done: false, through: null };
    await rememberMeta(db, { membership, devices, tips, name, letIn, firstSeal, ...along });
    removed = false;
    returning = null;
    missing = false;
    joining = null;
    await run();
  }

  /** From now on this device is one of this household. */
  async function enter(welcome: Welcoming, seed: Uint8Array, name: string): Promise<void> {
    if (isOpen() && !returning) throw new Error('This browser has become one of a household’s devices meanwhile.');
    await establish(welcome, seed, name, { alone: false });
  }

  /** Somebody lives here: from now on everything has a second home. */
  async function beginAlone() {
    if (shared || removed || returning) return;
    const { lead, agents } = await ledger.team();
    if (lead === null && agents === 0) return;
    await establish(anew(), random(SYNC_OWNER.seedBytes), deps.deviceName, {
      alone: true,
      // All of it went through the outbox, where the ledger was empty when this began.
      ...(wasEmpty ? { firstSeal: { done: true, through: null } } : {}),
    });
  }

  /** Removed: everything stays here as it is, and nothing more goes out. */
  function leave() {
    return inTurn(async () => {
      if (!shared) return;
      sealing.set(false);
      await shared.keys.change({ removed: true });
      await shared.close();
      shared = null;
      removed = true;
      await log?.clear();
      await marks.put(null);
      if (returning) await rememberMeta(db, { returning: null });
      returning = null;
      teller.wake();
    });
  }

  /** Another mark says more than the one that this began with. */
  async function tryOther({ membership, devices, team }: Mark) {
    if (!shared || !returning) return;
    const mine = shared.keys.membership();
    if (mine.household === membership.household && membership.keyring.length <= mine.keyring.length) return;
    await shared.close();
    shared = null;
    missing = false;
    returning = { ...returning, team };
    await rememberMeta(db, { membership, devices, returning });
    await run();
  }

  const need = (): Shared => {
    if (!shared || returning) throw new Error(NOT_SHARED);
    return shared;
  };

  const pairing = createPairing({
    relay: deps.relay,
    timers,
    now: deps.now,
    random,
    enter: (welcome, seed, name) => inTurn(() => enter(welcome, seed, name)),
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
        letIn: keys.letIn(deviceId, deps.now()),
      };
    },
    joined: (record) => need().members.hear({ devices: [record] }),
    onJoining(now) {
      joining = now;
      teller.wake();
    },
  });

  const phrases = createPhraseAnswers({
    relay: deps.relay,
    random,
    now: deps.now,
    shared: need,
    mayRestore: () => !isOpen() || returning !== null,
    enter: (welcome, seed, name) => inTurn(() => enter(welcome, seed, name)),
    onKept: teller.wake,
  });

  const begun = await ledger.team();
  wasEmpty = begun.documents === 0;
  await marks.load();
  const membership = await recallMeta(db, 'membership');
  const mark = readMark(marks.text());
  // The database is of before the last renewal of the keys, and the mark is not.
  if (
    membership &&
    mark?.membership.household === membership.household &&
    mark.membership.keyring.length > membership.keyring.length
  )
    await rememberMeta(db, {
      membership: {
        ...membership,
        keyring: mark.membership.keyring,
        roll: mark.membership.roll,
        rotations: mark.membership.rotations,
        recovery: mark.membership.recovery,
      },
    });
  // The ledger is gone, and the entries are not: they are read again.
  const emptied =
    membership &&
    !membership.removed &&
    !returning &&
    begun.lead === null &&
    begun.agents === 0 &&
    (await db.count('entries')) > 0;
  if (emptied) {
    returning = { since: deps.now(), team: mark?.team ?? { human: null, lead: null, agents: 0, documents: 0 } };
    await rememberMeta(db, { returning, firstSeal: { done: begun.documents === 0, through: null } });
  }
  if (membership || !mark) await run();
  else await bringBack(mark);
  await beginAlone();

  const answers: SyncAnswers = {
    syncStatus: () => Promise.resolve(status()),
    shareHousehold: ({ deviceName }) =>
      inTurn(async () => {
        if (isOpen()) return null;
        if (removed)
          throw new Error(
            'This device was removed from its household. Join again from another device, or restore with the phrase.',
          );
        if (returning) throw new Error(IS_RETURNING);
        if (!shared) {
          await enter(anew(), random(SYNC_OWNER.seedBytes), deviceName);
          return null;
        }
        await shared.introduce(deviceName);
        await shared.keys.change({ alone: false });
        teller.wake();
        return null;
      }),
    async beginJoin({ deviceName }) {
      if (isOpen() && !returning) throw new Error(IS_SHARED);
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
    ...phrases,
    async keepAtRelay({ on }) {
      await need().keepAtRelay(on);
      return null;
    },
    offerMark: ({ text }) =>
      inTurn(async () => {
        const offered = readMark(text);
        const held = readMark(marks.text());
        if (offered && !shared && !removed) await bringBack(betterMark(held, offered) ?? offered);
        // The file knew less, or nobody was found with what it says.
        else if (offered && shared && returning && (missing || betterMark(held, offered) === offered))
          await tryOther(offered);
        return { text: removed ? null : shared && !returning ? (marks.text() ?? text) : text };
      }),
    takeReturned: () =>
      inTurn(async () => {
        const returned = (await recallMeta(db, 'returned')) ?? null;
        if (returned) await rememberMeta(db, { returned: null });
        return returned;
      }),
    beginAnew: () =>
      inTurn(async () => {
        if (!returning) throw new Error('There is nothing to be given up: your team is here.');
        await shared?.close();
        shared = null;
        await emptySyncDatabase(db);
        await log?.clear();
        returning = null;
        missing = false;
        wasEmpty = (await ledger.team()).documents === 0;
        await marks.put(null);
        await beginAlone();
        teller.wake();
        return null;
      }),
    async takeAhead() {
      await need().takeAhead();
      return null;
    },
    async nameDevice({ name }) {
      await need().introduce(name);
      return null;
    },
    async removeDevice({ deviceId, keep }) {
      const here = need();
      if (here.keys.membership().deviceId === deviceId)
        throw new Error('A device cannot remove itself. Do it on another one.');
      return { removed: await here.keyRotation.remove(deviceId, keep) };
    },
    caughtUp: async ({ agentIds, patience }) => ({
      arriving: shared && (isOpen() || returning) ? await shared.caughtUp(agentIds, patience) : [],
    }),
    async direct(report) {
      shared?.report(report);
      return null;
    },
    makeDirectOffer: async () => ({ text: await need().direct.makeOffer() }),
    takeDirectText: async ({ text }) => ({ text: await need().direct.takeText(text) }),
  };

  return {
    answers,
    isReturning: () => returning !== null && !missing,
    wake: () => shared?.wake(),
    flush: async () => log?.flush(),
    hearDocuments(docs) {
      if (!shared && !removed && !returning && docs.some(({ type }) => type === 'agent-identity'))
        inTurn(beginAlone).catch(deps.onCrash);
      // Somebody has brought after all what was nowhere.
      if (missing && docs.some(({ type }) => type === 'agent-identity')) inTurn(returned).catch(deps.onCrash);
      shared?.hearDocuments(docs);
      // Who lives here is told soon, how much there is in a while.
      marks.wake(docs.some(({ type }) => type === 'agent-identity'));
    },
    forget(forgets) {
      shared?.forget(forgets).catch(deps.onCrash);
      marks.wake(false);
    },
    reconnect: () => shared?.reconnect(),
    async close() {
      pairing.close();
      teller.close();
      marks.close();
      await shared?.close();
      await log?.close();
    },
  };
}
