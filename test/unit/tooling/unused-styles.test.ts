import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));

/** The classes that a style sheet names. */
const classesOf = (css: string): string[] =>
  [...css.replaceAll(/\/\*[\s\S]*?\*\/|url\([^)]*\)|\{[^{}]*\}/g, ' {} ').matchAll(/\.([a-z][\w-]*)/g)].flatMap(
    ([, name]) => name ?? [],
  );

/** Every word of the code, and the beginnings of those that a template completes. */
function wordsOf(code: string): { readonly words: Set<string>; readonly beginnings: readonly string[] } {
  const beginnings = [...code.matchAll(/([a-z][\w-]*-)\$\{/g)].flatMap(([, name]) => name ?? []);
  return { words: new Set(code.match(/[a-z][\w-]*/g)), beginnings };
}

const isUsed = (name: string, { words, beginnings }: ReturnType<typeof wordsOf>): boolean =>
  words.has(name) || beginnings.some((beginning) => name.startsWith(beginning));

it('finds no class in a style sheet that no element has', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
  const code = wordsOf(
    files
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => readFileSync(join(SRC, file), 'utf8'))
      .join('\n'),
  );
  const sheets = files.filter((file) => file.endsWith('.css'));
  expect(sheets.length).toBeGreaterThan(50);
  const unused = sheets.flatMap((file) =>
    classesOf(readFileSync(join(SRC, file), 'utf8'))
      .filter((name) => !isUsed(name, code))
      .map((name) => `${file}: .${name}`),
  );
  expect([...new Set(unused)]).toEqual([]);
  expect(classesOf('.a-b > .c:hover { inset: 0.5px } /* .d */')).toEqual(['a-b', 'c']);
  expect(['card', 'dialog-side', 'gone'].map((name) => isUsed(name, wordsOf('"card" `dialog-${shape}`')))).toEqual([
    true,
    true,
    false,
  ]);
});
