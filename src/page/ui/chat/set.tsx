/**
 * Markdown as React elements. What is set is inert: links open elsewhere and lead to the web or to
 * mail only, nothing is fetched (a picture is a link to where it lies), and HTML is shown as text,
 * except for a few elements without their attributes.
 *
 * Text beside an element stands in an element of its own. A browser that translates the page puts
 * text nodes into elements of its own, and React must never have to find such a node again.
 */
import { Fragment, lazy, Suspense, type ReactNode } from 'react';
import { urlOf } from '../../../shared/domain/platform/old-browsers.ts';
import { t } from '../../language/t.ts';
import { CodeBlock } from '../code/code-block.tsx';
import { GrowingText } from '../parts/growing-text.tsx';
import { AsWritten } from './formula-as-written.tsx';
import type { Formula as FormulaText } from './maths.ts';
import { WithChips } from './mentioned.tsx';
import { LONG_TABLE, LongTable } from './long-table.tsx';
import { cellsOf, type TableMeta, type Token } from './parser.ts';

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

export interface Setting {
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
export function setInline(tokens: readonly Token[], setting: InlineSetting): ReactNode {
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
export function setBlocks(blocks: readonly Token[], setting: Setting, skipped = 0): ReactNode {
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
