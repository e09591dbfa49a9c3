/** A browser profile of its own, on a page of its own, in front of a relay of a few lines. */
import type { BrowserContext, Page } from 'playwright-core';
import { createGuest, createProfile } from './chromium.ts';
import type { LedgerPage } from './ledger-page/main.ts';
import { buildPage, servePage, type BuiltPage, type PageServer } from './page-server.ts';
import { createSseRelay, type SseRelay } from './sse-relay.ts';

export interface LedgerBench {
  readonly page: BuiltPage;
  readonly relay: SseRelay;
  readonly url: string;
  /** A browser profile that nobody has used. */
  household(): Promise<Household>;
  /** As `household`, in a browser process of its own, which can be killed. */
  mortalHousehold(): Promise<MortalHousehold>;
  close(): Promise<void>;
}

export interface Household {
  /** A tab; `query` as in `?closed`, which does not open a connection to the owner. */
  tab(query?: string): Promise<Page>;
  context(): BrowserContext;
  /** Closes every tab, and waits until the owner has gone with them. */
  closeTabs(): Promise<void>;
  remove(): Promise<void>;
}

export interface MortalHousehold extends Household {
  /** Ends the browser at once, as a crash would. The next `tab` starts it again. */
  kill(): Promise<void>;
}

/** Builds the page and serves it; one relay for all that is opened on it. */
export async function openBench(): Promise<LedgerBench> {
  const page = await buildPage('ledger-page');
  const relay = createSseRelay();
  const server: PageServer = await servePage(page, (request, response) => relay.handle(request, response));
  return {
    page,
    relay,
    url: server.url,
    async household() {
      const guest = createGuest();
      const context = await guest.open();
      return {
        ...tabsOf(server.url, () => Promise.resolve(context)),
        context: () => context,
        remove: () => guest.remove(),
      };
    },
    async mortalHousehold() {
      const profile = await createProfile();
      let context: BrowserContext | null = null;
      return {
        ...tabsOf(server.url, async () => (context ??= await profile.open())),
        context() {
          if (!context) throw new Error('The browser is not open.');
          return context;
        },
        async kill() {
          context = null;
          await profile.kill();
        },
        remove: () => profile.remove(),
      };
    },
    async close() {
      await server.close();
    },
  };
}

function tabsOf(url: string, context: () => Promise<BrowserContext>): Pick<Household, 'tab' | 'closeTabs'> {
  const tab = async (query = '') => {
    const opened = await (await context()).newPage();
    await opened.goto(`${url}/${query}`);
    return opened;
  };
  return {
    tab,
    async closeTabs() {
      // One stays: the last tab of a window would end the browser.
      const keeper = await tab('?closed');
      for (const other of (await context()).pages()) if (other !== keeper) await other.close();
      await keeper.evaluate(async () => {
        while ((await navigator.locks.query()).held?.length) await new Promise((resolve) => setTimeout(resolve, 10));
      });
    },
  };
}

type Tab = Pick<Page, 'evaluate'>;
type Owner = LedgerPage['owner'];

/**
 * Calls the owner from a tab. Documents and answers cross to the browser as JSON that keeps every
 * code unit.
 */
export function ownerOf(tab: Tab) {
  const call = async (name: string, ...args: unknown[]): Promise<unknown> => {
    const text = await tab.evaluate(
      async ({ name, json }) => {
        const call = window.roost.owner.call as (name: string, ...args: unknown[]) => Promise<unknown>;
        return JSON.stringify(await call(name, ...(JSON.parse(json) as unknown[])));
      },
      { name, json: JSON.stringify(args) },
    );
    return JSON.parse(text);
  };
  return { call: call as Owner['call'] };
}

/** What a tab's page says of its storage; see LedgerPage. */
export async function dumpOf(tab: Tab): Promise<Record<string, unknown[]>> {
  return JSON.parse(await tab.evaluate(async () => JSON.stringify(await window.roost.dump()))) as Record<
    string,
    unknown[]
  >;
}

export async function volumesOf(tab: Tab): Promise<Awaited<ReturnType<LedgerPage['readVolumes']>>> {
  return JSON.parse(await tab.evaluate(async () => JSON.stringify(await window.roost.readVolumes()))) as Awaited<
    ReturnType<LedgerPage['readVolumes']>
  >;
}

/** Resolves when everything that was appended lies in a volume. */
export async function drained(tab: Tab): Promise<void> {
  const { call } = ownerOf(tab);
  while ((await call('storage')).journalRows > 0) await new Promise<void>((resolve) => setTimeout(resolve, 50));
}
