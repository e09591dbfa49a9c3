/**
 * Rules of our own for the page: which key was pressed is read in one place, and text beside what
 * comes and goes stands apart.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { findingsIn, type Findings } from '../../support/lint.ts';

const KEYS = ['page/keys-by-helper'];
const TEXT = ['page/text-of-its-own'];

const CASES: readonly (readonly [name: string, code: string, rules: readonly string[]])[] = [
  ['a key in a handler', 'export const a = <input onKeyDown={(event) => event.key === "Enter"} />;', KEYS],
  [
    'a key in a handler of keys let go',
    'export const a = <input onKeyUp={(event) => event.code === "Enter"} />;',
    KEYS,
  ],
  ['a key taken apart', 'export const a = <input onKeyDown={({ key }) => key === "Enter"} />;', KEYS],
  [
    'a key taken apart later',
    'export const a = <input onKeyDown={(event) => { const { key } = event; return key; }} />;',
    KEYS,
  ],
  [
    'a key in a named handler',
    "import type { KeyboardEvent } from 'react'; export const onPress = (event: KeyboardEvent) => event.key;",
    KEYS,
  ],
  ['a key of the document', "document.addEventListener('keydown', (event) => console.log(event.key));", KEYS],
  ['a key of the native event', 'export const a = <i onKeyDown={(event) => event.nativeEvent.key} />;', KEYS],
  ['whether an input method has it', 'export const f = (event: KeyboardEvent) => event.isComposing;', KEYS],
  ['its number', 'export const f = (event: { keyCode: number }) => event.keyCode;', KEYS],
  [
    'a key by the helper',
    "declare const keyOf: (event: unknown) => string; export const a = <i onKeyDown={(event) => keyOf(event) === 'Enter'} />;",
    [],
  ],
  ['another key', 'export const f = (entry: { key: string }) => entry.key;', []],
  ['a key of storage', "addEventListener('storage', ({ key }) => console.log(key));", []],
  ['text beside what comes and goes', 'export const f = (is: boolean) => <p>Words {is && <b>more</b>}</p>;', TEXT],
  ['text that comes and goes', "export const f = (is: boolean) => <p><b>Words</b>{is ? 'more' : null}</p>;", TEXT],
  ['text beside a list', 'export const f = (all: string[]) => <p>Words {all.map((x) => <b key={x}>x</b>)}</p>;', TEXT],
  ['text in a fragment', 'export const f = (is: boolean) => <>Words {is && <b>more</b>}</>;', TEXT],
  [
    'text in an element of its own',
    'export const f = (is: boolean) => <p><span>Words</span>{is && <b>more</b>}</p>;',
    [],
  ],
  ['text beside what stays', 'export const f = () => <p>Words <b>more</b></p>;', []],
  ['text alone', "export const f = (is: boolean) => <p>{is ? 'Words' : ''}</p>;", []],
];

describe('Lint finds', () => {
  const pathOf = (i: number) => `src/page/ui/case-${i}.tsx`;
  let findings: Findings;
  beforeAll(async () => {
    findings = await findingsIn(new Map(CASES.map(([, code], i) => [pathOf(i), `${code}\n`])));
  });
  it.each(CASES.map(([name, , rules], i) => [name, rules, i] as const))('%s: %j', (_name, rules, i) => {
    const own = findings(pathOf(i)).flatMap(({ rule }) => (rule.startsWith('page/') ? [rule] : []));
    expect([...new Set(own)]).toEqual(rules);
  });
});
