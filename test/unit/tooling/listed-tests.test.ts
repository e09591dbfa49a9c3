/** Lists name tests that are there. `guarded.test.ts` and `test/faults` check other lists. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SECONDS } from '../../support/longest-first.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A test file with or without its ending. */
const isTest = (path: string) =>
  ['', '.test.ts', '.test.tsx'].some((ending) => {
    const file = join(ROOT, path + ending);
    return existsSync(file) && statSync(file).isFile();
  });
const isFolder = (path: string) => existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory();

it('lists seconds only for existing files', () => {
  const files = Object.keys(SECONDS);
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => !isTest(`test/${file}`))).toEqual([]);
});

/** Rows of the tables of SECURITY.md that say what holds something: the last cell of each. */
function heldBy(text: string): readonly string[] {
  const tables = text.split('\n## ').filter((section) => section.includes('| held by |'));
  return tables.flatMap((section) =>
    [...section.matchAll(/^\|(.*)\|$/gm)].flatMap(([, row = '']) => {
      const cell = row.split(' | ').at(-1) ?? '';
      return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    }),
  );
}

/** Where a test lies: the tables name its path, a short path, or its name in `test/attacks`. */
function placesOf(name: string, text: string): readonly string[] {
  const [first = '', ...rest] = name.split('/');
  if (rest.length === 0) return [`test/attacks/${name}`];
  if (first === 'test') return [name];
  const short = [...text.matchAll(/`(\w+)\/` is `([\w/-]+)`/g)].find(([, short]) => short === first)?.[2];
  return [`${short ?? `test/${first}`}/${rest.join('/')}`];
}

it('finds every test that SECURITY.md names', () => {
  const text = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
  const names = heldBy(text).filter((name) => /^[\w./-]+$/.test(name));
  expect(names.length).toBeGreaterThan(80);
  const missing = names.filter((name) => !placesOf(name, text).some((path) => isTest(path) || isFolder(path)));
  expect(missing).toEqual([]);
});
