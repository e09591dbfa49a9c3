/**
 * Comments on lines of a diff. They stay in this browser until the person asks for changes. Then
 * they go to the agent together, and are shown at their lines from then on.
 */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import type { Diff } from '../../../shared/protocol/attempts.ts';
import { LINE_COMMENT_LIMITS } from '../../../shared/protocol/line-comments.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { keyOf } from '../design/keys.ts';
import { revealedLine } from '../text/unseen.ts';
import { dayAndClock } from '../text/time.ts';
import { useBoard } from './board.ts';
import {
  type Anchor,
  dropLineDraft,
  keepLineDraft,
  type LineDraft,
  type LineNote,
  type PlacedNotes,
  placeNotes,
  readLineDrafts,
} from './line-drafts.ts';
import type { PatchLine } from './patch.ts';
import './line-comments.css';

export interface LineNotes {
  readonly placed: PlacedNotes;
  /** Comments that are not sent yet, oldest first. */
  readonly drafts: readonly LineDraft[];
  /** The commits that the diff compares. */
  readonly range: Pick<Diff, 'base' | 'head'>;
  /** A request is open, to which comments can be sent. */
  readonly canComment: boolean;
  /** The draft that was begun last, which takes the focus. */
  readonly begun: string | null;
  begin(at: Anchor): void;
  /** Keeps what is typed. False: this browser has no room for it. */
  keep(draft: LineDraft): boolean;
  /** The person deleted them, or they were sent. */
  drop(commentIds: readonly string[]): void;
}

const NONE: LineNotes = {
  placed: { at: new Map(), outdated: [], elsewhere: [] },
  drafts: [],
  range: { base: '', head: '' },
  canComment: false,
  begun: null,
  begin: () => undefined,
  keep: () => true,
  drop: () => undefined,
};
const Context = createContext(NONE);
export const LineNotesProvider = Context.Provider;
export const useLineNotes = (): LineNotes => useContext(Context);

/** `diff` null: it is not read yet. */
export function useLineNotesOf({ taskId, request }: Task, diff: Diff | null): LineNotes {
  const { device } = useRoost();
  const { browser } = device;
  const [storedDrafts, setStoredDrafts] = useState(() => readLineDrafts(browser, taskId));
  const [begun, setBegun] = useState<string | null>(null);
  const isSent = useCallback(
    ({ commentId }: LineDraft) => diff?.comments.some((comment) => comment.commentId === commentId) ?? false,
    [diff],
  );
  // The answer to an earlier send may have been lost.
  useEffect(() => {
    for (const draft of storedDrafts) if (isSent(draft)) dropLineDraft(browser, taskId, draft.commentId);
  }, [browser, taskId, storedDrafts, isSent]);
  const drafts = useMemo(() => storedDrafts.filter((draft) => !isSent(draft)), [storedDrafts, isSent]);
  const keep = useCallback(
    (draft: LineDraft) => {
      setStoredDrafts((before) => [...before.filter(({ commentId }) => commentId !== draft.commentId), draft]);
      return keepLineDraft(browser, taskId, draft);
    },
    [browser, taskId],
  );
  const drop = useCallback(
    (commentIds: readonly string[]) => {
      setStoredDrafts((before) => before.filter(({ commentId }) => !commentIds.includes(commentId)));
      for (const commentId of commentIds) dropLineDraft(browser, taskId, commentId);
    },
    [browser, taskId],
  );
  const begin = useCallback(
    (at: Anchor) => {
      const draft = { ...at, commentId: device.newId(), text: '', time: device.now() };
      setStoredDrafts((before) => [...before, draft]);
      setBegun(draft.commentId);
    },
    [device],
  );
  const placed = useMemo(() => (diff === null ? NONE.placed : placeNotes(diff, drafts)), [diff, drafts]);
  return useMemo(
    () => ({
      ...{ placed, drafts, begun, begin, keep, drop },
      range: diff ?? NONE.range,
      canComment: request?.state === 'open' && diff !== null,
    }),
    [placed, drafts, begun, begin, keep, drop, diff, request?.state],
  );
}

/** `src/a.ts:12`, with the side where it is the one before the change. */
const lineText = ({ path, line, side }: Pick<Anchor, 'path' | 'line' | 'side'>): string =>
  side === 'before'
    ? t`${revealedLine(path)}:${String(line)}, before the change`
    : `${revealedLine(path)}:${String(line)}`;

function DraftView({ draft, where }: { draft: LineDraft; where: ReactNode }) {
  const { begun, keep, drop } = useLineNotes();
  const [text, setText] = useState(draft.text);
  const [isKept, setKept] = useState(true);
  const field = useRef<HTMLTextAreaElement>(null);
  const isNew = begun === draft.commentId;
  useEffect(() => {
    if (isNew) field.current?.focus();
  }, [isNew]);
  /** Back to the line, from where the arrow keys lead on. */
  const leave = () => {
    const row = field.current?.closest('tr')?.previousElementSibling;
    const button = row?.querySelector<HTMLElement>('.patch-comment');
    if (button) button.focus();
    else field.current?.blur();
  };
  return (
    <li className="line-note stack gap-2" data-draft>
      {where}
      <textarea
        ref={field}
        className="field"
        dir="auto"
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        maxLength={LINE_COMMENT_LIMITS.text}
        aria-label={t`Comment on ${lineText(draft)}`}
        placeholder={t`What has to change?`}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setKept(keep({ ...draft, text: target.value }));
        }}
        onBlur={() => {
          if (text.trim() === '') drop([draft.commentId]);
        }}
        onKeyDown={(event) => {
          const key = keyOf(event);
          if (key !== 'Escape' && !(key === 'Enter' && (event.ctrlKey || event.metaKey))) return;
          // The review stays open.
          event.preventDefault();
          event.stopPropagation();
          leave();
        }}
      />
      <p className="gap-3 cluster">
        <span className="tag">{t`Not sent yet`}</span>
        <button type="button" className="link-button" onClick={() => drop([draft.commentId])}>{t`Delete`}</button>
      </p>
      {!isKept && (
        <p className="wrong-note" role="alert">
          {t`This browser has no room for it. Send it before you close this page.`}
        </p>
      )}
    </li>
  );
}

function NoteView({ note, where = null }: { note: LineNote; where?: ReactNode }) {
  const { now } = useBoard();
  if (note.kind === 'draft') return <DraftView draft={note.comment} where={where} />;
  const { time, text } = note.comment;
  return (
    <li className="line-note stack gap-2">
      {where}
      <p className="gap-3 cluster">
        <b>{t`You`}</b>{' '}
        <time className="ink-3 text-1" dateTime={new Date(time).toISOString()}>
          {dayAndClock(time, now)}
        </time>
      </p>
      <div className="above-2 narrow break ink-2 full text-3">
        <Words text={text} />
      </div>
    </li>
  );
}

/** `shown`: the line above it; null: none is shown. */
function NoteAt({ note, shown }: { note: LineNote; shown: number | null }) {
  const { comment } = note;
  const line = note.kind === 'sent' ? (note.comment.now?.line ?? comment.line) : comment.line;
  const where = line !== shown && (
    <p className="line-note-where break ink-3 text-1" dir="ltr">
      {lineText({ ...comment, line })}{' '}
      <code className="ink-2" translate="no">
        {revealedLine(comment.quoted)}
      </code>
    </p>
  );
  return <NoteView note={note} where={where} />;
}

/** Comments on the line above, in a row of the table. */
export function NotesOfRow({ notes, line }: { notes: readonly LineNote[]; line: PatchLine | undefined }) {
  const shownOn = ({ comment: { side } }: LineNote) =>
    line === undefined ? null : side === 'before' ? line.before : line.after;
  return (
    <tr className="patch-notes">
      <td className="ground-1 no-pad align-top" colSpan={4}>
        <ul className="gap-4 stack">
          {notes.map((note) => (
            <NoteAt key={note.comment.commentId} note={note} shown={shownOn(note)} />
          ))}
        </ul>
      </td>
    </tr>
  );
}

/** Comments in a file whose changes are not shown. */
export function NotesOfFile({ notes }: { notes: readonly LineNote[] }) {
  return (
    <ul className="gap-4 stack pad">
      {notes.map((note) => (
        <NoteAt key={note.comment.commentId} note={note} shown={null} />
      ))}
    </ul>
  );
}

/** Comments without a line in the diff, each with its line as it was. */
export function NotesBelow({ title, notes }: { title: string; notes: readonly LineNote[] }) {
  if (notes.length === 0) return null;
  return (
    <section className="review-part narrow" aria-label={title}>
      <h3 className="middle flex gap-4 text-3 under-4">{title}</h3>
      {notes.map((note) => (
        <div key={note.comment.commentId} className="pad-block-4 text-2 stack gap-2 break">
          <p dir="ltr">{lineText(note.comment)}</p>
          <pre className="ink-2 as-written ground-0 code-text pad-1-4" dir="ltr" translate="no">
            {revealedLine(note.comment.quoted)}
          </pre>
          <ul className="gap-4 stack">
            <NoteView note={note} />
          </ul>
        </div>
      ))}
    </section>
  );
}
