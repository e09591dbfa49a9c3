/**
 * Mathematics in Markdown: `$x$`, `$$x$$`, `\(x\)` and `\[x\]`, as language models write it. A sum of money is none: as in Pandoc, the
 * first sign of a formula stands right before it and the last right after it, no digit follows, and what reads as prose is prose.
 */

/** A code span that begins so is a formula; the sign after it says how it stands. No person and no model writes this by hand. */
const MARK = '\u0001';
const [IN_LINE, APART] = ['i', 'd'];
/** For `|` in it, at which a table would be parted. */
const BAR = '\u0002';

const FENCED = '(?:^|\\n)[ \\t]*(?<fence>`{3,}|~{3,})[^]*?(?:\\n[ \\t]*\\k<fence>|$)';
const CODE = '(?<ticks>`+)(?!`)(?:(?!\\n\\n)[^])*?[^`]\\k<ticks>(?!`)';
const ROUND = '\\\\\\((?<round>(?:(?!\\n\\n)[^])+?)\\\\\\)';
const SQUARE = '\\\\\\[(?<square>(?:(?!\\n\\n)[^])+?)\\\\\\]';
const TWO = '\\$\\$(?<two>(?:(?!\\n\\n)[^$])+?)\\$\\$';
const ONE = '(?<![\\w$])\\$(?<one>(?![\\s$])(?:\\\\.|[^$`\\\\\\n])*?(?<!\\s))\\$(?![\\d$])';
const TOKEN = new RegExp([FENCED, CODE, ROUND, SQUARE, '\\\\[^]', TWO, ONE].join('|'), 'g');

/** `5, not 6`, and whatever else reads as words with a sum of money before and behind. */
const isProse = (text: string) => !/[\\^_{}=]/.test(text) && /[A-Za-z]{3,}\s|\s[A-Za-z]{3,}|^[\d.,]+\s/.test(text);

function span(how: string, formula: string): string {
  // As many as stand in a row nowhere in it.
  const ticks = '`'.repeat(Math.max(0, ...Array.from(formula.matchAll(/`+/g), ([run]) => run.length)) + 1);
  return `${ticks}${MARK}${how}${formula
    .trim()
    .replace(/\s*\n[ \t>]*/g, ' ')
    .replaceAll('|', BAR)} ${ticks}`;
}

/** The text with its formulas as code spans that `formulaOf` knows; null: there are none. */
export function withFormulas(text: string): string | null {
  let found = false;
  const set = text.replace(TOKEN, (whole: string, ...rest: unknown[]) => {
    const { round, square, two, one } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const formula = round ?? square ?? two ?? one;
    if (formula === undefined || formula.trim() === '' || (one !== undefined && isProse(one))) return whole;
    found = true;
    return span((square ?? two) === undefined ? IN_LINE : APART, formula);
  });
  return found ? set : null;
}

export interface ShownFormula {
  readonly tex: string;
  /** On a line of its own. */
  readonly apart: boolean;
}

/** What a code span of `withFormulas` stands for; null: it is code. */
export const formulaOf = (code: unknown): ShownFormula | null =>
  typeof code === 'string' && code.startsWith(MARK)
    ? { tex: code.slice(2).trim().replaceAll(BAR, '|'), apart: code[1] === APART }
    : null;
