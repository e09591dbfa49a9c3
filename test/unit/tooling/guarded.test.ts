import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GUARDED, leftOut } from '../../support/guarded.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** A folder, or a module by its name without the ending. */
const isPart = (path: string) =>
  existsSync(join(ROOT, path)) ||
  readdirSync(join(ROOT, dirname(path))).some((name) => join(dirname(path), name).startsWith(`${path}.`));
/** Files of which a plain run leaves out only the long tests. */
const SHORTENED = GUARDED.flatMap(({ file, beside }) => (beside.includes(file) ? [file] : []));
const filesLeftOut = (changed: readonly string[] | null) => leftOut(changed).map(({ file }) => file);

describe('a test that a plain run may leave out', () => {
  it('is there, guards parts that are there, and has a small form that runs each time', () => {
    const files = GUARDED.map(({ file }) => file);
    expect(files.length).toBeGreaterThan(0);
    for (const { file, guards, beside } of GUARDED) {
      expect(existsSync(join(ROOT, 'test', file)), file).toBe(true);
      expect(guards.filter((part) => !isPart(part))).toEqual([]);
      expect(file, 'an attack is tried each time').not.toMatch(/^attacks\//);
      expect(guards.length, file).toBeGreaterThan(0);
      expect(beside.length, file).toBeGreaterThan(0);
      const runs = (small: string) => !files.includes(small) || SHORTENED.includes(small);
      expect(beside.filter((small) => !existsSync(join(ROOT, 'test', small)) || !runs(small))).toEqual([]);
    }
  });

  it('is listed beside itself where only its long tests are left out', () => {
    const all = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
    const registering = all.flatMap((file) => {
      if (!file.endsWith('.test.ts') || file.startsWith('unit/')) return [];
      const name = /longTests\('([^']+)'\)/.exec(readFileSync(join(ROOT, 'test', file), 'utf8'))?.[1];
      if (name !== undefined) expect(name).toBe(file);
      return name ?? [];
    });
    expect(registering.sort()).toEqual(SHORTENED.toSorted());
  });

  it('runs where something that it guards, or it itself, has changed', () => {
    expect(filesLeftOut(['README.md'])).toEqual(GUARDED.map(({ file }) => file));
    expect(filesLeftOut(['package-lock.json'])).toEqual([]);
    for (const { file, guards } of GUARDED) {
      expect(filesLeftOut([`test/${file}`])).not.toContain(file);
      for (const part of guards) {
        expect(filesLeftOut([`${part}/any/module.ts`])).not.toContain(file);
        expect(filesLeftOut([`${part}.ts`])).not.toContain(file);
      }
    }
  });

  it('is left out where only something has changed whose name begins like a part that it guards', () => {
    const alike = filesLeftOut(['src/worker/ledgers/index.ts', 'src/worker/ledger-of-another.ts']);
    expect(alike).toContain('faults/ledger-kill.test.ts');
  });

  it('is left out where nobody knows what has changed', () => {
    expect(filesLeftOut(null)).toEqual(GUARDED.map(({ file }) => file));
  });
});
