/**
 * A piece of Markdown. What is set once is kept, and what grows is set anew only where it grows.
 */
import {
  createContext,
  Fragment,
  lazy,
  memo,
  type ReactNode,
  startTransition,
  Suspense,
  use,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import { piecesOf } from '../../../shared/domain/mentions.ts';
import { urlOf } from '../../../shared/domain/platform/old-browsers.ts';
import { t } from '../../language/t.ts';
import { PATHS } from '../routes.ts';
import type { Teammate } from '../use-somebody.ts';
import { useRoom } from '../parts/near.ts';
import { isPrinting, usePrinting } from '../parts/printing.ts';
import { CodeBlock } from '../code/code-block.tsx';
import { GrowingText } from '../parts/growing-text.tsx';
import type { ShownPart } from './parts.ts';
import {
  type Around,
  cellsOf,
  createKept,
  type Formula as FormulaText,
  isTimeLeft,
  type MarkdownPiece,
  markdownPieces,
  NOTHING_AROUND,
  parsed,
  type TableMeta,
  type Token,
} from './parser.ts';
import { AsWritten } from './formula-as-written.tsx';
import './markdown.css';

// Mentions as chips, in what a person wrote and in an agent's Markdown.

/** Those whom the message mentions. */
export const Mentioned = createContext<readonly Teammate[]>([]);

export function Chip({ who, text = `@${who.name}` }: { who: Teammate; text?: string }) {
  return (
    <Link href={PATHS.agent(who.agentId)} className="mention tint" style={{ '--c': who.color }} dir="auto">
      {text}
    </Link>
  );
}

/** Text as it stands, mentions as chips. */
function WithChips({ text }: { text: string }): ReactNode {
  const among = use(Mentioned);
  if (among.length === 0) return text;
  return piecesOf(text, among).map((piece, i) => {
    const who = piece.kind === 'mention' ? among.find(({ agentId }) => agentId === piece.agentId) : undefined;
    // Pieces of one text never move: a piece's place is its identity.
    return who ? <Chip key={i} who={who} text={piece.text} /> : <span key={i}>{piece.text}</span>;
  });
}

/** A row's share of what a person wrote, exactly as it was written. */
export function PersonWords({ parts }: { parts: readonly ShownPart[] }) {
  return parts.map((part, i) =>
    part.kind === 'text' && part.text !== '' ? (
      <p key={i} className="plain" dir="auto">
        <WithChips text={part.text} />
      </p>
    ) : null,
  );
}

// A table of very many rows, in a window of its own in which it scrolls. Rows that are far from
// what is in sight are not on the page: an empty row keeps their room. The widths of the columns
// are reckoned from all rows, since they must not change as rows come and go.

/** Rows from which on a table is one of these. */
const LONG_TABLE = 300;
/** Rows that come and go together. */
const GROUP = 50;
/** Rows by which the widths of the columns are reckoned. */
const MEASURED = 400;
/** Characters of the narrowest and of the widest column. */
const NARROWEST = 5;
const WIDEST = 40;
/** px of a row of one line, until rows were measured. */
const ROW_HEIGHT = 36;
/** px around what is in sight in which rows are on the page. */
const ROWS_AROUND = 800;

/** Letters of these scripts are twice as wide. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const widthOf = (cell: string) => cell.length + (cell.match(WIDE)?.length ?? 0);

/** Widths of the columns, in characters. */
function widthsOf({ head, rows }: TableMeta): readonly number[] {
  const widths = head.map(widthOf);
  const step = Math.max(1, Math.floor(rows.length / MEASURED));
  for (let at = 0; at < rows.length; at += step)
    for (const [i, cell] of cellsOf(rows[at] ?? '').entries()) {
      if (i < widths.length) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
    }
  return widths.map((width) => Math.min(WIDEST, Math.max(NARROWEST, width)));
}

interface GroupProps {
  readonly rows: readonly string[];
  /** Which row of the table its first one is, from 0. */
  readonly first: number;
  readonly columns: number;
  readonly row: (text: string) => ReactNode;
  readonly isWhole: boolean;
}

const Group = memo(
  function Group({ rows, first, columns, row, isWhole }: GroupProps) {
    const ref = useRef<HTMLTableSectionElement>(null);
    const room = useRoom(ref, {
      around: ROWS_AROUND,
      wherein: '.md-table',
      isWatched: !isWhole,
      atFirst: first === 0 ? null : rows.length * ROW_HEIGHT,
    });
    return (
      <tbody ref={ref}>
        {room === null ? (
          rows.map((text, i) => (
            <tr key={i} aria-rowindex={first + i + 2}>
              {row(text)}
            </tr>
          ))
        ) : (
          <tr aria-hidden="true">
            <td colSpan={columns} style={{ height: room }} />
          </tr>
        )}
      </tbody>
    );
  },
  // The rows of a table that grows are new objects with the same words.
  (before, now) =>
    before.isWhole === now.isWhole &&
    before.rows.length === now.rows.length &&
    before.rows.every((text, i) => text === now.rows[i]),
);

interface LongTableProps {
  readonly table: TableMeta;
  readonly head: ReactNode;
  readonly row: (text: string) => ReactNode;
  readonly dir: 'rtl' | 'ltr';
}

function LongTable({ table, head, row, dir }: LongTableProps) {
  const isWhole = usePrinting();
  const { rows } = table;
  const widths = useMemo(() => widthsOf(table), [table]);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="md-table md-table-long" role="region" aria-label={t`Table`} tabIndex={0} dir={dir}>
      <table aria-rowcount={rows.length + 1}>
        <colgroup>
          {widths.map((width, i) => (
            <col key={i} style={{ width: `${width + 4}ch` }} />
          ))}
        </colgroup>
        <thead>{head}</thead>
        {Array.from({ length: Math.ceil(rows.length / GROUP) }, (_none, i) => (
          <Group
            key={i}
            rows={rows.slice(i * GROUP, (i + 1) * GROUP)}
            first={i * GROUP}
            columns={table.head.length}
            row={row}
            isWhole={isWhole}
          />
        ))}
      </table>
    </div>
  );
}

// Markdown as React elements. What is set is inert: links open elsewhere and lead to the web or to
// mail only, nothing is fetched (a picture is a link to where it lies), and HTML is shown as text,
// except for a few elements without their attributes.
//
// Text beside an element stands in an element of its own. A browser that translates the page puts
// text nodes into elements of its own, and React must never have to find such a node again.

type Paired = 'sub' | 'sup' | 'kbd';
const PAIRED = new Set<string>(['sub', 'sup', 'kbd'] satisfies Paired[]);
const BR = /^<\/?br(?=[\s/>])/i;
const isPaired = (name: string): name is Paired => PAIRED.has(name);

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address, if it is absolute and of a kind that may be opened; else null. */
export function safeUrl(href: string | undefined): URL | null {
  const url = href === undefined ? null : urlOf(href);
  return url && SAFE.has(url.protocol) ? url : null;
}

function Outside({ url, children }: { url: URL; children: ReactNode }) {
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
      <span>{children}</span>
      <span className="visually-hidden"> {t`(opens in a new tab)`}</span>
    </a>
  );
}

// Where it cannot be fetched, because the relay is gone, a formula is shown as it was written.
const Formula = lazy(() => import('./formula.tsx').catch(() => ({ default: AsWritten })));
/**
 * Until it is set, it stands as it was written, and is not seen. It comes and goes within an
 * element that stays.
 */
function SetFormula({ apart, tex }: FormulaText) {
  return (
    <span className="md-formula-place" data-tex={tex} data-apart={apart} translate="no">
      <Suspense fallback={<AsWritten tex={tex} apart={apart} waits />}>
        <Formula tex={tex} apart={apart} />
      </Suspense>
    </span>
  );
}

function Picture({ src, alt }: { src: string | undefined; alt: string }) {
  const url = safeUrl(src);
  if (!url || url.protocol === 'mailto:') return <span className="md-image">{alt || t`a picture`}</span>;
  return (
    <span className="md-image">
      {alt && <span>{alt} · </span>}
      <Outside url={url}>{t`Show image from ${url.host}`}</Outside>
    </span>
  );
}

const Tick = ({ done }: { done: boolean }) => (
  <span aria-label={done ? t`done` : t`to do`} role="img" className="md-check" data-checked={done} />
);

/** A message is not a page: its headings stay below the page's own. */
const HEADINGS: Readonly<Record<string, 'h3' | 'h4' | 'h5' | 'h6'>> = { h1: 'h3', h2: 'h4', h3: 'h5' };
const EMPHASIS: Readonly<Record<string, 'strong' | 'em' | 'del'>> = { strong: 'strong', em: 'em', s: 'del' };

const attributeOf = (token: Token, name: string): string | undefined => {
  const value = token.attrGet(name);
  return value === null ? undefined : String(value);
};

const RTL = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
/**
 * The direction of what holds several blocks: that of its first letter, by which `dir="auto"` goes
 * in a block of its own. There, it would look at no block that has a direction already.
 */
const directionOf = (text: string): 'rtl' | 'ltr' => (RTL.test(/\p{L}/u.exec(text)?.[0] ?? '') ? 'rtl' : 'ltr');
const textIn = (tokens: readonly Token[]): string =>
  tokens.find(({ type, content }) => type === 'inline' && /\p{L}/u.test(content))?.content ?? '';
/** Rows of a table by which its direction is told. */
const DIRECTION_ROWS = 5;

/** What stands between an opening and a closing sign. */
interface Frame {
  /** The type of the token that closes it, or the HTML element it is. */
  readonly closes: string;
  /** As it was written, for one that is never closed; null: the parser closes it for certain. */
  readonly source: string | null;
  readonly element: (children: ReactNode) => ReactNode;
  readonly children: ReactNode[];
}

interface Setting {
  /** Sets what stands in a paragraph, or has it set already. */
  readonly inline: (content: string) => ReactNode;
  /** What was made of this text before, or is made now. */
  readonly kept: (text: string, make: () => ReactNode) => ReactNode;
  /** The lines that the blocks were found in; null: they are not known. */
  readonly lines: readonly string[] | null;
}

/**
 * Puts texts that stand beside elements into elements of their own, and texts that grow in any
 * case.
 */
function apart(children: readonly ReactNode[], { chips, grows }: InlineSetting): ReactNode {
  const shown = (text: string) => (chips ? <WithChips text={text} /> : text);
  const [only] = children;
  if (children.length === 1 && typeof only !== 'string') return only;
  if (children.length === 1 && typeof only === 'string' && !grows) return shown(only);
  return children.map((child, i) => {
    if (typeof child !== 'string') return <Fragment key={i}>{child}</Fragment>;
    return grows && !chips ? <GrowingText key={i} text={child} /> : <span key={i}>{shown(child)}</span>;
  });
}

interface InlineSetting {
  /** Mentions are drawn as chips. */
  readonly chips: boolean;
  /** A line that ends in the source ends on the page. */
  readonly breaks: boolean;
  /** It is part of an answer that is being written. */
  readonly grows: boolean;
}

/** What stands in a paragraph, a heading or a cell. */
function setInline(tokens: readonly Token[], setting: InlineSetting): ReactNode {
  const { breaks } = setting;
  const root: Frame = { closes: '', source: null, element: (children) => children, children: [] };
  const open = [root];
  const top = () => open.at(-1) ?? root;
  const add = (node: ReactNode) => {
    const { children } = top();
    const last = children.at(-1);
    // One node for neighbouring texts, as the parser makes them of signs that mean nothing.
    if (typeof node === 'string' && typeof last === 'string') children[children.length - 1] = last + node;
    else if (node !== '') children.push(node);
  };
  const begin = (closes: string, element: Frame['element'], source: string | null = null) =>
    void open.push({ closes, source, element, children: [] });
  const close = () => {
    const { element, children } = open.pop() ?? root;
    add(element(apart(children, setting)));
  };
  /** An HTML element that is never closed is the text it is. */
  const giveUp = () => {
    const { source, children } = open.pop() ?? root;
    add(source ?? '');
    children.forEach(add);
  };
  const closeAll = (type: string) => {
    while (open.length > 1 && top().source !== null) giveUp();
    if (top().closes === type) close();
  };
  for (const [at, token] of tokens.entries()) {
    switch (token.type) {
      case 'text':
      case 'text_special':
        add(token.content);
        break;
      case 'softbreak':
        // A line that ends with `<br>` ends once.
        if (tokens[at - 1]?.type !== 'html_inline' || !BR.test(tokens[at - 1]?.content ?? ''))
          add(breaks ? <br /> : '\n');
        break;
      case 'hardbreak':
        add(<br />);
        break;
      case 'code_inline':
        add(
          <code dir="ltr" translate="no">
            {token.content}
          </code>,
        );
        break;
      case 'formula':
        add(<SetFormula tex={token.content} apart={token.meta?.['apart'] === true} />);
        break;
      case 'note':
        add(<sup className="md-note">{String(token.meta?.['number'])}</sup>);
        break;
      case 'image': {
        const alt = (token.children ?? []).map(({ content }) => content).join('');
        add(<Picture src={attributeOf(token, 'src')} alt={alt} />);
        break;
      }
      case 'html_inline': {
        const [, closing, tag = ''] = /^<(\/?)([a-z]+)(?=[\s/>])/i.exec(token.content) ?? [];
        const name = tag.toLowerCase();
        if (BR.test(token.content)) add(<br />);
        else if (!isPaired(name)) add(token.content);
        else if (closing !== '/') {
          const Element = name;
          begin(`</${name}>`, (children) => <Element>{children}</Element>, token.content);
        } else if (top().closes === `</${name}>`) close();
        else add(token.content);
        break;
      }
      case 'link_open': {
        const url = safeUrl(attributeOf(token, 'href'));
        begin('link_close', (children) => (url ? <Outside url={url}>{children}</Outside> : <span>{children}</span>));
        break;
      }
      default: {
        const Element = EMPHASIS[token.tag];
        if (token.nesting < 0) closeAll(token.type);
        else if (Element && token.nesting > 0)
          begin(token.type.replace('_open', '_close'), (children) => <Element>{children}</Element>);
        else add(token.content);
      }
    }
  }
  while (open.length > 1) giveUp();
  return apart(root.children, setting);
}

const TICK = /^\[([ xX])\](?=\s)\s*/;

/** A list item, with its box where there is one to tick. */
function setItem(blocks: readonly Token[], setting: Setting, key: number): ReactNode {
  const [first, words] = blocks;
  const tick = first?.type === 'paragraph_open' && words ? TICK.exec(words.content) : null;
  return (
    <li key={key} dir="auto" className={tick ? 'md-task' : undefined}>
      {tick && <Tick done={tick[1] !== ' '} />}
      {setBlocks(blocks, setting, tick?.[0].length)}
    </li>
  );
}

function setRow(cells: readonly string[], Cell: 'th' | 'td', { aligns }: TableMeta, setting: Setting): ReactNode {
  return aligns.map((align, i) => (
    <Cell key={i} dir="auto" style={align ? { textAlign: align } : undefined}>
      {setting.inline(cells[i] ?? '')}
    </Cell>
  ));
}

function setTable(table: TableMeta, setting: Setting): ReactNode {
  const { head, aligns, rows } = table;
  const row = (text: string) =>
    setting.kept(`tr${aligns.join()}\n${text}`, () => setRow(cellsOf(text), 'td', table, setting));
  const columns = <tr>{setRow(head, 'th', table, setting)}</tr>;
  const dir = directionOf([...head, ...rows.slice(0, DIRECTION_ROWS)].join(' '));
  if (rows.length >= LONG_TABLE) return <LongTable head={columns} table={table} row={row} dir={dir} />;
  return (
    // Scrolls by itself where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="md-table" role="region" aria-label={t`Table`} tabIndex={0} dir={dir}>
      <table>
        <thead>{columns}</thead>
        {rows.length > 0 && (
          <tbody>
            {rows.map((text, i) => (
              <tr key={i}>{row(text)}</tr>
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

/** Where the element ends that is opened at `from`. */
function endOf(blocks: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < blocks.length; at++) {
    depth += blocks[at]?.nesting ?? 0;
    if (depth === 0) return at;
  }
  return blocks.length;
}

function setBlock(token: Token, inside: readonly Token[], setting: Setting, skipped: number): ReactNode {
  const words = () => setting.inline(inside[0]?.content.slice(skipped) ?? '');
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? <span className="md-tight">{words()}</span> : <p dir="auto">{words()}</p>;
    case 'heading_open': {
      const Heading = HEADINGS[token.tag] ?? 'h6';
      return <Heading dir="auto">{words()}</Heading>;
    }
    case 'bullet_list_open':
      return <ul>{itemsIn(inside, setting)}</ul>;
    case 'ordered_list_open': {
      const start = Number(attributeOf(token, 'start') ?? 1);
      const items = itemsIn(inside, setting);
      const digits = String(start + items.length - 1).length;
      return (
        <ol start={start === 1 ? undefined : start} style={digits > 1 ? { '--digits': digits } : {}}>
          {items}
        </ol>
      );
    }
    case 'blockquote_open':
      return <blockquote dir={directionOf(textIn(inside))}>{setBlocks(inside, setting)}</blockquote>;
    case 'table':
      return setTable(token.meta as unknown as TableMeta, setting);
    case 'fence':
    case 'code_block':
      return <CodeBlock code={token.content.replace(/\n$/, '')} info={token.info} />;
    case 'formula':
      return (
        <div dir="ltr">
          <SetFormula tex={token.content} apart />
        </div>
      );
    case 'hr':
      return <hr />;
    case 'html_block':
      return (
        <p className="plain" dir="auto">
          {token.content.trimEnd()}
        </p>
      );
    case 'details': {
      const blocks = token.children ?? [];
      return (
        <details open={token.meta?.['open'] === true} dir={directionOf(`${token.content} ${textIn(blocks)}`)}>
          <summary dir="auto">{token.content === '' ? t`Details` : setting.inline(token.content)}</summary>
          {setBlocks(blocks, { ...setting, lines: null })}
        </details>
      );
    }
    default:
      return null;
  }
}

function itemsIn(blocks: readonly Token[], setting: Setting): readonly ReactNode[] {
  const items: ReactNode[] = [];
  for (let at = 0; at < blocks.length; at++) {
    const end = endOf(blocks, at);
    const inside = blocks.slice(at + 1, end);
    const key = items.length;
    const [from = 0, to = 0] = blocks[at]?.map ?? [];
    const source = setting.lines?.slice(from, to).join('\n');
    const make = () => setItem(inside, setting, key);
    // The words of an item are set otherwise where empty lines stand between items.
    const isTight = inside[0]?.hidden === true;
    items.push(source === undefined ? make() : setting.kept(`li${key} ${isTight}\n${source}`, make));
    at = end;
  }
  return items;
}

/** @param skipped Characters at the beginning of the first paragraph that are drawn already. */
function setBlocks(blocks: readonly Token[], setting: Setting, skipped = 0): ReactNode {
  const set: ReactNode[] = [];
  for (let at = 0; at < blocks.length; at++) {
    const token = blocks[at];
    const end = endOf(blocks, at);
    if (token) {
      const node = setBlock(token, blocks.slice(at + 1, end), setting, at === 0 ? skipped : 0);
      // Blocks are only ever added at the end: a block's place is its identity.
      if (node !== null) set.push(<Fragment key={set.length}>{node}</Fragment>);
    }
    at = end;
  }
  return set;
}

/**
 * Characters of pieces that are kept set, and of parts of pieces that grow: paragraphs, cells,
 * items and rows.
 */
const KEPT_CHARS = { pieces: 1_500_000, parts: 300_000 } as const;

const pieces = createKept<ReactNode>(KEPT_CHARS.pieces);
const parts = createKept<ReactNode>(KEPT_CHARS.parts);

interface Props {
  readonly text: string;
  /** What the piece must know of the message that it is a piece of. */
  readonly around?: Around;
  /** The number of its first item, where the piece goes on with a list. */
  readonly start?: number | null;
  /** It is part of an answer that is being written. */
  readonly growing?: boolean;
  /**
   * A line that ends in the source ends on the page, as in a chat; in a file, lines only end where
   * its writer's window did.
   */
  readonly breaks?: boolean;
}

const keyOf = ({ text, around = NOTHING_AROUND, start = null, breaks = true }: Props, chips: boolean) =>
  JSON.stringify([chips, breaks, start, around.key]) + text;

/** Was this text set before, so that it can be shown at once? */
const isKept = (props: Props): boolean => pieces.has(keyOf(props, false)) || pieces.has(keyOf(props, true));

function set(props: Props, chips: boolean): ReactNode {
  const { text, around = NOTHING_AROUND, start = null, growing = false, breaks = true } = props;
  const { blocks, inline } = parsed(text, around);
  const [first] = blocks;
  if (start !== null && first?.type === 'ordered_list_open') first.attrSet('start', start);
  const make = (content: string) => setInline(inline(content), { chips, breaks, grows: growing });
  if (!growing) return setBlocks(blocks, { inline: make, kept: (_text, set) => set(), lines: null });
  const prefix = keyOf({ ...props, text: '' }, chips);
  return setBlocks(blocks, {
    inline: (content) => parts.get(prefix + content, () => make(content)),
    kept: (part, set) => parts.get(prefix + part, set),
    lines: text.split('\n'),
  });
}

const Markdown = memo(function Markdown(props: Props) {
  // The same text with chips is set by itself. Whom they stand for they find out where they stand.
  const chips = use(Mentioned).length > 0;
  return (
    <div className="md" dir="auto">
      {props.growing ? set(props, chips) : pieces.get(keyOf(props, chips), () => set(props, chips))}
    </div>
  );
});
export default Markdown;

/**
 * Counts up to `most`, from `first`, one a frame: for what is too long to be put on the page at
 * once.
 */
function useGrowing(most: number, first: number): number {
  const [count, setCount] = useState(Math.min(most, first));
  useEffect(() => {
    if (count >= most) return undefined;
    const frame = requestAnimationFrame(() => startTransition(() => setCount(count + 1)));
    return () => cancelAnimationFrame(frame);
  }, [count, most]);
  return count;
}

/** Signs that would be set as something else than the letters they are. */
const MARKS = /[*_`#$>|[\]~\\]|^\s*(?:[-+]|\d+[.)])\s|https?:/m;

/**
 * What is set in a moment. Where that will change how it looks, it keeps its room and is not seen
 * before.
 */
const Plain = ({ text }: { text: string }) => (
  <p className="plain" dir="auto" data-waits={MARKS.test(text)}>
    {text}
  </p>
);

interface PieceProps {
  readonly piece: MarkdownPiece;
  /** It is part of an answer that is being written. */
  readonly growing?: boolean;
  /** A line that ends in the source ends on the page. */
  readonly breaks?: boolean;
}

/**
 * One piece of an agent's words, as Markdown: set a moment later where that would hold up the page.
 */
export const Piece = memo(function Piece({ piece, growing = false, breaks = true }: PieceProps) {
  const { text, around, start, notes } = piece;
  const [plainFirst] = useState(
    () => !growing && !isPrinting() && !isTimeLeft() && !isKept({ text, around, start, breaks }),
  );
  const isShown = useDeferredValue(true, !plainFirst);
  if (!isShown) return <Plain text={text} />;
  const set = <Markdown text={text} around={around} start={start} growing={growing} breaks={breaks} />;
  return notes ? <div className="md-notes">{set}</div> : set;
});

/**
 * px above and below what is in sight in which pieces of an answer that is being written are on the
 * page.
 */
const AROUND = 2_000;

/**
 * A piece that is done while the answer goes on. Far from what is in sight, only its room stays.
 */
function Done({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const room = useRoom(ref, { around: AROUND, wherein: '.log' });
  return (
    <div ref={ref} className="md-done" style={room === null ? undefined : { height: room }}>
      {room === null && children}
    </div>
  );
}

/** Pieces that are set at once; the others follow frame by frame. */
const AT_ONCE = 3;

interface WordsProps {
  readonly text: string;
  readonly growing?: boolean;
  readonly breaks?: boolean;
  /** It is part of an answer that is being written, perhaps behind it. */
  readonly ofAnswer?: boolean;
}

/** An agent's words, however long they are. */
export const Words = memo(function Words({ text, growing = false, breaks = true, ofAnswer = false }: WordsProps) {
  // Where words come in faster than they are set, those between are passed over.
  const shownText = useDeferredValue(text);
  const pieces = useMemo(() => markdownPieces(shownText), [shownText]);
  const count = useGrowing(pieces.length, isPrinting() ? Infinity : AT_ONCE);
  const shown = pieces.slice(0, count);
  return shown.map((piece, i) => {
    const isGrowing = ofAnswer || (growing && i === pieces.length - 1);
    const set = <Piece piece={piece} growing={isGrowing} breaks={breaks} />;
    // Words are only ever added at the end: a piece's place is its identity.
    return ofAnswer ? <Done key={i}>{set}</Done> : <Fragment key={i}>{set}</Fragment>;
  });
});
