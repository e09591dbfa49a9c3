/**
 * A closed browser profile whose files are damaged, one kind of damage at a time, and what is there when it is opened
 * again: everything that was ever acknowledged, once, within a bounded time, and the person told.
 */
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Doc } from '../../src/protocol/documents.ts';
import { createProfile, type Profile } from '../support/chromium.ts';
import { deviceOf } from '../support/devices.ts';
import { generateHousehold } from '../support/household-generator.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import { startRelay, type RelayOrigin, type TestRelay } from '../support/relay.ts';

/** The three places of a profile, below its directory. */
export const PLACES = { indexedDB: 'Default/IndexedDB', localStorage: 'Default/Local Storage', opfs: 'Default/File System' } as const;
export type PlaceName = keyof typeof PLACES;

export interface Kind {
  readonly name: string;
  /** Nothing is left on the device but the key. */
  readonly needsRelay: boolean;
  /** Harms the profile in `directory`; `older` is a copy of it from before its last documents. Throws where there is nothing of the kind to be harmed. */
  harm(directory: string, older: string): Promise<void>;
}

interface Picked {
  readonly place: PlaceName;
  /** Which of the place's files: the largest of those that match. */
  readonly file: RegExp;
}

async function filesOf(directory: string, place: PlaceName): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
  const below = await readdir(join(directory, PLACES[place]), { recursive: true });
  const looked = await Promise.all(below.map(async (name) => ({ path: join(PLACES[place], name), found: await stat(join(directory, PLACES[place], name)) })));
  return looked.filter(({ found }) => found.isFile()).map(({ path, found }) => ({ path, bytes: found.size }));
}

async function pick(directory: string, { place, file }: Picked): Promise<string> {
  const [found] = (await filesOf(directory, place)).filter(({ path }) => file.test(path)).sort((a, b) => b.bytes - a.bytes);
  if (!found) throw new Error(`There is no file like ${String(file)} in ${place}.`);
  return found.path;
}

const MANIFEST: Picked = { place: 'indexedDB', file: /leveldb\/MANIFEST/ };

const HARMS: Readonly<Record<string, (directory: string, older: string, path: string) => Promise<void>>> = {
  async flipped(directory, _older, path) {
    const bytes = await readFile(join(directory, path));
    // Two places: one may lie in what is never looked at.
    for (const part of [0.3, 0.6]) {
      const at = Math.min(bytes.length - 1, Math.floor(bytes.length * part));
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    }
    await writeFile(join(directory, path), bytes);
  },
  async cut(directory, _older, path) {
    const bytes = await readFile(join(directory, path));
    await writeFile(join(directory, path), bytes.subarray(0, bytes.length >> 1));
  },
  deleted: (directory, _older, path) => rm(join(directory, path)),
  async 'of before'(directory, older, path) {
    const old = await readFile(join(older, path)).catch(() => new Uint8Array());
    await writeFile(join(directory, path), old);
  },
};

const harmed = (what: string, picked: Picked, how: readonly string[]): Kind[] =>
  how.map((way) => ({
    name: `${what}, ${way}`,
    needsRelay: false,
    async harm(directory, older) {
      await HARMS[way]?.(directory, older, await pick(directory, picked));
    },
  }));

/** The database does not open at all, and one more place is gone. */
const noDatabaseWithout = (place: PlaceName): Kind => ({
  name: `the manifest of IndexedDB, deleted, and ${place} gone`,
  needsRelay: place === 'opfs',
  async harm(directory) {
    await rm(join(directory, await pick(directory, MANIFEST)));
    await rm(join(directory, PLACES[place]), { recursive: true, force: true });
  },
});
const gone = (...places: readonly PlaceName[]): Kind => ({
  name: `${places.join(' and ')} gone`,
  needsRelay: places.includes('indexedDB') && places.includes('opfs'),
  harm: async (directory) => {
    for (const place of places) await rm(join(directory, PLACES[place]), { recursive: true, force: true });
  },
});
const asBefore = (place: PlaceName): Kind => ({
  name: `${place} as it was before the last documents`,
  needsRelay: false,
  async harm(directory, older) {
    await rm(join(directory, PLACES[place]), { recursive: true, force: true });
    await cp(join(older, PLACES[place]), join(directory, PLACES[place]), { recursive: true });
  },
});

const ALL = ['flipped', 'cut', 'deleted', 'of before'];
/** The most telling of them come first: the short form takes so many. */
export const KINDS: readonly Kind[] = [
  gone('indexedDB'),
  ...harmed('a table of IndexedDB', { place: 'indexedDB', file: /leveldb\/\d+\.ldb$/ }, ['flipped', 'deleted', 'cut', 'of before']),
  ...harmed('the log of IndexedDB', { place: 'indexedDB', file: /leveldb\/\d+\.log$/ }, ['cut', 'flipped', 'deleted', 'of before']),
  gone('indexedDB', 'localStorage'),
  gone('indexedDB', 'opfs'),
  gone('localStorage', 'opfs'),
  gone('localStorage'),
  gone('opfs'),
  asBefore('indexedDB'),
  asBefore('localStorage'),
  asBefore('opfs'),
  ...harmed('the manifest of IndexedDB', MANIFEST, ALL),
  ...harmed('CURRENT of IndexedDB', { place: 'indexedDB', file: /leveldb\/CURRENT$/ }, ['flipped', 'cut', 'deleted']),
  ...harmed('a blob of IndexedDB', { place: 'indexedDB', file: /\.blob\// }, ['flipped', 'cut', 'deleted']),
  {
    name: 'all blobs of IndexedDB, deleted',
    needsRelay: false,
    async harm(directory) {
      for (const { path } of await filesOf(directory, 'indexedDB')) if (path.includes('.blob/')) await rm(join(directory, path));
    },
  },
  ...harmed('the log of localStorage', { place: 'localStorage', file: /\.(log|ldb)$/ }, ALL),
  ...harmed('the manifest of localStorage', { place: 'localStorage', file: /MANIFEST/ }, ['flipped', 'deleted']),
  ...harmed('a segment in OPFS', { place: 'opfs', file: /\/\d\d\/\d{8}$/ }, ALL),
  ...harmed('the paths of OPFS', { place: 'opfs', file: /Paths\/.*\.(log|ldb)$/ }, ALL),
  ...harmed('the origins of OPFS', { place: 'opfs', file: /Origins\/.*\.(log|ldb)$/ }, ['flipped', 'deleted']),
  noDatabaseWithout('localStorage'),
  noDatabaseWithout('opfs'),
];

export interface DamagedHome {
  readonly documents: number;
  /** Opens the profile as `kind` left it. Rejects with what is wrong; answers ms until everything was there, and how often the person was told. */
  round(kind: Kind): Promise<{ readonly ms: number; readonly told: number }>;
  /** From now on the relay at the same address is one that has never heard of anybody. */
  freshRelay(): Promise<void>;
  close(): Promise<void>;
}

const TOLD = 'The browser had lost what it stored';
/** What is for somebody new, and what is for a browser that cannot be helped. */
const NEVER_SHOWN = ['A home for a team that remembers', 'The team could not be read', 'The browser cannot read what it stored'];

declare global {
  interface Window {
    /** Every line that was on the page at any time. */
    shownWords?: string;
  }
}
/** Runs in the page. */
function rememberWords() {
  const seen = new Set<string>();
  new MutationObserver(() => {
    for (const line of (document.body?.innerText ?? '').split('\n')) seen.add(line);
    window.shownWords = [...seen].join('\n');
  }).observe(document, { subtree: true, childList: true, characterData: true });
}
async function painted(page: Page): Promise<Page> {
  await page.locator('#root > *').first().waitFor();
  return page;
}
const toldOn = async (page: Page) => (await page.locator('body').innerText()).split(TOLD).length - 1;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** ms after which what is not there is not awaited any more: the bar, and what a busy machine adds. */
const PATIENCE_MS = 45_000;

export async function createDamagedHome({ messages, from }: { readonly messages: number; readonly from: RelayOrigin }): Promise<DamagedHome> {
  let relay: TestRelay = await startRelay({ from });
  const { port } = relay;
  const profile: Profile = await createProfile();
  const copies = await mkdtemp(join(tmpdir(), 'roost-damage-'));
  const [whole, older] = [join(copies, 'whole'), join(copies, 'older')];
  const expected = new Map<string, string>();

  async function opened(): Promise<Page> {
    const context = await profile.open();
    await context.addCookies(await cookiesOf(relay));
    const page = await context.newPage();
    await page.goto(relay.url);
    return painted(page);
  }
  async function put(docs: readonly Doc[]) {
    const page = await opened();
    const owner = createOwnerLine(page);
    for (let at = 0; at < docs.length; at += 200) await owner.call('append', docs.slice(at, at + 200));
    const device = deviceOf(profile, page.context(), page);
    for (const end = Date.now() + PATIENCE_MS; ; await pause(50)) {
      const status = await device.owner.call('syncStatus');
      if (status.kind === 'alone' && status.kept?.link === 'live' && status.kept.toSend === 0) break;
      if (Date.now() > end) throw new Error(`not everything was handed over: ${JSON.stringify(status)}`);
    }
    // Files follow within a quarter of a second, volumes in their own time.
    await pause(1_500);
    for (const [id, doc] of await owner.documents()) expected.set(id, JSON.stringify(doc));
    await page.context().close();
  }
  const docs = [...generateHousehold({ seed: 1, messages, lastSession: 20 })].flat();
  const last = Math.floor(docs.length * 0.8);
  await put(docs.slice(0, last));
  await cp(profile.directory, older, { recursive: true });
  await put(docs.slice(last));
  await cp(profile.directory, whole, { recursive: true });

  /** What is not as it was, in a sentence; null: everything is. */
  function wrongWith(found: ReadonlyMap<string, unknown>): string | null {
    const lost = [...expected.keys()].filter((id) => !found.has(id));
    const others = [...expected].filter(([id, text]) => found.has(id) && JSON.stringify(found.get(id)) !== text);
    if (lost.length > 0) return `${lost.length} of ${expected.size} documents are missing: ${lost.slice(0, 3).join(', ')}`;
    if (others.length > 0) return `${others.length} documents are not what they were: ${others[0]?.[0] ?? ''}`;
    return null;
  }

  return {
    documents: expected.size,
    async round(kind) {
      await rm(profile.directory, { recursive: true, force: true });
      await cp(whole, profile.directory, { recursive: true });
      await kind.harm(profile.directory, older);
      let context = await profile.open();
      try {
        const page = await context.newPage();
        await page.addInitScript(rememberWords);
        // A fresh relay lets nobody in before its link was used: that is no part of the time.
        await context.addCookies(await cookiesOf(relay));
        const began = performance.now();
        await page.goto(relay.url);
        let wrong: string | null = 'nothing was read';
        let owner = createOwnerLine(page);
        for (;;) {
          const found = await Promise.race([owner.documents(), pause(4_000).then(() => null)]).catch((error: unknown) => {
            wrong = String(error);
            return undefined;
          });
          if (found) wrong = wrongWith(found);
          if (wrong === null) break;
          if (performance.now() - began > PATIENCE_MS) throw new Error(`${kind.name}: ${wrong}. The page says: ${(await page.locator('body').innerText()).slice(0, 600)}; ${JSON.stringify(await owner.news().catch(String)).slice(0, 1_000)}`);
          await pause(50);
          // The worker was begun anew: what was asked of the one before is not answered.
          if (found === null) await page.evaluate(() => delete window.ownerLine);
          owner = createOwnerLine(page);
        }
        const ms = performance.now() - began;
        const { documents } = await owner.call('storage');
        if (documents !== expected.size) throw new Error(`${kind.name}: ${documents} documents are counted, and ${expected.size} are there.`);
        await page.getByRole('list', { name: /team/i }).first().waitFor({ timeout: PATIENCE_MS }).catch(() => undefined);
        await pause(500);
        const shown = await page.evaluate(() => window.shownWords ?? '');
        for (const words of NEVER_SHOWN) if (shown.includes(words)) throw new Error(`${kind.name}: the page has shown “${words}”.`);
        const told = await toldOn(page);
        await context.close();
        // The next start is an ordinary one. (A repair that takes two starts may be told with the second.)
        context = await profile.open();
        await context.addCookies(await cookiesOf(relay));
        const next = await context.newPage();
        await next.goto(relay.url);
        const still = wrongWith(await createOwnerLine(await painted(next)).documents());
        if (still !== null) throw new Error(`${kind.name}: at the next start ${still}.`);
        await pause(1_500);
        const later = await toldOn(next);
        if (told > 0 && later > 0) throw new Error(`${kind.name}: it is told again.`);
        return { ms, told: told + later };
      } finally {
        await context.close();
      }
    },
    async freshRelay() {
      await relay.stop();
      relay = await startRelay({ from, port });
      signedIn = null;
    },
    async close() {
      await profile.remove();
      await relay.stop();
      await rm(copies, { recursive: true, force: true });
    },
  };
}

let signedIn: { readonly relay: TestRelay; readonly cookie: string } | null = null;
async function cookiesOf(relay: TestRelay) {
  if (signedIn?.relay !== relay) signedIn = { relay, cookie: await relay.cookie() };
  const at = signedIn.cookie.indexOf('=');
  const [name, value] = [signedIn.cookie.slice(0, at), signedIn.cookie.slice(at + 1)];
  return [{ name, value, url: relay.url, httpOnly: true, sameSite: 'Strict' as const }];
}
