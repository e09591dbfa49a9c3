/** Ways out of an agent's folder: by paths, links, other names, and by swapping what was looked at. A real disk. */
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFile,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createWorkspaces,
  folderName,
  WorkspaceError,
  type Workspace,
  type Workspaces,
} from '../../server/workspaces/index.ts';
import { createFolder } from '../../server/workspaces/folder.ts';
import { at, openWithin, step } from '../../server/workspaces/open-folder.ts';
import { piecesOf, zipOf } from '../../server/workspaces/zip.ts';
import { WORKSPACE_LIMITS } from '../../server/workspaces/settings.ts';

const SECRET = 'the key of the relay';
let base: string;
let all: Workspaces;
let own: Workspace;
let folder: string;
let outside: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'roost-workspaces-')));
  all = createWorkspaces({ folder: join(base, 'workspaces'), elapsed: () => performance.now() });
  own = all.of('agent-1');
  folder = all.folderOf('agent-1');
  outside = join(base, 'sealing.key');
  await mkdir(folder, { recursive: true });
  await writeFile(outside, SECRET);
  await mkdir(join(base, 'elsewhere'));
  await writeFile(join(base, 'elsewhere', 'soul.md'), SECRET);
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const text = async (path: string) => (await own.bytesOf(path, 1_000_000)).toString();
const refused = async (act: () => Promise<unknown>) => {
  const error = await act().then(
    () => null,
    (fault: unknown) => fault,
  );
  if (!(error instanceof WorkspaceError)) throw new Error(`It was not refused: ${String(error)}`);
  return error;
};
/** Nothing outside has changed, and nothing came there. */
async function untouched() {
  expect(await readFile(outside, 'utf8')).toBe(SECRET);
  expect(await readFile(join(base, 'elsewhere', 'soul.md'), 'utf8')).toBe(SECRET);
  expect((await readdir(base)).sort()).toEqual(['elsewhere', 'sealing.key', 'workspaces']);
  expect(await readdir(join(base, 'elsewhere'))).toEqual(['soul.md']);
}

describe('a path that leads or looks elsewhere', () => {
  it.each([
    ['up', '../../sealing.key'],
    ['up from within', 'notes/../../../sealing.key'],
    ['up at its end', 'notes/..'],
    ['from the top', '/etc/passwd'],
    ['from home', '~/.ssh/id_ed25519'],
    ['by drive', 'C:\\Windows\\win.ini'],
    ['by backslash', '..\\..\\sealing.key'],
    ['by a network', '\\\\host\\share'],
    ['past its end', 'notes.md\0.png'],
    ['with a line in it', 'a\nb'],
    ['read from the right', 'exe.\u202etxt'],
    ['with what cannot be seen', 'a\u2066b'],
    ['with a space of no width', 'a\u200bb.md'],
    ['with a joiner of words', 'a\u2060b.md'],
    ['with a soft hyphen', 'a\u00adb.md'],
    ['with an Arabic mark', 'a\u061cb.md'],
    ['with a line of Unicode’s own', 'a\u2028b.md'],
    ['with a tag', 'a\u{e0041}b.md'],
    ['with half a character', 'a\ud800b.md'],
    ['up, by dots with what cannot be seen between them', '.\u200b./sealing.key'],
    ['by a share of the kernel', '\\\\?\\C:\\x'],
    ['of the relay itself', '/proc/self/environ'],
    ['too long', 'a/'.repeat(600)],
    ['too deep', Array.from({ length: 40 }, () => 'a').join('/')],
    ['of a name too long', `${'é'.repeat(200)}.md`],
  ])('is refused: %s', async (_how, path) => {
    for (const act of [() => own.list(path), () => own.bytesOf(path, 1_000), () => own.write(path, Buffer.from('x'))])
      expect((await refused(act)).kind).toBe('bad-path');
    // What a program has called so can be taken away: it lies within, or there is none.
    expect((await refused(() => own.remove(path))).kind).toMatch(/^(?:bad-path|not-found)$/);
    await untouched();
  });

  it('is taken away all the same where a program has called something so, and nothing else is', async () => {
    const odd = ['a\nb', 'exe.\u202etxt', '..\\..\\sealing.key', 'C:\\x', '~root', '.roost-left'].map((name) =>
      Buffer.from(name),
    );
    for (const raw of [...odd, Buffer.from([0x61, 0xff]), Buffer.from([0x61, 0xfe])])
      await writeFile(Buffer.concat([Buffer.from(`${folder}/`), raw]), 'x');
    await symlink(outside, Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff])]));
    const shown = (await own.list('')).map(({ name }) => name);
    expect(shown).toHaveLength(9);
    for (const name of shown) await own.remove(name);
    expect(await own.list('')).toEqual([]);
    await untouched();
  });

  it('leads nowhere in a zip, whoever unpacks it', async () => {
    for (const name of ['..\\..\\evil.bat', 'C:evil', 'plain']) await writeFile(join(folder, name), name);
    const parts: Uint8Array[] = [];
    for await (const part of zipOf(own, '')) parts.push(part);
    const files = unzipSync(Buffer.concat(parts));
    expect(Object.keys(files).sort()).toEqual(['.._.._evil.bat', 'C_evil', 'plain']);
    expect(Buffer.from(files['C_evil'] ?? []).toString()).toBe('C:evil');
  });

  it('is the folder itself for neither reading, writing nor removing', async () => {
    for (const path of ['', '.', './', './.']) {
      for (const act of [() => own.bytesOf(path, 10), () => own.write(path, Buffer.from('x')), () => own.remove(path)])
        await refused(act);
    }
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it('is no other by its case, its form, or letters that look alike: each is its own name, within', async () => {
    // On a disk that tells no case, or no form, two of them are one file: it lies within all the same.
    const names = [
      'Key.md',
      'key.md',
      '\u00e9.md',
      'e\u0301.md',
      '\uff0e\uff0e',
      '\u2024\u2024',
      '\u2215etc',
      '..\u2044x',
      '%2e%2e',
      '..;',
      '...',
      '.. ',
    ];
    for (const name of names) {
      await own
        .write(`${name}/soul.md`, Buffer.from(name))
        .catch((error: unknown) => expect(error).toBeInstanceOf(WorkspaceError));
      await own
        .bytesOf(`${name}/sealing.key`, 100)
        .catch((error: unknown) => expect(error).toBeInstanceOf(WorkspaceError));
    }
    expect((await own.list('')).length).toBeGreaterThan(names.length - 3);
    await untouched();
  });

  it('takes what people write all the same', async () => {
    await own.write('./notes//über uns/今日.md', Buffer.from('yes'));
    expect(await text('notes/über uns/今日.md')).toBe('yes');
    await own.write('..hidden', Buffer.from('a name'));
    expect(await text('..hidden')).toBe('a name');
  });

  it('gives agents with odd ids folders of their own', () => {
    const odd = ['../agent-1', 'agent-1/..', 'a b', '人', '.', '..', 'a'.repeat(120)];
    // Two that differ by case or form alone are two on every disk: many tell neither.
    const alike = ['agent-1', 'Agent-1', 'AGENT-1', '\u00e9', 'e\u0301', '\u212a', 'k', 'K', '\u017f', 's', 'ß', 'ss'];
    const ids = [...odd, ...alike];
    const names = ids.map((id) => folderName(id));
    for (const form of ['NFC', 'NFD', 'NFKC'] as const)
      expect(new Set(names.map((name) => name.toLowerCase().normalize(form))).size).toBe(ids.length);
    for (const name of names) expect(name).toMatch(/^\.?[a-z\d_-]{1,64}$/);
    // What lay under such a name before lies there still, and is nobody else’s.
    expect(folderName('AGENT-1', new Set(['AGENT-1']))).toBe('AGENT-1');
    expect(folderName('../AGENT', new Set(['../AGENT']))).not.toContain('/');
  });
});

describe('a link', () => {
  it('to a file outside is not read, not written through, and goes without what it leads to', async () => {
    await symlink(outside, join(folder, 'key'));
    expect((await refused(() => own.bytesOf('key', 1_000))).message).toBe('key is a link, and links are not followed.');
    await refused(() => own.write('key', Buffer.from('gone')));
    await own.remove('key');
    expect(await own.list('')).toEqual([]);
    await untouched();
  });

  it('to a folder outside is not gone into', async () => {
    await symlink(join(base, 'elsewhere'), join(folder, 'way'));
    for (const act of [
      () => own.list('way'),
      () => own.bytesOf('way/soul.md', 1_000),
      () => own.write('way/new.md', Buffer.from('x')),
      () => own.write('way/deeper/new.md', Buffer.from('x')),
      () => own.remove('way/soul.md'),
    ])
      expect((await refused(act)).message).toContain('links are not followed');
    const walked = [];
    for await (const { path, kind } of own.walk('', 100)) walked.push([path, kind]);
    expect(walked).toEqual([['way', 'link']]);
    await own.remove('way');
    await untouched();
  });

  it('in a folder that is removed goes; what it leads to stays', async () => {
    await mkdir(join(folder, 'a', 'b'), { recursive: true });
    await symlink(join(base, 'elsewhere'), join(folder, 'a', 'b', 'way'));
    await own.remove('a');
    expect(await readdir(folder)).toEqual([]);
    await untouched();
  });

  it('that is hard is neither read nor written through', async () => {
    await link(outside, join(folder, 'key'));
    expect((await refused(() => own.bytesOf('key', 1_000))).message).toContain('hard link');
    await own.write('key', Buffer.from('mine'));
    expect(await text('key')).toBe('mine');
    await untouched();
  });

  it('in the place of the folder itself ends everything', async () => {
    await rm(folder, { recursive: true });
    await symlink(join(base, 'elsewhere'), folder);
    for (const act of [
      () => own.list(''),
      () => own.bytesOf('soul.md', 1_000),
      () => own.write('x', Buffer.from('x')),
      () => own.remove('soul.md'),
    ])
      await expect(act()).rejects.toThrow();
    await rm(folder);
    await untouched();
  });
});

describe('what is no file', () => {
  it('is not read and holds nobody up: a pipe, a socket’s place, a folder', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await mkdir(join(folder, 'sub'));
    expect((await refused(() => own.bytesOf('pipe', 10))).kind).toBe('not-a-file');
    expect((await refused(() => own.bytesOf('sub', 10))).kind).toBe('not-a-file');
    await refused(() => own.write('pipe', Buffer.from('x')));
    await refused(() => own.write('sub', Buffer.from('x')));
    expect((await own.list('')).map(({ name, kind }) => [name, kind])).toEqual([
      ['pipe', 'other'],
      ['sub', 'folder'],
    ]);
  });

  it('is sent to its end, though it grows faster than it is read', async () => {
    await own.write('log', Buffer.alloc(600_000));
    let sent = 0;
    for await (const piece of piecesOf(own, 'log')) {
      sent += piece.length;
      await appendFile(join(folder, 'log'), Buffer.alloc(1_000_000));
      if (sent > 5_000_000) throw new Error('It has no end.');
    }
    expect(sent).toBe(600_000);
  });

  it('ends at the bytes that were asked for', async () => {
    await own.write('big', Buffer.alloc(5_000));
    expect((await refused(() => own.bytesOf('big', 4_999))).kind).toBe('too-large');
    expect(await own.bytesOf('big', 5_000)).toHaveLength(5_000);
  });
});

describe.skipIf(process.platform !== 'linux')('a folder that is swapped for a link between two steps', () => {
  const swap = async () => {
    await rename(join(folder, 'real'), join(folder, 'aside'));
    await symlink(join(base, 'elsewhere'), join(folder, 'real'));
  };
  beforeEach(async () => {
    await mkdir(join(folder, 'real'));
    await writeFile(join(folder, 'real', 'soul.md'), 'inside');
  });

  it('while a file is written in it: that comes to lie where the folder is now', async () => {
    // The bytes come in the midst of it, when all has been looked at.
    async function* bytes() {
      await swap();
      yield Buffer.from('mine');
    }
    await createFolder(folder).write('real/new.md', bytes() as unknown as Uint8Array);
    expect(await readFile(join(folder, 'aside', 'new.md'), 'utf8')).toBe('mine');
    await untouched();
  });

  it('while it is walked: what the link leads to is not gone into', async () => {
    const walked = own.walk('', 100);
    expect((await walked.next()).value).toMatchObject({ path: 'real', kind: 'folder' });
    await swap();
    expect((await walked.next()).done).toBe(true);
    await untouched();
  });

  it('after it was opened: what is looked for in it is found in it', async () => {
    const opened = await openWithin(folder, ['real'], false);
    await swap();
    expect(await readFile(at(opened, 'soul.md'), 'utf8')).toBe('inside');
    await expect(step(await openWithin(folder, [], false), 'real')).rejects.toThrow(/ENOTDIR|ELOOP/);
    await opened.handle.close();
    await untouched();
  });

  it('and a file for a link, once it is open: it is read as it was', async () => {
    const path = join(folder, 'real', 'soul.md');
    const read = await own.read('real/soul.md', async (file) => {
      await rm(path);
      await symlink(outside, path);
      return String(await file.readFile());
    });
    expect(read).toBe('inside');
    await untouched();
  });
});

it('swapped for a link again and again while it is read and written, it never leads outside', async () => {
  await mkdir(join(folder, 'real'));
  await writeFile(join(folder, 'real', 'soul.md'), 'inside');
  // Another program swaps folder and link as fast as it can.
  const swapper = spawn(
    process.execPath,
    [
      '-e',
      `const fs = require('fs'); const [dir, out] = process.argv.slice(1);
       process.stdout.write('.');
       for (const end = Date.now() + 20000; Date.now() < end;) {
         try { fs.symlinkSync(out, dir + '/link'); fs.renameSync(dir + '/real', dir + '/aside'); fs.renameSync(dir + '/link', dir + '/real'); } catch {}
         try { if (fs.existsSync(dir + '/aside')) fs.rmSync(dir + '/real', { recursive: true, force: true }); } catch {}
         try { fs.renameSync(dir + '/aside', dir + '/real'); } catch {}
         try { fs.unlinkSync(dir + '/link'); } catch {}
       }`,
      folder,
      join(base, 'elsewhere'),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await new Promise((ready) => swapper.stdout.once('data', ready));
    const seen = { inside: 0, refused: 0 };
    for (let n = 0; n < 600; n++) {
      const read = await own.bytesOf('real/soul.md', 1_000).then(String, (error: unknown) => {
        if (!(error instanceof WorkspaceError)) throw error;
        return null;
      });
      expect(read).not.toBe(SECRET);
      seen[read === null ? 'refused' : 'inside'] += 1;
      await own.write(`real/new-${n}`, Buffer.from('x')).catch((error: unknown) => {
        if (!(error instanceof WorkspaceError)) throw error;
      });
    }
    // It was met both ways, or nothing was tried.
    expect(seen.inside).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  } finally {
    swapper.kill('SIGKILL');
    await new Promise((ended) => swapper.once('exit', ended));
  }
  await untouched();
});

describe('the room of a folder', () => {
  it('is bounded, and what does not fit changes nothing', async () => {
    const tight = createWorkspaces({
      folder: join(base, 'workspaces'),
      elapsed: () => performance.now(),
      most: () => Promise.resolve(1_000),
      limits: { ...WORKSPACE_LIMITS, entries: 3 },
    }).of('agent-2');
    await tight.write('a', Buffer.alloc(600));
    expect((await refused(() => tight.write('b', Buffer.alloc(600)))).message).toContain('The folder is full');
    await tight.write('a', Buffer.alloc(300));
    await tight.write('b', Buffer.alloc(600));
    await tight.write('c', Buffer.alloc(1));
    expect((await refused(() => tight.write('d', Buffer.alloc(1)))).kind).toBe('full');
    await tight.remove('b');
    await tight.write('d', Buffer.alloc(600));
    expect(await tight.used()).toEqual({ bytes: 901, entries: 3, most: 1_000 });
    // A full one is no dead end: what is shorter makes room, also where a program has filled it past the most.
    await writeFile(join(base, 'workspaces', 'agent-2', 'c'), Buffer.alloc(5_000));
    expect((await tight.room()).bytes).toBeLessThan(0);
    expect((await refused(() => tight.write('c', Buffer.alloc(5_001)))).message).toContain('over a file that is there');
    await tight.write('c', Buffer.alloc(10));
    await tight.write('d', Buffer.alloc(0));
    expect(await tight.used()).toEqual({ bytes: 310, entries: 3, most: 1_000 });
  });

  it('is bounded for many that are written at once', async () => {
    const tight = createWorkspaces({
      folder: join(base, 'workspaces'),
      elapsed: () => performance.now(),
      most: () => Promise.resolve(1_000),
      limits: { ...WORKSPACE_LIMITS, entries: 8 },
    }).of('agent-3');
    await tight.used();
    const all = await Promise.allSettled(
      Array.from({ length: 40 }, (_none, n) => tight.write(`f${n}`, Buffer.alloc(300))),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await tight.list('')).toHaveLength(3);
    const small = await Promise.allSettled(
      Array.from({ length: 40 }, (_none, n) => tight.write(`s${n}`, Buffer.alloc(1))),
    );
    expect(small.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    // What could not be written takes no room.
    await tight.remove('f0');
    await tight.used();
    await refused(() => tight.write('f1/inner', Buffer.alloc(90)));
    expect((await tight.used()).entries).toBe(7);
  });

  it('is given back whatever was nested in it, by hundreds of folders', async () => {
    let path = folder;
    for (let n = 0; n < 300; n++) path = join(path, 'd');
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'end'), 'x');
    await own.remove('d');
    expect(await readdir(folder)).toEqual([]);
    await untouched();
  });

  it('counts whatever is there, however a program has called it and however deep it lies', async () => {
    const deep = join(folder, ...Array.from({ length: 70 }, () => 'd'));
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, 'x'), Buffer.alloc(10));
    await writeFile(join(folder, '.roost-mine'), Buffer.alloc(100));
    for (const [byte, bytes] of [
      [0xfe, 1_000],
      [0xff, 10_000],
    ] as const)
      await writeFile(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([byte])]), Buffer.alloc(bytes));
    const most = (await own.used()).most;
    expect((await own.used()).bytes).toBe(11_110);
    // Short files, and folders, take whole blocks of the disk.
    expect(most - (await own.room()).bytes).toBeGreaterThanOrEqual(11_110);
  });

  it('is none where there is more than can be counted', async () => {
    const few = createWorkspaces({
      folder: join(base, 'workspaces'),
      elapsed: () => performance.now(),
      limits: { ...WORKSPACE_LIMITS, entries: 3 },
    });
    for (const [agentId, make] of [
      ['many', (own: string) => Promise.all([1, 2, 3, 4].map((name) => writeFile(join(own, `${name}`), '')))],
      ['deep', (own: string) => mkdir(join(own, ...Array.from({ length: 250 }, () => 'd')), { recursive: true })],
    ] as const) {
      const where = agentId === 'deep' ? all : few;
      await mkdir(where.folderOf(agentId), { recursive: true });
      await make(where.folderOf(agentId));
      expect((await where.of(agentId).room()).entries).toBeLessThan(0);
      expect((await refused(() => where.of(agentId).write('x', Buffer.from('x')))).kind).toBe('full');
    }
  });

  it('shows nobody what is being written; what is left of that is shown as any file is', async () => {
    await writeFile(join(folder, '.roost-left-behind'), 'half');
    let [writing, lay, shown] = [true, 0, 0];
    const written = own.write('large', Buffer.alloc(150_000_000)).finally(() => (writing = false));
    while (writing) {
      const there = await readdir(folder);
      const half = there.find((name) => name.startsWith('.roost-') && name !== '.roost-left-behind');
      if (half === undefined) continue;
      lay += 1;
      const names = (await own.list('')).map(({ name }) => name);
      if (names.includes(half)) shown += 1;
      await own.bytesOf(half, 1_000_000_000).then(
        () => (shown += 1),
        () => undefined,
      );
    }
    await written;
    expect(lay).toBeGreaterThan(0);
    expect(shown).toBe(0);
    expect((await own.list('')).map(({ name }) => name)).toEqual(['.roost-left-behind', 'large']);
  });
});
