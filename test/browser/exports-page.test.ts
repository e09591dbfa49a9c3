/**
 * Exports, forgetting and the storage page, as a person uses them: the real page, ledger and
 * export files.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unzipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createGuest, QUIET } from '../support/chromium.ts';
import { startRelay } from '../support/relay.ts';
import { shared } from '../support/shared.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1440, height: 900 };
/** ms: stretching passphrases takes its time, and a busy machine is not a failure. */
const PATIENCE = 300_000;
/** A picture of one dot. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PASSPHRASE = 'four words that hold — ünïcode';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-copies-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface House {
  readonly visitor: Visitor;
  close(): Promise<void>;
}

/**
 * Somebody at a relay and a browser of their own. Without a way to ask where files go, unless
 * `asks`.
 */
async function build({ asks = false, ...options }: { asks?: boolean } & BrowserContextOptions = {}): Promise<House> {
  // How long a rehearsal takes over its words is not what is tried here.
  const relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
  const profile = createGuest();
  const context = await profile.open({ viewport: DESK, acceptDownloads: true, ...QUIET, ...options });
  await context.addInitScript((keep) => {
    // The person's answer to the browser's own dialog, which a test cannot press: a real file of
    // the page's own.
    const choose = async ({ suggestedName }: { suggestedName: string }) =>
      (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true });
    Object.defineProperty(globalThis, 'showSaveFilePicker', { value: keep ? choose : undefined });
  }, asks);
  return {
    visitor: await createVisitor(context, relay.link),
    async close() {
      await profile.remove();
      await relay.stop();
    },
  };
}

/** For one test. */
async function house(options?: Parameters<typeof build>[0]): Promise<Visitor> {
  const { visitor, close } = await build(options);
  onTestFinished(close);
  return visitor;
}

const settings = async ({ page }: Visitor, section: string) => {
  await page.getByRole('button', { name: 'More places' }).click();
  await page.getByRole('menuitem', { name: /^Settings/ }).click();
  await page
    .getByRole('navigation', { name: 'Settings' })
    .getByRole('link', { name: /^Devices and data/ })
    .click();
  await page.getByRole('link', { name: new RegExp(`^${section}`) }).click();
};
const leaveSettings = ({ page }: Visitor) => page.getByRole('button', { name: 'Close', exact: true }).click();

/** Presses it, and keeps the file that the browser is given. */
async function download(page: Page, press: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  const path = join(folder, file.suggestedFilename());
  await file.saveAs(path);
  return path;
}

async function exportAll(visitor: Visitor, passphrase: string | null): Promise<string> {
  const { page } = visitor;
  await settings(visitor, 'Export & import');
  if (passphrase === null) await page.getByRole('checkbox', { name: 'With a passphrase' }).uncheck();
  else {
    await page.getByLabel('Passphrase', { exact: true }).fill(passphrase);
    await page.getByLabel('Repeat it').fill(passphrase);
  }
  const path = await download(page, () => visitor.press('Export everything'));
  await page.getByText('Exported.').waitFor();
  await visitor.press('Export everything');
  await leaveSettings(visitor);
  return path;
}

/** How much is new, as the title says it. */
const newIn = async (page: Page) => Number(/^\((\d+)\) /.exec(await page.title())?.[1] ?? 0);

/** The documents of a file without a passphrase, by id. */
async function documentsIn(path: string): Promise<Map<string, unknown>> {
  const lines = gunzipSync(await readFile(path))
    .toString('utf8')
    .trim()
    .split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { _id?: unknown });
  return new Map(rows.flatMap((row) => (typeof row._id === 'string' ? [[row._id, row] as const] : [])));
}

/** Not where files go along with a message. */
const give = (page: Page, path: string) => page.locator('input[type=file]:not(.compose *)').setInputFiles(path);

/** A household of eight in which something was said. */
async function live(): Promise<House> {
  const built = await build();
  const { visitor } = built;
  await visitor.begin();
  await visitor.press('SUMMON');
  await visitor.untilAll('awake');
  await visitor.open(1);
  await visitor.page
    .locator('.compose input[type=file]')
    .setInputFiles({ name: 'bridge.png', mimeType: 'image/png', buffer: Buffer.from(DOT, 'base64') });
  await visitor.page.getByRole('button', { name: 'Remove bridge.png' }).waitFor();
  await visitor.ask('Remember the bridge we left half drawn.');
  await visitor.press('End session');
  await visitor.untilAll('sleeping');
  return built;
}
const common = shared(live, (built) => built.close());
/** The household that the tests share, at its hearth. */
async function lived(): Promise<Visitor> {
  const { visitor } = await common();
  await goWithin(visitor.page, '/');
  await visitor.untilAll('sleeping');
  return visitor;
}

// First: no copy has left yet.
describe('The storage page', { timeout: PATIENCE }, () => {
  it('shows the state of storage, and rebuilds the same household', async () => {
    const visitor = await lived();
    const seats = await visitor.seats();
    await settings(visitor, 'Storage');
    const { page } = visitor;
    await page.getByText('Never.').waitFor();
    expect(await visitor.axe()).toEqual([]);
    await visitor.press('Rebuild');
    await page.getByText('Rebuilt.').waitFor();
    await visitor.picture('storage-1440');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    await page.setViewportSize(DESK);
    await leaveSettings(visitor);
    expect(await visitor.seats()).toEqual(seats);
    await visitor.open(1);
    await visitor.untilRead('Remember the bridge we left half drawn.');
    expect(visitor.complaints).toEqual([]);
  });
});

describe('Copies', { timeout: PATIENCE }, () => {
  it('restores a whole household from a sealed copy into an empty browser, also twice', async () => {
    const first = await lived();
    // Nobody was asked anything by those who were not looked at: their greetings are not new.
    await first.open('lead');
    await expect.poll(() => newIn(first.page)).toBe(0);
    const names = (await first.seats()).map(({ name }) => name);
    const sealed = await exportAll(first, PASSPHRASE);
    const before = await documentsIn(await exportAll(first, null));
    await settings(first, 'Storage');
    await first.page
      .getByRole('region', { name: 'Last export' })
      .getByText(/^Today \d/)
      .waitFor();

    const second = await house();
    await second.press('I have an export');
    await give(second.page, sealed);
    await second.page.getByLabel('Passphrase of this file').fill('something else');
    await second.press('Open');
    await second.page.getByText('This passphrase is wrong').waitFor();
    await second.page.getByLabel('Passphrase of this file').fill(PASSPHRASE);
    await second.press('Open');
    await second.page.getByRole('group', { name: 'Agents' }).waitFor();
    expect(await second.axe()).toEqual([]);
    await second.press('Import');
    await second.untilAll('sleeping');
    expect((await second.seats()).map(({ name }) => name)).toEqual(names);
    await second.open(1);
    await second.untilRead('Remember the bridge we left half drawn.');
    await second.page.getByRole('img', { name: 'bridge.png' }).waitFor();
    // What was new there is new here, and nothing else is.
    await expect.poll(() => newIn(second.page)).toBe(0);
    expect(await documentsIn(await exportAll(second, null))).toEqual(before);

    await settings(second, 'Export & import');
    await give(second.page, sealed);
    await second.page.getByLabel('Passphrase of this file').fill(PASSPHRASE);
    await second.press('Open');
    await second.page.getByText('Nothing is new.').waitFor();
    await second.press('Import');
    await second.page.getByText('Nothing is new.').waitFor();
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });

  it('writes the file to the place that the browser asks for', async () => {
    const visitor = await house({ asks: true });
    await visitor.begin();
    await settings(visitor, 'Export & import');
    await visitor.page.getByRole('checkbox', { name: 'With a passphrase' }).uncheck();
    await visitor.press('Export everything');
    await visitor.page.getByText('Exported.').waitFor();
    const size = await visitor.page.evaluate(async () => {
      const root = await navigator.storage.getDirectory();
      const sizes: number[] = [];
      for await (const handle of root.values())
        if (handle instanceof FileSystemFileHandle) sizes.push((await handle.getFile()).size);
      return sizes;
    });
    expect(size).toEqual([expect.any(Number)]);
    expect(size[0]).toBeGreaterThan(200);
  });

  it('exports an agent as plain files, and imports it elsewhere with its soul and memories', async () => {
    const first = await lived();
    const lyra = (await first.seats())[0]?.name ?? '';
    await first.open(1);
    await first.page.getByRole('link', { name: 'More', exact: true }).click();
    const zip = await download(first.page, () => first.press('Export as a zip'));
    const files = Object.keys(unzipSync(await readFile(zip)));
    expect(files.filter((name) => name.endsWith('/SOUL.md'))).toHaveLength(1);
    expect(files.some((name) => name.endsWith('.jsonl'))).toBe(true);

    const second = await house();
    await second.begin('Maria', 'Odile');
    await second.press('seat 8, empty');
    await second.page.getByRole('menuitem', { name: /^Adopt from a file/ }).click();
    await give(second.page, zip);
    await second.press('Adopt');
    await second.untilSeats('the adopted one in seat 8', (seats) =>
      seats.some(({ seat, name }) => seat === 8 && name === lyra),
    );
    await second.untilRead('Remember the bridge we left half drawn.');
    await second.page.reload();
    await second.untilSeats('the adopted one in seat 8', (seats) =>
      seats.some(({ seat, name, state }) => seat === 8 && name === lyra && state === 'sleeping'),
    );

    await settings(second, 'Export & import');
    await second.page.locator('input[type=file]:not(.compose *)').setInputFiles({
      name: 'SOUL.md',
      mimeType: 'text/markdown',
      buffer: Buffer.from('# Orla\n\nI like rivers, and what they carry.\n'),
    });
    expect(await second.page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orla');
    await second.page.getByLabel('Seat', { exact: true }).selectOption({ label: 'Seat 1 · Violet Heaven' });
    expect(await second.axe()).toEqual([]);
    await second.press('Adopt');
    await second.press('WAKE');
    await second.untilSeats('both awake', (seats) => seats.filter(({ state }) => state === 'awake').length === 2);
    await second.page.getByText('I like rivers, and what they carry.').first().waitFor();
    expect([...first.complaints, ...second.complaints]).toEqual([]);
  });
});

describe('Letting go', { timeout: PATIENCE }, () => {
  it('hides a forgotten agent in every tab at once and after a reload, and restores it when kept', async () => {
    const visitor = await lived();
    const lyra = (await visitor.seats())[0]?.name ?? '';
    const other = await visitor.page.context().newPage();
    await other.goto(new URL('/', visitor.page.url()).href);
    await other.getByRole('button', { name: new RegExp(`^${lyra}, seat 1, asleep`) }).waitFor();
    // A page behind another one is painted once a second.
    await visitor.page.bringToFront();
    await visitor.open(1);
    await visitor.page.getByRole('link', { name: 'More', exact: true }).click();
    await visitor.press(`Forget ${lyra}…`);
    await visitor.press('Continue…');
    expect(await visitor.axe()).toEqual([]);
    await visitor.page.getByRole('textbox', { name: 'To be sure' }).fill(lyra);
    await visitor.press(`Forget ${lyra}`);
    await other.getByRole('button', { name: 'seat 1, empty' }).waitFor();
    await visitor.page.reload();
    await visitor.untilSeats('seat 1 empty', (seats) => seats[0]?.state === 'empty');
    await settings(visitor, 'Storage');
    await visitor.press(`Keep after all: ${lyra}`);
    await leaveSettings(visitor);
    await visitor.untilSeats('seat 1 back', (seats) => seats[0]?.name === lyra);
    await visitor.open(1);
    await visitor.untilRead('Remember the bridge we left half drawn.');
    await other.getByRole('button', { name: new RegExp(`^${lyra}, seat 1, asleep`) }).waitFor();
    await other.close();
    expect(visitor.complaints).toEqual([]);
  });

  it('restores a forgotten conversation that is kept within ten seconds, and wakes without it afterwards', async () => {
    const visitor = await lived();
    await visitor.open(1);
    await visitor.page.getByRole('link', { name: 'More', exact: true }).click();
    await visitor.press('Forget this conversation…');
    await visitor.press('Continue…');
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }).click();
    await visitor.press('Keep after all');
    await visitor.press('Forget this conversation…');
    await visitor.press('Continue…');
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }).click();
    await visitor.page.getByRole('dialog').waitFor({ state: 'detached' });
    await visitor.press('Close');
    await visitor.page.waitForFunction(
      () => !document.getElementById('root')?.textContent.includes('Remember the bridge'),
    );
    await visitor.page.getByRole('link', { name: 'Preview the wake' }).click();
    const dialog = visitor.page.getByRole('dialog', { name: 'What a wake would carry' });
    await dialog.getByText('8 agents').waitFor();
    expect(await dialog.innerText()).not.toContain('Remember the bridge');
    await visitor.press('Close');
    await visitor.page.reload();
    await visitor.open(1);
    await visitor.page.getByRole('heading', { level: 3, name: /sleeps$/ }).waitFor();
    expect(await visitor.page.innerText('body')).not.toContain('Remember the bridge');
    expect(visitor.complaints).toEqual([]);
  });
});
