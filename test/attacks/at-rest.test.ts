/**
 * Other users of the machine: what a home holds is its owner's alone, however it came to be open to
 * others.
 */
import { chmod, chown, lstat, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createHome, runRelayCommand, startRelay } from '../support/relay.ts';

async function openToOthers(home: string): Promise<string[]> {
  const all = await readdir(home, { recursive: true });
  const found = await Promise.all(
    [home, ...all.map((name) => join(home, name))].map(async (path) => ({ path, stats: await lstat(path) })),
  );
  return found
    .filter(({ stats }) => !stats.isSymbolicLink() && !stats.isSocket() && (stats.mode & 0o077) !== 0)
    .map(({ path }) => path);
}

it.skipIf(process.platform === 'win32')(
  'an existing home that all may read and write is its owner’s alone once the relay has started, and stays so',
  { timeout: 120_000 },
  async () => {
    const home = await createHome({ store: 'sqlite' });
    const outside = join(tmpdir(), `roost-outside-${process.pid}`);
    try {
      await (await startRelay({ home })).stop();
      await writeFile(outside, 'not of the home', { mode: 0o644 });
      await symlink(outside, join(home, 'store', 'elsewhere'));
      for (const name of ['.', ...(await readdir(home, { recursive: true }))]) {
        const path = join(home, name);
        const stats = await lstat(path);
        if (!stats.isSymbolicLink()) await chmod(path, stats.isDirectory() ? 0o777 : 0o666);
      }
      expect((await openToOthers(home)).length).toBeGreaterThan(5);
      const relay = await startRelay({ home });
      await relay.fetch('/api/sessions', {
        method: 'POST',
        json: { human: { name: 'Ada' }, lead: { name: 'Julian', soul: null, transcript: null } },
      });
      const open = await openToOthers(home);
      await relay.stop();
      expect(open).toEqual([]);
      expect(await openToOthers(home), 'what it wrote since').toEqual([]);
      expect((await lstat(outside)).mode & 0o777, 'what is not its own is left alone').toBe(0o644);
    } finally {
      await rm(home, { recursive: true, force: true });
      await rm(outside, { force: true });
    }
  },
);

it.skipIf(process.getuid?.() !== 0)(
  'a home of another user, or with a file of theirs in it, is refused in one line',
  { timeout: 120_000 },
  async () => {
    for (const part of ['.', 'store']) {
      const home = await createHome({ store: 'sqlite' });
      await mkdir(join(home, 'store'));
      try {
        await chown(join(home, part), 65_534, 65_534);
        const { code, stderr } = await runRelayCommand(['--home', home, '--port', '0', '--no-open']);
        expect([code, stderr.trim().split('\n').length]).toEqual([1, 1]);
        expect(stderr).toContain('belongs to another user');
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    }
  },
);
