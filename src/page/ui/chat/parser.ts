/**
 * Parses Markdown as agents write it: CommonMark with tables, strikethrough, bare URLs, formulas,
 * footnotes and the few HTML elements that are common in answers. The parser works in two steps.
 * Block parsing is fast and comes first. The inline content of a paragraph or a cell is parsed when
 * it is shown.
 */
import Parser, { type MarkdownIt, type StateBlock, type StateInline, type Token } from 'markdown-it';
import cjkFriendly from 'markdown-it-cjk-friendly';

// Rendered Markdown is cached, so a message that scrolls back into view costs nothing. New
// rendering has a time budget per frame. Text beyond the budget is shown plain and rendered between
// later frames.

/** ms of rendering per frame. */
const FRAME_BUDGET = 5;
/** ms after which a new frame is assumed to have begun. */
const FRAME = 16;

let frameBegan = 0;
let spent = 0;

function inFrame(now: number): number {
  if (now - frameBegan > FRAME) {
    frameBegan = now;
    spent = 0;
  }
  return spent;
}

/** True if another text can be rendered within this frame's budget. */
export const isTimeLeft = (): boolean => inFrame(performance.now()) < FRAME_BUDGET;

interface Kept<T> {
  has(key: string): boolean;
  /** Returns the cached value of this key, or makes it. */
  get(key: string, make: () => T): T;
}

/** An LRU cache. @param chars Characters of all stored keys together. */
export function createKept<T>(chars: number): Kept<T> {
  /** Least recently used first. */
  const entries = new Map<string, T>();
  let keptChars = 0;
  return {
    has: (key) => entries.has(key),
    get(key, make) {
      const cached = entries.get(key);
      if (cached !== undefined) {
        entries.delete(key);
        entries.set(key, cached);
        return cached;
      }
      const began = performance.now();
      inFrame(began);
      const made = make();
      spent += performance.now() - began;
      entries.set(key, made);
      keptChars += key.length;
      for (const [oldest] of entries) {
        if (keptChars <= chars) break;
        entries.delete(oldest);
        keptChars -= oldest.length;
      }
      return made;
    },
  };
}

// Formulas in Markdown as language models write them: `$x$`, `$$x$$`, `\(x\)` and `\[x\]`. The same
// characters occur in prices, in shell and PHP variables, and in regular expressions, which stay
// text:
//
// - No space follows an opening `$`. No letter, digit, opening bracket or `$` follows a closing
//   one. A letter of a script without spaces may follow, since Chinese and Japanese write none.
// - `\(` and `\[` are escaped brackets where a regular expression or a word continues beside them.
// - Text that looks like prose, a quotation or a regular expression is no formula.

export interface Formula {
  readonly tex: string;
  /** Display style, on a line of its own. */
  readonly apart: boolean;
}

/** `length`: characters of source, delimiters included. */
type Found = Formula & { readonly length: number };

/** Characters of a formula. */
const MOST = 10_000;
/** Letters of scripts that put a space before and after a formula. */
const SPACED = '\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}_';
const NOT_BEFORE_DOLLAR = new RegExp(`[${SPACED}$\\\\)\\]}]$`, 'u');
const NOT_AFTER_DOLLAR = `(?![${SPACED}$(\\[{])`;
const ONE = new RegExp(`\\$(?<tex>(?![\\s$])(?:\\\\[^]|[^$\`\\\\\\n])*(?<!\\s))\\$${NOT_AFTER_DOLLAR}`, 'uy');
const TWO = new RegExp(`\\$\\$(?<tex>(?:\\\\[^]|(?!\\$\\$)[^\\\\]){1,${MOST}}?)\\$\\$${NOT_AFTER_DOLLAR}`, 'uy');

/** Characters before an escaped bracket in a regular expression or a word. */
const NOT_BEFORE_BRACKET = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}_\\^.+?\]}/]$/u;
/**
 * What follows an escaped bracket: a quantifier, a class, a word, or the target of a link. A word
 * ending may follow, as in `\(n\)th`.
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

/** `5, not 6` and other text that reads as prose between two sums of money. */
const isProse = (tex: string) =>
  (!/\\[a-zA-Z]/.test(tex) && CJK_PUNCTUATION.test(tex)) || (!LOOKS_LIKE_TEX.test(tex) && WORDS.test(tex));

/** Between two `$`, the content may come from shells, templates and prices. */
function isFormulaInDollars(tex: string): boolean {
  const bare = tex.replace(TEXT_COMMAND, '');
  return !/["@]|(?<!\\)[#%]/.test(bare) && !CONSTANT.test(tex) && !isProse(tex);
}

const isFormulaInBrackets = (tex: string) => !REGEX.test(tex) && !isProse(tex);
/**
 * A display formula is more than words: `\[optional\]` is an escaped bracket, `\[x\] done` an
 * escaped checkbox.
 */
const isDisplay = (tex: string) => isFormulaInBrackets(tex) && !/^\s*(?:[A-Za-z]{4,}|\d+)\s*$/.test(tex);

function taken(pattern: RegExp, src: string, pos: number, end: number): { tex: string; length: number } | null {
  pattern.lastIndex = pos;
  const match = pattern.exec(end < src.length ? src.slice(0, end) : src);
  const tex = match?.groups?.['tex'] ?? '';
  // No formula continues after an empty line.
  return match && tex.trim() !== '' && !/\n[ \t]*\n/.test(tex) ? { tex: tex.trim(), length: match[0].length } : null;
}

/** The formula that begins at `pos`, within a paragraph that ends at `end`; null: none. */
function formulaAt(src: string, pos: number, end = src.length): Found | null {
  // The character before may be a surrogate pair.
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
  const formula = formulaAt(state.src, state.pos, state.posMax);
  if (!formula) return false;
  if (!silent) {
    const token = state.push('formula', '', 0);
    token.content = formula.tex;
    token.meta = { apart: formula.apart };
  }
  state.pos += formula.length;
  return true;
}

/** A formula on lines of its own. Its lines may start like a list, a heading or a quotation. */
function formulaOnLines(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  if (!/^(?:\$\$|\\\[)/.test(state.src.slice(start, start + 2))) return false;
  let next = line + 1;
  while (next < end && !state.isEmpty(next) && (state.sCount[next] ?? 0) >= state.blkIndent) next += 1;
  const text = state.getLines(line, next, state.blkIndent, false).trimStart();
  const formula = formulaAt(text, 0);
  if (!formula?.apart || !/^[ \t]*[.,;]?[ \t]*(?:\n|$)/.test(text.slice(formula.length))) return false;
  if (silent) return true;
  const token = state.push('formula', '', 0);
  token.content = formula.tex;
  token.meta = { apart: true };
  state.line = line + text.slice(0, formula.length).split('\n').length;
  token.map = [line, state.line];
  return true;
}

/** Adds formulas to a parser. */
function formulas(md: MarkdownIt): void {
  md.inline.ruler.before('escape', 'formula', formulaInLine);
  md.block.ruler.before('fence', 'formula', formulaOnLines, { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
}

export type { Token };

/** A tag of an element that is rendered. All other HTML is shown as text. */
const OURS = /^<\/?(?:br|sub|sup|kbd|details|summary)(?=[\s/>])/i;
const DETAILS = /<(\/?)details(?=[\s>])[^<>]*>/gi;
const SUMMARY = /^\s*<summary(?:\s[^<>]*)?>([^]*?)<\/summary>[ \t]*\n?/i;

type References = Readonly<Record<string, { readonly href: string; readonly title: string }>>;

/** What a piece of a message knows of the rest of it. */
export interface Around {
  /** Equal for equal content. */
  readonly key: string;
  /** Link reference definitions by name. */
  readonly references: References;
  /** Labels of footnotes, in the order of their numbers. */
  readonly notes: readonly string[];
}
export const NOTHING_AROUND: Around = { key: '', references: {}, notes: [] };

interface Parsed {
  readonly blocks: readonly Token[];
  /** Parses the inline content of a paragraph, a heading or a cell. */
  readonly inline: (content: string) => readonly Token[];
}

const textOfLine = (state: StateBlock, line: number) =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);

/** State that the rules of this parser read and write. */
interface OurEnv {
  readonly references: Record<string, { href: string; title: string }>;
  readonly notes: readonly string[];
  /** Texts of the footnotes defined here, by label. */
  readonly defined: Map<string, string>;
}
const envOf = ({ env }: StateBlock | StateInline) => env as unknown as OurEnv;

type BlockRule = (state: StateBlock, line: number, end: number, silent: boolean) => boolean;

/** One of the parser's built-in rules, to be wrapped in another. */
function ruleOf(md: MarkdownIt, wanted: string): { readonly fn: BlockRule; readonly alt: string[] } {
  const rule = md.block.ruler.__rules__.find(({ name }) => name === wanted);
  if (!rule) throw new Error(`The parser has no rule "${wanted}" any more.`);
  return { fn: rule.fn, alt: rule.alt };
}

/** An HTML block never begins with a rendered element: these stand in a paragraph, as text does. */
function withoutOurs(md: MarkdownIt): void {
  const htmlBlock = ruleOf(md, 'html_block');
  md.block.ruler.at(
    'html_block',
    (state, line, end, silent) => !OURS.test(textOfLine(state, line)) && htmlBlock.fn(state, line, end, silent),
    { alt: htmlBlock.alt },
  );
}

/**
 * End of the `details` element that begins at 0: behind its closing tag, or at the end of the text
 * while the tag is missing.
 */
function endOfDetails(text: string): { readonly inside: number; readonly after: number; readonly lines: number } {
  let depth = 0;
  for (const tag of text.matchAll(DETAILS)) {
    depth += tag[1] === '/' ? -1 : 1;
    if (depth > 0) continue;
    const after = tag.index + tag[0].length;
    return { inside: tag.index, after, lines: text.slice(0, after).split('\n').length };
  }
  return { inside: text.length, after: text.length, lines: text.split('\n').length };
}

/** `<details>` with its content, which is Markdown. */
function details(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  if (!/^<details(?=[\s>])[^<>]*>/i.test(textOfLine(state, line))) return false;
  if (silent) return true;
  let last = line;
  while (last < end && (state.isEmpty(last) || (state.sCount[last] ?? 0) >= state.blkIndent)) last += 1;
  const text = state.getLines(line, last, state.blkIndent, false).trimStart();
  const { inside, after, lines } = endOfDetails(text);
  // Text behind the closing tag on its line would be lost.
  const rest = text.slice(after, text.indexOf('\n', after) < 0 ? undefined : text.indexOf('\n', after)).trim();
  const [opening = ''] = /^<[^>]*>/.exec(text) ?? [];
  const body = text.slice(opening.length, inside);
  const [head = '', summary = ''] = SUMMARY.exec(body) ?? [];
  const token = state.push('details', 'details', 0);
  token.content = summary.replace(/\s+/g, ' ').trim();
  token.meta = { open: /\sopen(?=[\s=>])/i.test(opening) };
  token.children = [];
  state.md.block.parse(
    `${body.slice(head.length)}${rest === '' ? '' : `\n\n${rest}`}`,
    state.md,
    state.env,
    token.children,
  );
  state.line = line + lines;
  token.map = [line, state.line];
  return true;
}

const NOTE = /^\[\^([^\]\s]+)\]:[ \t]*/;

/** `[^label]: words`: a footnote, which is moved to the end of the message. */
function noteOnLines(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  const text = textOfLine(state, line);
  const [head = '', label = ''] = NOTE.exec(text) ?? [];
  if (head === '') return false;
  if (silent) return true;
  const goesOn = (next: number) =>
    state.isEmpty(next - 1) ? (state.sCount[next] ?? 0) - state.blkIndent >= 2 : !NOTE.test(textOfLine(state, next));
  let next = line + 1;
  for (let at = next; at < end && (state.isEmpty(at) || goesOn(at)); at++) if (!state.isEmpty(at)) next = at + 1;
  const { defined } = envOf(state);
  const words = [text.slice(head.length), state.getLines(line + 1, next, state.blkIndent + 4, false)];
  if (!defined.has(label.toLowerCase())) defined.set(label.toLowerCase(), words.join('\n').trim());
  state.line = next;
  return true;
}

/** `[^label]`, if the message defines it. */
function noteInLine(state: StateInline, silent: boolean): boolean {
  const { pos } = state;
  if (state.src[pos] !== '[' || state.src[pos + 1] !== '^') return false;
  const [whole, label = ''] = /^\[\^([^\]\s]+)\]/.exec(state.src.slice(pos, state.posMax)) ?? [''];
  const index = envOf(state).notes.indexOf(label.toLowerCase());
  if (whole === '' || index < 0) return false;
  if (!silent) state.push('note', '', 0).meta = { number: index + 1 };
  state.pos += whole.length;
  return true;
}

/** The cells of a row. A cell ends at `|`, unless the bar is escaped or inside a formula. */
export function cellsOf(row: string): readonly string[] {
  const cells: string[] = [];
  let cell = '';
  let from = 0;
  for (const sign of row.matchAll(/\\\||\||\$|\\[([]/g)) {
    const at = sign.index;
    if (at < from) continue;
    if (sign[0] === '|' || sign[0] === '\\|') {
      cell += row.slice(from, at);
      from = at + sign[0].length;
      if (sign[0] === '|') {
        cells.push(cell.trim());
        cell = '';
      } else cell += '|';
    } else {
      const end = at + (formulaAt(row, at)?.length ?? 0);
      cell += row.slice(from, end);
      from = end;
    }
  }
  cells.push((cell + row.slice(from)).trim());
  if (cells[0] === '') cells.shift();
  if (cells.at(-1) === '') cells.pop();
  return cells;
}

type Align = 'left' | 'right' | 'center' | null;

/** Content of a table token: the head, the alignment of the columns, and the source of the rows. */
export interface TableMeta {
  readonly head: readonly string[];
  readonly aligns: readonly Align[];
  readonly rows: readonly string[];
}

const DELIMITER = /^(:?)-+(:?)$/;

/** Alignment of a table's columns if `line` is a delimiter row; otherwise null. */
function alignsOf(line: string): readonly Align[] | null {
  if (!/^[ \t|:-]+$/.test(line) || !line.includes('-')) return null;
  const aligns: Align[] = [];
  for (const cell of cellsOf(line)) {
    const [whole, left, right] = DELIMITER.exec(cell) ?? [];
    if (whole === undefined) return null;
    aligns.push(right === '' ? (left === '' ? null : 'left') : left === '' ? 'right' : 'center');
  }
  return aligns;
}

/**
 * A table. Its rows are split into cells only when they are shown, since there may be thousands.
 * Otherwise it follows the parser's own rule: https://github.github.com/gfm/#tables-extension-
 */
function tableOnLines(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  const isIn = (at: number) => {
    const indent = (state.sCount[at] ?? 0) - state.blkIndent;
    return indent >= 0 && indent < 4;
  };
  if (line + 1 >= end || !isIn(line) || !isIn(line + 1)) return false;
  const aligns = alignsOf(textOfLine(state, line + 1));
  const headLine = textOfLine(state, line);
  // A single column without bars is a heading over a line of dashes.
  if (!aligns || !headLine.includes('|')) return false;
  const head = cellsOf(headLine);
  if (head.length !== aligns.length || head.length === 0) return false;
  if (silent) return true;
  const endings = state.md.block.ruler.getRules('blockquote');
  const rows: string[] = [];
  let next = line + 2;
  for (; next < end && !state.isEmpty(next) && isIn(next); next++) {
    const row = textOfLine(state, next);
    const at = next;
    // No other block begins with a bar.
    if (!row.startsWith('|') && endings.some((begins) => begins(state, at, end, true))) break;
    rows.push(row);
  }
  const token = state.push('table', 'table', 0);
  token.meta = { head, aligns, rows } satisfies TableMeta;
  token.map = [line, next];
  state.line = next;
  return true;
}

/** A web address without its scheme. */
function wwwAddresses(md: MarkdownIt): void {
  md.linkify.add('//', null).add('ftp:', null);
  md.linkify.add('www.', {
    validate: (text, pos, linkify) => {
      const { re } = linkify;
      const rest = new RegExp(`${re.get_url_host_port().source}${re.get_path().source}`, 'iy');
      rest.lastIndex = pos;
      return rest.exec(text)?.[0].length ?? 0;
    },
    normalize: (match) => {
      match.url = `http://${match.url}`;
    },
  });
}

function createParser(): MarkdownIt {
  const md = new Parser({ html: true, linkify: true })
    // Its types are for an older version of the parser.
    .use(cjkFriendly as unknown as (md: MarkdownIt) => void)
    .use(formulas)
    .use(withoutOurs)
    .use(wwwAddresses);
  md.block.ruler.at('table', tableOnLines, { alt: ['paragraph', 'reference'] });
  md.block.ruler.before('html_block', 'details', details, { alt: ['paragraph', 'reference', 'blockquote'] });
  md.block.ruler.before('reference', 'note', noteOnLines, { alt: ['paragraph', 'reference', 'blockquote'] });
  md.inline.ruler.before('link', 'note', noteInLine);
  // The renderer checks the URLs of links.
  md.validateLink = () => true;
  return md;
}

const md = createParser();

const blocksOf = (text: string, env: OurEnv): Token[] => {
  const blocks: Token[] = [];
  md.block.parse(text.replace(/\r\n?/g, '\n').replaceAll('\0', '\uFFFD'), md, { ...env }, blocks);
  return blocks;
};

export function parsed(text: string, { references, notes }: Around = NOTHING_AROUND): Parsed {
  const env: OurEnv = { references: { ...references }, notes, defined: new Map() };
  const blocks = blocksOf(text, env);
  return { blocks, inline: (content) => md.parseInline(content, { ...env })[0]?.children ?? [] };
}

const NAMES_SOMETHING = /\[[^\]\n]+\]:|\[\^/;
const CODE_SPAN = /(`+)(?!`)[^`]*\1(?!`)/g;

interface Named {
  readonly references: References;
  readonly defined: ReadonlyMap<string, string>;
  /** Labels of footnotes in the order of their use. */
  readonly used: readonly string[];
}
/** Cache size, in characters of pieces whose definitions are known. */
const KEPT_CHARS = 300_000;
const named = createKept<Named>(KEPT_CHARS);

const namedIn = (text: string): Named =>
  named.get(text, () => {
    const env: OurEnv = { references: {}, notes: [], defined: new Map() };
    const inline = blocksOf(text, env).flatMap(({ type, content }) => (type === 'inline' ? [content] : []));
    const words = [...inline, ...env.defined.values()].join('\n').replace(CODE_SPAN, '');
    const used = Array.from(words.matchAll(/\[\^([^\]\s]+)\]/g), ([, label = '']) => label.toLowerCase());
    return { references: env.references, defined: env.defined, used };
  });

const arounds = createKept<Around>(KEPT_CHARS);

/**
 * The definitions that the pieces of a message share, and its footnotes in the order of their use.
 */
function definedIn(pieces: readonly string[]): { readonly around: Around; readonly notes: readonly string[] } {
  const all = pieces.filter((piece) => NAMES_SOMETHING.test(piece)).map(namedIn);
  if (all.length === 0) return { around: NOTHING_AROUND, notes: [] };
  // The first definition of a name counts.
  const references: References = Object.assign({}, ...all.map((each) => each.references).reverse());
  const defined = new Map(all.flatMap((each) => [...each.defined]).reverse());
  const order = [...new Set([...all.flatMap(({ used }) => used), ...defined.keys()])].filter((label) =>
    defined.has(label),
  );
  const key = JSON.stringify([references, order]);
  const around = arounds.get(key, () => ({ key, references, notes: order }));
  return { around, notes: order.map((label) => defined.get(label) ?? '') };
}

// Splits long texts into pieces that are rendered one by one, a row of the log each. A piece ends
// only between two blocks, so a table, a list or a block of code is whole whatever its length.
// Appending text changes only the last piece, so a streaming answer renders only its last piece
// anew.

/** Characters after which a piece ends at the next gap between two blocks. */
const SOFT = 1_500;
/**
 * Characters after which a piece ends within a block too: between two items of a list (the next
 * piece continues its numbers), two paragraphs of a quotation, or two lines. Tables and blocks of
 * code are never split.
 */
const LONG = 8_000;
/** Characters after which a single paragraph or item is split too. */
const LONGEST = 40_000;
/** Characters of a piece of plain text. */
const PLAIN = 4_000;
/** Cache size, in characters of texts whose pieces are known: those of streaming answers. */
const MAX_CACHED_CHARS = 1_000_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/**
 * A line after an empty one that cannot belong to the block before it: it continues no list and is
 * not indented.
 */
const FRESH = /^(?:[^\s\d\-*+]|[-*+]\S|\d+[^\d.)])/;
const ITEM = /^(?:[-*+]|(\d{1,9})[.)])(?:\s|$)/;
const DELIMITERS = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const DETAILS_TAGS = /<(\/?)details(?=[\s>])/gi;
/** HTML that continues over empty lines: how it begins, and how it ends. */
const RAW: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
];

export interface MarkdownPiece {
  readonly text: string;
  /** What it needs from the other pieces. */
  readonly around: Around;
  /** The number with which it continues a list; null: it continues none. */
  readonly start: number | null;
  /** True for the piece with the message's footnotes. */
  readonly notes: boolean;
}

/** Where to split an overlong line: at its last space, and never within a character. */
function cutOf(text: string, most: number): number {
  const space = text.lastIndexOf(' ', most);
  if (space > most / 2) return space + 1;
  const code = text.charCodeAt(most - 1);
  return code >= 0xd800 && code <= 0xdbff ? most - 1 : most;
}

/** Plain `text`, split at line ends where there are any. */
export function plainPieces(text: string): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > PLAIN) {
    const line = rest.lastIndexOf('\n', PLAIN);
    const cut = line > PLAIN / 2 ? line + 1 : cutOf(rest, PLAIN);
    // The split replaces the line break.
    pieces.push(line > PLAIN / 2 ? rest.slice(0, line) : rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...pieces, rest];
}

/** Range of a piece in its text. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly start: number | null;
}

interface List {
  /** Number of the first list item in this piece; null: none. */
  readonly start: number | null;
  readonly items: number;
}

/** Ranges of the pieces of `text`. `earlier`: those of its beginning; all but the last stay. */
function spansOf(text: string, earlier: readonly Span[]): readonly Span[] {
  const spans = earlier.slice(0, -1);
  const last = earlier.at(-1);
  let from = last?.from ?? 0;
  let start = last?.start ?? null;
  /** What ends the code block or HTML block around the line. */
  let within: RegExp | null = null;
  /** Number of open `details` elements. */
  let depth = 0;
  let isEmpty = false;
  let wasEmptyQuote = false;
  let wasText = false;
  let inTable = false;
  /** The list that continues. */
  let list: List | null = start === null ? null : { start, items: 0 };

  const close = (at: number, goesOnWith: number | null) => {
    spans.push({ from, to: at, start });
    from = at;
    start = goesOnWith;
    if (list) list = { start: goesOnWith, items: 0 };
  };
  const mayEndBefore = (line: string, size: number): boolean => {
    if (size < SOFT || within || depth > 0) return false;
    if (isEmpty && FRESH.test(line)) return true;
    if (size < LONG || inTable) return false;
    if (size >= LONGEST || ITEM.test(line) || (isEmpty && /^\S/.test(line))) return true;
    if (line.startsWith('>')) return wasEmptyQuote;
    // A line that continues a paragraph. Below a line of dashes or equals signs, the paragraph
    // would be a heading.
    return list === null && wasText && /^[^\s>]/.test(line) && !/^(?:=+|-+)\s*$/.test(line);
  };
  const numberItem = (line: string) => {
    const item = ITEM.exec(line);
    if (item)
      list = list
        ? { ...list, items: list.items + 1 }
        : { start: item[1] === undefined ? null : Number(item[1]), items: 1 };
    else if (/^\S/.test(line) && (isEmpty || /^(?:#|>|`{3}|~{3})/.test(line))) list = null;
  };
  const scanLine = (line: string) => {
    numberItem(line);
    if (line.includes('|') && DELIMITERS.test(line)) inTable = true;
    for (const [, closing] of line.matchAll(DETAILS_TAGS)) depth = Math.max(0, depth + (closing === '/' ? -1 : 1));
    const mark = FENCE.exec(line)?.[1];
    // A backtick fence with another fence on its line is inline code.
    if (mark !== undefined && !(mark.startsWith('`') && line.slice(line.indexOf(mark) + mark.length).includes('`')))
      within = new RegExp(`^ {0,3}\\${mark.charAt(0)}{${mark.length},}\\s*$`);
    const raw = RAW.find(([begins]) => begins.test(line))?.[1];
    if (raw && !raw.test(line)) within = raw;
  };

  for (let at = from; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    if (mayEndBefore(line, at - from)) {
      const goesOn = (/^\d/.test(line) ? list : null) as List | null;
      close(at, goesOn === null || goesOn.start === null ? null : goesOn.start + goesOn.items);
    }
    if (!within) scanLine(line);
    else if ((within as RegExp).test(line)) within = null;
    isEmpty = line.trim() === '';
    if (isEmpty) inTable = false;
    wasEmptyQuote = /^>\s*$/.test(line);
    wasText = !isEmpty && /^[^\s>#|]/.test(line);
    if (within === null && line.length > LONGEST) {
      if (at > from) close(at, null);
      while (end - from > LONGEST) close(from + cutOf(text.slice(from, from + LONGEST), LONGEST), null);
    }
    at = end + 1;
  }
  return [...spans, { from, to: text.length, start }];
}

interface Parted {
  readonly text: string;
  readonly spans: readonly Span[];
}
/** Recently split texts. A text that extends one of them is split from there on. */
let recent: readonly Parted[] = [];
const RECENT_MOST = 4;

function parted(text: string): Parted {
  const before = recent.find((each) => text.startsWith(each.text));
  const now = before?.text === text ? before : { text, spans: spansOf(text, before?.spans ?? []) };
  recent = [now, ...recent.filter((each) => each !== before)].slice(0, RECENT_MOST);
  return now;
}

const pieceCache = createKept<MarkdownPiece>(MAX_CACHED_CHARS);

const pieceOf = (text: string, of: Omit<MarkdownPiece, 'text'>): MarkdownPiece =>
  pieceCache.get(JSON.stringify([of.start, of.notes, of.around.key]) + text, () => ({ text, ...of }));

/** Footnotes as a list at the end of a message. */
const listOf = (notes: readonly string[]): string =>
  notes.map((note, i) => `${i + 1}. ${note.trim().replace(/\n(?=.)/g, '\n    ')}`).join('\n');

/**
 * Markdown in pieces. Equal text yields identical objects, so that an unchanged piece is not
 * rendered again.
 */
export function markdownPieces(text: string): readonly MarkdownPiece[] {
  const texts = parted(text).spans.map(({ from, to }) => text.slice(from, to).replace(/\n+$/, ''));
  const { around, notes } = definedIn(texts);
  const pieces = parted(text).spans.map(({ start }, i) => {
    const piece = texts[i] ?? '';
    return pieceOf(piece, { start, notes: false, around: piece.includes('[') ? around : NOTHING_AROUND });
  });
  if (notes.length > 0) pieces.push(pieceOf(listOf(notes), { start: null, notes: true, around }));
  return pieces;
}
