/**
 * Formulas in Markdown as language models write them: `$x$`, `$$x$$`, `\(x\)` and `\[x\]`. The same
 * signs stand in prices, in shell and PHP variables, and in regular expressions, which stay text:
 *
 * - No space follows an opening `$`. No letter, digit, opening bracket or `$` follows a closing
 *   one. A letter of a script without spaces may follow, since Chinese and Japanese set none.
 * - `\(` and `\[` are escaped brackets where a regular expression or a word goes on beside them.
 * - What reads as prose, as a quoted text or as a regular expression is no formula.
 */
import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';

export interface Formula {
  readonly tex: string;
  /** On a line of its own. */
  readonly apart: boolean;
}

/** `length`: characters in the source, signs included. */
type Found = Formula & { readonly length: number };

/** Characters of a formula. */
const MOST = 10_000;
/** Letters of scripts that put a space before and behind a formula. */
const SPACED = '\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}_';
const NOT_BEFORE_DOLLAR = new RegExp(`[${SPACED}$\\\\)\\]}]$`, 'u');
const NOT_AFTER_DOLLAR = `(?![${SPACED}$(\\[{])`;
const ONE = new RegExp(`\\$(?<tex>(?![\\s$])(?:\\\\[^]|[^$\`\\\\\\n])*(?<!\\s))\\$${NOT_AFTER_DOLLAR}`, 'uy');
const TWO = new RegExp(`\\$\\$(?<tex>(?:\\\\[^]|(?!\\$\\$)[^\\\\]){1,${MOST}}?)\\$\\$${NOT_AFTER_DOLLAR}`, 'uy');

/** What stands before an escaped bracket in a regular expression, or in a word. */
const NOT_BEFORE_BRACKET = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}_\\^.+?\]}/]$/u;
/**
 * What follows one there: a quantifier, a class, a word; or the target of a link. The end of a
 * word, as in `\(n\)th`, may follow.
 */
const NOT_AFTER_BRACKET =
  '(?![{$]|\\*[\\\\$.?[(]|\\?[^\\s"\')\\]}*_。，]|\\+(?!\\s*\\\\\\()|\\(|\\\\[a-zA-Z.]|(?!(?:th|st|nd|rd|s)\\b)\\w)';
const ROUND = new RegExp(`\\\\\\((?<tex>(?:\\\\[^)]|[^\\\\]){1,${MOST}}?)\\\\\\)${NOT_AFTER_BRACKET}`, 'uy');
const SQUARE = new RegExp(`\\\\\\[(?<tex>(?:\\\\[^\\]]|[^\\\\]){1,${MOST}}?)\\\\\\]${NOT_AFTER_BRACKET}`, 'uy');

const LOOKS_LIKE_TEX = /[\\^_{}=]/;
const WORDS = /[A-Za-z]{3,}\s|\s[A-Za-z]{3,}|^[\d.,]+\s|^[\d.,]+\p{Script=Han}/u;
const CJK_PUNCTUATION = /[，。、；：！？「」『』（）“”]/;
/** Classes, wildcards, anchors and escape sequences, none of which TeX has. */
const REGEX =
  /\\[dDwWsSb](?![A-Za-z])|\\(?:e|033|x1b)\[|\.[*+?]|\[\^|\[(?:a-z|A-Z|0-9)|\(\?[:=!<]|\\\.|\w{2,}\\\|\w{2,}|[a-z]{3,}\|[a-z]{3,}/;
/** The name of a variable in capitals, as `$PROJECT_DIR$`. */
const CONSTANT = /^[A-Z][A-Z0-9]+(?:_[A-Z0-9]{2,})+$/;
const TEXT_COMMAND = /\\(?:text|mbox|textbf|textit|mathrm|operatorname)\s*\{[^{}]*\}/g;

/** `5, not 6`, and whatever else reads as words between two sums of money. */
const isProse = (tex: string) =>
  (!/\\[a-zA-Z]/.test(tex) && CJK_PUNCTUATION.test(tex)) || (!LOOKS_LIKE_TEX.test(tex) && WORDS.test(tex));

/** Between two `$`, where shells, templates and prices come from. */
function isFormulaInDollars(tex: string): boolean {
  const bare = tex.replace(TEXT_COMMAND, '');
  return !/["@]|(?<!\\)[#%]/.test(bare) && !CONSTANT.test(tex) && !isProse(tex);
}

const isFormulaInBrackets = (tex: string) => !REGEX.test(tex) && !isProse(tex);
/**
 * A display formula holds more than words: `\[optional\]` is an escaped bracket, `\[x\] done` an
 * escaped box to tick.
 */
const isDisplay = (tex: string) => isFormulaInBrackets(tex) && !/^\s*(?:[A-Za-z]{4,}|\d+)\s*$/.test(tex);

function taken(pattern: RegExp, src: string, pos: number, end: number): { tex: string; length: number } | null {
  pattern.lastIndex = pos;
  const match = pattern.exec(end < src.length ? src.slice(0, end) : src);
  const tex = match?.groups?.['tex'] ?? '';
  // No formula goes on after an empty line.
  return match && tex.trim() !== '' && !/\n[ \t]*\n/.test(tex) ? { tex: tex.trim(), length: match[0].length } : null;
}

/** The formula that begins at `pos`, within a paragraph that ends at `end`; null: none does. */
export function formulaAt(src: string, pos: number, end = src.length): Found | null {
  // The character before may be a pair of code units.
  const before = src.slice(Math.max(0, pos - 2), pos);
  if (src[pos] === '$') {
    if (NOT_BEFORE_DOLLAR.test(before)) return null;
    const two = taken(TWO, src, pos, end);
    if (two) return isProse(two.tex) ? null : { ...two, apart: true };
    const one = taken(ONE, src, pos, end);
    return one && isFormulaInDollars(one.tex) ? { ...one, apart: false } : null;
  }
  if (src[pos] !== '\\' || NOT_BEFORE_BRACKET.test(before)) return null;
  const round = taken(ROUND, src, pos, end);
  if (round) return isFormulaInBrackets(round.tex) ? { ...round, apart: false } : null;
  const square = taken(SQUARE, src, pos, end);
  if (!square || !isDisplay(square.tex)) return null;
  const isTicked = /^[xX]$/.test(square.tex) && /(?:^|\n)\s*(?:(?:[-*+]|\d+[.)])\s+)?$/.test(src.slice(0, pos));
  return isTicked && src[pos + square.length] === ' ' ? null : { ...square, apart: true };
}

function formulaInLine(state: StateInline, silent: boolean): boolean {
  const found = formulaAt(state.src, state.pos, state.posMax);
  if (!found) return false;
  if (!silent) {
    const token = state.push('formula', '', 0);
    token.content = found.tex;
    token.meta = { apart: found.apart };
  }
  state.pos += found.length;
  return true;
}

/**
 * A formula on lines of its own: they hold what would begin a list, a heading or a quotation
 * elsewhere.
 */
function formulaOnLines(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  if (!/^(?:\$\$|\\\[)/.test(state.src.slice(start, start + 2))) return false;
  let next = line + 1;
  while (next < end && !state.isEmpty(next) && (state.sCount[next] ?? 0) >= state.blkIndent) next += 1;
  const text = state.getLines(line, next, state.blkIndent, false).trimStart();
  const found = formulaAt(text, 0);
  if (!found?.apart || !/^[ \t]*[.,;]?[ \t]*(?:\n|$)/.test(text.slice(found.length))) return false;
  if (silent) return true;
  const token = state.push('formula', '', 0);
  token.content = found.tex;
  token.meta = { apart: true };
  state.line = line + text.slice(0, found.length).split('\n').length;
  token.map = [line, state.line];
  return true;
}

/** Teaches a parser formulas. */
export function formulas(md: MarkdownIt): void {
  md.inline.ruler.before('escape', 'formula', formulaInLine);
  md.block.ruler.before('fence', 'formula', formulaOnLines, { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
}
