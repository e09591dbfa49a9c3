import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EventOf, RoostEvent } from '../../src/shared/protocol/events.ts';
import type { WorkerNews } from '../../src/shared/protocol/worker.ts';
import { identityDoc, queuedDoc } from '../support/documents.ts';
import { openBench, ownerOf, type Household, type LedgerBench } from '../support/ledger-harness.ts';

const mind = { kind: 'rehearsal', leadModel: 'm', agentModel: 'm' } as const;
const NOW = Date.UTC(2026, 0, 1);
const started = (sessionId: string): RoostEvent => ({ kind: 'session-started', time: NOW, sessionId, mind });
const ended = (sessionId: string): RoostEvent => ({ kind: 'session-ended', time: NOW + 9, sessionId, reason: 'ended' });
const answer = (messageId: string): RoostEvent => ({
  kind: 'answer-started',
  time: NOW + 1,
  messageId,
  agentId: 'a1',
  sessionId: 's1',
});
const text = (messageId: string, words: string): RoostEvent => ({ kind: 'text', messageId, text: words });
const message = (messageId: string, words: string, more: Partial<EventOf<'message'>> = {}): RoostEvent => ({
  kind: 'message',
  time: NOW + 2,
  messageId,
  sessionId: 's1',
  agentId: 'a1',
  author: 'a1',
  role: 'assistant',
  blocks: [{ kind: 'text', text: words }],
  status: 'complete',
  error: null,
  usage: null,
  clientId: null,
  replaces: null,
  waiting: false,
  ...more,
});

let bench: LedgerBench;
let home: Household;
/** Its tab, which each test begins with. */
let first: Page;

beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  bench.relay.replaceLog(`log-${Math.random()}`);
  bench.relay.refuse(null);
  bench.relay.acks.length = 0;
  bench.relay.posted.length = 0;
  home = await bench.household();
  // Where nobody lives, nothing of what a sign-in hears is taken.
  first = await home.tab();
  await ownerOf(first).call('append', [identityDoc(1, 'a1', 1)]);
});
afterEach(() => home.remove());

const newsOf = (tab: Page): Promise<WorkerNews[]> => tab.evaluate(() => window.roost.news);
const linkOf = async (tab: Page) =>
  (await newsOf(tab)).reduce<string>(
    (kind, item) => (item.news === 'welcome' || item.news === 'link' ? item.link.kind : kind),
    '',
  );
const live = (tab: Page) => vi.waitUntil(async () => (await linkOf(tab)) === 'live', { timeout: 10_000 });
const acknowledged = (upTo: number) => vi.waitUntil(() => bench.relay.acks.at(-1) === upTo, { timeout: 10_000 });
const wordsIn = async (tab: Page) =>
  (await ownerOf(tab).call('conversation', { agentId: 'a1', before: null, limit: 100 })).messages.map(({ blocks }) =>
    blocks.map((block) => (block.kind === 'text' ? block.text : '')).join(''),
  );

describe('what the relay says', () => {
  it('reaches every tab at once, is in the ledger, and is acknowledged when it is', async () => {
    const [one, two] = [first, await home.tab()];
    await live(one);
    await live(two);
    bench.relay.emit(
      started('s1'),
      answer('m1'),
      text('m1', 'good '),
      text('m1', 'morning'),
      message('m1', 'good morning'),
    );
    await acknowledged(5);
    for (const tab of [one, two]) {
      const events = (await newsOf(tab)).flatMap((item) => (item.news === 'event' ? [item.stored.event.kind] : []));
      expect(events).toEqual(['session-started', 'answer-started', 'text', 'text', 'message']);
      expect(await wordsIn(tab)).toEqual(['good morning']);
    }
  });

  it('shows a whole answer in a tab that opens in the middle of it', async () => {
    const one = first;
    await live(one);
    bench.relay.emit(
      started('s1'),
      { kind: 'agent-awake', time: NOW, agentId: 'a1', position: 0, sessionId: 's1' },
      answer('m1'),
      text('m1', 'good '),
      text('m1', 'mor'),
    );
    await one.waitForFunction(() => window.roost.news.filter((item) => item.news === 'event').length === 5);
    const two = await home.tab();
    await two.waitForFunction(() => window.roost.news.length > 0);
    expect((await newsOf(two))[0]).toMatchObject({
      news: 'welcome',
      link: { kind: 'live' },
      snapshot: { session: { sessionId: 's1', awake: ['a1'] } },
      answers: [{ messageId: 'm1', agentId: 'a1', blocks: [{ kind: 'text', text: 'good mor' }] }],
      problem: null,
    });
  });

  it('comes from the first word of an open answer to an owner that begins in the middle of it', async () => {
    const one = first;
    await live(one);
    bench.relay.emit(started('s1'), answer('m1'), text('m1', 'good '), text('m1', 'mor'));
    await acknowledged(1);
    await home.closeTabs();
    const two = await home.tab();
    await live(two);
    bench.relay.emit(text('m1', 'ning'));
    await two.waitForFunction(() => window.roost.news.filter((item) => item.news === 'event').length === 4);
    const words = (await newsOf(two)).flatMap((item) =>
      item.news === 'event' && item.stored.event.kind === 'text' ? [item.stored.event.text] : [],
    );
    expect(words.join('')).toBe('good morning');
    bench.relay.emit(message('m1', 'good morning'));
    await acknowledged(6);
    expect(await wordsIn(two)).toEqual(['good morning']);
  });

  it('shows messages that arrived while no tab was open', async () => {
    const one = first;
    await live(one);
    bench.relay.emit(started('s1'), message('m1', 'one'));
    await acknowledged(2);
    await home.closeTabs();
    bench.relay.emit(message('m2', 'two'), ended('s1'));
    const two = await home.tab();
    await acknowledged(4);
    expect(await wordsIn(two)).toEqual(['one', 'two']);
    expect(bench.relay.cursors.at(-1)?.after).toBe('2');
  });

  it('shows the connection as lost when the relay stops, and resumes when it is back', async () => {
    const tab = first;
    await live(tab);
    bench.relay.emit(started('s1'));
    bench.relay.refuse(503);
    bench.relay.cut();
    await vi.waitUntil(async () => (await linkOf(tab)) === 'lost', { timeout: 10_000 });
    expect((await newsOf(tab)).findLast((item) => item.news === 'link')).toMatchObject({
      link: { kind: 'lost', reason: 'unreachable' },
      snapshot: null,
    });
    bench.relay.refuse(null);
    bench.relay.emit(message('m1', 'back'));
    await ownerOf(tab).call('reconnect');
    await live(tab);
    await acknowledged(2);
    expect(await wordsIn(tab)).toEqual(['back']);
  });

  it('shows nothing in a browser without a sign-in until it has one', async () => {
    await home.closeTabs();
    bench.relay.refuse(401);
    const tab = await home.tab();
    await vi.waitUntil(async () => (await linkOf(tab)) === 'locked-out', { timeout: 10_000 });
    bench.relay.refuse(null);
    const signedIn = await home.tab();
    await live(signedIn);
    await live(tab);
  });
});

describe('what was written while nothing could take it', () => {
  it('sends queued messages when a session starts, and unqueues them once the relay has them', async () => {
    const tab = first;
    await live(tab);
    await ownerOf(tab).call('append', [queuedDoc(1, 'a1', 'c1'), queuedDoc(2, 'lead', 'c2')]);
    expect(bench.relay.posted).toEqual([]);
    bench.relay.emit(started('s1'));
    await vi.waitUntil(() => bench.relay.posted.length === 2, { timeout: 10_000 });
    expect(bench.relay.posted).toEqual([
      { text: 'queued c1', clientId: 'c1', to: 'a1' },
      { text: 'queued c2', clientId: 'c2' },
    ]);
    bench.relay.emit(message('m1', 'queued c1', { author: 'human', role: 'user', clientId: 'c1', waiting: true }));
    await acknowledged(2);
    const { queued } = await ownerOf(tab).call('household');
    expect(queued.map(({ clientId }) => clientId)).toEqual(['c2']);
    bench.relay.emit({ kind: 'message-read', time: NOW + 3, messageId: 'm1', agentId: 'a1', sessionId: 's1' });
    await acknowledged(3);
    expect((await ownerOf(tab).call('conversation', { agentId: 'a1', before: null, limit: 10 })).read).toEqual(['m1']);
  });

  it('sends queued messages at once when a session is running', async () => {
    await home.closeTabs();
    bench.relay.emit(started('s1'));
    const tab = await home.tab();
    await live(tab);
    await ownerOf(tab).call('append', [queuedDoc(1, 'a1', 'c1')]);
    await vi.waitUntil(() => bench.relay.posted.length === 1, { timeout: 10_000 });
  });
});
