import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PARTS as MEASURED } from '../bench/parts.ts';
import { BY_NAME, PARTS as BROKEN } from './parts.ts';

const TEST = new URL('../', import.meta.url);

it('has a short form of each long fault among the tests, except for those run by name', () => {
  expect(BROKEN.filter(({ short }) => short.length === 0).map(({ name }) => name)).toEqual([]);
  const named = [...BROKEN, ...BY_NAME].flatMap(({ short }) => short);
  expect(named.filter((file) => !existsSync(new URL(file, TEST)))).toEqual([]);
});

it('no two parts of the figures, or of the faults, have one name', () => {
  for (const parts of [MEASURED, [...BROKEN, ...BY_NAME]]) {
    const names = parts.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(new Set(names).size).toBe(names.length);
  }
});
