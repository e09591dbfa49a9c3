/**
 * A closed browser profile whose files are damaged, one kind of damage at a time, and what is there
 * when it is opened again: everything that was ever acknowledged, once, within a bounded time, and
 * the person told.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createProfile, STILL, type Profile } from '../support/chromium.ts';
import { deviceOf } from '../support/devices.ts';
import { generateHousehold } from '../support/household-generator.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import { startRelay, type RelayOrigin, type TestRelay } from '../support/relay.ts';
import type { Kind } from './damage-kinds.ts';
import { letIn } from '../support/sign-in.ts';

export interface RoundOptions {
  /**
   * What starts again to see that it lasts: the whole browser (the default), or the owner alone,
   * which is a second of a browser's time.
   */
  readonly next?: 'browser' | 'owner';
}

export interface DamagedHome {
  /** The relay's, whichever it is. */
  readonly url: string;
  readonly documents: number;
  /**
   * Opens the profile as `kind` left it. Rejects with what is wrong; answers ms until everything
   * was there, and how often the person was told.
   */
  round(kind: Kind, options?: RoundOptions): Promise<{ readonly ms: number; readonly told: number }>;
  /** The profile as it was when it was closed, and then harmed. */
  harmed(kind: Kind): Promise<void>;
  /** Harms the profile as it is now. No browser may be open. */
  harmedFurther(harm: (directory: string) => Promise<void>): Promise<void>;
  /** Starts a browser on the profile as it is, with its page in a tab. The relay may be away. */
  open(): Promise<BrowserContext>;
  /** One more tab. */
  tab(context: BrowserContext): Promise<Page>;
  /**
   * Resolves when everything is there, once, for who asks in this tab: with the ms that it took.
   * Rejects with what is wrong.
   */
  untilWhole(page: Page, what: string): Promise<number>;
  /** Ends the browser as a crash would. */
  killBrowser(): Promise<void>;
  /** Ends the relay at once; `startRelay` starts it on the same home and port. */
  killRelay(): Promise<void>;
  startRelay(): Promise<void>;
  /** From now on the relay at the same address is one that has never heard of anybody. */
  freshRelay(): Promise<void>;
  close(): Promise<void>;
}

const TOLD = 'The browser had lost what it stored';
/** What is for somebody new, and what is for a browser that cannot be helped. */
const NEVER_SHOWN = [
  'A home for a team that remembers',
  'The team could not be read',
  'The browser cannot read what it stored',
];

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

/** So many documents are written in a moment. */
const SMALL = 1_000;
/**
 * ms after which what is not there is not awaited any more: the bar, and what a busy machine adds.
 */
const PATIENCE_MS = 45_000;

export interface DamagedHomeOptions {
  readonly messages: number;
  readonly from: RelayOrigin;
  /**
   * Default true: a copy of before the last documents, for the kinds of damage that put it back.
   */
  readonly hasOlder?: boolean;
}

export async function createDamagedHome({ messages, from, hasOlder = true }: DamagedHomeOptions): Promise<DamagedHome> {
  let relay: TestRelay = await startRelay({ from });
  const { port } = relay;
  const profile: Profile = await createProfile();
  const copies = await mkdtemp(join(tmpdir(), 'roost-damage-'));
  const [whole, older] = [join(copies, 'whole'), join(copies, 'older')];
  const expected = new Map<string, string>();

  let browser: BrowserContext | null = null;
  let isKilled = false;
  async function openBrowser(): Promise<BrowserContext> {
    const context = await profile.open(STILL);
    browser = context;
    context.once('close', () => {
      if (browser === context) browser = null;
    });
    return context;
  }
  async function opened(): Promise<Page> {
    const context = await openBrowser();
    await letIn(context, relay.url, await relay.signIn());
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
    // Files follow within a quarter of a second; volumes in their own time, and most of a large
    // household is in them.
    await pause(docs.length > SMALL ? 1_500 : 600);
    for (const [id, doc] of await owner.documents()) expected.set(id, JSON.stringify(doc));
    await page.context().close();
  }
  const docs = [...generateHousehold({ seed: 1, messages, lastSession: 20 })].flat();
  const last = hasOlder ? Math.floor(docs.length * 0.8) : 0;
  if (hasOlder) {
    await put(docs.slice(0, last));
    await cp(profile.directory, older, { recursive: true });
  }
  await put(docs.slice(last));
  await cp(profile.directory, whole, { recursive: true });

  /** What is not as it was, in a sentence; null: everything is. */
  function wrongWith(found: ReadonlyMap<string, unknown>): string | null {
    const lost = [...expected.keys()].filter((id) => !found.has(id));
    const others = [...expected].filter(([id, text]) => found.has(id) && JSON.stringify(found.get(id)) !== text);
    if (lost.length > 0)
      return `${lost.length} of ${expected.size} documents are missing: ${lost.slice(0, 3).join(', ')}`;
    if (others.length > 0) return `${others.length} documents are not what they were: ${others[0]?.[0] ?? ''}`;
    return null;
  }

  /**
   * Asks little until all of it is counted: what is asked takes its part of the worker. Answers ms
   * until then; afterwards every document is compared.
   */
  async function untilWhole(page: Page, what: string): Promise<number> {
    const began = performance.now();
    let wrong = 'nothing was read';
    for (let owner = createOwnerLine(page); ; owner = createOwnerLine(page)) {
      const asked = (async () => ({ status: await owner.call('syncStatus'), ...(await owner.call('storage')) }))();
      const found = await Promise.race([asked, pause(4_000).then(() => null)]).catch((error: unknown) => {
        wrong = String(error);
        return undefined;
      });
      if (found && found.documents >= expected.size && found.status.kind !== 'returning') {
        const ms = performance.now() - began;
        // What is damaged may be found out only where it is read.
        const all = await Promise.race([owner.documents(), pause(PATIENCE_MS).then(() => null)]).catch(() => null);
        const different = all === null ? 'not every document can be read' : wrongWith(all);
        if (different === null && found.documents === expected.size) return ms;
        wrong = different ?? `${found.documents} documents are counted, and ${expected.size} are there`;
      } else if (found) wrong = `${found.documents} of ${expected.size} documents are there`;
      if (performance.now() - began > PATIENCE_MS)
        throw new Error(
          `${what}: ${wrong}. The page says: ${(await page.locator('body').innerText()).slice(0, 600)}; ${JSON.stringify(await owner.news().catch(String)).slice(0, 1_000)}`,
        );
      await pause(100);
      // The worker was begun anew: what was asked of the one before is not answered.
      if (found === null) await page.evaluate(() => delete window.ownerLine);
    }
  }
  /** Whatever a round that failed has left: its failure is to be the only one. */
  async function tidy(): Promise<void> {
    if (browser) await profile.kill();
    if (isKilled) await started();
  }
  async function started(): Promise<void> {
    relay = await startRelay({ from, port, home: relay.home, signIn: await relay.signIn() });
    isKilled = false;
  }
  async function harmed(kind: Kind): Promise<void> {
    await tidy();
    await rm(profile.directory, { recursive: true, force: true });
    await cp(whole, profile.directory, { recursive: true });
    await kind.harm(profile.directory, older);
  }
  async function tab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    await page.goto(relay.url);
    return page;
  }

  return {
    url: relay.url,
    documents: expected.size,
    harmed,
    harmedFurther: (harm) => harm(profile.directory),
    tab,
    untilWhole,
    async open() {
      const context = await openBrowser();
      await letIn(context, relay.url, await relay.signIn());
      return context;
    },
    killBrowser: () => profile.kill(),
    async killRelay() {
      isKilled = true;
      await relay.kill('SIGKILL');
    },
    startRelay: started,
    async round(kind, { next: starts = 'browser' } = {}) {
      await harmed(kind);
      let context = await openBrowser();
      try {
        const page = await context.newPage();
        await page.addInitScript(rememberWords);
        // A fresh relay lets nobody in before its link was used: that is no part of the time.
        await letIn(context, relay.url, await relay.signIn());
        const began = performance.now();
        await page.goto(relay.url);
        const openedAfter = performance.now() - began;
        const ms = openedAfter + (await untilWhole(page, kind.name));
        await page
          .getByRole('list', { name: /team/i })
          .first()
          .waitFor({ timeout: PATIENCE_MS })
          .catch(() => undefined);
        await pause(500);
        const shown = await page.evaluate(() => window.shownWords ?? '');
        for (const words of NEVER_SHOWN)
          if (shown.includes(words)) throw new Error(`${kind.name}: the page has shown “${words}”.`);
        const told = await toldOn(page);
        // The next start is an ordinary one. (A repair that takes two starts may be told with the
        // second.) The owner ends with its last tab.
        if (starts === 'owner') await page.close();
        else {
          await context.close();
          context = await openBrowser();
          await letIn(context, relay.url, await relay.signIn());
        }
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
      await tidy();
      await relay.stop();
      relay = await startRelay({ from, port });
    },
    async close() {
      await profile.remove();
      await relay.stop();
      await rm(relay.home, { recursive: true, force: true });
      await rm(copies, { recursive: true, force: true });
    },
  };
}
