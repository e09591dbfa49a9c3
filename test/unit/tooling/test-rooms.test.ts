/** A test lies where its subject does: the folders of tests are those of the code. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Folders of tests, and what they test. */
const ROOMS: Readonly<Record<string, string>> = {
  'test/relay': 'server',
  'test/unit/page': 'src/page',
  'test/unit/server': 'server',
  'test/unit/service-worker': 'src/service-worker',
  'test/unit/shared': 'src/shared',
  'test/unit/worker': 'src/worker',
};

/** Folders below this one in which tests lie. */
const foldersIn = (folder: string) => [
  ...new Set(
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.test\.tsx?$/.test(name))
      .map(dirname),
  ),
];

it.each(Object.entries(ROOMS))('each folder in %s is one of %s', (tests, code) => {
  const folders = foldersIn(tests);
  expect(folders.length).toBeGreaterThan(0);
  expect(folders.filter((folder) => !existsSync(join(ROOT, code, folder)))).toEqual([]);
});

it('a test of pure code lies in a room, or is about the project itself', () => {
  const beside = foldersIn('test/unit')
    .map((folder) => `test/unit/${folder}`)
    .filter((folder) => !Object.keys(ROOMS).some((room) => folder === room || folder.startsWith(`${room}/`)));
  expect(beside).toEqual(['test/unit/tooling']);
});
