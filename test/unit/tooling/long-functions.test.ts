/** A function of more than a hundred lines says at its head why it is in one piece; one that is short need not. */
import { beforeAll, describe, expect, it } from 'vitest';
import { findingsIn, type Findings } from '../../support/lint.ts';

const RULE = 'pieces/long-function';
const CASES = new Map<string, string>();
let found: Findings;

/** Gives the lines of the functions that the rule names. */
function linesNamed(code: string): () => readonly number[] {
  const path = `src/domain/case-${CASES.size}.ts`;
  CASES.set(path, code);
  return () => found(path).flatMap(({ rule, line }) => (rule === RULE ? [line] : []));
}
const body = (lines: number) => Array.from({ length: lines }, (_, at) => `  call(${at});`).join('\n');

beforeAll(async () => {
  found = await findingsIn(CASES);
});

describe('A function', () => {
  const short = linesNamed(`function f() {\n${body(98)}\n}`);
  it('of a hundred lines is short enough', () => {
    expect(short()).toEqual([]);
  });

  const declared = linesNamed(`function f() {\n${body(99)}\n}`);
  const arrow = linesNamed(`export const f = () => {\n${body(99)}\n};`);
  const method = linesNamed(`const f = {\n  g() {\n${body(99)}\n  },\n};`);
  it('of more is found, however it is written', () => {
    expect([declared(), arrow(), method()]).toEqual([[1], [1], [2]]);
  });

  const reasoned = [
    `// In one piece: a table.\nexport const f = () => {\n${body(99)}\n};`,
    `const f = {\n  // In one piece: a table.\n  g() {\n${body(99)}\n  },\n};`,
  ].map(linesNamed);
  it('may say why it is in one piece', () => {
    for (const lines of reasoned) expect(lines()).toEqual([]);
  });

  const needless = linesNamed(`// In one piece: a table.\nfunction f() {\n${body(3)}\n}`);
  it('need not where it is short: what was split is to lose the reason too', () => {
    expect(needless()).toEqual([2]);
  });

  const explained = linesNamed(
    `function f() {\n${body(50)}\n\n  // Why.\n  /* And\n     why again. */\n${body(48)}\n}`,
  );
  it('is measured by its code, not by what explains it', () => {
    expect(explained()).toEqual([]);
  });
});
