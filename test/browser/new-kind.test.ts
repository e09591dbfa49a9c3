/**
 * A kind of documents that is one definition and one line, in the real ledger: kept before it is
 * known, folded from then on.
 */
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Plugin } from 'vite';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createGuest } from '../support/chromium.ts';
import { stampOf } from '../support/documents.ts';
import { ownerOf } from '../support/ledger-harness.ts';
import type {} from '../support/ledger-page/main.ts';
import { buildPage, servePage, type BuiltPage, type PageServer } from '../support/page-server.ts';

const FOLDER = 'ledger-page';
const WEATHER = fileURLToPath(new URL('../support/weather-kind.ts', import.meta.url));
/** The next Roost: its list has one line more. */
const nextRoost: Plugin = {
  name: 'next-roost',
  transform: {
    filter: { id: /src\/shared\/protocol\/documents\/kinds\.ts$/ },
    handler: (code) => `import { weather } from ${JSON.stringify(WEATHER)};\n${code}\naddKind(weather);\n`,
  },
};
const report = (n: number, place: string, celsius: number): Doc => ({
  _id: `weather:${n}`,
  type: 'weather',
  schema: 2,
  at: stampOf(n),
  place,
  celsius,
});
const old: Doc = { _id: 'weather:4', type: 'weather', schema: 1, at: stampOf(4), place: 'Oslo', fahrenheit: 50 };

const profile = createGuest();
let context: BrowserContext;
let pages: { readonly now: BuiltPage; readonly next: BuiltPage };
let server: PageServer;

async function open(page: BuiltPage, port = 0): Promise<Page> {
  server = await servePage(page, undefined, { port });
  const tab = await context.newPage();
  await tab.goto(server.url);
  await tab.evaluate(() => void window.roost.open());
  return tab;
}
async function leave(tab: Page): Promise<void> {
  await tab.close();
  await server.close();
}
const everything = async (tab: Page) =>
  (await ownerOf(tab).call('documents', { after: null, limit: 100, agentId: null })).docs;

beforeAll(async () => {
  context = await profile.open();
  pages = { now: await buildPage(FOLDER), next: await buildPage(FOLDER, [nextRoost]) };
});
afterAll(() => profile.remove());

it('stores a document of an unknown kind, and applies it once the kind is known', async () => {
  const docs = [report(1, 'Oslo', -3), report(2, 'Rome', 21), old, report(3, 'Oslo', -7)];
  let tab = await open(pages.now);
  const port = Number(new URL(server.url).port);
  await ownerOf(tab).call('append', docs);
  expect((await ownerOf(tab).call('household')).records).toEqual([]);
  expect(await everything(tab)).toHaveLength(4);
  await leave(tab);

  // The next version finds views that were written by another list, and writes them anew.
  tab = await open(pages.next, port);
  const records = async () => (await ownerOf(tab).call('household')).records.map((doc) => doc._id).sort();
  expect(await records()).toEqual(['weather:2', 'weather:4']);
  expect((await everything(tab)).find(({ _id }) => _id === 'weather:4')).toMatchObject({ schema: 2, celsius: 10 });
  await ownerOf(tab).call('append', [report(5, 'Rome', 24)]);
  expect(await records()).toEqual(['weather:4', 'weather:5']);
  await leave(tab);

  // And the one before hands on what the next one wrote.
  tab = await open(pages.now, port);
  expect((await everything(tab)).map((doc) => doc._id).sort()).toEqual(
    [...docs, report(5, 'Rome', 24)].map((doc) => doc._id).sort(),
  );
  await leave(tab);
});
