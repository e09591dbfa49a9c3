/** What the work on a task changed: commits, and the diff of each file. */
import { Fragment, type KeyboardEvent, memo, type MouseEvent, type ReactNode, useMemo, useRef, useState } from 'react';
import type { Project } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { useColours } from '../code/code-block.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import { keyOf } from '../design/keys.ts';
import { count, plural } from '../text/sizes.ts';
import { revealed, revealedCode, revealedLine } from '../text/unseen.ts';
import { NotesBelow, NotesOfFile, NotesOfRow, useLineNotes } from './line-comments.tsx';
import { anchorOf, type LineNote, NO_ROW, type PlacedNotes } from './line-drafts.ts';
import { languageOf, type PatchLine, readPatch } from './patch.ts';
import type { DiffFile as File, ShownDiff } from './diff-reading.ts';
import { FILE_STATUS } from './work-words.ts';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** Lines of all files that are open at first. The others are folded. */
const OPEN_LINES = 400;
/** Lines of a file that are shown at once, and with each press. */
const SHOWN_LINES = 600;

/** `+12 −3`, in words for screen readers. */
export function LineCounts({ added, removed }: Pick<File, 'added' | 'removed'>) {
  if (added === null || removed === null)
    return <span className="end fixed nowrap figures ink-3 text-1">{t`lines not counted`}</span>;
  return (
    <span className="end fixed nowrap figures ink-3 text-1">
      <span aria-hidden="true">
        <i className="good">+{count(added)}</i> <i className="danger">−{count(removed)}</i>
      </span>
      <span className="visually-hidden">{t`${count(added)} lines added, ${count(removed)} removed`}</span>
    </span>
  );
}

const MARKS = { same: ' ', new: '+', gone: '−' } as const;
const SPOKEN = { same: '', new: `${t`new`}: `, gone: `${t`removed`}: ` } as const;

interface LineProps {
  readonly line: PatchLine;
  readonly text: ReactNode;
  readonly row: number;
  /** Label of the button in the gutter; null: the line takes no comment. */
  readonly label: string | null;
  /** Tab leads to this line. The arrow keys lead to the others. */
  readonly isCurrent: boolean;
  /** The first change after lines that are left out. */
  readonly startsHunk: boolean;
}

const Line = memo(function Line({ line: { kind, before, after }, text, row, label, isCurrent, startsHunk }: LineProps) {
  if (kind === 'gap' || kind === 'note')
    return (
      <tr className="patch-line" data-kind={kind}>
        <td className="no-pad align-top" colSpan={3} aria-hidden="true" />
        <td className="patch-text relative break ink as-written no-pad align-top">{text}</td>
      </tr>
    );
  return (
    <tr
      className="patch-line"
      data-kind={kind}
      data-row={row}
      data-hunk={startsHunk || undefined}
      tabIndex={startsHunk ? -1 : undefined}
    >
      <td
        className="patch-number text-end text-1 ink-3 no-pad align-top unselectable"
        data-line={before ?? ''}
        aria-hidden="true"
      />
      <td
        className="patch-number text-end text-1 ink-3 no-pad align-top unselectable"
        data-line={after ?? ''}
        data-only={after ?? before ?? ''}
        aria-hidden="true"
      />
      <td className="patch-mark centred no-pad align-top unselectable" data-mark={MARKS[kind]} aria-hidden="true" />
      <td className="patch-text relative break ink as-written no-pad align-top">
        {kind !== 'same' && <span className="visually-hidden">{SPOKEN[kind]}</span>}
        <span>{text}</span>
        {label !== null && (
          <button
            type="button"
            className="patch-comment centred absolute round-xs"
            tabIndex={isCurrent ? 0 : -1}
            aria-label={label}
          />
        )}
      </td>
    </tr>
  );
});

/** The row of a patch in which something happened; null: it was in no line. */
function rowAt(target: EventTarget): { readonly line: HTMLElement; readonly row: number } | null {
  const line = target instanceof Element ? target.closest<HTMLElement>('.patch-line[data-row]') : null;
  return line ? { line, row: Number(line.dataset['row']) } : null;
}

/** The rows at which a hunk changes something first. */
function hunksOf(lines: readonly PatchLine[]): ReadonlySet<number> {
  const hunks = new Set<number>();
  let isInside = false;
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'gap') isInside = false;
    else if (!isInside && (kind === 'new' || kind === 'gone')) {
      hunks.add(at);
      isInside = true;
    }
  }
  return hunks;
}

const NO_NOTES: ReadonlyMap<number, readonly LineNote[]> = new Map();

const PatchTable = memo(function PatchTable({ file, isCode }: { file: File & { patch: string }; isCode: boolean }) {
  const lines = useMemo(() => readPatch(file.patch), [file.patch]);
  const { placed, range, canComment, begin } = useLineNotes();
  const notes = placed.at.get(file.path) ?? NO_NOTES;
  const [pages, setPages] = useState(1);
  const shown = Math.max(pages * SHOWN_LINES, ...[...notes.keys()].map((row) => row + 1));
  const hunks = useMemo(() => hunksOf(lines), [lines]);
  /** The row to which Tab leads. */
  const [current, setCurrent] = useState(0);
  const code = useMemo(
    () =>
      lines
        .slice(0, shown)
        .map(({ text }) => text)
        .join('\n'),
    [lines, shown],
  );
  const colouring = useColours(code, languageOf(file.path));
  const texts = useMemo(() => {
    const visible = isCode ? revealedCode : revealed;
    return lines.slice(0, shown).map((line, at): ReactNode => {
      if (line.kind === 'gap') return line.text === '' ? '⋯' : `⋯ ${visible(line.text)}`;
      if (line.kind === 'note') return t`There is no line break at the end of the file.`;
      const pieces = colouring?.lines[at];
      return pieces === undefined
        ? visible(line.text)
        : pieces.map(({ text, color }, i) => (
            <span key={i} style={{ color }}>
              {visible(text)}
            </span>
          ));
    });
  }, [lines, shown, colouring, isCode]);
  if (lines.length === 0) return <p className="ground-0 pad-5 text-2 ink-2">{t`Only its name or its mode changed.`}</p>;
  const more = lines.length - shown;
  const first = lines.findIndex(({ before, after }) => before !== null || after !== null);
  const tabbed = lines[current]?.before === null && lines[current].after === null ? first : current;
  const onClick = ({ target, nativeEvent }: MouseEvent) => {
    const at = rowAt(target);
    const line = at && lines[at.row];
    const anchor = line && anchorOf(range, file, line);
    const isTap = 'pointerType' in nativeEvent && nativeEvent.pointerType === 'touch';
    const isButton = target instanceof Element && target.closest('.patch-comment') !== null;
    if (canComment && at && anchor && (isTap || isButton)) {
      setCurrent(at.row);
      begin(anchor);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const key = keyOf(event);
    const at = rowAt(event.target);
    if (!at || (key !== 'ArrowDown' && key !== 'ArrowUp')) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('.patch-comment')];
    const own = buttons.findIndex((button) => at.line.contains(button));
    const next = buttons[own + (key === 'ArrowDown' ? 1 : -1)];
    const row = next && rowAt(next)?.row;
    if (row === undefined) return;
    setCurrent(row);
    next?.focus();
  };
  return (
    <>
      {/* Rows are lines of a text. Screen readers read them as such. */}
      <table
        className="patch ground-0 full code-text"
        role="presentation"
        dir={isCode ? 'ltr' : undefined}
        translate="no"
        data-commentable={canComment || undefined}
        onClick={onClick}
        onKeyDown={onKeyDown}
      >
        <colgroup>
          <col className="patch-col-before" />
          <col className="patch-col-after" />
          <col className="patch-col-mark" />
          <col />
        </colgroup>
        <tbody>
          {lines.slice(0, shown).map((line, at) => {
            const number = line.after ?? line.before;
            const here = notes.get(at);
            return (
              <Fragment key={at}>
                <Line
                  line={line}
                  text={texts[at]}
                  row={at}
                  label={!canComment || number === null ? null : t`Comment on line ${String(number)}`}
                  isCurrent={at === tabbed}
                  startsHunk={hunks.has(at)}
                />
                {here && <NotesOfRow notes={here} line={line} />}
              </Fragment>
            );
          })}
        </tbody>
      </table>
      {more > 0 && (
        <button type="button" className="ghost patch-more" onClick={() => setPages(pages + 1)}>
          {t`Show ${plural(more, 'more line')}`}
        </button>
      )}
    </>
  );
});

/** Fetches something: the reason why not; null: it is shown. */
type Fetch = () => Promise<string | null>;

/** A button that fetches more, and says how that goes. It stays in the order of Tab meanwhile. */
function FetchButton({ label, fetch }: { label: string; fetch: Fetch }) {
  const { busy, failed, act } = useAction();
  return (
    <>
      <WrongNote text={failed} />
      <button type="button" className="ghost patch-more" aria-disabled={busy} onClick={() => act(fetch)}>
        {busy ? t`Loading…` : failed === null ? label : t`Try again`}
      </button>
    </>
  );
}

/** Why there is no patch, in words. */
const UNSHOWN: Readonly<Record<NonNullable<File['reason']>, string>> = {
  binary: t`This file cannot be compared here. It is still part of the work.`,
  'too-large': t`This file cannot be compared here. It is still part of the work.`,
  long: t`Not loaded yet.`,
  more: t`Not loaded yet.`,
};

interface FileDiffProps {
  readonly file: File;
  readonly isCode: boolean;
  readonly startsOpen: boolean;
  readonly onShow: (file: File) => Promise<string | null>;
}

function FileDiff({ file, isCode, startsOpen, onShow }: FileDiffProps) {
  const [open, setOpen] = useState(startsOpen);
  const summary = useRef<HTMLElement>(null);
  const { path, before, status, added, removed, patch, reason, next } = file;
  const notes = useLineNotes().placed.at.get(path);
  const comments = [...(notes?.values() ?? [])].flat().length;
  const unplaced = notes?.get(NO_ROW) ?? [];
  const fetch = async () => {
    const why = await onShow(file);
    // The button that had the focus is gone.
    if (why === null) summary.current?.focus();
    return why;
  };
  return (
    <details
      className="file-diff above-4 round-s framed"
      open={open}
      data-status={status}
      data-number={file.number}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="ground-2 pad-3-5 line gap-4 touchable" ref={summary}>
        <ChevronIcon />
        <span className="file-path code-text fill break" dir="ltr">
          {before !== null && <s className="ink-3">{revealedLine(before)}</s>} <b>{revealedLine(path)}</b>
        </span>
        {status !== 'changed' && <span className="tag">{FILE_STATUS[status]}</span>}
        {comments > 0 && <span className="tag">{plural(comments, 'comment')}</span>}
        <LineCounts added={added} removed={removed} />
      </summary>
      {open &&
        (patch !== null ? (
          <PatchTable file={{ ...file, patch }} isCode={isCode} />
        ) : (
          <p className="ground-0 pad-5 text-2 ink-2">{UNSHOWN[reason ?? 'more']}</p>
        ))}
      {open && unplaced.length > 0 && <NotesOfFile notes={unplaced} />}
      {open && (reason === 'long' || reason === 'more') && <FetchButton label={t`Show more`} fetch={fetch} />}
      {open && next !== null && <FetchButton label={t`Show more`} fetch={() => onShow(file)} />}
    </details>
  );
}

/** The files that are open at first: as many as are read at a glance, and those with comments. */
function opened(files: readonly File[], { at }: PlacedNotes): ReadonlySet<number> {
  const open = new Set(files.filter(({ path }) => at.has(path)).map(({ number }) => number));
  let lines = 0;
  for (const { number, patch } of files) {
    lines += patch?.split('\n').length ?? 1;
    if (lines > OPEN_LINES && number > 0) break;
    open.add(number);
  }
  return open;
}

interface Props {
  readonly diff: ShownDiff;
  readonly kind: Project['kind'];
  /** Loads further files. The reason why not; null: they are shown. */
  readonly onMore: Fetch;
  /** Loads the patch of a file, or more of it. The reason why not; null: it is shown. */
  readonly onShow: FileDiffProps['onShow'];
}

export function Changes({ diff: { files, more, head }, kind, onMore, onShow }: Props) {
  const notes = useLineNotes();
  const list = useRef<HTMLElement>(null);
  // What is loaded or written later opens no file that was there before, and closes none.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const open = useMemo(() => opened(files, notes.placed), [head]);
  const fetchMore = async () => {
    const first = files.length;
    const why = await onMore();
    // The button has gone further down. The first file that is new takes its focus.
    if (why === null)
      requestAnimationFrame(() =>
        list.current?.querySelector<HTMLElement>(`[data-number="${first}"] > summary`)?.focus(),
      );
    return why;
  };
  const [added, removed] = [
    files.reduce((sum, file) => sum + (file.added ?? 0), 0),
    files.reduce((sum, file) => sum + (file.removed ?? 0), 0),
  ];
  if (files.length === 0) return <p className="setting-hint">{t`Nothing was changed.`}</p>;
  return (
    <>
      <section ref={list} className="review-part narrow" aria-label={plural(files.length + more, 'file')}>
        <h3 className="middle flex gap-4 text-3 under-4">
          <span>{plural(files.length + more, 'file')}</span>{' '}
          {more === 0 && <LineCounts added={added} removed={removed} />}
        </h3>
        {files.map((file) => (
          <FileDiff
            key={`${head} ${file.number}`}
            file={file}
            isCode={kind === 'git'}
            startsOpen={open.has(file.number)}
            onShow={onShow}
          />
        ))}
        {more > 0 && <FetchButton label={t`Show ${plural(more, 'more file')}`} fetch={fetchMore} />}
        {notes.canComment && (
          <p className="setting-hint">{t`Press + beside a line, or tap it, to comment. You send comments with the work that you send back.`}</p>
        )}
      </section>
      <NotesBelow title={t`Outdated comments`} notes={notes.placed.outdated} />
      <NotesBelow title={t`Comments on other files`} notes={notes.placed.elsewhere} />
    </>
  );
}
