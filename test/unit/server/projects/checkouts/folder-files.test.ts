import { describe, expect, it } from 'vitest';
import { fits, tooMuch, twinsIn } from '../../../../../server/projects/checkouts/folder-files.ts';
import { batchReader } from '../../../../../server/projects/checkouts/git-files.ts';
import { CHECKOUT_LIMITS } from '../../../../../server/projects/checkouts/settings.ts';

const { folderEntries, folderBytes, folderFileBytes } = CHECKOUT_LIMITS;

describe('the files of a folder project', () => {
  it('refuses more files and folders than the limit', () => {
    const files = (count: number, folder = '') =>
      Array.from({ length: count }, (_, i) => ({ path: `${folder}${i}`, bytes: 0 }));
    expect(tooMuch(files(folderEntries))).toBeNull();
    expect(tooMuch(files(folderEntries + 1))).toContain('files and folders');
    expect(tooMuch(files(folderEntries - 2, 'a/b/'))).toBeNull();
    expect(tooMuch(files(folderEntries - 1, 'a/b/'))).toContain('files and folders');
  });

  it('refuses files above the limit, each and together', () => {
    expect(fits({ path: 'a', bytes: folderFileBytes })).toBe(true);
    expect(fits({ path: 'a', bytes: folderFileBytes + 1 })).toBe(false);
    const half = { path: 'a', bytes: folderBytes / 2 };
    expect(tooMuch([half, { ...half, path: 'b' }])).toBeNull();
    expect(tooMuch([half, { ...half, path: 'b' }, { path: 'c', bytes: 1 }])).toContain('together');
  });

  it('keeps the present one of two names that some disk treats as equal', () => {
    const twins = (paths: readonly string[], known: readonly string[] = []) => [
      ...twinsIn(paths, (path) => known.includes(path)),
    ];
    expect(twins(['a.txt', 'b/a.txt', 'a.md'])).toEqual([]);
    expect(twins(['A.txt', 'a.txt'])).toEqual(['a.txt']);
    expect(twins(['A.txt', 'a.txt'], ['a.txt'])).toEqual(['A.txt']);
    expect(twins(['A.txt', 'a.txt'], ['a.txt', 'A.txt'])).toEqual([]);
    expect(twins(['caf\u00e9.md', 'cafe\u0301.md'])).toEqual(['cafe\u0301.md']);
    // Files of folders that become one, and a file in the place of a folder.
    expect(twins(['Docs/a.md', 'docs/b.md', 'docs/c/d.md'], ['Docs/a.md'])).toEqual(['docs/b.md', 'docs/c/d.md']);
    expect(twins(['DOCS', 'docs/a.md'])).toEqual(['docs/a.md']);
  });

  it('reads whole files, however git’s output is cut into pieces', async () => {
    const contents = ['', 'one\n', '\n\n', 'abc blob 3\n'];
    const output = Buffer.from(contents.map((text) => `${'0'.repeat(40)} blob ${text.length}\n${text}\n`).join(''));
    for (let length = 1; length <= output.length; length++) {
      const found: string[] = [];
      const read = batchReader((bytes, index) => {
        found[index] = bytes.toString();
        return Promise.resolve();
      });
      for (let from = 0; from < output.length; from += length) await read(output.subarray(from, from + length));
      expect(found, `${length}`).toEqual(contents);
    }
  });
});
