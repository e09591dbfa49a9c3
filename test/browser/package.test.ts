/**
 * The package as a stranger gets it: packed, installed into an empty folder, and run. The tarball
 * is made from the build that the other tests of the browser look at.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProfile } from '../support/chromium.ts';
import { filesBelow } from '../support/files-below.ts';
import { freePort } from '../support/free-port.ts';
import { runRelayCommand, startRelay } from '../support/relay.ts';
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

const main = () => join(folder, 'node_modules/roost/server/roost.mjs');
const upgrade = async (home: string, ...args: readonly string[]) => {
  const child = spawn(process.execPath, [main(), 'upgrade', ...args, '--home', home], { stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  return { code, said };
};
/** Hashes by name of what a rehearsal must leave as it is. */
async function stateOf(home: string): Promise<Record<string, string>> {
  const files = (await filesBelow(home)).filter(({ path }) => !/relay\.pid$|\/logs\//.test(path));
  return Object.fromEntries(
    files.map(({ path, bytes }) => [relative(home, path), createHash('sha256').update(bytes).digest('hex')]),
  );
}
const beside = async (name: string) => (await readdir(folder)).filter((each) => each.startsWith(`${name}.`));

it('rehearses an upgrade on a copy, and leaves the home unchanged when it is incompatible', async () => {
  const home = join(folder, 'old');
  const relay = await startRelay({ from: { main: main() }, home });
  expect(await upgrade(home)).toMatchObject({ code: 1, said: expect.stringContaining('A relay runs on this home') });
  expect(await upgrade(home, '--rehearse')).toMatchObject({ code: 0, said: expect.stringContaining('opened a copy') });
  await relay.stop();

  const before = await stateOf(home);
  expect(await upgrade(home, '--rehearse')).toMatchObject({ code: 0 });
  expect(await stateOf(home)).toEqual(before);
  expect(await upgrade(home)).toMatchObject({ code: 0, said: expect.stringContaining('now of this version') });

  const { DatabaseSync } = await import('@photostructure/sqlite');
  const store = new DatabaseSync(join(home, 'store/roost.db'));
  store.exec("insert into kysely_migration (name, timestamp) values ('9999-newer', '2099')");
  store.close();
  const newer = await stateOf(home);
  for (const args of [[], ['--rehearse']])
    expect(await upgrade(home, ...args)).toMatchObject({ code: 1, said: expect.stringContaining('by a newer Roost') });
  expect(await stateOf(home)).toEqual(newer);
  expect(await beside('old')).toEqual([]);
});

/** Every Node.js that the package promises: the oldest, and the later lines. */
const NODES = ['20.19', '22', '24'];
/** npm has the programs of these systems. */
const hasNodes = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

it.skipIf(!hasNodes).each(NODES)(
  'The packed relay serves, and backs up and restores its home, on Node.js %s',
  async (version) => {
    const name = `node-${process.platform}-${process.arch}`;
    const at = join(folder, `node-${version}`);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'];
    await npm(folder, 'install', '--prefix', at, ...quiet, `${name}@${version}`);
    const from = { main: main(), node: join(at, 'node_modules', name, 'bin/node') };
    expect(execFileSync(from.node, ['--version'], { encoding: 'utf8' })).toMatch(new RegExp(`^v${version}\\.`));
    const [home, to, file] = [join(at, 'home'), join(at, 'restored'), join(at, 'home.age')];
    const contact = { method: 'PUT', json: { mail: 'marcus@example.org' } };
    const relay = await startRelay({ from, home });
    try {
      await expect.poll(async () => (await fetch(`${relay.url}/health/ready`)).status).toBe(200);
      expect(await (await relay.fetch('/')).text()).toContain('<script');
      expect((await relay.fetch('/api/notifications/contact', contact)).status).toBe(204);
      const run = (...args: readonly string[]) =>
        runRelayCommand(args, { ROOST_BACKUP_PASSPHRASE: 'a passphrase for tests' }, from);
      expect(await run('backup', file, '--home', home)).toMatchObject({ code: 0, stderr: '' });
      expect(await run('restore', file, '--home', to)).toMatchObject({ code: 0, stderr: '' });
      expect(await run('upgrade', '--rehearse', '--home', home)).toMatchObject({ code: 0, stderr: '' });
    } finally {
      expect((await relay.stop()).stderr).not.toMatch(/warning/i);
    }
    const restored = await startRelay({ from, home: to, signIn: await relay.signIn() });
    expect(await (await restored.fetch('/api/notifications')).text()).toContain('marcus@example.org');
    await restored.stop();
  },
);

it('The packed relay hatches a team in a browser, and wakes it after a restart', async () => {
  const from = { main: main() };
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
