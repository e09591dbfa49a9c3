/**
 * What the oldest browsers of the README lack is held back by lint, and promises that nobody waits
 * for: each of these must be found.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { findingsIn, type Findings } from '../../support/lint.ts';

/** No `[Symbol.asyncIterator]()` that returns. */
const STREAM = 'typescript/TS2504';

const CASES: readonly (readonly [name: string, code: string, rules: readonly string[]])[] = [
  [
    'iterating a response body',
    'export async function f(r: Response) { if (r.body) for await (const _ of r.body) console.log(_); }',
    [STREAM],
  ],
  [
    'iterating what may be a stream',
    'export async function f(s: ReadableStream<string> | string[]) { for await (const _ of s) console.log(_); }',
    [STREAM],
  ],
  ['handing a stream on', 'export async function* f(s: ReadableStream<string>) { yield* s; }', [STREAM]],
  [
    'iterating a generator',
    'export async function f(s: AsyncGenerator<string>) { for await (const _ of s) console.log(_); }',
    [],
  ],
  ['waiting for an idle moment', 'requestIdleCallback(() => undefined);', ['no-restricted-globals']],
  [
    'waiting for an idle moment of the window',
    'window.requestIdleCallback(() => undefined);',
    ['no-restricted-properties'],
  ],
  ['asking whether a text is an address', "export const is = URL.canParse('x');", ['no-restricted-properties']],
  [
    'a promise that nobody waits for',
    'declare const f: () => Promise<void>;\nf();\nexport {};',
    ['typescript/no-floating-promises'],
  ],
  [
    'a promise where nobody waits for one',
    'declare const on: (run: () => void) => void;\non(async () => undefined);\nexport {};',
    ['typescript/no-misused-promises'],
  ],
  [
    'waiting for what is no promise',
    'export const f = async (is: boolean) => await is;',
    ['typescript/await-thenable'],
  ],
  [
    'a choice that forgets a case',
    "export function f(a: 'x' | 'y') {\n  switch (a) {\n    case 'x':\n      return 1;\n  }\n  return 2;\n}",
    ['typescript/switch-exhaustiveness-check'],
  ],
  ['a type that does not fit', "export const a: number = 'x';", ['typescript/TS2322']],
  ['a name that is not used', 'export {};\nconst a = 1;', ['no-unused-vars', 'typescript/TS6133']],
];
const pathOf = (at: number) => `src/shared/domain/case-${at}.ts`;

let found: Findings;

beforeAll(async () => {
  found = await findingsIn(new Map(CASES.map(([, code], at) => [pathOf(at), code])), { typed: true });
});

describe('Lint', () => {
  it.each(CASES.map(([name, , rules], at) => ({ name, rules, at })))('reports $rules in $name', ({ rules, at }) => {
    expect(found(pathOf(at)).map(({ rule }) => rule)).toEqual(rules);
  });
});
