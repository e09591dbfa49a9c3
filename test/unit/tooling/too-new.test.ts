/** What the oldest browsers of the README lack is held back by lint: each of these must be found. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';

/** In the page's own folders, so that its rules are asked; none of these files is on the disk. */
const folder = fileURLToPath(new URL('../../../src/domain/', import.meta.url));
const STREAM = 'streams/no-stream-iteration';

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
];
const pathOf = (at: number) => join(folder, `case-${at}.ts`);

let eslint: ESLint;

beforeAll(() => {
  const files = new Map(CASES.map(([, code], at) => [pathOf(at), code]));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.asynciterable.d.ts'],
    types: [],
    strict: true,
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...how) => {
    const code = files.get(name);
    return code === undefined ? read(name, ...how) : ts.createSourceFile(name, code, ts.ScriptTarget.ES2023, true);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  eslint = new ESLint({
    overrideConfig: { languageOptions: { parserOptions: { projectService: false, programs: [program] } } },
  });
});

describe('Lint', () => {
  it.each(CASES.map(([name, code, rules], at) => ({ name, code, rules, at })))(
    'of $name says $rules',
    async ({ code, rules, at }) => {
      const results = await eslint.lintText(code, { filePath: pathOf(at) });
      expect(results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => ruleId ?? message))).toEqual(
        rules,
      );
    },
  );
});
