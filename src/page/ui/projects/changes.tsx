/** What the work on a task changed: commits, and the diff of each file. */
import { Fragment, type KeyboardEvent, memo, type MouseEvent, type ReactNode, useMemo, useState } from 'react';
import type { Diff } from '../../../shared/protocol/attempts.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { useColours } from '../code/code-block.tsx';
import { ChevronIcon } from '../parts/icons.tsx';
import { keyOf } from '../parts/keys.ts';
import { count, plural } from '../text/sizes.ts';
import { revealed, revealedCode, revealedLine } from '../text/unseen.ts';
import { NotesHere, NotesOfRow, useLineNotes } from './line-comments.tsx';
import { anchorOf, type LineNote, type PlacedNotes } from './line-drafts.ts';
import { languageOf, type PatchLine, readPatch } from './patch.ts';
import { FILE_STATUS } from './work-words.ts';

type File = Diff['files'][number];

/** Lines of all files that are open at first. The others are folded. */
const OPEN_LINES = 400;
/** Lines of a file that are shown at once, and with each press. */
const SHOWN_LINES = 600;

/** `+12 −3`, in words for screen readers. */
export function LineCounts({ added, removed }: { added: number | null; removed: number | null }) {
  if (added === null || removed === null) return <span className="line-counts">{t`no text`}</span>;
  return (
    <span className="line-counts">
      <span aria-hidden="true">
        <i data-kind="new">+{count(added)}</i> <i data-kind="gone">−{count(removed)}</i>
      </span>
      <span className="visually-hidden">{t`${count(added)} lines added, ${count(removed)} removed`}</span>
    </span>
  );
}

const MARKS = { same: ' ', new: '+', gone: '−' } as const;
const SPOKEN = { same: '', new: t`added: `, gone: t`removed: ` } as const;

interface LineProps {
  readonly line: PatchLine;
  readonly text: ReactNode;
  readonly row: number;
  /** Of the button in the gutter; null: the line takes no comment. */
  readonly label: string | null;
  /** Tab leads to this line. The arrow keys lead to the others. */
  readonly isCurrent: boolean;
}

const Line = memo(function Line({ line: { kind, before, after }, text, row, label, isCurrent }: LineProps) {
  if (kind === 'gap' || kind === 'note')
    return (
      <tr className="patch-line" data-kind={kind}>
        <td colSpan={3} aria-hidden="true" />
        <td className="patch-text">{text}</td>
      </tr>
    );
  return (
    <tr className="patch-line" data-kind={kind} data-row={row}>
      <td className="patch-number" data-line={before ?? ''} aria-hidden="true" />
      <td className="patch-number" data-line={after ?? ''} data-only={after ?? before ?? ''} aria-hidden="true" />
      <td className="patch-mark" data-mark={MARKS[kind]} aria-hidden="true" />
      <td className="patch-text">
        {kind !== 'same' && <span className="visually-hidden">{SPOKEN[kind]}</span>}
        <span>{text}</span>
        {label !== null && (
          <button type="button" className="patch-comment" tabIndex={isCurrent ? 0 : -1} aria-label={label} />
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

const NO_NOTES: ReadonlyMap<number, readonly LineNote[]> = new Map();

const PatchTable = memo(function PatchTable({ file, isCode }: { file: File & { patch: string }; isCode: boolean }) {
  const lines = useMemo(() => readPatch(file.patch), [file.patch]);
  const { placed, range, canComment, begin } = useLineNotes();
  const notes = placed.at.get(file.path) ?? NO_NOTES;
  const [pages, setPages] = useState(1);
  const shown = Math.max(pages * SHOWN_LINES, ...[...notes.keys()].map((row) => row + 1));
  /** The row to which Tab leads. */
  const [current, setCurrent] = useState(0);
  const code = useMemo(() => lines.map(({ text }) => text).join('\n'), [lines]);
  const colouring = useColours(code, languageOf(file.path));
  const texts = useMemo(() => {
    const visible = isCode ? revealedCode : revealed;
    return lines.map((line, at): ReactNode => {
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
  }, [lines, colouring, isCode]);
  if (lines.length === 0) return <p className="patch-none">{t`No line of it changed: only its name or its mode.`}</p>;
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
        className="patch"
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
                />
                {here && <NotesOfRow notes={here} />}
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

function FileDiff({ file, isCode, isOpen }: { file: File; isCode: boolean; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen);
  const { path, before, status, added, removed, patch } = file;
  const comments = [...(useLineNotes().placed.at.get(path)?.values() ?? [])].flat().length;
  return (
    <details
      className="file-diff"
      open={isOpen}
      data-status={status}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <ChevronIcon />
        <span className="file-path" dir="ltr">
          {before !== null && <s>{revealedLine(before)}</s>} <b>{revealedLine(path)}</b>
        </span>
        {status !== 'changed' && <span className="work-chip">{FILE_STATUS[status]}</span>}
        {comments > 0 && <span className="work-chip">{plural(comments, 'comment')}</span>}
        <LineCounts added={added} removed={removed} />
      </summary>
      {open &&
        (patch !== null ? (
          <PatchTable file={{ ...file, patch }} isCode={isCode} />
        ) : (
          <p className="patch-none">
            {added === null
              ? t`This file is no text, such as a picture. Its content cannot be shown here.`
              : t`The change of this file is too long to be shown here. It is part of the work all the same.`}
          </p>
        ))}
    </details>
  );
}

/** The files that are open at first: as many as are read at a glance, and those with comments. */
function opened(files: readonly File[], { at }: PlacedNotes): ReadonlySet<string> {
  const open = new Set<string>();
  let lines = 0;
  for (const { path, patch } of files) {
    lines += patch?.split('\n').length ?? 1;
    if (lines > OPEN_LINES && open.size > 0) break;
    open.add(path);
  }
  return new Set([...open, ...at.keys()]);
}

interface Props {
  readonly diff: Diff;
  readonly kind: Project['kind'];
  /** Commits that were there when the person looked before; null: this is the first look. */
  readonly seen: ReadonlySet<string> | null;
}

export function Changes({ diff: { files, more, commits }, kind, seen }: Props) {
  const notes = useLineNotes();
  // Comments that are written later open no file.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const open = useMemo(() => opened(files, notes.placed), [files]);
  const [added, removed] = [
    files.reduce((sum, file) => sum + (file.added ?? 0), 0),
    files.reduce((sum, file) => sum + (file.removed ?? 0), 0),
  ];
  if (files.length === 0) return <p className="setting-hint">{t`Nothing was changed.`}</p>;
  return (
    <>
      {kind === 'git' && commits.length > 0 && (
        <section className="review-part" aria-label={plural(commits.length, 'commit')}>
          <h3>{plural(commits.length, 'commit')}</h3>
          <ol className="commits">
            {commits.map(({ commit, subject }) => (
              <li key={commit}>
                <code dir="ltr">{commit.slice(0, 8)}</code> <span dir="auto">{revealed(subject)}</span>
                {seen !== null && !seen.has(commit) && (
                  <span className="work-chip" data-tone="live">
                    {t`newer`}
                  </span>
                )}
              </li>
            ))}
          </ol>
        </section>
      )}
      <section className="review-part" aria-label={plural(files.length + more, 'file')}>
        <h3>
          {plural(files.length + more, 'file')} <LineCounts added={added} removed={removed} />
        </h3>
        {files.map((file) => (
          <FileDiff key={file.path} file={file} isCode={kind === 'git'} isOpen={open.has(file.path)} />
        ))}
        {more > 0 && (
          <p className="setting-hint">{t`${plural(more, 'more file')} changed and cannot be shown here.`}</p>
        )}
        {notes.canComment && (
          <p className="setting-hint">{t`Press + beside a line, or tap the line, to comment on it. Nothing is sent before you ask for changes.`}</p>
        )}
      </section>
      <NotesHere notes={notes.placed.elsewhere} />
    </>
  );
}
