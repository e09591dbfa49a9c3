/** `roost restore` and `roost upgrade --rehearse`, killed in each of their states. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { STORE_FILE } from '../../../server/store/index.ts';
import { filesBelow } from '../../support/files-below.ts';
import { relayMain } from '../../support/relay-build.ts';
import { createHome, runRelayCommand, startRelay } from '../../support/relay.ts';
import type { SignIn } from '../../support/sign-in.ts';

// Each command seals or opens a file by a slow function, and the tests run many of them.
vi.setConfig({ testTimeout: 180_000 });

const WITH = { ROOST_BACKUP_PASSPHRASE: 'a passphrase for tests' };
const CONTACT = 'marcus@example.org';
const PATIENCE_MS = 60_000;

let folder: string;
let home: string;
let file: string;
let signIn: SignIn;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-kills-'));
  home = await createHome({ store: 'sqlite' });
  file = join(folder, 'home.age');
  const relay = await startRelay({ home });
  const contact = { method: 'PUT', json: { mail: CONTACT } };
  expect((await relay.fetch('/api/notifications/contact', contact)).status).toBe(204);
  signIn = await relay.signIn();
  await relay.stop();
  // Enough that reading and copying take a while.
  await mkdir(join(home, 'workspaces/agent'), { recursive: true });
  for (let n = 0; n < 400; n++) await writeFile(join(home, `workspaces/agent/${n}`), Buffer.alloc(50_000, `${n} `));
  expect((await runRelayCommand(['backup', file, '--home', home], WITH)).code).toBe(0);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await rm(home, { recursive: true });
});

/** Folders beside a home, for what is not finished. */
const beside = (place: string) =>
  readdirSync(join(place, '..')).filter((name) => name.startsWith(`${basename(place)}.`));
/** Whether this is there in the unfinished copy of the home. */
const has = (place: string, path: string) => beside(place).some((name) => existsSync(join(place, '..', name, path)));

async function start(args: readonly string[]): Promise<ChildProcess> {
  return spawn(process.execPath, [await relayMain(), ...args], { env: { ...process.env, ...WITH }, stdio: 'ignore' });
}

/** Kills the command as soon as it is in this state, or has ended. */
async function killIn(child: ChildProcess, isInState: () => boolean): Promise<void> {
  const ended = once(child, 'close');
  const until = performance.now() + PATIENCE_MS;
  while (child.exitCode === null && !isInState() && performance.now() < until) await setTimeout(1);
  child.kill('SIGKILL');
  await ended;
}

async function contactIn(place: string): Promise<string> {
  const relay = await startRelay({ home: place, signIn });
  try {
    return await (await relay.fetch('/api/notifications')).text();
  } finally {
    await relay.stop();
  }
}

const RESTORING: Readonly<Record<string, (to: string) => boolean>> = {
  begun: (to) => beside(to).length > 0,
  'the store is there': (to) => has(to, `store/${STORE_FILE}`),
  'some files are there': (to) => has(to, 'workspaces/agent/2'),
  'the last files are there': (to) => has(to, 'workspaces/agent/99'),
  'it has the name of the home': (to) => existsSync(to),
};

it.each(Object.entries(RESTORING))(
  'A restore that is killed when %s leaves no home or a whole one, and the next one cleans up',
  async (name, isInState) => {
    const to = join(folder, name.replaceAll(' ', '-'));
    await killIn(await start(['restore', file, '--home', to]), () => isInState(to));
    if (!existsSync(to)) {
      expect(beside(to)).toHaveLength(1);
      expect(await runRelayCommand(['restore', file, '--home', to], WITH)).toMatchObject({ code: 0 });
    }
    expect(await readdir(join(to, 'workspaces/agent'))).toHaveLength(400);
    expect(await contactIn(to)).toContain(CONTACT);
    expect(beside(to)).toEqual([]);
  },
);

async function stateOf(place: string): Promise<Record<string, string>> {
  const files = (await filesBelow(place)).filter(({ path }) => !/relay\.pid$|\/logs\//.test(path));
  return Object.fromEntries(
    files.map(({ path, bytes }) => [relative(place, path), createHash('sha256').update(bytes).digest('hex')]),
  );
}

const REHEARSING: Readonly<Record<string, () => boolean>> = {
  begun: () => beside(home).length > 0,
  'some files are copied': () => has(home, 'workspaces/agent/2'),
  'the store is copied': () => has(home, `store/${STORE_FILE}`),
  'a relay serves from the copy': () => has(home, 'relay.pid'),
};

it.each(Object.entries(REHEARSING))(
  'A rehearsal that is killed when %s leaves the home as it was, and no relay',
  async (_name, isInState) => {
    const before = await stateOf(home);
    await killIn(await start(['upgrade', '--rehearse', '--home', home]), isInState);
    const pids = await Promise.all(
      beside(home).map((name) => readFile(join(home, '..', name, 'relay.pid'), 'utf8').catch(() => null)),
    );
    for (const pid of pids)
      if (pid !== null)
        await expect.poll(() => existsSync(`/proc/${pid.trim()}`), { timeout: PATIENCE_MS }).toBe(false);
    const after = await stateOf(home);
    // A copy of the store that nobody uses is removed at the next start.
    expect(Object.fromEntries(Object.entries(after).filter(([path]) => !path.startsWith('copies/')))).toEqual(before);
    expect(await contactIn(home)).toContain(CONTACT);
  },
);

it('A rehearsal removes what killed ones have left beside the home', async () => {
  expect(await runRelayCommand(['upgrade', '--rehearse', '--home', home])).toMatchObject({ code: 0 });
  expect(beside(home)).toEqual([]);
});
