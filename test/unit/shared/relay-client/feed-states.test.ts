import { expect, test } from 'vitest';
import { type FeedInput, type FeedState, isApart, transition } from '../../../../src/shared/relay-client/feed.ts';
import { NO_SESSION } from '../../../../src/shared/protocol/live.ts';

const BEGUN: FeedState = {
  link: { kind: 'connecting' },
  snapshot: null,
  vacant: false,
  own: null,
  home: null,
  skipped: false,
  moved: false,
  leftOut: null,
};
const LIVE: FeedInput = { kind: 'live', snapshot: NO_SESSION };
const POLLED: FeedInput = { ...LIVE, held: true };
const CONNECTING: FeedInput = { kind: 'connecting' };
const LOST: FeedInput = { kind: 'lost', reason: 'silent' };
const AWAY: FeedInput = { kind: 'database', away: true };
const BACK: FeedInput = { kind: 'database', away: false };
const EVENT: FeedInput = { kind: 'event', stored: { id: 1, event: { kind: 'text', messageId: 'm', text: 'x' } } };
const home = (household: string | null): FeedInput => ({ kind: 'home', household });
const belongs = (household: string | null): FeedInput => ({ kind: 'belongs', household });
const after = (...inputs: readonly FeedInput[]) => inputs.reduce(transition, BEGUN);

test.each<[string, readonly FeedInput[], FeedState['link']]>([
  ['is live with the snapshot', [LIVE], { kind: 'live' }],
  ['says that it polls', [POLLED], { kind: 'live', held: true }],
  ['says that the database is away', [LIVE, AWAY], { kind: 'live', databaseAway: true }],
  ['says that the database is back', [POLLED, AWAY, BACK], { kind: 'live', held: true }],
  ['ignores the database while not live', [LOST, AWAY], { kind: 'lost', reason: 'silent' }],
  ['is lost after a break', [LIVE, LOST], { kind: 'lost', reason: 'silent' }],
  ['connects again after a break', [LIVE, LOST, CONNECTING], { kind: 'connecting' }],
  ['is locked out without a sign-in', [LIVE, { kind: 'locked-out' }], { kind: 'locked-out' }],
  [
    'fails on a message it cannot read',
    [LIVE, { kind: 'unreadable', detail: 'x' }],
    { kind: 'lost', reason: 'failed' },
  ],
  ['connects after its sign-in has moved', [LIVE, { kind: 'moved' }], { kind: 'connecting' }],
  ['is elsewhere in another household’s home', [belongs('a'), home('b'), LIVE], { kind: 'elsewhere' }],
  ['is elsewhere once its own household is known', [home('b'), LIVE, belongs('a')], { kind: 'elsewhere' }],
  ['is live in its own home', [belongs('a'), home('a'), LIVE], { kind: 'live' }],
])('the link %s', (_title, inputs, link) => {
  expect(after(...inputs).link).toEqual(link);
});

test('has a snapshot only on a live link', () => {
  expect(after(LIVE).snapshot).toBe(NO_SESSION);
  for (const input of [CONNECTING, LOST, { kind: 'locked-out' }, { kind: 'moved' }, home('b')] as const)
    expect(after(belongs('a'), LIVE, input).snapshot).toBeNull();
});

test('the link is the same object from poll to poll, so that nobody is notified again', () => {
  const polled = after(POLLED);
  expect(transition(polled, POLLED).link).toBe(polled.link);
  expect(transition(polled, LIVE).link).not.toBe(polled.link);
});

test('events that are not this browser’s own are skipped until they are read again', () => {
  const vacant = transition({ ...BEGUN, vacant: true }, EVENT);
  expect([isApart(vacant), vacant.skipped]).toEqual([true, true]);
  const occupied = transition(vacant, { kind: 'occupied' });
  expect([isApart(occupied), occupied.skipped]).toEqual([false, true]);
  expect(transition(occupied, { kind: 'reopened' }).skipped).toBe(false);
  expect(after(LIVE, EVENT).skipped).toBe(false);
  expect(after(belongs('a'), home('b')).skipped).toBe(true);
});

test('an event that cannot be read is named until a new log begins', () => {
  const leftOut = after(LIVE, { kind: 'set-aside', id: 3, detail: 'a new kind' });
  expect(leftOut.leftOut).toContain('a new kind');
  expect(transition(leftOut, LOST).leftOut).toContain('a new kind');
  expect(transition(leftOut, { kind: 'new-log', log: 'l' }).leftOut).toBeNull();
});

test('a move to another home is known until its stream begins', () => {
  expect(after(LIVE, { kind: 'moved' }).moved).toBe(true);
  expect(after(LIVE, { kind: 'moved' }, CONNECTING, home(null)).moved).toBe(false);
});
