import { expect, it } from 'vitest';
import {
  branchSchema,
  checkoutFolderSchema,
  commitIdSchema,
  pathBelowSchema,
} from '../../../../src/shared/protocol/outward-texts.ts';

const takes = (schema: { safeParse(value: string): { success: boolean } }, value: string) =>
  schema.safeParse(value).success;
const OPTION = '--output=/tmp/x';

it('takes the id of a commit in 40 or 64 digits, and nothing else', () => {
  for (const id of ['a'.repeat(40), '0'.repeat(64)]) expect(takes(commitIdSchema, id)).toBe(true);
  for (const id of ['', 'HEAD', OPTION, 'a'.repeat(39), 'A'.repeat(40), `${'a'.repeat(40)}\n`, `${'a'.repeat(40)}^`])
    expect(takes(commitIdSchema, id), id).toBe(false);
});

it('takes the names that git takes for a branch', () => {
  for (const name of ['main', 'feat/1-größe', 'a.b', 'v1@2']) expect(takes(branchSchema, name), name).toBe(true);
  for (const name of [
    ...['', '@', OPTION, '-x', 'a..b', 'a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[', 'a\\b', 'a//b', '/a', 'a/'],
    ...['.a', 'a/.b', 'a.lock', 'a.lock/b', 'a.', 'a@{1}', 'a\nb', 'a\0', '\u007f', 'x'.repeat(201)],
  ])
    expect(takes(branchSchema, name), JSON.stringify(name)).toBe(false);
});

it('takes a path that stays below its folder', () => {
  for (const path of ['.env', 'a/b.txt', '-x', 'a\\b']) expect(takes(pathBelowSchema, path), path).toBe(true);
  for (const path of ['', '.', '..', 'a/../b', './a', '/a', 'a/', 'a//b', 'a\0b', 'a\nb', 'x'.repeat(1_001)])
    expect(takes(pathBelowSchema, path), JSON.stringify(path)).toBe(false);
});

it('takes a checkout below its folder alone', () => {
  expect(takes(checkoutFolderSchema, 'projects/trip/1-a')).toBe(true);
  for (const path of ['projects', 'notes/a', '.', '', 'projects/../notes', '/projects/a'])
    expect(takes(checkoutFolderSchema, path), path).toBe(false);
});
