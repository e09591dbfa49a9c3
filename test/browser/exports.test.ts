import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createGuest } from '../support/chromium.ts';
import { changeDoc, identityDoc, messageDoc, sessionEnd, sessionStart, settingDoc } from '../support/documents.ts';
import { buildPage, servePage, type BuiltPage, type PageServer } from '../support/page-server.ts';
import { shared } from '../support/shared.ts';

const WEIRD = '\ud800 half, \0 nul, \u2028 line, \ufeff mark, 🐓 bird, "quoted" \\ and \r\n';
const range = (n: number) => Array.from({ length: n }, (_, i) => i);
const HOUSE: Doc[] = [
  identityDoc(1, 'lead', 4, ''),
  identityDoc(2, 'a1', 0, WEIRD),
  identityDoc(3, 'a2', 1),
  changeDoc(4, 'a1', { kind: 'rename', name: 'Lyra' }),
  settingDoc(5, 'humanName', 'Ada'),
  sessionStart(6, 's1'),
  ...range(700).map((n) =>
    messageDoc(10 + n, { agentId: n % 2 ? 'a1' : 'a2', blocks: [{ kind: 'text', text: `${n} ${WEIRD}` }] }),
  ),
  messageDoc(800, { blocks: [{ kind: 'text', text: 'long '.repeat(100_000) }] }),
  sessionEnd(900, 's1'),
  {
    _id: 'routine:1',
    type: 'routine',
    schema: 2,
    at: messageDoc(901).at,
    agentId: 'a1',
    when: { every: ['morning', WEIRD] },
  },
];
const sorted = (docs: readonly Doc[]) => docs.toSorted((a, b) => (a._id < b._id ? -1 : 1));

let built: BuiltPage;
let server: PageServer;
const profiles = createGuest();

beforeAll(async () => {
  built = await buildPage('exports-page');
  server = await servePage(built);
});
afterAll(() => server.close());
afterEach(() => profiles.remove());

/** A tab in a browser profile that nobody has used. */
async function household(docs: readonly Doc[] = [], profile = profiles): Promise<Page> {
  const tab = await (await profile.open()).newPage();
  await tab.goto(server.url);
  if (docs.length > 0) await tab.evaluate((json) => window.exportsPage.append(json), JSON.stringify(docs));
  return tab;
}

const keeper = createGuest();
/** The household of `HOUSE`, of which tests make copies; none of them changes it. */
const house = shared(
  () => household(HOUSE, keeper),
  () => keeper.remove(),
);

const everythingIn = async (tab: Page) =>
  JSON.parse(await tab.evaluate(() => window.exportsPage.everything())) as Doc[];
const carry = async (from: Page, to: Page) =>
  to.evaluate((base64) => window.exportsPage.keep(base64), await from.evaluate(() => window.exportsPage.kept()));

describe('A copy of a household in Chromium', () => {
  it('gives another household the same documents, under a passphrase, and the page stays awake while it is stretched', async () => {
    const home = await house();
    const made = await home.evaluate(() => window.exportsPage.exportHousehold('corr\u00e9ct horse'));
    expect(made.documents).toBe(HOUSE.length);
    expect(made.ticks).toBeGreaterThan(3);
    const other = await household();
    await carry(home, other);
    expect(await other.evaluate(() => window.exportsPage.openingFails(null))).toBe('needs-passphrase');
    expect(await other.evaluate(() => window.exportsPage.openingFails('wrong'))).toBe('wrong-passphrase');
    const first = JSON.parse(await other.evaluate(() => window.exportsPage.importKept('corr\u00e9ct horse'))) as Record<
      string,
      unknown
    >;
    expect(first).toMatchObject({
      preview: { sealed: true, fresh: HOUSE.length, different: 0 },
      imported: { documents: HOUSE.length, written: HOUSE.length },
    });
    expect(await everythingIn(other)).toEqual(sorted(HOUSE));
  });

  it('changes nothing when a copy is imported twice', async () => {
    const home = await house();
    await home.evaluate(() => window.exportsPage.exportHousehold(null));
    const again = JSON.parse(await home.evaluate(() => window.exportsPage.importKept(null))) as Record<string, unknown>;
    expect(again).toMatchObject({
      preview: { fresh: 0, same: HOUSE.length, different: 0, conflicts: [] },
      imported: { written: 0 },
    });
    expect(await everythingIn(home)).toEqual(sorted(HOUSE));
  });

  it('refuses a copy that is cut or damaged, and imports nothing of it', async () => {
    const home = await house();
    await home.evaluate(() => window.exportsPage.exportHousehold(null));
    const whole = Buffer.from(await home.evaluate(() => window.exportsPage.kept()), 'base64');
    const other = await household();
    const opening = async (bytes: Buffer) => {
      await other.evaluate((base64) => window.exportsPage.keep(base64), bytes.toString('base64'));
      return other.evaluate(() => window.exportsPage.openingFails(null));
    };
    expect(await opening(whole)).toBeNull();
    for (const length of [20, whole.length >> 1, whole.length - 1])
      expect(await opening(whole.subarray(0, length)), `${length} bytes`).toBe('cut-short');
    for (const at of [40, whole.length >> 1, whole.length - 6]) {
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(whole.readUInt8(at) ^ 0x5a, at);
      expect(await opening(flipped), `byte ${at}`).toBe('damaged');
    }
    expect(await everythingIn(other)).toEqual([]);
  });
});

describe('One agent in Chromium', () => {
  it('exports an agent into a zip, and imports it into another household as a copy', async () => {
    const home = await house();
    await home.evaluate(() => window.exportsPage.exportAgent('a1'));
    const other = await household();
    await carry(home, other);
    const { parsed, docs } = JSON.parse(await other.evaluate(() => window.exportsPage.adoptKept('b1'))) as {
      parsed: Record<string, unknown>;
      docs: Doc[];
    };
    const own = HOUSE.filter((doc) => doc['agentId'] === 'a1' || doc.type === 'session');
    expect(parsed).toMatchObject({
      agentId: 'a1',
      name: 'Lyra',
      soul: WEIRD,
      messages: 351,
      sessions: 1,
      warnings: [],
    });
    expect(sorted(parsed['documents'] as Doc[])).toEqual(sorted(own));
    expect(await everythingIn(other)).toEqual(sorted(docs));
  });
});

describe('The worker of exports', () => {
  it('reports a worker whose file can no longer be fetched', async () => {
    const home = await household();
    // The ledger's own worker is there.
    expect(await everythingIn(home)).toEqual([]);
    await server.close();
    expect(await home.evaluate(() => window.exportsPage.openingFails(null))).toBe('no-worker');
    await home.evaluate(() => window.exportsPage.warm());
    server = await servePage(built);
  });

  it('works without a relay once it was fetched', async () => {
    const home = await household(HOUSE.slice(0, 5));
    await home.evaluate(() => window.exportsPage.warm());
    await server.close();
    expect(await home.evaluate(() => window.exportsPage.exportHousehold(null))).toMatchObject({ documents: 5 });
    server = await servePage(built);
  });
});
