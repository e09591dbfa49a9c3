/**
 * What figures of the page have in common: reloads of it, an empty page beside it, and an export by
 * its button.
 */
import type { Page } from 'playwright-core';
import type { Visitor } from '../support/visitor.ts';

/** ms. */
const EXPORT_MOST_MS = 300_000;

/**
 * A page of the relay that has nothing in it but a sentence: what every page costs on this machine.
 */
export const EMPTY_PATH = '/enter';

/** Runs in an empty page before anything of its own: marks when it is on the screen. */
export function watchEmpty(): void {
  addEventListener('DOMContentLoaded', () =>
    requestAnimationFrame(() => setTimeout(() => performance.mark('page-painted'))),
  );
}

/**
 * ms from the start of the navigation until what this mark stands for is on the screen: a frame may
 * be shown later than it was made.
 */
export async function marked(page: Page, mark: 'grid-painted' | 'page-painted'): Promise<number> {
  const marks = [mark, 'first-contentful-paint'];
  await page.waitForFunction((names) => names.every((name) => performance.getEntriesByName(name).length > 0), marks);
  return page.evaluate(
    (names) => Math.max(...names.map((name) => performance.getEntriesByName(name)[0]?.startTime ?? 0)),
    marks,
  );
}

/** Reloads of the only tab: its worker goes and comes with it. ms until this mark. */
export async function reloaded(page: Page, mark: 'grid-painted' | 'page-painted'): Promise<number> {
  await page.reload();
  return marked(page, mark);
}

/** ms from the press of the button to the word that it is done; with a passphrase, sealed. */
export async function exportAll(visitor: Visitor, passphrase: string | null): Promise<number> {
  const { page } = visitor;
  await page.getByRole('button', { name: 'More places' }).click();
  await page.getByRole('menuitem', { name: /^Settings/ }).click();
  await page
    .getByRole('navigation', { name: 'Settings' })
    .getByRole('link', { name: /^Devices and data/ })
    .click();
  await page.getByRole('link', { name: /^Export & import/ }).click();
  if (passphrase === null) await page.getByRole('checkbox', { name: 'With a passphrase' }).uncheck();
  else {
    await page.getByLabel('Passphrase', { exact: true }).fill(passphrase);
    await page.getByLabel('Repeat it').fill(passphrase);
  }
  const began = performance.now();
  await visitor.press('Export everything');
  await page.getByText('Exported.').waitFor({ timeout: EXPORT_MOST_MS });
  const took = performance.now() - began;
  await visitor.press('Export everything');
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  return took;
}

/**
 * Runs in a page before anything of its own: a file goes to the downloads, nobody is there to
 * choose a place for it.
 */
export const chooseNoPlace = () => Object.defineProperty(globalThis, 'showSaveFilePicker', { value: undefined });
