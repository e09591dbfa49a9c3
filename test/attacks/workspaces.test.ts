/**
 * Ways out of an agent's folder: by paths, links, other names, and by swapping what was looked at.
 * A real disk.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chmod,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createWorkspaces,
  folderName,
  WorkspaceError,
  type Workspace,
  type Workspaces,
} from '../../server/files/workspaces/index.ts';
import { createFolder } from '../../server/files/workspaces/folder.ts';
import { at, openWithin, step } from '../../server/files/workspaces/open-folder.ts';
import { fileStream, zipOf } from '../../server/files/workspaces/zip.ts';
import { WORKSPACE_LIMITS } from '../../server/files/workspaces/settings.ts';
import { LEFT_OUT_NAME, leftOutIn, ZIP_COMMENT_MAX } from '../../src/shared/protocol/endpoints/workspaces.ts';

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

/** As the tool moves that may replace a file. */
const MOVE = { replaces: true, makes: true };
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
  ])('refuses: %s', async (_how, path) => {
    await writeFile(join(folder, 'mine'), 'mine');
    for (const act of [
      () => own.list(path),
      () => own.bytesOf(path, 1_000),
      () => own.write(path, Buffer.from('x')),
      () => own.move('mine', path, MOVE),
    ])
      expect((await refused(act)).kind).toBe('bad-path');
    // What a program has called so can be taken away and renamed: it lies within, or there is none.
    for (const act of [() => own.remove(path), () => own.move(path, 'taken', MOVE)])
      expect((await refused(act)).kind).toMatch(/^(?:bad-path|not-found)$/);
    expect(await readdir(folder)).toEqual(['mine']);
    await untouched();
  });

  it('removes an entry of such a name that a program made, and nothing else', async () => {
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

  it('is a safe path in a zip, whoever unpacks it', async () => {
    for (const name of ['..\\..\\evil.bat', 'C:evil', 'plain']) await writeFile(join(folder, name), name);
    const parts: Uint8Array[] = [];
    for await (const part of zipOf(own, '')) parts.push(part);
    const files = unzipSync(Buffer.concat(parts));
    expect(Object.keys(files).sort()).toEqual(['.._.._evil.bat', 'C_evil', 'ROOST-LEFT-OUT.txt', 'plain']);
    const contentOf = (name: string) => Buffer.from(files[name] ?? []).toString();
    expect(contentOf('C_evil')).toBe('C:evil');
    expect(contentOf('.._.._evil.bat')).toBe('..\\..\\evil.bat');
    expect(contentOf('ROOST-LEFT-OUT.txt')).toContain('"C:evil": it is here as "C_evil"');
  });

  it('refuses to read, write or remove the folder itself by such a path', async () => {
    await mkdir(join(folder, 'sub'));
    for (const path of ['', '.', './', './.']) {
      for (const act of [
        () => own.bytesOf(path, 10),
        () => own.write(path, Buffer.from('x')),
        () => own.remove(path),
        () => own.remove(path, { onlyEmpty: true }),
        () => own.move(path, 'new', MOVE),
        () => own.move('sub', path, MOVE),
      ])
        await refused(act);
    }
    expect((await stat(folder)).isDirectory()).toBe(true);
    expect(await readdir(folder)).toEqual(['sub']);
  });

  it('renames an entry of such a name that a program made', async () => {
    const odd = [Buffer.from('a\nb'), Buffer.from('..\\..\\sealing.key'), Buffer.from([0x61, 0xff])];
    for (const raw of odd) await writeFile(Buffer.concat([Buffer.from(`${folder}/`), raw]), raw);
    for (const [nth, { name }] of (await own.list('')).entries()) await own.move(name, `plain/${nth}`, MOVE);
    expect((await own.list('')).map(({ name }) => name)).toEqual(['plain']);
    const moved = await Promise.all([0, 1, 2].map((nth) => own.bytesOf(`plain/${nth}`, 100)));
    expect(moved.map(String).sort()).toEqual(odd.map(String).sort());
    await untouched();
  });

  it('tells names apart by case, Unicode form and similar letters', async () => {
    // On a disk that tells no case, or no form, two of them are one file: it lies within all the
    // same.
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
  it('neither reads nor writes through a link to a file, and removes only the link', async () => {
    await symlink(outside, join(folder, 'key'));
    expect((await refused(() => own.bytesOf('key', 1_000))).message).toBe('key is a link, and links are not followed.');
    await refused(() => own.write('key', Buffer.from('gone')));
    // It is moved as what it is, and goes without what it leads to.
    await own.move('key', 'deep/moved', MOVE);
    expect(await own.list('deep')).toMatchObject([{ name: 'moved', kind: 'link' }]);
    await own.write('mine', Buffer.from('mine'));
    await own.move('mine', 'deep/moved', MOVE);
    expect(await text('deep/moved')).toBe('mine');
    await symlink(outside, join(folder, 'key'));
    await own.remove('key', { onlyEmpty: true });
    expect((await own.list('')).map(({ name }) => name)).toEqual(['deep']);
    await untouched();
  });

  it('does not enter a link to a folder', async () => {
    await symlink(join(base, 'elsewhere'), join(folder, 'way'));
    await writeFile(join(folder, 'mine.md'), 'mine');
    for (const act of [
      () => own.list('way'),
      () => own.bytesOf('way/soul.md', 1_000),
      () => own.write('way/new.md', Buffer.from('x')),
      () => own.write('way/deeper/new.md', Buffer.from('x')),
      () => own.remove('way/soul.md'),
      () => own.move('way/soul.md', 'taken.md', MOVE),
      () => own.move('mine.md', 'way/planted.md', MOVE),
      () => own.move('mine.md', 'way/deeper/planted.md', MOVE),
    ])
      expect((await refused(act)).message).toContain('links are not followed');
    // A folder's link is no folder to move into, and is not replaced.
    expect((await refused(() => own.move('mine.md', 'way', { ...MOVE, replaces: false }))).kind).toBe('exists');
    await own.remove('mine.md');
    const walked = [];
    for await (const { path, kind } of own.walk('', 100)) walked.push([path, kind]);
    expect(walked).toEqual([['way', 'link']]);
    await own.remove('way');
    await untouched();
  });

  it('removes a link with its folder, and leaves its target', async () => {
    await mkdir(join(folder, 'a', 'b'), { recursive: true });
    await symlink(join(base, 'elsewhere'), join(folder, 'a', 'b', 'way'));
    await own.remove('a');
    expect(await readdir(folder)).toEqual([]);
    await untouched();
  });

  it('neither reads nor writes through a hard link', async () => {
    await link(outside, join(folder, 'key'));
    expect((await refused(() => own.bytesOf('key', 1_000))).message).toContain('hard link');
    await own.move('key', 'moved', MOVE);
    expect(await readdir(folder)).toEqual(['moved']);
    await own.write('moved', Buffer.from('mine'));
    expect(await text('moved')).toBe('mine');
    await untouched();
    // One name moved onto the other: one of them is left, with what is in it.
    await link(join(folder, 'moved'), join(folder, 'twin'));
    await own.move('moved', 'twin', MOVE);
    expect(await own.list('')).toMatchObject([{ name: 'twin' }]);
    expect(await text('twin')).toBe('mine');
  });

  it('refuses everything when a link replaces the folder itself', async () => {
    await rm(folder, { recursive: true });
    await symlink(join(base, 'elsewhere'), folder);
    for (const act of [
      () => own.list(''),
      () => own.bytesOf('soul.md', 1_000),
      () => own.write('x', Buffer.from('x')),
      () => own.remove('soul.md'),
      () => own.move('soul.md', 'x', MOVE),
    ])
      await expect(act()).rejects.toThrow();
    await rm(folder);
    await untouched();
  });
});

describe('what is no file', () => {
  it('refuses to read a pipe, a socket or a folder, without waiting', async () => {
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

  it('ends the download of a file that grows faster than it is read', async () => {
    await own.write('log', Buffer.alloc(600_000));
    let sent = 0;
    for await (const piece of fileStream(() => own.open('log'))) {
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

async function bytesOfZip(zip: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of zip) parts.push(part);
  return Buffer.concat(parts);
}
const leftOutOf = (zip: Buffer) => leftOutIn(zip.subarray(-ZIP_COMMENT_MAX).toString('latin1'));
/** All of a zip, unpacked, and what its end says of what is not in it. */
async function unzipped(zip: AsyncIterable<Uint8Array>) {
  const bytes = await bytesOfZip(zip);
  const files = unzipSync(bytes);
  const leftOut = Buffer.from(files[LEFT_OUT_NAME] ?? []).toString();
  return { files, leftOut, count: leftOutOf(bytes) };
}

describe('a zip of a folder', () => {
  it('counts more files than the old zip format can, and says so in the zip64 record', async () => {
    const count = 65_536 + 100;
    // What is walked is made up: to make as many on a disk takes long. The zip is the real one.
    async function* walk() {
      const none = { bytes: 0, changedAt: Date.now(), raw: Buffer.alloc(0), stamp: '' };
      const open = () => Promise.reject(new Error('It is no file.'));
      for (let n = 0; n < count; n++) {
        yield { ...none, kind: 'folder' as const, name: `f${n}`, path: `f${n}`, open };
        if (n % 1_000 === 0) await new Promise(setImmediate);
      }
    }
    const bytes = await bytesOfZip(zipOf({ walk }, ''));
    await writeFile(join(base, 'many.zip'), bytes);
    const python = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(len(z.namelist()), z.testzip())';
    expect(execFileSync('python3', ['-c', python, join(base, 'many.zip')]).toString()).toBe(`${count} None\n`);
    // The end record of before says that it cannot say it; the one before that does.
    const end = bytes.length - 22;
    expect([bytes.readUInt16LE(end + 10), bytes.readBigUInt64LE(end - 76 + 32)]).toEqual([0xffff, BigInt(count)]);
    expect(leftOutOf(bytes)).toBe(0);
    await rm(join(base, 'many.zip'));
  });

  it('packs every file whole, whatever its name, depth or time', async () => {
    const deep = Array.from({ length: 60 }, (_, n) => `folder-${n}`).join('/');
    const long = Array.from({ length: 7 }, () => 'x'.repeat(200)).join('/');
    const odd = ['plain', 'a\nb', 'exe.\u202etxt', '~root', 'back\\slash', 'C:drive', `${deep}/end`, `${long}/end`];
    for (const path of odd) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), `of ${path}`);
    }
    for (const byte of [0xfe, 0xff])
      await writeFile(Buffer.concat([Buffer.from(`${folder}/same`), Buffer.from([byte])]), `of ${byte}`);
    await utimes(join(folder, 'plain'), 0, 0);
    await utimes(join(folder, '~root'), new Date('2150-01-01'), new Date('2150-01-01'));
    await mkdir(join(folder, 'empty', 'inner'), { recursive: true });
    const large = randomBytes(700_000);
    await writeFile(join(folder, 'large'), large);
    const { files, leftOut, count } = await unzipped(zipOf(own, ''));
    const contents = Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString()] as const);
    const found = new Set(contents.map(([, content]) => content));
    for (const content of [...odd.map((path) => `of ${path}`), 'of 254', 'of 255']) expect(found).toContain(content);
    expect(Buffer.from(files['large'] ?? []).equals(large)).toBe(true);
    expect(Object.keys(files)).toContain('empty/inner/');
    // Those that had to be called otherwise are named.
    expect(count).toBe(3);
    expect(leftOut).toContain('"back\\\\slash": it is here as "back_slash"');
    expect(leftOut).toContain('"same\ufffd": it is here as "same\ufffd (2)"');
  });

  it('lists what is missing with the reason, and counts it at the end', async () => {
    await writeFile(join(folder, 'mine'), 'mine');
    await symlink(outside, join(folder, 'link'));
    await link(join(folder, 'mine'), join(folder, 'twin'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await writeFile(join(folder, 'kept'), 'kept');
    // What calls itself so is a file like any other.
    await writeFile(join(folder, LEFT_OUT_NAME), 'Nothing was left out.');
    await mkdir(join(folder, ...Array.from({ length: 205 }, () => 'd')), { recursive: true });
    const { files, count } = await unzipped(zipOf(own, ''));
    expect(Object.keys(files).sort()).toEqual([`${LEFT_OUT_NAME}`, `${LEFT_OUT_NAME} (2)`, 'kept']);
    const leftOut = Buffer.from(files[`${LEFT_OUT_NAME} (2)`] ?? []).toString();
    expect(count).toBe(5);
    expect(leftOut).toContain('Not all of this folder is in this zip as it lies there. 5 in all:');
    for (const line of [
      '"link": it is a link, and links are not followed',
      '"pipe": it is no file but a pipe, a socket or a device',
      '"mine": mine has another name besides (a hard link), and is left alone.',
      '"twin": twin has another name besides (a hard link), and is left alone.',
      '/d": it lies deeper than 200 folders, and nothing in it is here',
    ])
      expect(leftOut).toContain(line);
    await untouched();
  });

  it('reports in the zip that files were too many, became shorter, or disappeared', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await writeFile(join(folder, name), name);
    const few = await unzipped(zipOf(own, '', { ...WORKSPACE_LIMITS, zipEntries: 3 }));
    expect([Object.keys(few.files), few.count]).toEqual([['a', 'b', 'c', LEFT_OUT_NAME], 1]);
    expect(few.leftOut).toContain('"the folder": a zip holds 3 files and folders at most, and not all that lies here');
    await writeFile(join(folder, 'b'), randomBytes(3_000_000));
    await writeFile(join(folder, 'd'), randomBytes(3_000_000));
    async function* meanwhile() {
      let sent = 0;
      for await (const chunk of zipOf(own, '')) {
        yield chunk;
        sent += chunk.length;
        if (sent > 300_000) await truncate(join(folder, 'b'), 1_000_000);
        if (sent > 300_000) await rm(join(folder, 'd'), { force: true });
      }
    }
    const { files, leftOut, count } = await unzipped(meanwhile());
    expect([Object.keys(files), count]).toEqual([['a', 'b', 'c', 'e', LEFT_OUT_NAME], 2]);
    expect(leftOut).toMatch(/"b": it became shorter while it was read: \d+ of 3000000 bytes are here/);
    expect(leftOut).toContain('"d": it went away meanwhile');
  });
});

describe('what may only be changed as it was', () => {
  const markOf = async (path: string) => (await own.lies(path)).mark;

  it('refuses to overwrite, move or remove an entry that has changed in any way', async () => {
    const changes: readonly [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      ['a file', () => own.write('x', Buffer.from('one')), () => writeFile(join(folder, 'x'), 'two')],
      ['one that comes', () => Promise.resolve(), () => writeFile(join(folder, 'x'), 'two')],
      ['one that goes', () => own.write('x', Buffer.from('one')), () => rm(join(folder, 'x'))],
      [
        'one that is a link now',
        () => own.write('x', Buffer.from('one')),
        () => rm(join(folder, 'x')).then(() => symlink(outside, join(folder, 'x'))),
      ],
      ['a folder', () => own.write('x/in', Buffer.from('one')), () => writeFile(join(folder, 'x', 'in'), 'two')],
      ['a full folder', () => own.write('x/in/a', Buffer.from('1')), () => writeFile(join(folder, 'x/in/b'), '2')],
      [
        'a large file, changed within',
        () => writeFile(join(folder, 'x'), Buffer.alloc(25_000_000)),
        () => open(join(folder, 'x'), 'r+').then((file) => file.write('2', 1_000).then(() => file.close())),
      ],
    ];
    for (const [what, make, change] of changes) {
      await make();
      const expects = await markOf('x');
      expect([what, await markOf('x')]).toEqual([what, expects]);
      await change();
      await own.write('other', Buffer.from('other'));
      const before = (await own.lies('x')).mark;
      for (const act of [
        () => own.write('x', Buffer.from('over'), { expects }),
        () => own.remove('x', { expects }),
        () => own.move('x', 'y', { ...MOVE, expects }),
        () => own.move('other', 'x', { ...MOVE, expectsThere: expects }),
      ])
        expect([what, (await refused(act)).kind]).toEqual([
          what,
          expect.stringMatching(/^(?:changed|not-found|not-a-file|exists)$/),
        ]);
      expect([what, await markOf('x')]).toEqual([what, before]);
      await own.remove('x').catch(() => undefined);
      await own.remove('other');
    }
    await untouched();
  });

  it('accepts one of many writers that saw the same version, and refuses the others', async () => {
    await own.write('x', Buffer.from('first'));
    const expects = await markOf('x');
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => own.write('x', Buffer.from(`${n}`), { expects })),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('stays unchanged while it is open, under any name, with its parents', async () => {
    await own.write('lib/Build.sh', Buffer.from('agreed'));
    await own.write('aside', Buffer.from('swapped'));
    const release = await own.hold(['lib/Build.sh']);
    const again = await own.hold(['lib']);
    const acts = [
      () => own.write('lib/Build.sh', Buffer.from('swapped')),
      () => own.write('lib/./Build.sh', Buffer.from('swapped')),
      () => own.remove('lib/Build.sh'),
      () => own.remove('lib'),
      () => own.move('lib', 'old', MOVE),
      () => own.move('lib/Build.sh', 'old', MOVE),
      () => own.move('aside', 'lib/Build.sh', MOVE),
    ];
    for (const act of acts) expect((await refused(act)).kind).toBe('busy');
    again();
    for (const act of acts) expect((await refused(act)).kind).toBe('busy');
    // On a disk that tells no case it is the same file.
    expect((await refused(() => own.write('LIB/build.SH', Buffer.from('x')))).kind).toBe('busy');
    await own.write('lib/other', Buffer.from('free'));
    release();
    release();
    await own.write('lib/Build.sh', Buffer.from('later'));
    expect(await text('lib/Build.sh')).toBe('later');
  });
});

describe('a move', () => {
  it('replaces a file only on demand, and never a folder', async () => {
    await own.write('a', Buffer.from('a'));
    await own.write('b', Buffer.from('b'));
    await own.write('full/in', Buffer.from('in'));
    await mkdir(join(folder, 'empty'));
    const never = { replaces: false, makes: true };
    for (const act of [
      () => own.move('a', 'b', never),
      () => own.move('a', 'empty', MOVE),
      () => own.move('a', 'full', MOVE),
      () => own.move('full', 'empty', MOVE),
      () => own.move('full', 'a', MOVE),
      () => own.move('a', 'a', never),
    ])
      expect((await refused(act)).kind).toBe('exists');
    expect((await refused(() => own.move('full', 'full/deeper/still', MOVE))).kind).toBe('bad-path');
    expect((await refused(() => own.move('none', 'made/for/it', MOVE))).kind).toBe('not-found');
    expect((await readdir(folder)).sort()).toEqual(['a', 'b', 'empty', 'full']);
    expect(await own.move('a', 'b', MOVE)).toEqual({ replaced: true });
    expect(await text('b')).toBe('a');
    expect(await own.move('full', 'new/place', MOVE)).toEqual({ replaced: false });
    expect(await text('new/place/in')).toBe('in');
  });
});

/** As somebody whom the rights of files bind: nobody does root. */
async function asUser<Value>(work: () => Promise<Value>): Promise<Value> {
  const { seteuid, getuid } = process;
  if (getuid?.() !== 0 || !seteuid) return await work();
  execFileSync('chown', ['-R', '4711', base]);
  await chmod(base, 0o711);
  seteuid(4711);
  try {
    return await work();
  } finally {
    seteuid(0);
  }
}

describe('a folder whose rights a command has taken', () => {
  it('removes a folder without permissions and its contents, and reopens its parent', async () => {
    await asUser(async () => {
      const inner = join(folder, 'closed', 'inner');
      await mkdir(inner, { recursive: true });
      await writeFile(join(inner, 'file'), 'x');
      await symlink(join(base, 'elsewhere'), join(inner, 'way'));
      await chmod(inner, 0o500);
      await chmod(join(folder, 'closed'), 0o000);
      const passed: string[] = [];
      const walked: string[] = [];
      for await (const { path } of own.walk('', 100, (where, why) => passed.push(`${where} ${why}`))) walked.push(path);
      expect([walked, passed]).toEqual([['closed'], ['closed closed']]);
      expect((await refused(() => own.list('closed'))).message).toBe('The rights that are set for closed forbid this.');
      const { leftOut } = await unzipped(zipOf(own, ''));
      expect(leftOut).toContain('"closed": it cannot be opened, since its rights forbid that');
      expect(await own.remove('closed')).toEqual({ files: 2, folders: 2 });
      await chmod(folder, 0o000);
      expect(await own.list('')).toEqual([]);
    });
    await untouched();
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

  it('writes a file where the folder is now', async () => {
    // The bytes come in the midst of it, when all has been looked at.
    async function* bytes() {
      await swap();
      yield Buffer.from('mine');
    }
    await createFolder(folder).write('real/new.md', bytes() as unknown as Uint8Array);
    expect(await readFile(join(folder, 'aside', 'new.md'), 'utf8')).toBe('mine');
    await untouched();
  });

  it("does not enter the link's target during a walk", async () => {
    const walked = own.walk('', 100);
    expect((await walked.next()).value).toMatchObject({ path: 'real', kind: 'folder' });
    await swap();
    expect((await walked.next()).done).toBe(true);
    await untouched();
  });

  it('reads the opened folder after a swap', async () => {
    const opened = await openWithin(folder, ['real'], false);
    await swap();
    expect(await readFile(at(opened, 'soul.md'), 'utf8')).toBe('inside');
    const root = await openWithin(folder, [], false);
    await expect(step(root, 'real')).rejects.toThrow(/ENOTDIR|ELOOP/);
    await root.handle.close();
    await opened.handle.close();
    await untouched();
  });

  it('reads the opened file after a swap for a link', async () => {
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

const SWAPPED_FOR_MS = 20_000;
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
       for (const end = Date.now() + ${SWAPPED_FOR_MS}; Date.now() < end;) {
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
    // Once nothing is swapped any more, a try finds nothing: a slow machine makes fewer.
    const end = Date.now() + SWAPPED_FOR_MS;
    for (let n = 0; n < 600 && Date.now() < end; n++) {
      const read = await own.bytesOf('real/soul.md', 1_000).then(String, (error: unknown) => {
        if (!(error instanceof WorkspaceError)) throw error;
        return null;
      });
      expect(read).not.toBe(SECRET);
      seen[read === null ? 'refused' : 'inside'] += 1;
      for (const act of [
        () => own.write(`real/new-${n}`, Buffer.from('x')),
        ...(n % 4 > 0
          ? []
          : [
              () => own.move(`real/new-${n}`, `real/moved-${n}`, MOVE),
              () => own.remove(`real/moved-${n}`),
              () => own.remove('real', { onlyEmpty: true }),
            ]),
      ])
        await act().catch((error: unknown) => {
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
  it('refuses what exceeds the limit, and changes nothing', async () => {
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
    // A full one is no dead end: what is shorter makes room, also where a program has filled it
    // past the most.
    await writeFile(join(base, 'workspaces', 'agent-2', 'c'), Buffer.alloc(5_000));
    expect((await tight.room()).bytes).toBeLessThan(0);
    expect((await refused(() => tight.write('c', Buffer.alloc(5_001)))).message).toContain('over a file that is there');
    await tight.write('c', Buffer.alloc(10));
    await tight.write('d', Buffer.alloc(0));
    expect(await tight.used()).toEqual({ bytes: 310, entries: 3, most: 1_000 });
  });

  it('enforces the limit for many concurrent writes', async () => {
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

  it('releases the room of hundreds of nested folders', async () => {
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

  it('refuses everything when there is more than can be counted', async () => {
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

  it('hides files that are being written; a leftover appears as an ordinary file', async () => {
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
