/**
 * Renders a piece of Markdown. Rendered pieces are cached. A streaming text is rendered anew only
 * where it grows.
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
import { useRoom } from '../design/near.ts';
import { CodeBlock } from '../code/code-block.tsx';
import { GrowingText } from '../design/growing-text.tsx';
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

// Mentions as chips, in the person's messages and in an agent's Markdown.

/** The agents that the message mentions. */
export const Mentioned = createContext<readonly Teammate[]>([]);

export function Chip({ who, text = `@${who.name}` }: { who: Teammate; text?: string }) {
  return (
    <Link
      href={PATHS.agent(who.agentId)}
      className="mention unlined underlined break named medium tint"
      style={{ '--c': who.color }}
      dir="auto"
    >
      {text}
    </Link>
  );
}

/** Plain text with mentions as chips. */
function WithChips({ text }: { text: string }): ReactNode {
  const among = use(Mentioned);
  if (among.length === 0) return text;
  return piecesOf(text, among).map((piece, i) => {
    const who = piece.kind === 'mention' ? among.find(({ agentId }) => agentId === piece.agentId) : undefined;
    // Pieces of one text never move, so the index is a stable key.
    return who ? <Chip key={i} who={who} text={piece.text} /> : <span key={i}>{piece.text}</span>;
  });
}

/** One row's share of the person's message, exactly as written. */
export function PersonWords({ parts }: { parts: readonly ShownPart[] }) {
  return parts.map((part, i) =>
    part.kind === 'text' && part.text !== '' ? (
      <p key={i} className="plain" dir="auto">
        <WithChips text={part.text} />
      </p>
    ) : null,
  );
}

// Tables with very many rows scroll in a viewport of their own. Groups of rows far from the view
// are not in the page; an empty row reserves their height. Column widths are computed up front from
// a sample of the rows, since they must not change as rows come and go.

/** Tables with at least this many rows are virtual. */
const LONG_TABLE = 300;
/** Rows that are mounted and unmounted together. */
const GROUP = 50;
/** Rows that are measured for the widths of the columns. */
const MEASURED = 400;
/** Width limits of a column, in characters. */
const NARROWEST = 5;
const WIDEST = 40;
/** Height in px of a row of one line, until rows are measured. */
const ROW_HEIGHT = 36;
/** Overscan in px: rows this far outside the view are in the page. */
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
  /** Index in the table of the group's first row, from 0. */
  readonly first: number;
  readonly columns: number;
  readonly row: (text: string) => ReactNode;
}

const Group = memo(
  function Group({ rows, first, columns, row }: GroupProps) {
    const ref = useRef<HTMLTableSectionElement>(null);
    const room = useRoom(ref, {
      around: ROWS_AROUND,
      wherein: '.md-table',
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
  // The rows of a growing table are new objects with the same text.
  (before, now) => before.rows.length === now.rows.length && before.rows.every((text, i) => text === now.rows[i]),
);

interface LongTableProps {
  readonly table: TableMeta;
  readonly head: ReactNode;
  readonly row: (text: string) => ReactNode;
  readonly dir: 'rtl' | 'ltr';
}

function LongTable({ table, head, row, dir }: LongTableProps) {
  const { rows } = table;
  const widths = useMemo(() => widthsOf(table), [table]);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="md-table md-table-long framed round-s" role="region" aria-label={t`Table`} tabIndex={0} dir={dir}>
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
          />
        ))}
      </table>
    </div>
  );
}

// Markdown as React elements. The result is inert. Links open in a new tab and lead to the web or
// to mail only. Nothing is fetched: a picture becomes a link to it. HTML is shown as text, except
// for a few elements without their attributes.
//
// Text beside an element gets an element of its own. A browser that translates the page wraps text
// nodes, and React must never look for a text node that was replaced.

type Paired = 'sub' | 'sup' | 'kbd';
const PAIRED = new Set<string>(['sub', 'sup', 'kbd'] satisfies Paired[]);
const BR = /^<\/?br(?=[\s/>])/i;
const isPaired = (name: string): name is Paired => PAIRED.has(name);

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The URL if it is absolute and of an allowed scheme; otherwise null. */
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

// If the module cannot be loaded because the relay is gone, the formula is shown as source.
const Formula = lazy(() => import('./formula.tsx').catch(() => ({ default: AsWritten })));
/**
 * Until the formula is rendered, its source stands in its place, invisible. Both come and go within
 * an element that stays.
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
  if (!url || url.protocol === 'mailto:') return <span className="md-image ink-3">{alt || t`a picture`}</span>;
  return (
    <span className="md-image ink-3">
      {alt && <span>{alt} · </span>}
      <Outside url={url}>{t`Show image from ${url.host}`}</Outside>
    </span>
  );
}

const Tick = ({ done }: { done: boolean }) => (
  <span aria-label={done ? t`done` : t`to do`} role="img" className="md-check" data-checked={done} />
);

/** A message is not a page: its headings rank below those of the page. */
const HEADINGS: Readonly<Record<string, 'h3' | 'h4' | 'h5' | 'h6'>> = { h1: 'h3', h2: 'h4', h3: 'h5' };
const EMPHASIS: Readonly<Record<string, 'strong' | 'em' | 'del'>> = { strong: 'strong', em: 'em', s: 'del' };

const attributeOf = (token: Token, name: string): string | undefined => {
  const value = token.attrGet(name);
  return value === null ? undefined : String(value);
};

const RTL = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
/**
 * Direction of an element with several blocks: that of its first letter, as `dir="auto"` has it
 * within one block. `dir="auto"` itself ignores blocks that already have a direction.
 */
const directionOf = (text: string): 'rtl' | 'ltr' => (RTL.test(/\p{L}/u.exec(text)?.[0] ?? '') ? 'rtl' : 'ltr');
const textIn = (tokens: readonly Token[]): string =>
  tokens.find(({ type, content }) => type === 'inline' && /\p{L}/u.test(content))?.content ?? '';
/** Rows of a table that decide its direction. */
const DIRECTION_ROWS = 5;

/** The content between an opening and a closing token. */
interface Frame {
  /** Type of the token that closes the frame, or its HTML element. */
  readonly closes: string;
  /**
   * Source of the opening tag, shown if the frame is never closed; null: the parser always closes
   * it.
   */
  readonly source: string | null;
  readonly element: (children: ReactNode) => ReactNode;
  readonly children: ReactNode[];
}

interface Setting {
  /** Renders the content of a paragraph, or returns it from the cache. */
  readonly inline: (content: string) => ReactNode;
  /** Returns the cached node of this text, or makes it. */
  readonly kept: (text: string, make: () => ReactNode) => ReactNode;
  /** The source lines of the blocks; null: unknown. */
  readonly lines: readonly string[] | null;
}

/**
 * Wraps text that stands beside elements in elements of its own. Streaming text is always wrapped.
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
  /** Mentions become chips. */
  readonly chips: boolean;
  /** A line break in the source is one on the page. */
  readonly breaks: boolean;
  /** Part of an answer that is being streamed. */
  readonly grows: boolean;
}

/** Renders the content of a paragraph, a heading or a cell. */
function setInline(tokens: readonly Token[], setting: InlineSetting): ReactNode {
  const { breaks } = setting;
  const root: Frame = { closes: '', source: null, element: (children) => children, children: [] };
  const open = [root];
  const top = () => open.at(-1) ?? root;
  const add = (node: ReactNode) => {
    const { children } = top();
    const last = children.at(-1);
    // Joins neighbouring texts into one node. The parser splits them at characters that turn out to
    // mean nothing.
    if (typeof node === 'string' && typeof last === 'string') children[children.length - 1] = last + node;
    else if (node !== '') children.push(node);
  };
  const begin = (closes: string, element: Frame['element'], source: string | null = null) =>
    void open.push({ closes, source, element, children: [] });
  const close = () => {
    const { element, children } = open.pop() ?? root;
    add(element(apart(children, setting)));
  };
  /** An HTML element that is never closed is shown as text. */
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
        // A line that ends with `<br>` breaks only once.
        if (tokens[at - 1]?.type !== 'html_inline' || !BR.test(tokens[at - 1]?.content ?? ''))
          add(breaks ? <br /> : '\n');
        break;
      case 'hardbreak':
        add(<br />);
        break;
      case 'code_inline':
        add(
          <code className="round-xs ground-3" dir="ltr" translate="no">
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

/** A list item, with its checkbox if it is a task. */
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
    // Scrollable where it is too wide, by keyboard too.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="md-table scroll" role="region" aria-label={t`Table`} tabIndex={0} dir={dir}>
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

/** Index of the token that closes the element opened at `from`. */
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
      return (
        <blockquote className="ink-2 from-5" dir={directionOf(textIn(inside))}>
          {setBlocks(inside, setting)}
        </blockquote>
      );
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
    // In a loose list (with empty lines between items) the text of an item is a paragraph.
    const isTight = inside[0]?.hidden === true;
    items.push(source === undefined ? make() : setting.kept(`li${key} ${isTight}\n${source}`, make));
    at = end;
  }
  return items;
}

/** @param skipped Characters at the beginning of the first paragraph that are already rendered. */
function setBlocks(blocks: readonly Token[], setting: Setting, skipped = 0): ReactNode {
  const set: ReactNode[] = [];
  for (let at = 0; at < blocks.length; at++) {
    const token = blocks[at];
    const end = endOf(blocks, at);
    if (token) {
      const node = setBlock(token, blocks.slice(at + 1, end), setting, at === 0 ? skipped : 0);
      // Blocks are only ever appended, so the index is a stable key.
      if (node !== null) set.push(<Fragment key={set.length}>{node}</Fragment>);
    }
    at = end;
  }
  return set;
}

/**
 * Cache sizes in characters: of whole pieces, and of parts of growing pieces (paragraphs, cells,
 * items, rows).
 */
const KEPT_CHARS = { pieces: 1_500_000, parts: 300_000 } as const;

const pieces = createKept<ReactNode>(KEPT_CHARS.pieces);
const parts = createKept<ReactNode>(KEPT_CHARS.parts);

interface Props {
  readonly text: string;
  /** What the piece needs from the rest of its message. */
  readonly around?: Around;
  /** Number of the first item if the piece continues a list. */
  readonly start?: number | null;
  /** Part of an answer that is being streamed. */
  readonly growing?: boolean;
  /**
   * A line break in the source is one on the page, as in a chat. In files, lines often end only
   * where the editor wrapped them.
   */
  readonly breaks?: boolean;
}

const keyOf = ({ text, around = NOTHING_AROUND, start = null, breaks = true }: Props, chips: boolean) =>
  JSON.stringify([chips, breaks, start, around.key]) + text;

/** True if this text is cached and can be shown at once. */
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
  // Text with chips is cached separately. A chip looks up its agent when it renders.
  const chips = use(Mentioned).length > 0;
  return (
    <div className="md break" dir="auto">
      {props.growing ? set(props, chips) : pieces.get(keyOf(props, chips), () => set(props, chips))}
    </div>
  );
});
export default Markdown;

/** Counts from `first` up to `most`, one per frame, for content too long to mount at once. */
function useGrowing(most: number, first: number): number {
  const [count, setCount] = useState(Math.min(most, first));
  useEffect(() => {
    if (count >= most) return undefined;
    const frame = requestAnimationFrame(() => startTransition(() => setCount(count + 1)));
    return () => cancelAnimationFrame(frame);
  }, [count, most]);
  return count;
}

/** Characters that Markdown would render as something else. */
const MARKS = /[*_`#$>|[\]~\\]|^\s*(?:[-+]|\d+[.)])\s|https?:/m;

/**
 * Text that is rendered in a moment. If rendering will change how it looks, it reserves its room
 * and stays invisible.
 */
const Plain = ({ text }: { text: string }) => (
  <p className="plain" dir="auto" data-waits={MARKS.test(text)}>
    {text}
  </p>
);

interface PieceProps {
  readonly piece: MarkdownPiece;
  /** Part of an answer that is being streamed. */
  readonly growing?: boolean;
  /** A line break in the source is one on the page. */
  readonly breaks?: boolean;
}

/**
 * One piece of an agent's message, as Markdown. Rendering is deferred where it would block the
 * page.
 */
export const Piece = memo(function Piece({ piece, growing = false, breaks = true }: PieceProps) {
  const { text, around, start, notes } = piece;
  const [plainFirst] = useState(() => !growing && !isTimeLeft() && !isKept({ text, around, start, breaks }));
  const isShown = useDeferredValue(true, !plainFirst);
  if (!isShown) return <Plain text={text} />;
  const set = <Markdown text={text} around={around} start={start} growing={growing} breaks={breaks} />;
  return notes ? <div className="md-notes ink-2">{set}</div> : set;
});

/** Overscan in px for the pieces of an answer that is being streamed. */
const AROUND = 2_000;

/** A finished piece of a streaming answer. Far from the view, only its height is kept. */
function Done({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const room = useRoom(ref, { around: AROUND, wherein: '.log' });
  return (
    <div ref={ref} className="md-done" style={room === null ? undefined : { height: room }}>
      {room === null && children}
    </div>
  );
}

/** Pieces that are rendered at once. The others follow frame by frame. */
const AT_ONCE = 3;

interface WordsProps {
  readonly text: string;
  readonly growing?: boolean;
  readonly breaks?: boolean;
  /** Belongs to a streaming answer, perhaps as a finished part. */
  readonly ofAnswer?: boolean;
}

/** An agent's text of any length. */
export const Words = memo(function Words({ text, growing = false, breaks = true, ofAnswer = false }: WordsProps) {
  // Where text arrives faster than it renders, states in between are skipped.
  const shownText = useDeferredValue(text);
  const pieces = useMemo(() => markdownPieces(shownText), [shownText]);
  const count = useGrowing(pieces.length, AT_ONCE);
  const shown = pieces.slice(0, count);
  return shown.map((piece, i) => {
    const isGrowing = ofAnswer || (growing && i === pieces.length - 1);
    const set = <Piece piece={piece} growing={isGrowing} breaks={breaks} />;
    // Text is only ever appended, so the index of a piece is a stable key.
    return ofAnswer ? <Done key={i}>{set}</Done> : <Fragment key={i}>{set}</Fragment>;
  });
});
