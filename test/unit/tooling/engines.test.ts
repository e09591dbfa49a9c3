/**
 * Nothing that is installed asks for a newer Node than the one that is promised: npm would warn of
 * each.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = new URL('../../../', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, ROOT), 'utf8'));
const enginesSchema = z.object({ engines: z.object({ node: z.string() }) });
const lockSchema = z.object({ packages: z.record(z.string(), z.record(z.string(), z.unknown())) });

type Version = readonly [number, number, number];
const versionOf = (text: string): Version => {
  const [major = 0, minor = 0, patch = 0] = text
    .replace(/^v/, '')
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : 0));
  return [major, minor, patch];
};
const compare = (a: Version, b: Version) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/**
 * Does this one comparator take the version? Throws where it is of a kind that no package asked by
 * until now.
 */
function takes(comparator: string, version: Version): boolean {
  const match = /^(>=|\^|)(v?\d[\d.x*]*|\*)$/.exec(comparator);
  if (!match) throw new Error(`unknown comparator ${comparator}`);
  const [, sign, wanted = '*'] = match;
  if (wanted === '*') return true;
  const least = versionOf(wanted);
  if (sign === '>=') return compare(version, least) >= 0;
  if (sign === '^') return version[0] === least[0] && compare(version, least) >= 0;
  const given = wanted.split('.').filter((part) => /^\d+$/.test(part)).length;
  return version.slice(0, given).every((part, i) => part === least[i]);
}
const allows = (range: string, version: Version) =>
  range.split('||').some((every) =>
    every
      .replace(/>=\s+/g, '>=')
      .trim()
      .split(/\s+/)
      .every((comparator) => takes(comparator, version)),
  );

it('ranges are read as npm reads them', () => {
  const cases = [
    ['^20.19.0 || ^22.12.0 || >=24.0.0', [20, 19, 0], true],
    ['^20.19.0 || ^22.12.0 || >=24.0.0', [21, 0, 0], false],
    ['>=20.18.1', [20, 18, 0], false],
    ['20 || >=22', [20, 19, 0], true],
    ['6.* || 8.* || >= 10.*', [20, 19, 0], true],
    ['^22.13.0 || >=24', [20, 19, 0], false],
    ['*', [20, 19, 0], true],
  ] as const;
  for (const [range, version, expected] of cases) expect([range, allows(range, version)]).toEqual([range, expected]);
});

it('everything that is installed runs on the oldest Node that the project promises', () => {
  const oldest = versionOf(enginesSchema.parse(read('package.json')).engines.node.replace('>=', ''));
  expect(oldest[0]).toBeGreaterThanOrEqual(20);
  const { packages } = lockSchema.parse(read('package-lock.json'));
  const asking = Object.entries(packages).flatMap(([name, one]) => {
    const parsed = enginesSchema.safeParse(one);
    return parsed.success ? [[name, parsed.data.engines.node] as const] : [];
  });
  expect(asking.length).toBeGreaterThan(100);
  expect(asking.filter(([, range]) => !allows(range, oldest))).toEqual([]);
});
