/** Storage that fails in part: what is said, what is mended, and that nothing else is lost. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { identityDoc, messageDoc } from '../support/documents.ts';
import {
  drained,
  dumpOf,
  openBench,
  ownerOf,
  volumesOf,
  type Household,
  type LedgerBench,
} from '../support/ledger-harness.ts';

let bench: LedgerBench;
let home: Household;
let tab: Page;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_none, i) => from + i);
const append = (docs: readonly Doc[]) => ownerOf(tab).call('append', docs);
const told = (kind: string) =>
  tab.waitForFunction(
    (one) => window.roost.news.some((item) => item.news === 'problem' && item.problem?.kind === one),
    kind,
  );

/** Every message of a1, by its id. */
async function messages(): Promise<string[]> {
  const { call } = ownerOf(tab);
  const ids: string[] = [];
  let before: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof call<'conversation'>>> = await call('conversation', {
      agentId: 'a1',
      before,
      limit: 1_000,
    });
    ids.unshift(...page.messages.map(({ messageId }) => messageId));
    ({ before } = page);
  } while (before !== null);
  return ids;
}

/** Closes every tab, lets `harm` be done to what is stored, and opens a tab again. */
async function harmed(harm: (keeper: Page) => Promise<unknown>) {
  await home.closeTabs();
  const keeper = await home.tab('?closed');
  await harm(keeper);
  tab = await home.tab();
}

/** Ids in all volumes that are not damaged. */
async function filed(): Promise<string[]> {
  const { volumes } = await ownerOf(tab).call('storage');
  await home.closeTabs();
  tab = await home.tab('?closed');
  const stored = await volumesOf(tab);
  return volumes
    .filter(({ state }) => state !== 'damaged')
    .flatMap(({ name }) => (stored[name]?.docs ?? []).map(({ _id }) => _id))
    .sort();
}

beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  home = await bench.household();
  tab = await home.tab();
});
afterEach(() => home.remove());

describe('a volume with a damaged CAR', () => {
  it('stores the contents of a damaged open volume again from the views, keeps it, and tells the page', async () => {
    await append(range(0, 60).map((n) => messageDoc(n)));
    await drained(tab);
    await harmed((keeper) => keeper.evaluate(() => window.roost.damageVolume('v00001')));
    expect(await messages()).toHaveLength(60);
    await append([messageDoc(60)]);
    await told('damaged');
    await drained(tab);
    expect((await ownerOf(tab).call('storage')).volumes).toMatchObject([
      { name: 'v00001', state: 'damaged', faults: [expect.any(String)] },
      { name: 'v00002', state: 'writing', documents: 61, faults: [] },
    ]);
    expect(await messages()).toHaveLength(61);
    const docs = [...range(0, 61)].map((n) => `message:m${n}`).sort();
    await home.closeTabs();
    tab = await home.tab('?closed');
    // The damaged one cannot be read at all: only the new one is looked into.
    await tab.evaluate(() => window.roost.emptyVolume('v00001'));
    expect((await volumesOf(tab))['v00002']?.docs.map(({ _id }) => _id).sort()).toEqual(docs);
  });

  it('finds and repairs a damaged sealed volume by a rebuild', async () => {
    for (const n of range(0, 9)) await append(range(n * 250, n * 250 + 250).map((m) => messageDoc(m)));
    await drained(tab);
    await harmed((keeper) => keeper.evaluate(() => window.roost.damageVolume('v00001')));
    const report = await ownerOf(tab).call('rebuild');
    expect(report).toMatchObject({ documents: 2_250, volumes: 2, repaired: 2_000, faults: [] });
    await drained(tab);
    const { volumes } = await ownerOf(tab).call('storage');
    expect(volumes.map(({ name, state }) => [name, state])).toEqual([
      ['v00001', 'damaged'],
      ['v00002', 'sealed'],
      ['v00003', 'writing'],
    ]);
    expect(await messages()).toHaveLength(2_250);
    await home.closeTabs();
    tab = await home.tab('?closed');
    await tab.evaluate(() => window.roost.emptyVolume('v00001'));
    expect(new Set(Object.values(await volumesOf(tab)).flatMap(({ docs }) => docs.map(({ _id }) => _id))).size).toBe(
      2_250,
    );
  });

  it('stores a volume again whole that was written while a rebuild had looked at it', async () => {
    await append(range(0, 60).map((n) => messageDoc(n)));
    await drained(tab);
    await ownerOf(tab).call('rebuild');
    await harmed((keeper) => keeper.evaluate(() => window.roost.damageVolume('v00001')));
    await append([messageDoc(60)]);
    await told('damaged');
    await drained(tab);
    expect((await ownerOf(tab).call('storage')).volumes).toMatchObject([
      { name: 'v00001', state: 'damaged' },
      { name: 'v00002', state: 'writing', documents: 61 },
    ]);
  });

  it('restores from views of an older version what the volume lost', async () => {
    await append(range(0, 60).map((n) => messageDoc(n)));
    await drained(tab);
    await harmed((keeper) =>
      keeper.evaluate(async () => {
        await window.roost.damageVolume('v00001');
        await window.roost.disownViews();
      }),
    );
    expect(await messages()).toHaveLength(60);
    await drained(tab);
    expect(await filed()).toHaveLength(60);
  });
});

describe('the journal’s database', () => {
  it.each(['journal', 'volumes', 'manifests', 'meta'])(
    'restores the journal without its store of %s from volumes and views, and tells the page',
    async (store) => {
      await append([identityDoc(1, 'a1', 0, 'I am.'), ...range(2, 40).map((n) => messageDoc(n))]);
      await drained(tab);
      // These may still be in the journal alone, and in the views.
      await append(range(40, 50).map((n) => messageDoc(n)));
      await ownerOf(tab).call('household');
      await harmed((keeper) => keeper.evaluate((name) => window.roost.dropJournalStore(name), store));
      await told('damaged');
      expect((await ownerOf(tab).call('household')).identities).toHaveLength(1);
      expect(await messages()).toEqual(range(2, 50).map((n) => `m${n}`));
      expect(await append([messageDoc(50)])).toEqual({ written: 1 });
      await drained(tab);
      expect(new Set(await filed()).size).toBe(50);
    },
  );

  it('waits for a journal that does not open, says what to do, and continues by itself', async () => {
    await append([messageDoc(1)]);
    await drained(tab);
    let keeper: Page | null = null;
    await harmed((one) => {
      keeper = one;
      return one.evaluate(() => window.roost.holdJournal());
    });
    await tab.waitForFunction(() =>
      window.roost.news.some(
        (item) => item.news === 'problem' && /does not open its storage/.test(item.problem?.detail ?? ''),
      ),
    );
    await (keeper as Page | null)?.evaluate(() => window.roost.letOpen());
    expect(await messages()).toEqual(['m1']);
    await tab.waitForFunction(
      () => window.roost.news.at(-1)?.news !== 'problem' || JSON.stringify(window.roost.news.at(-1)).includes('null'),
    );
  });
});

describe('views', () => {
  it('rebuilds views that a power cut set back behind the journal', async () => {
    for (const n of range(0, 5)) {
      await append([messageDoc(n)]);
      await drained(tab);
    }
    await harmed((keeper) => keeper.evaluate(() => window.roost.rewindViews('m4')));
    expect(await messages()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
    const [name] = (await tab.evaluate(() => indexedDB.databases())).flatMap((one) =>
      one.name?.startsWith('roost-views-') ? [one.name] : [],
    );
    await harmed(() => Promise.resolve());
    expect(await messages()).toHaveLength(5);
    // Once is enough: the views that were written anew are as far as the journal.
    expect((await tab.evaluate(() => indexedDB.databases())).map((one) => one.name)).toContain(name);
  });
});

describe('a rebuild', () => {
  it('under which writing and reading go on gives views that equal the live ones', async () => {
    await append(range(0, 300).map((n) => messageDoc(n)));
    await drained(tab);
    const rebuilt = ownerOf(tab).call('rebuild');
    for (const n of range(300, 320)) {
      await append([messageDoc(n, n % 7 === 0 ? { replaces: `m${n - 1}` } : {})]);
      expect(
        (await ownerOf(tab).call('conversation', { agentId: 'a1', before: null, limit: 1 })).messages[0]?.messageId,
      ).toBe(`m${n}`);
    }
    expect(await rebuilt).toMatchObject({ volumes: 1, repaired: 0, faults: [] });
    expect((await ownerOf(tab).call('storage')).volumes).toMatchObject([
      { state: 'writing', checkedAt: expect.any(Number) },
    ]);
    await ownerOf(tab).call('household');
    const live = await dumpOf(tab);
    await ownerOf(tab).call('rebuild');
    const again = await dumpOf(tab);
    for (const name of ['messages', 'talks', 'replacements', 'kinds']) expect(again[name], name).toEqual(live[name]);
    expect(
      (await tab.evaluate(() => indexedDB.databases())).filter(({ name }) => name?.startsWith('roost-views-')),
    ).toHaveLength(1);
    const { news } = await tab.evaluate(() => ({
      news: JSON.stringify(window.roost.news.filter((item) => item.news === 'progress')),
    }));
    expect(news).toContain('"task":"rebuild"');
    expect(news.endsWith('{"news":"progress","progress":null}]')).toBe(true);
  });
});

describe('what is forgotten', () => {
  const SECRET = 'planted-secret-words';
  const spoken = (n: number, agentId: string) =>
    messageDoc(n, { agentId, blocks: [{ kind: 'text', text: `${SECRET} ${agentId} ${n}` }] });
  const forget = (n: number, kind: 'agent' | 'conversation', agentId: string, finalAt: number): Doc => ({
    _id: `forget:${n}`,
    type: 'forget',
    schema: 1,
    at: messageDoc(n).at,
    target: { kind, agentId },
    askedAt: 1,
    finalAt,
  });
  const FAR = 4_000_000_000_000;

  it('hides forgotten documents at once, shows them again on undo, and exports none once final', async () => {
    await append([...range(0, 5).map((n) => spoken(n, 'a1')), ...range(5, 8).map((n) => spoken(n, 'a2'))]);
    await append([forget(100, 'conversation', 'a1', FAR)]);
    expect(await messages()).toEqual([]);
    expect((await ownerOf(tab).call('household')).forgetting).toHaveLength(1);
    expect((await ownerOf(tab).call('wakeMaterial', { agentIds: ['a1'], cap: 1_000 }))[0]?.sessions).toEqual([]);
    await append([messageDoc(101)]);
    expect(await messages()).toEqual(['m101']);
    await append([
      { _id: 'forget-undo:1', type: 'forget-undo', schema: 1, at: messageDoc(102).at, forgetId: 'forget:100' },
    ]);
    expect(await messages()).toHaveLength(6);
    expect((await ownerOf(tab).call('household')).forgetting).toEqual([]);
  });

  it('removes forgotten documents from volumes, views and journal once final, and they do not return', async () => {
    const first = range(0, 2_100).map((n) => spoken(n, n % 2 === 0 ? 'a1' : 'a2'));
    for (let n = 0; n < first.length; n += 300) await append(first.slice(n, n + 300));
    await append([identityDoc(3_000, 'a1', 0, `${SECRET} a1 soul`), identityDoc(3_001, 'a2', 1, 'a2 stays')]);
    await drained(tab);
    await append([spoken(3_002, 'a1')]);
    const find = async (text: string) =>
      (await ownerOf(tab).call('search', { text, limit: 5 })).hits.map(({ id }) => id);
    const index = () => tab.evaluate(() => window.roost.searchIndex());
    await expect.poll(() => find('secret 3002')).toEqual(['message:m3002']);
    await expect.poll(() => find('secret 2099')).toEqual(['message:m2099']);
    expect(await index()).toContain('message:m3002');
    await append([forget(3_003, 'agent', 'a1', 1)]);
    await tab.waitForFunction(() => window.roost.news.some((item) => item.news === 'forgotten'), undefined, {
      timeout: 60_000,
    });
    expect(await append([spoken(4_000, 'a1'), spoken(2, 'a1')])).toEqual({ written: 0 });
    expect(await ownerOf(tab).call('compare', [spoken(2, 'a1'), spoken(1, 'a2'), spoken(4_001, 'a2')])).toEqual({
      fresh: ['message:m4001'],
      same: 1,
      different: [],
      forgotten: 1,
    });
    expect(await messages()).toEqual([]);
    expect(await find('secret 3002')).toEqual([]);
    // Of an agent, its words, and what the index itself knows of them.
    await expect.poll(index).not.toContain('message:m3002');
    expect(await index()).not.toContain('agent-identity:a1');
    expect(await find('secret 2099')).toEqual(['message:m2099']);
    expect((await ownerOf(tab).call('household')).identities.map(({ agentId }) => agentId)).toEqual(['a2']);
    expect(await ownerOf(tab).call('storage')).toMatchObject({ documents: 1_052 });
    await drained(tab);
    await home.closeTabs();
    tab = await home.tab('?closed');
    const everything = await tab.evaluate(() => window.roost.everything());
    expect(everything).not.toContain(`${SECRET} a1`);
    expect(everything).toContain(`${SECRET} a2 2099`);
    expect(everything).toContain('a2 stays');
  });
});
