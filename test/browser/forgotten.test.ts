/**
 * After an agent is forgotten for good, its words are looked for in everything that the browser
 * stores for the page, in what its search finds, and in what it exports.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import { placesInBrowser } from '../support/places-in-browser.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor } from '../support/visitor.ts';

/** No other text of the page has them. */
const WORDS = 'quillfeather marmalade';
const DAY = 86_400_000;

let relay: TestRelay | null = null;
let profile: Guest | null = null;
let folder = '';
afterEach(async () => {
  await profile?.remove();
  await relay?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('a forgotten agent is in no database, file, search or export of the browser', { timeout: 300_000 }, async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-forgotten-'));
  relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
  profile = createGuest();
  const context = await profile.open({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...QUIET });
  // Without a question where the file goes.
  await context.addInitScript(() => Object.defineProperty(globalThis, 'showSaveFilePicker', { value: undefined }));
  const visitor = await createVisitor(context, relay.link);
  const { page } = visitor;
  await visitor.begin();
  await visitor.hatch(1);
  await visitor.open(1);
  await visitor.ask(`Remember the ${WORDS}.`);
  await visitor.press('End session');
  await visitor.untilSeats('it asleep', ([first]) => first?.state === 'sleeping');
  const name = (await visitor.seats())[0]?.name ?? '';
  const owner = createOwnerLine(page);
  const search = async () => {
    const { hits, state } = await owner.call('search', { text: 'quillfeather', limit: 10 });
    return state.kind === 'ready' ? hits.length : null;
  };
  await expect.poll(search).toBeGreaterThan(0);
  const before = await placesInBrowser(page, WORDS);
  expect(before.length).toBeGreaterThan(0);

  const { identities } = await owner.call('household');
  const agentId = identities.find((each) => each.name === name)?.agentId ?? '';
  const forget: Doc = {
    ...{ _id: 'forget:1', type: 'forget', schema: 1, target: { kind: 'agent', agentId } },
    ...{ at: formatStamp({ time: Date.now(), counter: 1, node: 'test' }), askedAt: Date.now() - 31 * DAY },
    finalAt: Date.now() - DAY,
  };
  await owner.call('append', [forget]);
  await visitor.untilSeats('an empty seat', ([first]) => first?.state === 'empty');
  await expect.poll(() => placesInBrowser(page, WORDS), { timeout: 120_000, interval: 1_000 }).toEqual([]);
  await expect.poll(search).toBe(0);
  await page.reload();
  expect(await placesInBrowser(page, WORDS)).toEqual([]);

  await page.getByRole('button', { name: 'More places' }).click();
  await page.getByRole('menuitem', { name: /^Settings/ }).click();
  const sections = page.getByRole('navigation', { name: 'Settings' });
  await sections.getByRole('link', { name: /^Devices and data/ }).click();
  await page.getByRole('link', { name: 'Export & import' }).click();
  await page.getByRole('checkbox', { name: 'With a passphrase' }).uncheck();
  const [file] = await Promise.all([page.waitForEvent('download'), visitor.press('Export everything')]);
  await file.saveAs(join(folder, 'export'));
  const text = gunzipSync(await readFile(join(folder, 'export'))).toString('utf8');
  expect(text).toContain('agent-identity');
  expect(text).not.toContain('quillfeather');
});
