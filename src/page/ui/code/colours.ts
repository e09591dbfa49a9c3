/**
 * Highlights code, in a worker that starts with the first visible block of code. The grammars use
 * the browser's own regular expressions, since the page's policy forbids WebAssembly. The result is
 * texts and colour names, never HTML.
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
/** Names of languages besides those that the grammars know. */
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
/** Characters of a line that are highlighted. The grammars were not written for hostile text. */
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
const languages = new Set(highlighter.getLoadedLanguages());

/** `code` by lines, as pieces that concatenate to `code`; null: the language is unknown. */
export function coloured(code: string, language: string): readonly (readonly Coloured[])[] | null {
  const lang = ALIASES[language] ?? language;
  if (!languages.has(lang)) return null;
  return highlighter
    .codeToTokensBase(code, {
      lang,
      theme: THEME,
      tokenizeMaxLineLength: LINE_MOST,
      // The caller has a timeout of its own. A line that was abandoned halfway would stay wrongly
      // highlighted.
      tokenizeTimeLimit: 0,
    })
    .map((line) => line.map(({ content, color }) => ({ text: content, color })));
}
