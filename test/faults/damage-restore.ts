/**
 * What may happen while a lost household is being brought back: in the end everything is there,
 * once.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { messageDoc } from '../support/documents.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import type { DamagedHome } from './damage.ts';
import { harmBucket, kindNamed } from './damage-kinds.ts';

const NO_DATABASE = kindNamed('indexedDB gone');
const ONLY_THE_RELAY = kindNamed('indexedDB and opfs gone');
const NEVER_OPENS = kindNamed('the manifest of IndexedDB, deleted');

export interface Interruption {
  readonly name: string;
  /** The relay has what was here before. */
  run(home: DamagedHome): Promise<void>;
}

const SOON_MS = 1_000;
/** A small household may be back before anybody has looked: then this is a moment just after it. */
const underWay = (page: Page) =>
  page
    .getByRole('heading', { name: 'Bringing your team back' })
    .waitFor({ timeout: SOON_MS })
    .catch(() => undefined);

/** Every way in which a restore may be broken into. */
export const INTERRUPTIONS: readonly Interruption[] = [
  {
    name: 'the browser is killed in the middle of it, and started again with two tabs',
    async run(home) {
      await home.harmed(NO_DATABASE);
      const first = await home.tab(await home.open());
      await underWay(first);
      await home.killBrowser();
      const context = await home.open();
      const [one, other] = await Promise.all([home.tab(context), home.tab(context)]);
      await home.untilWhole(one, 'after the kill');
      await home.untilWhole(other, 'after the kill, in the other tab');
      await context.close();
    },
  },
  {
    name: 'two tabs are opened at once',
    async run(home) {
      await home.harmed(NO_DATABASE);
      const context = await home.open();
      const [one, other] = await Promise.all([home.tab(context), home.tab(context)]);
      await home.untilWhole(one, 'in the one tab');
      await home.untilWhole(other, 'in the other tab');
      await context.close();
    },
  },
  {
    name: 'there is no relay until it is over',
    async run(home) {
      await home.harmed(NO_DATABASE);
      await home.killRelay();
      const context = await home.open();
      const page = await home.tab(context);
      await home.untilWhole(page, 'from files alone');
      await home.startRelay();
      await home.untilWhole(page, 'when the relay is back');
      await context.close();
    },
  },
  {
    name: 'no database opens any more, and none of the storage bucket that it moved into',
    async run(home) {
      const { used } = await fromBucketToBucket(home, 2);
      if (used.join() !== 'roost-2')
        throw new Error(`It lives in ${used.join(' and ')}, and not in the second bucket.`);
    },
  },
  {
    name: 'the relay is killed while it gives, and started again',
    async run(home) {
      await home.harmed(ONLY_THE_RELAY);
      const context = await home.open();
      const page = await home.tab(context);
      await underWay(page);
      await home.killRelay();
      await home.startRelay();
      await home.untilWhole(page, 'from a relay that was killed');
      await context.close();
    },
  },
];

/**
 * Databases that open no more are left for a storage bucket; and when that one opens no more
 * either, for the next. Answers which are used in the end, and whether the browser keeps the last
 * for good, which it would if asked.
 */
export async function fromBucketToBucket(
  home: DamagedHome,
  moves: number,
): Promise<{ readonly used: readonly string[]; readonly isKept: boolean | null }> {
  let used: readonly string[] = [];
  let isKept: boolean | null = null;
  await home.harmed(NEVER_OPENS);
  for (const moved of ['into a bucket', 'into the next one'].slice(0, moves)) {
    if (used.length > 0) await home.harmedFurther(harmBucket);
    const context = await home.open();
    await keepIfAsked(context, home.url);
    const page = await home.tab(context);
    await home.untilWhole(page, moved);
    used = await page.evaluate(bucketNames);
    isKept = (await createOwnerLine(page).call('storage')).persisted;
    await context.close();
  }
  return { used, isKept };
}
/** As Chromium decides for a page that its person uses often. */
async function keepIfAsked(context: BrowserContext, url: string): Promise<void> {
  const session = await context.browser()?.newBrowserCDPSession();
  await session?.send('Browser.grantPermissions', { permissions: ['durableStorage'], origin: url });
}
/** Runs in the page. */
async function bucketNames(): Promise<readonly string[]> {
  return navigator.storageBuckets.keys();
}
declare global {
  interface Navigator {
    /** Chromium's own: https://wicg.github.io/storage-buckets/ */
    readonly storageBuckets: { keys(): Promise<readonly string[]> };
  }
}

const WRITTEN_SINCE = 5;
/** Longer than what is sealed waits to be handed over, some times. */
const HANDED_OVER_MS = 800;

/**
 * In Settings; then a browser that knows nothing but the key asks the relay for what it has: what
 * was there before, and no more. Answers how often its person was told.
 */
export async function switchOff(home: DamagedHome): Promise<number> {
  await home.harmed({ name: 'nothing', needsRelay: false, harm: () => Promise.resolve() });
  const context = await home.open();
  const page = await home.tab(context);
  await page.goto(new URL('/settings/devices', page.url()).href);
  await page.getByRole('button', { name: 'Send nothing more to the relay' }).click();
  await page
    .getByText('Nothing is handed to the relay: you switched that off. What it was given before stays there, sealed.')
    .waitFor();
  await page
    .getByText('If you clear the browser’s data or lose this device, you need a copy or another device.')
    .waitFor();
  const docs = Array.from({ length: WRITTEN_SINCE }, (_none, i) => messageDoc(900_000 + i));
  await createOwnerLine(page).call('append', docs);
  await new Promise<void>((resolve) => void setTimeout(resolve, HANDED_OVER_MS));
  // The choice holds at the next start too.
  await page.reload();
  await page.getByRole('button', { name: 'Send sealed copies to the relay' }).waitFor();
  await new Promise<void>((resolve) => void setTimeout(resolve, HANDED_OVER_MS));
  await context.close();

  const { told } = await home.round(ONLY_THE_RELAY, { next: 'owner' });
  return told;
}
