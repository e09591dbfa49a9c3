/**
 * What is said in a conversation, or in a thread: a list that may be years long, read backwards
 * page by page.
 */
import {
  createContext,
  type FocusEvent,
  type ReactElement,
  type ReactNode,
  type Ref,
  type RefObject,
  startTransition,
  use,
  useCallback,
  useEffectEvent,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import {
  type CustomContainerComponentProps,
  type CustomItemComponentProps,
  Virtualizer,
  type VirtualizerHandle,
} from 'virtua';
import type { MessageId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { LogItem } from '../../state/conversation-log.ts';
import { fullTime } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import { useRoost } from '../context.tsx';
import { DownIcon } from '../parts/icons.tsx';
import { plural } from '../text/sizes.ts';
import { Part } from '../parts/part.tsx';
import { setPrinted, usePrinting } from '../parts/printing.ts';
import { type Row, rowsOf } from './rows.ts';
import { createFocusOnce, type Paging, usePages, usePrepended, useStick } from './scrolling.ts';
import './print-sheet.css';
import './log.css';

/** Characters that are read out; the rest is there to be read. */
const READ_OUT = 600;

function readOut(words: string): string {
  return words.length <= READ_OUT
    ? words
    : t`${words.slice(0, READ_OUT)}… It goes on: the rest stands in the conversation.`;
}

/** The newest that somebody else has said, below which the person may have written already. */
interface Newest {
  readonly messageId: MessageId;
  readonly name: string;
  readonly words: () => string;
}

/**
 * Says what others have said once, for those who listen to the page. What is being written is not
 * read out word by word, and what was there when the conversation was opened is not said at all.
 *
 * It goes by the newest message, not by answers that were open before: a short one can begin and
 * end between two renderings.
 */
function Announcer({ newest, isThere }: { newest: Newest | null; isThere: (messageId: MessageId) => boolean }) {
  const [said, setSaid] = useState<{ readonly messageId: MessageId; readonly text: string } | null>(null);
  const [heard, setHeard] = useState(newest?.messageId);
  if (newest && newest.messageId !== heard) {
    setHeard(newest.messageId);
    setSaid({ messageId: newest.messageId, text: `${newest.name}: ${readOut(newest.words())}` });
  }
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {/* A new element for every message: the same words a second time are said a second time. What was taken out of sight since is not read out. */}
      {said !== null && isThere(said.messageId) && <span key={said.messageId}>{said.text}</span>}
    </p>
  );
}

// A conversation on paper: all that was read of it, from its beginning, with nothing folded away.

interface PrintSheetProps {
  readonly title: string;
  readonly items: readonly LogItem[];
  readonly show: (row: Row) => ReactNode;
  /** Earlier messages were not read. */
  readonly more: boolean;
}

function PrintSheet({ title, items, show, more }: PrintSheetProps) {
  const sheet = useRef<HTMLElement>(null);
  const now = useNow();
  useLayoutEffect(() => {
    for (const details of sheet.current?.querySelectorAll<HTMLDetailsElement>('.md details') ?? []) details.open = true;
  }, []);
  return createPortal(
    <article ref={sheet} className="print-sheet">
      <header>
        <h1>{title}</h1>
        <p>{t`Printed from Roost on ${fullTime(now)}`}</p>
        {more && <p>{t`Earlier messages are not on this print. “Print” in Roost’s own menu prints all of them.`}</p>}
      </header>
      {rowsOf(items, new Set(items.map(({ key }) => key))).map((row) => (
        <div key={row.key} className="log-row" data-kind={row.item.kind} data-goes-on={row.stretch?.last === false}>
          {show(row)}
        </div>
      ))}
    </article>,
    document.body,
  );
}

interface Folds {
  /** Keys of the items whose long text is open. */
  readonly unfolded: ReadonlySet<string>;
  readonly fold: (key: string) => void;
}

/** Long texts that open and close. */
function useFolds(): Folds {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const fold = useCallback(
    (key: string) =>
      setUnfolded((open) => {
        const next = new Set(open);
        if (!next.delete(key)) next.add(key);
        return next;
      }),
    [],
  );
  return { unfolded, fold };
}

/**
 * A text that closes would leave its reader somewhere below it: its beginning is brought into
 * sight.
 */
function useFoldedInSight(
  unfolded: ReadonlySet<string>,
  rows: readonly Row[],
  list: RefObject<VirtualizerHandle | null>,
): void {
  const [seen, setSeen] = useState(unfolded);
  const [closed, setClosed] = useState<string | undefined>(undefined);
  if (seen !== unfolded) {
    setSeen(unfolded);
    setClosed([...seen].find((key) => !unfolded.has(key)));
  }
  // An event: only the closing itself moves the view, not rows that come later.
  const show = useEffectEvent((key: string | undefined) => {
    const index = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
    if (index >= 0) list.current?.scrollToIndex(index, { align: 'nearest' });
  });
  useLayoutEffect(() => show(closed), [closed, unfolded]);
}

// What a reader opened in a conversation stays open when it scrolls out of sight and back.

const OpenedKeys = createContext<Set<string>>(new Set());

/** Is the thing with this key open? It begins closed. */
export function useOpened(key: string): readonly [boolean, (open: boolean) => void] {
  const opened = use(OpenedKeys);
  const [open, setOpen] = useState(() => opened.has(key));
  return [
    open,
    (next) => {
      if (next) opened.add(key);
      else opened.delete(key);
      setOpen(next);
    },
  ];
}

/** The height of what stands above a list, in px: the list must know where it begins. */
function useTopHeight(top: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    if (!top.current) return undefined;
    const { current } = top;
    const look = () => setHeight(current.offsetHeight);
    look();
    const watch = new ResizeObserver(look);
    watch.observe(current);
    return () => watch.disconnect();
  }, [top]);
  return height;
}

/**
 * The list that a log is: as many rows as there are, of which those in sight and around it are on
 * the page.
 *
 * It is a list, not a feed: each row says which one of how many it is, so that a screen reader
 * counts the rows that are not on the page too, and PageUp, PageDown, Home and End stay what they
 * are everywhere else. (In a feed they would go from article to article, and few readers know one.)
 */

/** How many rows there are; -1: not known, because earlier ones have not been read yet. */
const RowCount = createContext(0);

function LogList({
  style,
  children,
  ref,
}: Omit<CustomContainerComponentProps, 'ref'> & { ref?: Ref<HTMLOListElement>; children: ReactNode }) {
  return (
    // Without marks a list is none to Safari, unless it is called one.
    // eslint-disable-next-line jsx-a11y/no-redundant-roles
    <ol ref={ref} role="list" style={style}>
      {children}
    </ol>
  );
}

function LogItemFrame({
  style,
  index,
  children,
  ref,
}: Omit<CustomItemComponentProps, 'ref'> & { ref?: Ref<HTMLLIElement>; children: ReactNode }) {
  const count = use(RowCount);
  return (
    <li ref={ref} style={style} aria-setsize={count} aria-posinset={index + 1}>
      {children}
    </li>
  );
}

/** px of what was read already that stay in sight above the line where new begins. */
const ABOVE_NEW = 72;
/** px above a message that was looked for. */
const ABOVE_FOUND = 120;
/**
 * px above and below what is in sight that are on the page too: for quick scrolling, and for
 * finding words in the page.
 */
const AROUND = 1_000;
/** As AROUND, while the conversation is being opened; and for how long, in ms. */
const AROUND_FIRST = 100;
const OPENING = 250;

/**
 * One row. What it is made of should render only when that changes, however often the list does.
 */
export type ShowRow = (row: Row, onFold: (key: string) => void) => ReactElement | null;

interface Props {
  readonly label: string;
  readonly items: readonly LogItem[];
  /** What the reader sent last and is on its way still; null: nothing is. */
  readonly sent: string | null;
  readonly show: ShowRow;
  readonly paging: Paging;
  /** Messages that were read. */
  readonly read: number;
  /** Stands above the very first message, where not all were there at once. */
  readonly beginning: string;
  /**
   * The key of the item that was looked for: it opens there, shows it and gives it the focus; null:
   * none was.
   */
  readonly found: string | null;
  /** Stands in the middle while there is nothing to read. */
  readonly empty: ReactNode;
  readonly newest: Newest | null;
  readonly isThere: (messageId: MessageId) => boolean;
  /** Tells of every word that comes in at the end. Returns the way to stop. */
  readonly listen?: (onGrown: () => void) => () => void;
}

/** Has the whole conversation read before it is printed, unless the person calls that off. */
function usePrinted({ pages, more }: Paging): void {
  const { notices } = useRoost();
  useEffect(
    () =>
      setPrinted(async () => {
        if (!more) return true;
        let isCalledOff = false;
        const run = () => {
          isCalledOff = true;
          pages.stop();
        };
        const notice = notices.offer(t`Reading the whole conversation to print it…`, { label: t`Cancel`, run });
        const { wrong } = await pages.until(() => false);
        notices.dismiss(notice);
        if (wrong !== null) notices.error(wrong);
        return !isCalledOff && wrong === null;
      }),
    [pages, more, notices],
  );
}

/** The row that an element stands in. */
const keyOf = (element: EventTarget): string | null =>
  element instanceof HTMLElement ? (element.closest<HTMLElement>('[data-key]')?.dataset['key'] ?? null) : null;

/** It stays at its end while its reader is there, and is left alone where they read. */
export function Log({
  label,
  items,
  sent,
  show,
  paging,
  read,
  beginning,
  empty,
  found,
  newest,
  isThere,
  listen,
}: Props) {
  const { device } = useRoost();
  const { pages, more, reading } = paging;
  const { unfolded, fold } = useFolds();
  const rows = useMemo(() => rowsOf(items, unfolded), [items, unfolded]);

  const log = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [opensWithin] = useState(() => found !== null || rows.some(({ item }) => item.kind === 'new'));
  const top = useRef<HTMLDivElement>(null);
  // Not by the list's own way to a row: that goes on pulling the reader there while anything in
  // sight changes its size.
  const rowsNow = useRef(rows);
  useLayoutEffect(() => {
    rowsNow.current = rows;
  }, [rows]);
  const [opensAt] = useState(() => () => {
    // Earlier ones may have come in above.
    const index = rowsNow.current.findIndex(({ key, item }) => (found === null ? item.kind === 'new' : key === found));
    const offset = index < 0 ? undefined : list.current?.getItemOffset(index);
    const above = found === null ? ABOVE_NEW : ABOVE_FOUND;
    return offset === undefined ? null : (top.current?.offsetHeight ?? 0) + offset - above;
  });
  const stick = useStick(log, rows.at(-1)?.key, sent, opensWithin ? opensAt : null);
  const { older, onScroll, onKeyDown } = usePages(paging, log, list, stick);
  const prepended = usePrepended(rows);
  useFoldedInSight(unfolded, rows, list);

  const { onGrown } = stick;
  useEffect(() => listen?.(onGrown), [listen, onGrown]);

  const [focusOnce] = useState(createFocusOnce);
  const showRow = useCallback(
    (row: Row) => (
      <div
        key={row.key}
        className="log-row"
        data-key={row.key}
        data-kind={row.item.kind}
        data-goes-on={row.stretch?.last === false}
        {...(row.item.key === found ? { 'data-found': true, tabIndex: -1 } : {})}
        ref={row.key === found ? focusOnce : undefined}
      >
        <Part>{show(row, fold)}</Part>
      </div>
    ),
    [show, fold, found, focusOnce],
  );

  // Whoever is in a row keeps it, however far it is scrolled away.
  const [focused, setFocused] = useState<string | null>(null);
  const kept = useMemo(
    () => (focused === null ? [] : [rows.findIndex((row) => row.key === focused)].filter((index) => index >= 0)),
    [rows, focused],
  );

  // What stands before the list has a height of its own, which the list must know.
  const [paged] = useState(more);
  const topHeight = useTopHeight(top);

  const [around, setAround] = useState(AROUND_FIRST);
  useEffect(() => device.after(OPENING, () => startTransition(() => setAround(AROUND))), [device]);

  usePrinted(paging);
  const isPrinted = usePrinting();

  const [memory] = useState(() => new Set<string>());
  const leaping = reading === 'all';

  return (
    <div className="log-frame">
      {/* Scrolled by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={log}
        className="log"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={label}
        aria-busy={leaping}
        onKeyDown={(event) => {
          stick.onMove();
          onKeyDown(event);
        }}
        onWheel={(event) => {
          if (event.deltaY < 0) stick.onTurnUp();
          else stick.onMove();
        }}
        onPointerDown={stick.onHold}
        onTouchStart={stick.onHold}
        onScroll={() => {
          stick.onScroll();
          onScroll();
        }}
        onFocus={(event: FocusEvent) => setFocused(keyOf(event.target))}
        onBlur={() => setFocused(null)}
      >
        <div className="log-inside">
          <div ref={top} className="log-top" data-paged={paged}>
            {more ? (
              <button type="button" className="ghost log-more" disabled={leaping} onClick={older}>
                {reading === 'older' ? t`Reading earlier messages…` : t`Earlier messages`}
              </button>
            ) : (
              paged && <p className="log-beginning">{beginning}</p>
            )}
          </div>
          {rows.length === 0 && empty}
          <OpenedKeys value={memory}>
            <RowCount value={more ? -1 : rows.length}>
              <Virtualizer
                ref={list}
                scrollRef={log}
                data={rows}
                as={LogList}
                item={LogItemFrame}
                bufferSize={around}
                startMargin={topHeight}
                shift={prepended}
                keepMounted={kept}
                onResize={stick.onResize}
              >
                {showRow}
              </Virtualizer>
            </RowCount>
          </OpenedKeys>
        </div>
      </div>
      {leaping && (
        <p className="log-leap" role="status">
          <span>{t`Going to the beginning…`}</span>
          <span aria-hidden="true">{t`${plural(read, 'message')} read`}</span>
          <button type="button" className="link-button" onClick={() => pages.stop()}>{t`Stop`}</button>
        </p>
      )}
      {stick.newBelow && (
        <button type="button" className="new-below" onClick={stick.toEnd}>
          <DownIcon /> {t`New words below`}
        </button>
      )}
      <Announcer newest={newest} isThere={isThere} />
      {isPrinted && <PrintSheet title={label} items={items} show={(row) => show(row, fold)} more={more} />}
    </div>
  );
}
