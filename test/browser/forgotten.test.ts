/**
 * After an agent is forgotten for good, its words are looked for in everything that the browser
 * stores for the page, in what its search finds, and in what it exports.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterEach, expect, it } from 'vitest';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createOwnerLine } from '../support/owner-line.ts';
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

/** Databases with their stores, files and caches of the page's origin that have the words. */
const placesOf = (page: Page, words: string): Promise<readonly string[]> =>
  page.evaluate(async (wanted) => {
    const found: string[] = [];
    const latin = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);
    const wide = (text: string) => [...text].map((char) => `${char}\0`).join('');
    const has = (text: string) => text.includes(wanted) || text.includes(wide(wanted));
    function hasIn(value: unknown): boolean {
      if (typeof value === 'string') return has(value);
      if (value instanceof ArrayBuffer) return has(latin(new Uint8Array(value)));
      if (ArrayBuffer.isView(value))
        return has(latin(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)));
      if (value instanceof Map || value instanceof Set) return hasIn([...value]);
      return (
        typeof value === 'object' &&
        value !== null &&
        Object.entries(value).some(([name, each]) => has(name) || hasIn(each))
      );
    }
    const result = <Value>(request: IDBRequest<Value>) =>
      new Promise<Value>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('The database cannot be read.'));
      });
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await result(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const rows = database.transaction(store).objectStore(store);
        const [keys, values] = await Promise.all([result(rows.getAllKeys()), result(rows.getAll())]);
        if (hasIn(keys) || hasIn(values)) found.push(`${name}/${store}`);
      }
      database.close();
    }
    async function inFolder(directory: FileSystemDirectoryHandle, path: string): Promise<void> {
      for await (const [name, handle] of directory.entries())
        if (handle instanceof FileSystemDirectoryHandle) await inFolder(handle, `${path}/${name}`);
        else if (hasIn(await (await (handle as FileSystemFileHandle).getFile()).arrayBuffer()))
          found.push(`${path}/${name}`);
    }
    await inFolder(await navigator.storage.getDirectory(), 'files');
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const answer of await cache.matchAll()) if (has(await answer.text())) found.push(`cache ${name}`);
    }
    if (hasIn({ ...localStorage }) || hasIn({ ...sessionStorage })) found.push('storage');
    return found;
  }, words);

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
  const before = await placesOf(page, WORDS);
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
  await expect.poll(() => placesOf(page, WORDS), { timeout: 120_000, interval: 1_000 }).toEqual([]);
  await expect.poll(search).toBe(0);
  await page.reload();
  expect(await placesOf(page, WORDS)).toEqual([]);

  await page.getByRole('button', { name: 'More places' }).click();
  await page.getByRole('menuitem', { name: /^Settings/ }).click();
  const sections = page.getByRole('navigation', { name: 'Settings' });
  await sections.getByRole('link', { name: /^Devices and data/ }).click();
  await page.getByRole('link', { name: 'Export & import' }).click();
  await page.getByRole('checkbox', { name: 'Under a passphrase' }).uncheck();
  const [file] = await Promise.all([page.waitForEvent('download'), visitor.press('Export everything')]);
  await file.saveAs(join(folder, 'export'));
  const text = gunzipSync(await readFile(join(folder, 'export'))).toString('utf8');
  expect(text).toContain('agent-identity');
  expect(text).not.toContain('quillfeather');
});
