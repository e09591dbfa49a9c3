/**
 * Synchronisation in the data worker: this browser's participation in a household, the tabs'
 * calls, and the status for them.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { Joining, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { SyncAnswers } from '../../../shared/protocol/sync/methods.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { createSealedLog } from '../mirror/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import { readMeta, type SyncDatabase } from './entry-store.ts';
import { createMarkWriter, createMarkStore } from './mark-writer.ts';
import { createSharedEvents, type Shared, type Sync, type SyncDeps } from './contract.ts';
import { createPairing, createPhraseAnswers, IS_SHARED, type Pairing } from './pairing.ts';
import { createParticipation, type Part, type Participation } from './participation.ts';

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
