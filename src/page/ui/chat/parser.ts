/**
 * Markdown as agents write it, in tokens: CommonMark with tables, strikethrough, bare addresses,
 * formulas, footnotes and the few HTML elements that are common in answers. The parser works in two
 * steps. Blocks are found first, which is quick. What stands in a paragraph or a cell is parsed
 * when it is shown.
 */
import Parser, { type MarkdownIt, type StateBlock, type StateInline, type Token } from 'markdown-it';
import cjkFriendly from 'markdown-it-cjk-friendly';
import { formulaAt, formulas } from './maths.ts';
import { createKept } from './parsed.ts';

export type { Token };

/** A tag of an element that is shown as such. Every other HTML is shown as the text it is. */
const OURS = /^<\/?(?:br|sub|sup|kbd|details|summary)(?=[\s/>])/i;
const DETAILS = /<(\/?)details(?=[\s>])[^<>]*>/gi;
const SUMMARY = /^\s*<summary(?:\s[^<>]*)?>([^]*?)<\/summary>[ \t]*\n?/i;

type References = Readonly<Record<string, { readonly href: string; readonly title: string }>>;

/** What a piece of a message knows of the rest of it. */
export interface Around {
  /** The same for the same. */
  readonly key: string;
  /** Links by the names that are defined for them. */
  readonly references: References;
  /** Labels of footnotes, in the order of their numbers. */
  readonly notes: readonly string[];
}
export const NOTHING_AROUND: Around = { key: '', references: {}, notes: [] };

export interface Parsed {
  readonly blocks: readonly Token[];
  /** Parses what stands in a paragraph, a heading, a cell. */
  readonly inline: (content: string) => readonly Token[];
}

const textOfLine = (state: StateBlock, line: number) =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);

/** What the rules of this parser find, and are told. */
interface OurEnv {
  readonly references: Record<string, { href: string; title: string }>;
  readonly notes: readonly string[];
  /** Texts of the footnotes that are defined here, by their labels. */
  readonly defined: Map<string, string>;
}
const envOf = ({ env }: StateBlock | StateInline) => env as unknown as OurEnv;

type BlockRule = (state: StateBlock, line: number, end: number, silent: boolean) => boolean;

/** A rule of the parser's own, to be put within another. */
function ruleOf(md: MarkdownIt, wanted: string): { readonly fn: BlockRule; readonly alt: string[] } {
  const rule = md.block.ruler.__rules__.find(({ name }) => name === wanted);
  if (!rule) throw new Error(`The parser has no rule "${wanted}" any more.`);
  // It is replaced in its place.
  return { fn: rule.fn, alt: rule.alt };
}

/**
 * An HTML block begins with none of the elements that are shown: these stand in a paragraph, as
 * text does.
 */
function withoutOurs(md: MarkdownIt): void {
  const htmlBlock = ruleOf(md, 'html_block');
  md.block.ruler.at(
    'html_block',
    (state, line, end, silent) => !OURS.test(textOfLine(state, line)) && htmlBlock.fn(state, line, end, silent),
    { alt: htmlBlock.alt },
  );
}

/**
 * Where the `details` that begins at 0 ends: behind its closing tag, or at the end of the text
 * while that has not been written.
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

/** `<details>` with all that is in it, which is Markdown. */
function details(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  if ((state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  if (!/^<details(?=[\s>])[^<>]*>/i.test(textOfLine(state, line))) return false;
  if (silent) return true;
  let last = line;
  while (last < end && (state.isEmpty(last) || (state.sCount[last] ?? 0) >= state.blkIndent)) last += 1;
  const text = state.getLines(line, last, state.blkIndent, false).trimStart();
  const { inside, after, lines } = endOfDetails(text);
  // Words behind the closing tag on its line would be lost.
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

/** `[^label]: words`: a footnote, which stands at the end of the message instead. */
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

/** `[^label]`, where the message defines it. */
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

/** The cells of a row. One ends at `|`, unless that is escaped or stands in a formula. */
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

export type Align = 'left' | 'right' | 'center' | null;

/**
 * What a table's token has to say: its head, how its columns are set, and its rows as they are
 * written.
 */
export interface TableMeta {
  readonly head: readonly string[];
  readonly aligns: readonly Align[];
  readonly rows: readonly string[];
}

const DELIMITER = /^(:?)-+(:?)$/;

/** How the columns of a table are set, if `line` says that; else null. */
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
 * A table. Its rows are taken apart when they are shown, since there may be thousands. Otherwise it
 * follows the parser's own rule: https://github.github.com/gfm/#tables-extension-
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
    // Nothing else begins with a bar.
    if (!row.startsWith('|') && endings.some((begins) => begins(state, at, end, true))) break;
    rows.push(row);
  }
  const token = state.push('table', 'table', 0);
  token.meta = { head, aligns, rows } satisfies TableMeta;
  token.map = [line, next];
  state.line = next;
  return true;
}

/** An address on the web without its protocol. */
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
    // Its types are of an older version.
    .use(cjkFriendly as unknown as (md: MarkdownIt) => void)
    .use(formulas)
    .use(withoutOurs)
    .use(wwwAddresses);
  md.block.ruler.at('table', tableOnLines, { alt: ['paragraph', 'reference'] });
  md.block.ruler.before('html_block', 'details', details, { alt: ['paragraph', 'reference', 'blockquote'] });
  md.block.ruler.before('reference', 'note', noteOnLines, { alt: ['paragraph', 'reference', 'blockquote'] });
  md.inline.ruler.before('link', 'note', noteInLine);
  // Whoever shows a link judges its address.
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
  /** Labels of footnotes as they are used. */
  readonly used: readonly string[];
}
/** Characters of pieces of which is known what they define. */
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
 * What the pieces of a message define for each other, and its footnotes in the order in which they
 * are used.
 */
export function definedIn(pieces: readonly string[]): { readonly around: Around; readonly notes: readonly string[] } {
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
