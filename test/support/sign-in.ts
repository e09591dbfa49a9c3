/**
 * A sign-in as a browser has it: the cookie, and the page key that the link handed over besides.
 */
import type { BrowserContext } from 'playwright-core';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';

export interface SignIn {
  /** As a `Cookie` header has it. */
  readonly cookie: string;
  /** What lies in the origin's storage. */
  readonly key: string;
}

/** The page key that a page of the relay's hands over; null: it hands none over. */
export const keyIn = (page: string): string | null => /data-page-key="([A-Za-z0-9_-]+)"/.exec(page)?.[1] ?? null;

/** Opens a one-time link, as a browser that has what `before` says. */
export async function openLink(link: string, before?: SignIn): Promise<SignIn> {
  const response = await fetch(link, before ? { headers: { cookie: before.cookie } } : {});
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
  const key = keyIn(await response.text());
  if (cookie === undefined || key === null) throw new Error(`the link let nobody in (${response.status})`);
  return { cookie, key };
}

/** What the page sends with every call. */
export const headersOf = ({ cookie, key }: SignIn) => ({ cookie, [PAGE_KEY.header]: key });

/** s: longer than any test. */
const A_DAY = 86_400;

async function addCookie(context: BrowserContext, url: string, cookie: string): Promise<void> {
  const at = cookie.indexOf('=');
  await context.addCookies([
    // By the origin alone: of a longer address the cookie would be that folder's only.
    {
      name: cookie.slice(0, at),
      value: cookie.slice(at + 1),
      url: new URL(url).origin,
      httpOnly: true,
      sameSite: 'Strict',
      expires: Date.now() / 1_000 + A_DAY,
    },
  ]);
}

/**
 * Stores a sign-in in a profile, as a link does: every browser on it is let in from now on. `path`:
 * a page of the relay's for everybody.
 */
export async function storeSignIn(
  context: BrowserContext,
  url: string,
  { cookie, key }: SignIn,
  path: string,
): Promise<void> {
  await addCookie(context, url, cookie);
  const page = await context.newPage();
  await page.goto(new URL(path, url).href);
  await page.evaluate(([name, value]) => localStorage.setItem(name, value), [PAGE_KEY.stored, key] as const);
  await page.close();
}

/** Puts a sign-in into a browser, for every page of this relay that it opens from now on. */
export async function letIn(context: BrowserContext, url: string, { cookie, key }: SignIn): Promise<void> {
  await addCookie(context, url, cookie);
  await context.addInitScript(
    ([origin, name, value]) => {
      if (location.origin === origin && name !== undefined && value !== undefined) localStorage.setItem(name, value);
    },
    [new URL(url).origin, PAGE_KEY.stored, key],
  );
}

/** Of a browser that has a page of this relay open. */
export async function signInOf(from: BrowserContext, url: string): Promise<SignIn> {
  const page = from.pages().find((each) => each.url().startsWith(new URL(url).origin));
  const key = await page?.evaluate((name) => localStorage.getItem(name), PAGE_KEY.stored);
  const [cookie] = await from.cookies(url);
  if (!cookie || key === null || key === undefined) throw new Error('that browser is not signed in');
  return { cookie: `${cookie.name}=${cookie.value}`, key };
}

/** The same sign-in in another browser. */
export async function shareSignIn(from: BrowserContext, to: BrowserContext, url: string): Promise<void> {
  await letIn(to, url, await signInOf(from, url));
}
