/**
 * The package as a stranger gets it: packed, installed into an empty folder, and run. The tarball
 * is made from the build that the other tests of the browser look at.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProfile } from '../support/chromium.ts';
import { filesBelow } from '../support/files-below.ts';
import { freePort } from '../support/free-port.ts';
import { startRelay } from '../support/relay.ts';
import { createVisitor } from '../support/visitor.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Bytes on disk of all that is installed. */
const MOST_BYTES = 120_000_000;

async function npm(cwd: string, ...args: readonly string[]): Promise<void> {
  const child = spawn('npm', args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code}\n${said}`);
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-package-'));
  await npm(ROOT, 'pack', '--pack-destination', folder);
  const [tarball = ''] = await readdir(folder);
  // Without a package of its own, npm would install into a folder above.
  await npm(
    folder,
    'install',
    '--prefix',
    folder,
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    join(folder, tarball),
  );
});
afterAll(() => rm(folder, { recursive: true }));

it('The package contains the built page and relay, and no sources or tests', async () => {
  const root = join(folder, 'node_modules/roost');
  const files = (await filesBelow(root)).map(({ path }) => relative(root, path));
  expect(files).toContain('dist/package/page/index.html');
  expect(files).toContain('dist/package/server/main.js');
  expect(files).toContain('dist/package/LICENCES.md');
  expect(files.filter((path) => /^(?:src|test|server\/(?!roost\.mjs))|\.tsx?$|\.map$/.test(path))).toEqual([]);
});

it('The package needs few others, and little room', async () => {
  const files = await filesBelow(folder);
  expect(files.filter(({ path }) => path.endsWith('.node')).length).toBeGreaterThan(0);
  expect(files.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(MOST_BYTES);
});

it('The packed relay hatches a team in a browser, and wakes it after a restart', async () => {
  const from = { main: join(folder, 'node_modules/roost/server/roost.mjs') };
  const rehearsal = JSON.stringify({ delayMs: 0, wordMs: 0 });
  const options = { from, home: join(folder, 'home'), port: await freePort(), args: ['--rehearsal', rehearsal] };
  const profile = await createProfile();
  let relay = await startRelay(options);
  try {
    const evening = await createVisitor(await profile.open(), relay.link);
    await evening.begin('Marcus', 'Julian');
    await evening.press('SUMMON');
    const born = await evening.untilAll('awake');
    await profile.kill();
    await relay.stop();
    relay = await startRelay(options);
    const morning = await createVisitor(await profile.open(), relay.link);
    await morning.untilAll('sleeping');
    await morning.press('WAKE');
    expect((await morning.untilAll('awake')).map(({ name }) => name)).toEqual(born.map(({ name }) => name));
  } finally {
    await profile.remove();
    await relay.stop();
  }
});
