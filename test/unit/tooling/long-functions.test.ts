/** A function of more than a hundred lines says at its head why it is in one piece; one that is short need not. */
import { fileURLToPath } from 'node:url';
import { Linter, type ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const RULE = 'pieces/long-function';
const { default: config }: { default: readonly { readonly plugins?: Record<string, ESLint.Plugin> }[] } = await import(
  fileURLToPath(new URL('../../../eslint.config.js', import.meta.url))
);
const plugins = Object.fromEntries(config.flatMap((part) => Object.entries(part.plugins ?? {})));

function findings(code: string): readonly string[] {
  return new Linter()
    .verify(code, [{ plugins, rules: { [RULE]: 'error' } }])
    .map(({ ruleId, line, message }) => `${ruleId ?? message} ${line}`);
}
const body = (lines: number) => Array.from({ length: lines }, (_, at) => `  call(${at});`).join('\n');

describe('A function', () => {
  it('of a hundred lines is short enough', () => {
    expect(findings(`function f() {\n${body(98)}\n}`)).toEqual([]);
  });

  it('of more is found, however it is written', () => {
    expect(findings(`function f() {\n${body(99)}\n}`)).toEqual([`${RULE} 1`]);
    expect(findings(`export const f = () => {\n${body(99)}\n};`)).toEqual([`${RULE} 1`]);
    expect(findings(`const f = {\n  g() {\n${body(99)}\n  },\n};`)).toEqual([`${RULE} 2`]);
  });

  it('may say why it is in one piece', () => {
    expect(findings(`// In one piece: a table.\nexport const f = () => {\n${body(99)}\n};`)).toEqual([]);
    expect(findings(`const f = {\n  // In one piece: a table.\n  g() {\n${body(99)}\n  },\n};`)).toEqual([]);
  });

  it('need not where it is short: what was split is to lose the reason too', () => {
    expect(findings(`// In one piece: a table.\nfunction f() {\n${body(3)}\n}`)).toEqual([`${RULE} 2`]);
  });

  it('is measured by its code, not by what explains it', () => {
    const explained = `${body(50)}\n\n  // Why.\n  /* And\n     why again. */\n${body(48)}`;
    expect(findings(`function f() {\n${explained}\n}`)).toEqual([]);
  });
});
