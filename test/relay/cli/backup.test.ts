/** `roost backup` and `roost restore`, as a person runs them. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Decrypter } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { backUpIfDue } from '../../../server/cli/daily-backup.ts';
import { readConfig } from '../../../server/startup/config.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { backUpUnderLoad } from '../../faults/backup.ts';
import { createDiskImage, type DiskImage, mayMount } from '../../support/disk-image.ts';
import { relayMain } from '../../support/relay-build.ts';
import { createRandom } from '../../support/random.ts';
import { createHome, runRelayCommand, startRelay, type TestRelay } from '../../support/relay.ts';

// Each command seals or opens a file by a slow function, and the tests run many of them.
vi.setConfig({ testTimeout: 180_000 });

const PASSPHRASE = 'a passphrase for tests';
const WITH = { ROOST_BACKUP_PASSPHRASE: PASSPHRASE };
const AGENT = 'workspaces/agent';

let folder: string;
let home: string;
let file: string;
let relay: TestRelay | null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-backup-'));
  home = await createHome({ store: 'sqlite' });
  file = join(folder, 'home.age');
  relay = null;
});
afterEach(async () => {
  await relay?.stop();
  await rm(folder, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
});

const roost = (args: readonly string[], env: Readonly<Record<string, string>> = WITH) => runRelayCommand(args, env);
const backUp = (env?: Readonly<Record<string, string>>) => roost(['backup', file, '--home', home], env);
const restoreTo = (to: string, from = file, env?: Readonly<Record<string, string>>) =>
  roost(['restore', from, '--home', to], env);
const said = ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`;

const HISTORY = 'history/agent';
const git = (at: string, ...args: readonly string[]) =>
  execFileSync('git', ['-C', at, '-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { encoding: 'utf8' });

/** More than is held in memory at once. */
const addLarge = () => writeFile(join(home, AGENT, 'large'), Buffer.alloc(17_000_000, 'large '));

/** An agent's folder and its history, with what is hard to copy. */
async function fill(): Promise<void> {
  const at = join(home, AGENT);
  await mkdir(join(at, `deep/${'long '.repeat(30)}/ünï`), { recursive: true });
  await writeFile(join(at, `deep/${'long '.repeat(30)}/ünï/note.md`), 'in a long path');
  await writeFile(join(at, 'run.sh'), '#!/bin/sh\n', { mode: 0o700 });
  await writeFile(join(at, 'empty'), '');
  await symlink('run.sh', join(at, 'link'));
  await symlink('/nowhere/at/all', join(at, 'broken'));
  await mkdir(join(home, HISTORY), { recursive: true });
  git(join(home, HISTORY), 'init', '-q');
  git(join(home, HISTORY), 'commit', '-q', '--allow-empty', '-m', 'first');
}

/** An archive of a home with an agent's folder, beside which no relay runs. */
async function made(): Promise<void> {
  relay = await startRelay({ home });
  await relay.stop();
  relay = null;
  await fill();
  expect(said(await backUp())).toContain('Backed up');
}

describe('A backup', () => {
  it('restores household, folders and history from a backup of a running relay into an empty home', async () => {
    relay = await startRelay({ home });
    await fill();
    await addLarge();
    const contact = { method: 'PUT', json: { mail: 'marcus@example.org' } };
    expect((await relay.fetch('/api/notifications/contact', contact)).status).toBe(204);
    const before = await (await relay.fetch('/api/notifications')).text();
    expect(before).toContain('marcus@example.org');
    const end = await backUp();
    expect(said(end)).toContain(`Backed up ${home} to ${file}`);
    expect(end.code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(home, 'copies'))).toEqual([]);
    await relay.stop();

    const to = join(folder, 'restored');
    const restored = await restoreTo(to);
    expect(said(restored)).toMatch(/^Restored .* made on \d{4}-/);
    const at = join(to, AGENT);
    expect(await readFile(join(at, `deep/${'long '.repeat(30)}/ünï/note.md`), 'utf8')).toBe('in a long path');
    expect((await stat(join(at, 'run.sh'))).mode & 0o777).toBe(0o700);
    expect(await readFile(join(at, 'link'), 'utf8')).toBe('#!/bin/sh\n');
    expect((await readFile(join(at, 'large'))).equals(await readFile(join(home, AGENT, 'large')))).toBe(true);
    expect((await readdir(at)).sort()).toEqual((await readdir(join(home, AGENT))).sort());
    expect(git(join(to, HISTORY), 'log', '--format=%s')).toBe('first\n');
    expect(await readFile(join(to, 'sealing.key'))).toEqual(await readFile(join(home, 'sealing.key')));
    expect(await readdir(to)).not.toContain('logs');

    relay = await startRelay({ home: to, signIn: await relay.signIn() });
    expect(await (await relay.fetch('/api/notifications')).text()).toBe(before);
  });

  it('contains all that was acknowledged before a backup under load, and devices return the rest', async () => {
    const { before, restored, all } = await backUpUnderLoad(createRandom(1));
    expect(before).toBeGreaterThan(0);
    expect(restored).toBeGreaterThanOrEqual(before);
    expect(all).toBeGreaterThan(before);
  });

  it('leaves no file under its name when it is killed, and the next one succeeds', async () => {
    await made();
    await rm(file);
    const main = await relayMain();
    await addLarge();
    for (const afterMs of [200, 600, 1_000, 1_400]) {
      const child = spawn(process.execPath, [main, 'backup', file, '--home', home], {
        env: { ...process.env, ...WITH },
      });
      const ended = once(child, 'close');
      await setTimeout(afterMs);
      child.kill('SIGKILL');
      await ended;
      // It may have been quicker than the kill: then all of it is there.
      if (!existsSync(file)) continue;
      expect((await restoreTo(join(folder, `to-${afterMs}`))).code).toBe(0);
      await rm(file);
    }
    expect((await backUp()).code).toBe(0);
    expect(await readdir(join(home, 'copies'))).toEqual([]);
    expect((await readdir(folder)).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('opens a backup without Roost by age, gzip and tar', async () => {
    await made();
    const decrypter = new Decrypter();
    decrypter.addPassphrase(PASSPHRASE);
    const tar = join(folder, 'home.tar.gz');
    await writeFile(tar, await decrypter.decrypt(await readFile(file)));
    execFileSync('tar', ['-xzf', tar, '-C', folder]);
    const note = join(folder, AGENT, `deep/${'long '.repeat(30)}/ünï/note.md`);
    expect(await readFile(note, 'utf8')).toBe('in a long path');
    expect(await readFile(join(folder, AGENT, 'link'), 'utf8')).toBe('#!/bin/sh\n');
  });

  it('refuses a backup without a passphrase or home, with a short passphrase, or over an existing file', async () => {
    expect(said(await backUp())).toContain('There is no home of Roost at');
    await made();
    expect(await backUp()).toMatchObject({ code: 1, stderr: expect.stringContaining('is there already') });
    await rm(file);
    expect(await backUp({})).toMatchObject({ code: 2, stderr: expect.stringContaining('ROOST_BACKUP_PASSPHRASE') });
    expect(await backUp({ ROOST_BACKUP_PASSPHRASE: 'short' })).toMatchObject({ code: 2 });
    expect(await roost(['backup'])).toMatchObject({ code: 2, stderr: expect.stringContaining('roost backup FILE') });
    expect(await readdir(folder)).toEqual([]);
  });

  it('says how to back up a home whose store is in Postgres', async () => {
    await made();
    await rm(file);
    const end = await backUp({ ...WITH, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
    expect(said(end)).toContain('pg_dump');
    expect(said(await restoreTo(join(folder, 'to')))).toContain('psql');
  });
});

describe.skipIf(process.platform !== 'linux')('A passphrase that is typed', () => {
  /** Runs the command at a terminal, and types each line when something was printed. */
  async function typing(command: string, ...lines: readonly string[]) {
    const words = [process.execPath, await relayMain(), command, file, '--home'].join(' ');
    const to = command === 'backup' ? home : join(folder, 'to');
    const child = spawn('script', ['-qec', `${words} ${to}`, '/dev/null'], { stdio: ['pipe', 'pipe', 'pipe'] });
    let printed = '';
    const left = [...lines];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (!/(?:Passphrase of the backup|The same again): $/.test(printed)) return;
      const line = left.shift();
      if (line !== undefined) child.stdin.write(line);
    });
    const [code] = await once(child, 'close');
    return { code, printed };
  }

  it('twice the same seals the backup, is not shown, and opens it again', async () => {
    await made();
    await rm(file);
    const sealed = await typing('backup', `${PASSPHRASE}\r`, `${PASSPHRASE}\r`);
    expect(sealed).toMatchObject({ code: 0, printed: expect.stringContaining('Backed up') });
    expect(sealed.printed).not.toContain(PASSPHRASE);
    expect(await typing('restore', `${PASSPHRASE}\r`)).toMatchObject({ code: 0 });
  });

  it('refuses a typed passphrase that is empty, differs the second time, or is interrupted', async () => {
    await made();
    await rm(file);
    const refused = async (...lines: readonly string[]) => {
      const { code, printed } = await typing('backup', ...lines);
      expect(code).not.toBe(0);
      expect(await readdir(folder)).toEqual([]);
      return printed;
    };
    expect(await refused('\r')).toContain('at least');
    expect(await refused(`${PASSPHRASE}\r`, 'another passphrase\r')).toContain('differ');
    expect(await refused('\u0003')).toContain('No passphrase was given');
  });
});

describe.skipIf(!(await mayMount()))('A full disk (needs root, to mount a small one)', () => {
  let disk: DiskImage;
  beforeEach(async () => {
    disk = await createDiskImage();
  });
  afterEach(() => disk.remove());
  const fillUp = () =>
    execFileSync('sh', ['-c', 'dd if=/dev/zero of="$0/filler" bs=64k 2>/dev/null || true', disk.folder]);

  it('refuses a restore or a backup in one line, and leaves nothing of either', async () => {
    await made();
    await writeFile(join(home, AGENT, 'noise'), randomBytes(1_000_000));
    fillUp();
    const before = await readdir(disk.folder);
    const full = { code: 1, stderr: expect.stringMatching(/^The disk of \S+ is full. Nothing was changed.\n$/) };
    expect(await restoreTo(join(disk.folder, 'home'))).toMatchObject(full);
    expect(await roost(['backup', join(disk.folder, 'other.age'), '--home', home])).toMatchObject(full);
    expect(await readdir(disk.folder)).toEqual(before);
  });

  it('refuses the backup of a running relay on it, which goes on', async () => {
    await made();
    await rm(file);
    const onDisk = join(disk.folder, 'home');
    await cp(home, onDisk, { recursive: true, verbatimSymlinks: true });
    relay = await startRelay({ home: onDisk });
    fillUp();
    const end = await roost(['backup', file, '--home', onDisk]);
    expect(end).toMatchObject({ code: 1 });
    expect(end.stderr.trim().split('\n')).toHaveLength(1);
    expect(existsSync(file)).toBe(false);
    await rm(join(disk.folder, 'filler'));
    expect(await roost(['backup', file, '--home', onDisk])).toMatchObject({ code: 0 });
    await relay.stop();
    relay = null;
  });
});

describe('The daily backup', () => {
  it('writes a daily backup when a folder is set, and removes only its own older ones', async () => {
    const into = join(folder, 'daily');
    await mkdir(into);
    for (const name of ['roost-2020-01-01T00-00-00Z.age', 'roost-2021-01-01T00-00-00Z.age', 'mine.age'])
      await writeFile(join(into, name), '');
    relay = await startRelay({ home, env: WITH, args: ['--backup-folder', into, '--backup-keep', '2'] });
    const names = () => readdir(into).then((all) => all.sort());
    await expect.poll(names, { timeout: 30_000 }).not.toContain('roost-2020-01-01T00-00-00Z.age');
    const [mine, older, newest = ''] = await names();
    expect([mine, older]).toEqual(['mine.age', 'roost-2021-01-01T00-00-00Z.age']);
    expect(await restoreTo(join(folder, 'to'), join(into, newest))).toMatchObject({ code: 0 });
  });

  it('writes one backup a day, and refuses without a passphrase', async () => {
    const written: string[] = [];
    let now = Date.parse('2026-11-29T12:00:00Z');
    const deps = {
      ...{ folder: join(folder, 'daily'), keep: 3, now: () => now, timers: realTimers, tell: () => undefined },
      async write(to: string) {
        written.push(to);
        await writeFile(to, '');
      },
    };
    for (let hour = 0; hour < 24 * 5; hour++) {
      await backUpIfDue(deps);
      now += 3_600_000;
    }
    expect(written).toHaveLength(5);
    expect(await readdir(deps.folder)).toHaveLength(3);
    expect(() => readConfig(['--backup-folder', 'x'], {})).toThrow('ROOST_BACKUP_PASSPHRASE');
  });
});

describe('A restore', () => {
  const attempt = async (from: string, env?: Readonly<Record<string, string>>) => {
    const to = join(folder, 'to');
    const end = await restoreTo(to, from, env);
    expect(existsSync(to)).toBe(false);
    expect((await readdir(folder)).filter((name) => name.includes('restoring'))).toEqual([]);
    expect(end.stderr.trim().split('\n')).toHaveLength(1);
    return end;
  };

  it('changes nothing with a wrong passphrase, a cut or changed file, or a file of another kind', async () => {
    await made();
    const wrong = await attempt(file, { ROOST_BACKUP_PASSPHRASE: 'another passphrase' });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('The passphrase is not that of') });
    const { size } = await stat(file);
    for (const length of [60, 300, Math.floor(size / 2), size - 1]) {
      const cut = join(folder, `cut-${length}`);
      await cp(file, cut);
      await truncate(cut, length);
      expect((await attempt(cut)).stderr, `cut to ${length}`).toMatch(/damaged, or not all of it is there/);
    }
    const longer = join(folder, 'longer');
    await cp(file, longer);
    await appendFile(longer, 'x');
    expect((await attempt(longer)).stderr).toMatch(/damaged/);
    const other = join(folder, 'other');
    await writeFile(other, 'age-encryption.org/v2\nnothing');
    expect((await attempt(other)).stderr).toContain('is no backup of Roost');
    expect((await attempt(join(folder, 'missing'))).stderr).toContain('cannot be read');
  });

  it('refuses a home that is not empty, and takes an empty folder', async () => {
    await made();
    const to = join(folder, 'there');
    await mkdir(to);
    await writeFile(join(to, 'mine'), 'mine');
    expect(await restoreTo(to)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });
    expect(await readdir(to)).toEqual(['mine']);
    await rm(join(to, 'mine'));
    expect(await restoreTo(to)).toMatchObject({ code: 0 });
    expect(existsSync(join(to, 'roost.json'))).toBe(true);
  });
});
