/** What tabs may ask of synchronisation. */
import type { SyncAnswers } from '../../protocol/sync/methods.ts';
import type { SyncStatus } from '../../protocol/sync/page.ts';
import type { Shared } from './contract.ts';
import type { Pairing } from './pairing.ts';
import type { Participation } from './participation.ts';
import { IS_SHARED, type createPhraseAnswers } from './phrase.ts';

export interface AnswersDeps {
  readonly participation: Participation;
  readonly pairing: Pairing;
  readonly phrases: ReturnType<typeof createPhraseAnswers>;
  readonly status: () => SyncStatus;
  /** Throws a sentence where this browser is not one of a household's devices. */
  readonly need: () => Shared;
}

const done = async (work: Promise<unknown>) => {
  await work;
  return null;
};

export const createSyncAnswers = ({ participation, pairing, phrases, status, need }: AnswersDeps): SyncAnswers => ({
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
      throw new Error('A device cannot remove itself. Do it on another one.');
    return { removed: await here.keyRotation.remove(deviceId, keep) };
  },
  async caughtUp({ agentIds, patience }) {
    const shared = participation.shared();
    const isAwaited = participation.isOpen() || participation.now().kind === 'returning';
    return { arriving: shared && isAwaited ? await shared.caughtUp(agentIds, patience) : [] };
  },
  async direct(report) {
    participation.shared()?.report(report);
    return null;
  },
  makeDirectOffer: async () => ({ text: await need().direct.makeOffer() }),
  takeDirectText: async ({ text }) => ({ text: await need().direct.takeText(text) }),
});
