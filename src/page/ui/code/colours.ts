/**
 * Code in colours, for the worker that begins with the first block of code that is shown. The
 * expressions of the grammars run as the browser's own, since the page's policy allows no
 * WebAssembly; what comes out are texts and names of colours, never HTML.
 */
import { createCssVariablesTheme, createHighlighterCoreSync } from '@shikijs/core';
import { createJavaScriptRegexEngine } from '@shikijs/engine-javascript';
import css from '@shikijs/langs/css';
import diff from '@shikijs/langs/diff';
import go from '@shikijs/langs/go';
import html from '@shikijs/langs/html';
import java from '@shikijs/langs/java';
import json from '@shikijs/langs/json';
import python from '@shikijs/langs/python';
import rust from '@shikijs/langs/rust';
import shell from '@shikijs/langs/shellscript';
import sql from '@shikijs/langs/sql';
import tsx from '@shikijs/langs/tsx';
import yaml from '@shikijs/langs/yaml';

const THEME = 'roost';
/** What a block may be called besides the names that its grammar knows. */
const ALIASES: Readonly<Record<string, string>> = {
  js: 'tsx',
  jsx: 'tsx',
  javascript: 'tsx',
  mjs: 'tsx',
  ts: 'tsx',
  typescript: 'tsx',
  jsonc: 'json',
  json5: 'json',
  console: 'shellscript',
  patch: 'diff',
  svg: 'html',
  xml: 'html',
};
/** Characters of a line, after which it stays plain: grammars were not written for hostile text. */
const LINE_MOST = 500;

export interface Coloured {
  readonly text: string;
  /** A CSS colour: one of the page's `--code-token-…`. */
  readonly color: string | undefined;
}

const highlighter = createHighlighterCoreSync({
  themes: [createCssVariablesTheme({ name: THEME, variablePrefix: '--code-', fontStyle: false })],
  langs: [css, diff, go, html, java, json, python, rust, shell, sql, tsx, yaml],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});
const known = new Set(highlighter.getLoadedLanguages());

/**
 * `code` line by line, as pieces that read as `code` together; null: nobody knows that language
 * here.
 */
export function coloured(code: string, language: string): readonly (readonly Coloured[])[] | null {
  const lang = ALIASES[language] ?? language;
  if (!known.has(lang)) return null;
  return highlighter
    .codeToTokensBase(code, {
      lang,
      theme: THEME,
      tokenizeMaxLineLength: LINE_MOST,
      // Whoever asks has patience of its own: a line that was given up halfway would be coloured
      // wrongly for good.
      tokenizeTimeLimit: 0,
    })
    .map((line) => line.map(({ content, color }) => ({ text: content, color })));
}
