import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { messageDoc } from '../support/documents.ts';
import { drained, openBench, ownerOf, volumesOf, type Household, type LedgerBench } from '../support/ledger-harness.ts';
import { longTests } from '../support/long-tests.ts';

const itLong = longTests('browser/ledger-tabs.test.ts');

let bench: LedgerBench;
let home: Household;

beforeAll(async () => {
  bench = await openBench();
  bench.relay.refuse(503);
});
afterAll(() => bench.close());
beforeEach(async () => {
  home = await bench.household();
});
afterEach(() => home.remove());

const append = (tab: Page, ...docs: Doc[]) => ownerOf(tab).call('append', docs);
const idsIn = async (tab: Page, limit = 1_000) =>
  (await ownerOf(tab).call('conversation', { agentId: 'a1', before: null, limit })).messages.map(
    ({ messageId }) => messageId,
  );
const heardOf = (tab: Page) =>
  tab.evaluate(() =>
    window.roost.news.flatMap((item) => (item.news === 'documents' ? item.docs.map(({ _id }) => _id) : [])),
  );
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const idsOf = (numbers: readonly number[]) => numbers.map((n) => `m${n}`);

/**
 * What lies in the volumes once everything is there and nobody is at work: the ids of all
 * documents.
 */
async function settled(tab: Page): Promise<string[]> {
  await drained(tab);
  await home.closeTabs();
  const volumes = await volumesOf(await home.tab('?closed'));
  return Object.values(volumes)
    .flatMap(({ docs }) => docs.map(({ _id }) => _id))
    .sort();
}

/** Ends the owner's process from outside. Answers how many there were. */
async function killOwners(): Promise<number> {
  const browser = home.context().browser();
  const session = await browser?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be reached.');
  const { targetInfos } = await session.send('Target.getTargets');
  const owners = targetInfos.filter(({ type }) => type === 'shared_worker');
  for (const { targetId } of owners) await session.send('Target.closeTarget', { targetId });
  await session.detach();
  return owners.length;
}

describe('two tabs', () => {
  it('share one owner and one ledger, and receive each other’s documents', async () => {
    const [one, two] = [await home.tab(), await home.tab()];
    await Promise.all(range(0, 20).flatMap((n) => [append(one, messageDoc(n)), append(two, messageDoc(100 + n))]));
    const all = [...idsOf(range(0, 20)), ...idsOf(range(100, 120))];
    expect(await idsIn(one)).toEqual(all);
    expect(await idsIn(two)).toEqual(all);
    for (const tab of [one, two]) expect((await heardOf(tab)).sort()).toEqual(all.map((id) => `message:${id}`).sort());
    expect(await settled(one)).toEqual(all.map((id) => `message:${id}`).sort());
  });

  it('lose nothing when one of them crashes in the middle of its writes', async () => {
    const [one, two] = [await home.tab(), await home.tab()];
    const acknowledged: number[] = [];
    const writing = (async () => {
      for (const n of range(0, 500)) {
        await append(one, messageDoc(n));
        acknowledged.push(n);
      }
    })().catch((error: unknown) => error);
    await append(two, messageDoc(900));
    await new Promise<void>((resolve) => setTimeout(resolve, 200));
    const session = await home.context().newCDPSession(one);
    void session.send('Page.crash').catch(() => undefined);
    expect(await writing).toBeInstanceOf(Error);
    expect(acknowledged.length).toBeGreaterThan(0);
    await append(two, messageDoc(901));
    expect(await idsIn(two)).toEqual(expect.arrayContaining([...idsOf(acknowledged), 'm900', 'm901']));
  });
});

describe('an owner that ends', () => {
  it('passes ownership on, and answers every call that was under way', async () => {
    const [one, two] = [await home.tab(), await home.tab()];
    const writes = Promise.all(range(0, 300).map((n) => append(n % 2 ? one : two, messageDoc(n))));
    let ended = 0;
    for (let n = 0; n < 4; n++) {
      await new Promise<void>((resolve) => setTimeout(resolve, 60));
      ended += await killOwners();
    }
    await writes;
    expect(ended).toBeGreaterThan(0);
    expect(await idsIn(one)).toEqual(idsOf(range(0, 300)));
    expect(await settled(two)).toEqual(
      range(0, 300)
        .map((n) => `message:m${n}`)
        .sort(),
    );
  });
});

describe('a second owner', () => {
  it('waits with the reason, and continues when the first is gone', async () => {
    const other = await home.tab('?closed');
    await other.evaluate(async () => {
      await new Promise<void>((held) => {
        void navigator.locks.request('roost-ledger', () => {
          held();
          return new Promise<void>((release) => Object.assign(window, { release }));
        });
      });
    });
    const tab = await home.tab();
    const call = append(tab, messageDoc(1));
    await tab.waitForFunction(() =>
      window.roost.news.some((item) => item.news === 'problem' && item.problem?.kind === 'blocked'),
    );
    await other.evaluate(() => (window as unknown as { release: () => void }).release());
    // A call that waited long may have been made again: it is written once either way.
    await call;
    expect(await idsIn(tab)).toEqual(['m1']);
    const problems = () =>
      tab.evaluate(() =>
        window.roost.news.flatMap((item) => (item.news === 'problem' ? [item.problem?.kind ?? null] : [])),
      );
    // The end of the problem is told on another port than the answer.
    await expect.poll(problems).toEqual(['blocked', null]);
  });
});

describe('without a SharedWorker', () => {
  const QUERY = '?without-shared-worker';

  it('lets one tab’s worker own the ledger, and the others use it', async () => {
    const [one, two] = [await home.tab(QUERY), await home.tab(QUERY)];
    await append(one, messageDoc(1));
    await append(two, messageDoc(2));
    expect(await idsIn(one)).toEqual(['m1', 'm2']);
    expect(await idsIn(two)).toEqual(['m1', 'm2']);
    await one.waitForFunction(() => window.roost.news.filter((item) => item.news === 'documents').length === 2);
    expect(await two.evaluate(() => window.roost.news[0]?.news)).toBe('welcome');
  });

  it('another tab takes over when the owner’s is closed in the middle of its writes', async () => {
    const owner = await home.tab(QUERY);
    await append(owner, messageDoc(0));
    const other = await home.tab(QUERY);
    await append(other, messageDoc(1));
    const writes = Promise.all(range(2, 60).map((n) => append(other, messageDoc(n))));
    await owner.close();
    await writes;
    expect(await idsIn(other)).toEqual(idsOf(range(0, 60)));
    expect(await settled(other)).toEqual(
      range(0, 60)
        .map((n) => `message:m${n}`)
        .sort(),
    );
  });

  itLong(
    'another tab takes over when the owner’s is frozen by the browser, and the frozen one is a tab like others when it is back',
    async () => {
      const owner = await home.tab(QUERY);
      await append(owner, messageDoc(0));
      const other = await home.tab(QUERY);
      await append(other, messageDoc(1));
      const session = await home.context().newCDPSession(owner);
      await session.send('Page.setWebLifecycleState', { state: 'frozen' });
      for (const n of range(2, 40)) await append(other, messageDoc(n));
      await session.send('Page.setWebLifecycleState', { state: 'active' });
      await owner.bringToFront();
      await append(owner, messageDoc(40));
      expect(await idsIn(owner)).toEqual(idsOf(range(0, 41)));
      expect(await settled(other)).toEqual(
        range(0, 41)
          .map((n) => `message:m${n}`)
          .sort(),
      );
    },
  );
});

describe('without Web Locks', () => {
  it('no tab opens the ledger, and each says what the browser lacks', async () => {
    const tab = await home.tab('?without-locks');
    const problem = await tab.waitForFunction(() =>
      window.roost.news.flatMap((item) => (item.news === 'problem' && item.problem ? [item.problem] : [])).at(0),
    );
    expect(await problem.jsonValue()).toMatchObject({
      kind: 'unsupported',
      detail: expect.stringMatching(/^Roost needs Web Locks/),
    });
    expect(await tab.evaluate(() => window.roost.news.some((item) => item.news === 'welcome'))).toBe(false);
  });
});
