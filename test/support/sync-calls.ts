/**
 * The calls of synchronisation where nobody shares anything: every one but the question of how it
 * stands refuses.
 */
import type { SyncCalls } from '../../src/shared/protocol/sync/methods.ts';

const refuse = (): never => {
  throw new Error('This team is not shared with another device.');
};

export function aloneSync(): SyncCalls {
  return {
    syncStatus: () => ({ kind: 'alone', joining: null, kept: null }),
    shareHousehold: refuse,
    beginJoin: refuse,
    answerJoin: refuse,
    beginInvite: refuse,
    answerInvite: refuse,
    makePhrase: refuse,
    keepPhrase: refuse,
    checkPhrase: refuse,
    restore: refuse,
    keepAtRelay: refuse,
    offerMark: ({ text }) => ({ text }),
    takeReturned: () => null,
    beginAnew: refuse,
    takeAhead: refuse,
    nameDevice: refuse,
    removeDevice: refuse,
    caughtUp: () => ({ arriving: [], compared: true, fetching: false }),
    direct: () => null,
    makeDirectOffer: refuse,
    takeDirectText: refuse,
  };
}

/** The same for an owner's desk, whose answers take their time. */
export const aloneSyncAnswers = () => {
  const calls = aloneSync();
  return {
    syncStatus: () => Promise.resolve(calls.syncStatus()),
    shareHousehold: () => Promise.reject(new Error('alone')),
    beginJoin: () => Promise.reject(new Error('alone')),
    answerJoin: () => Promise.reject(new Error('alone')),
    beginInvite: () => Promise.reject(new Error('alone')),
    answerInvite: () => Promise.reject(new Error('alone')),
    makePhrase: () => Promise.reject(new Error('alone')),
    keepPhrase: () => Promise.reject(new Error('alone')),
    checkPhrase: () => Promise.reject(new Error('alone')),
    restore: () => Promise.reject(new Error('alone')),
    keepAtRelay: () => Promise.reject(new Error('alone')),
    offerMark: () => Promise.resolve({ text: null }),
    takeReturned: () => Promise.resolve(null),
    beginAnew: () => Promise.reject(new Error('alone')),
    takeAhead: () => Promise.reject(new Error('alone')),
    nameDevice: () => Promise.reject(new Error('alone')),
    removeDevice: () => Promise.reject(new Error('alone')),
    caughtUp: () => Promise.resolve({ arriving: [], compared: true, fetching: false }),
    direct: () => Promise.resolve(null),
    makeDirectOffer: () => Promise.reject(new Error('alone')),
    takeDirectText: () => Promise.reject(new Error('alone')),
  };
};
