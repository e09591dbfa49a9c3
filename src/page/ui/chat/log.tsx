/**
 * The log of a conversation or a thread. It may span years and is loaded backwards, page by page.
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
import {
  type CustomContainerComponentProps,
  type CustomItemComponentProps,
  Virtualizer,
  type VirtualizerHandle,
} from 'virtua';
import type { MessageId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { LogItem } from '../../state/conversation-log.ts';
import { useRoost } from '../context.tsx';
import { DownIcon } from '../design/more-icons.tsx';
import { plural } from '../text/sizes.ts';
import { Part } from '../parts/part.tsx';
import { createFocusOnce, type Paging, type Row, rowsOf, usePages, usePrepended, useStick } from './scrolling.ts';
import './log.css';

/** Characters of a message that a screen reader announces. The rest can be read in the log. */
const READ_OUT = 600;

function readOut(words: string): string {
  return words.length <= READ_OUT ? words : t`${words.slice(0, READ_OUT)}… The rest is in the conversation.`;
}

/** The newest message of someone else. The person may already have written below it. */
interface Newest {
  readonly messageId: MessageId;
  readonly name: string;
  readonly words: () => string;
}

/**
 * Announces messages of others once, for screen readers. Text that is still streaming is not
 * announced word by word. Messages that were there when the conversation opened are not announced
 * at all.
 *
 * It goes by the newest message and not by the answers that were open before: a short answer can
 * begin and end between two renders.
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
      {/* One element per message, so that equal texts are announced each time. */}
      {said !== null && isThere(said.messageId) && <span key={said.messageId}>{said.text}</span>}
    </p>
  );
}

interface Folds {
  /** Keys of the items whose long text is expanded. */
  readonly unfolded: ReadonlySet<string>;
  readonly fold: (key: string) => void;
}

/** Expanded and collapsed long texts. */
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

/** Collapsing a text would leave the reader far below it. This scrolls its beginning into view. */
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
  // An effect event: only the collapsing itself scrolls, not rows that arrive later.
  const show = useEffectEvent((key: string | undefined) => {
    const index = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
    if (index >= 0) list.current?.scrollToIndex(index, { align: 'nearest' });
  });
  useLayoutEffect(() => show(closed), [closed, unfolded]);
}

// Keys of opened details. They stay open when they scroll out of view and back.

const OpenedKeys = createContext<Set<string>>(new Set());

/** Whether the details with this key are open. They start closed. */
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

/** Height in px of what stands above a list. The list needs it as its start offset. */
function useTopHeight(top: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    if (!top.current) return undefined;
    const { current } = top;
    const measure = () => setHeight(current.offsetHeight);
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(current);
    return () => watch.disconnect();
  }, [top]);
  return height;
}

/**
 * The virtual list of a log. Only the rows in view and near it are in the page.
 *
 * It is a list and not a feed. Each row states its position and the total, so a screen reader
 * counts the rows outside the page too. PageUp, PageDown, Home and End keep their usual meaning. In
 * a feed they would move from article to article, and few screen readers support feeds.
 */

/** Total number of rows; -1: unknown, because earlier ones are not loaded. */
const RowCount = createContext(0);

/** The list element of a virtual list. */
export function VirtualList({
  style,
  children,
  ref,
}: Omit<CustomContainerComponentProps, 'ref'> & { ref?: Ref<HTMLOListElement>; children: ReactNode }) {
  return (
    // Safari drops the list role of a list without markers, unless the role is explicit.
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

/** px of read messages that stay visible above the divider of unread ones. */
const ABOVE_NEW = 72;
/** px above a message that was searched for. */
const ABOVE_FOUND = 120;
/**
 * Overscan in px: rows this far outside the view are in the page, for fast scrolling and for
 * find-in-page.
 */
const AROUND = 1_000;
/** Overscan in px while the conversation opens, and how long that lasts, in ms. */
const AROUND_FIRST = 100;
const OPENING = 250;

/** Renders one row. What it renders should be memoised, since the list renders often. */
export type ShowRow = (row: Row, onFold: (key: string) => void) => ReactElement | null;

interface Props {
  readonly label: string;
  readonly items: readonly LogItem[];
  /** The message the reader sent last, while it is on its way; otherwise null. */
  readonly sent: string | null;
  readonly show: ShowRow;
  readonly paging: Paging;
  /** Number of loaded messages. */
  readonly read: number;
  /** Shown above the very first message, if the log was loaded in several pages. */
  readonly beginning: string;
  /** Key of the item that was searched for; null: none. The log opens at it and focuses it. */
  readonly found: string | null;
  /** Shown in the middle of an empty log. */
  readonly empty: ReactNode;
  readonly newest: Newest | null;
  readonly isThere: (messageId: MessageId) => boolean;
  /** Calls `onGrown` whenever text streams in at the end. Returns a function that unsubscribes. */
  readonly listen?: (onGrown: () => void) => () => void;
}

/** Key of the row that contains an element. */
const keyOf = (element: EventTarget): string | null =>
  element instanceof HTMLElement ? (element.closest<HTMLElement>('[data-key]')?.dataset['key'] ?? null) : null;

/** The log stays at its end while its reader is there. Otherwise the reader's position is kept. */
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
  // The list's own way to scroll to a row is not used: it keeps correcting the position whenever
  // anything in view changes its size.
  const rowsNow = useRef(rows);
  useLayoutEffect(() => {
    rowsNow.current = rows;
  }, [rows]);
  const [opensAt] = useState(() => () => {
    // Earlier rows may have been added above.
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

  // The row with the focus stays in the page, however far it is scrolled away.
  const [focused, setFocused] = useState<string | null>(null);
  const keptRows = useMemo(
    () => (focused === null ? [] : [rows.findIndex((row) => row.key === focused)].filter((index) => index >= 0)),
    [rows, focused],
  );

  // The element before the list has a height of its own, which the list must know.
  const [paged] = useState(more);
  const topHeight = useTopHeight(top);

  const [around, setAround] = useState(AROUND_FIRST);
  useEffect(() => device.after(OPENING, () => startTransition(() => setAround(AROUND))), [device]);

  const [memory] = useState(() => new Set<string>());
  const leaping = reading === 'all';

  return (
    <div className="log-frame relative shrinks flex fill">
      {/* Scrollable by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={log}
        className="log scroll fill"
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
        <div className="log-inside column-wise flex">
          <div ref={top} className="log-top both-centred stack fixed" data-paged={paged}>
            {more ? (
              <button type="button" className="ghost log-more" disabled={leaping} onClick={older}>
                {reading === 'older' ? t`Loading…` : t`Show more`}
              </button>
            ) : (
              paged && <p className="text-2 ink-3">{beginning}</p>
            )}
          </div>
          {rows.length === 0 && empty}
          <OpenedKeys value={memory}>
            <RowCount value={more ? -1 : rows.length}>
              <Virtualizer
                ref={list}
                scrollRef={log}
                data={rows}
                as={VirtualList}
                item={LogItemFrame}
                bufferSize={around}
                startMargin={topHeight}
                shift={prepended}
                keepMounted={keptRows}
                onResize={stick.onResize}
              >
                {showRow}
              </Virtualizer>
            </RowCount>
          </OpenedKeys>
        </div>
      </div>
      {leaping && (
        <p className="log-leap framed-strong rounded line gap-5 nowrap figures text-2 ground-3 absolute" role="status">
          <span>{t`Loading…`}</span>
          <span aria-hidden="true">{t`${plural(read, 'message')} read`}</span>
          <button type="button" className="link-button" onClick={() => pages.stop()}>{t`Stop`}</button>
        </p>
      )}
      {stick.newBelow && (
        <button
          type="button"
          className="new-below inline-flex framed-strong rounded gap-3 middle text-2 ground-3 absolute"
          onClick={stick.toEnd}
        >
          <DownIcon /> {t`New words below`}
        </button>
      )}
      <Announcer newest={newest} isThere={isThere} />
    </div>
  );
}
