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
  it('lists tests that exist, guard existing parts, and have a short form in each run', () => {
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

  it('lists a file beside itself when only its long tests are left out', () => {
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

  it('leaves a test out when only a part with a similar prefix has changed', () => {
    const alike = filesLeftOut(['src/worker/ledgers/index.ts', 'src/worker/ledger-of-another.ts']);
    expect(alike).toContain('faults/ledger-kill.test.ts');
  });

  it('leaves a test out when the changes are unknown', () => {
    expect(filesLeftOut(null)).toEqual(GUARDED.map(({ file }) => file));
  });
});
