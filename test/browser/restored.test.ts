/**
 * A copy that somebody prepared, brought into an empty browser: what it has act outside the
 * household does nothing before its own yes.
 */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createGuest, QUIET, type Guest } from '../support/chromium.ts';
import { identityDoc, settingDoc, stampOf } from '../support/documents.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

/** ms in which a program that was started has left its mark. */
const SETTLE_MS = 1_500;

/** Nobody answers there. */
const FAR = 'http://127.0.0.1:9/mcp';

let folder: string;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-restored-'));
  relay = await startRelay({ args: ['--scripts', '--rehearsal', '{"delayMs":0,"wordMs":0}'] });
  profile = createGuest();
  visitor = await createVisitor(await profile.open(QUIET), relay.link);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await rm(folder, { recursive: true, force: true });
});

const mark = (name: string) => join(folder, name);
const marked = (name: string) =>
  readFile(mark(name)).then(
    () => true,
    () => false,
  );
const server = (n: number, name: string, where: object): Doc => ({
  ...{ _id: `attached-server:${name}:1`, type: 'attached-server', schema: 1, at: stampOf(n), recordId: name },
  value: { name, removed: false, where, secrets: [], agents: null, tools: {} },
});
/** As a copy was written before programs said how they are held. */
const program = (name: string) => ({ kind: 'program', command: '/bin/sh', args: ['-c', `echo > '${mark(name)}'`] });

function copyOf(docs: readonly Doc[]): Buffer {
  const lines = [{ roost: 'household', version: 1, exportedAt: Date.now(), documents: docs.length }, ...docs]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
  const sha256 = createHash('sha256').update(lines).digest('hex');
  return gzipSync(`${lines}${JSON.stringify({ roost: 'end', documents: docs.length, sha256 })}\n`);
}

const SNAPSHOT = () => [
  { ...identityDoc(1, 'lead', 4, ''), name: 'Julian' },
  identityDoc(2, 'a1', 0),
  settingDoc(3, 'humanName', 'Ada'),
  server(4, 'calendar', program('calendar')),
  server(5, 'diary', { ...program('diary'), box: null }),
  server(6, 'far', { kind: 'address', url: FAR }),
];

const readCopy = async (docs: readonly Doc[]) => {
  await visitor.page.locator('input[type=file]').setInputFiles({
    ...{ name: 'copy.jsonl.gz', mimeType: 'application/gzip' },
    buffer: copyOf(docs),
  });
  return visitor.page.getByRole('group', { name: 'Changes to what is here' });
};
const waits = () => visitor.page.getByRole('region', { name: 'Waits for your yes' });

it('imports no MCP server without its own tick, and starts none by importing or restoring', async () => {
  const { page } = visitor;
  await visitor.press('I have an export');
  const changes = await readCopy(SNAPSHOT());
  await changes.waitFor();
  const command = (name: string) => `/bin/sh -c "echo > '${mark(name)}'"`;
  expect((await changes.getByRole('listitem').allInnerTexts()).map((text) => text.split('\n')[0]?.trim())).toEqual([
    `The MCP server “calendar” would run on the relay’s machine, in the sandbox: ${command('calendar')}.`,
    `The MCP server “diary” would run on the relay’s machine without a sandbox, as the user that started the relay: ${command('diary')}.`,
    `The MCP server “far” would be called at ${FAR}.`,
  ]);
  for (const box of await changes.getByRole('checkbox').all()) expect(await box.isChecked()).toBe(false);
  await changes.getByRole('checkbox', { name: /“diary”/ }).check();
  await changes.getByRole('checkbox', { name: /“far”/ }).check();
  await visitor.press('Import');

  await page.getByRole('button', { name: 'Give them back' }).click();
  await page.getByText('2 entries wait for your yes first, below.').waitFor();
  await sleep(SETTLE_MS);
  expect([await marked('calendar'), await marked('diary')]).toEqual([false, false]);
  const shown = waits();
  await shown.getByText(`+ argument: echo > '${mark('diary')}'`).waitFor();
  await shown.getByText('+ Where it runs: No sandbox').waitFor();
  await shown.getByText(`+ address: ${FAR}`).waitFor();
  expect(await shown.getByRole('button', { name: 'Allow what is ticked' }).isDisabled()).toBe(true);
  expect(await visitor.axe()).toEqual([]);
});

it('starts an accepted record after its command was shown, and keeps the others off', async () => {
  const { page } = visitor;
  const shown = waits();
  await shown.getByRole('checkbox', { name: /“far”/ }).check();
  await shown.getByRole('button', { name: 'Leave off what is ticked' }).click();
  await shown.getByText('1 thing from elsewhere waits for your yes').waitFor();
  expect(await marked('diary')).toBe(false);
  await shown.getByRole('checkbox', { name: /“diary”/ }).check();
  await shown.getByRole('button', { name: 'Allow what is ticked' }).click();
  await shown.waitFor({ state: 'detached' });
  await expect.poll(() => marked('diary'), { timeout: 10_000 }).toBe(true);
  // What is known of it here is no more to be given back, and asks nobody again.
  await page.reload();
  await visitor.untilSeats('the one of the copy', (seats) => seats.some(({ state }) => state === 'sleeping'));
  await sleep(SETTLE_MS);
  expect(await page.getByRole('button', { name: 'Give them back' }).count()).toBe(0);
  expect([await waits().count(), await marked('calendar')]).toEqual([0, false]);
  expect(visitor.complaints).toEqual([]);
});
