/** The request of a task: what was changed, and what the person says to it. */
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import type { Diff, MergeRequest } from '../../../shared/protocol/attempts.ts';
import { LINE_COMMENT_LIMITS } from '../../../shared/protocol/line-comments.ts';
import { PROJECT_LIMITS, type Task } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { isRefusedAs, problemText } from '../../state/ports.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { QueryLoading } from '../parts/page-head.tsx';
import { plural } from '../text/sizes.ts';
import { dayAndClock } from '../text/time.ts';
import { useBoard } from './board.ts';
import { Changes } from './changes.tsx';
import { useDiff } from './diff-reading.ts';
import { LineNotesProvider, useLineNotes, useLineNotesOf } from './line-comments.tsx';
import { REQUEST_STATES } from './work-words.ts';

/** Chip with the state of a request. */
export function RequestState({ state }: Pick<MergeRequest, 'state'>) {
  const { name, tone } = REQUEST_STATES[state];
  return (
    <span className="work-chip" data-tone={tone}>
      {name}
    </span>
  );
}

interface ChangesFormProps {
  readonly task: Task;
  readonly first: string;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Says what is missing. The task returns to its agent. */
function ChangesForm({ task, first, onDone, onCancel }: ChangesFormProps) {
  const work = taskWorkOf(useRoost());
  const { away } = useBoard();
  const [note, setNote] = useState(first);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { drafts, drop } = useLineNotes();
  const comments = drafts.filter(({ text }) => text.trim() !== '');
  const tooMany = comments.length - LINE_COMMENT_LIMITS.atOnce;
  const isReady = (note.trim() !== '' || comments.length > 0) && tooMany <= 0;
  useEffect(() => field.current?.focus(), []);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || !isReady) return;
    setBusy(true);
    const why = await work.wantChanges(task, note.trim(), comments);
    setBusy(false);
    setFailed(why);
    if (why !== null) return;
    drop(comments.map(({ commentId }) => commentId));
    onDone();
  };
  return (
    <form className="review-changes" onSubmit={(event) => void send(event)}>
      <label htmlFor={id}>{t`What has to change?`}</label>
      <textarea
        ref={field}
        id={id}
        className="field"
        dir="auto"
        rows={4}
        maxLength={PROJECT_LIMITS.note}
        value={note}
        onChange={({ target }) => setNote(target.value)}
      />
      {comments.length > 0 && (
        <p className="setting-hint">
          {tooMany > 0
            ? t`${plural(comments.length, 'comment')} on lines are too many. ${LINE_COMMENT_LIMITS.atOnce} can be sent at once: delete some.`
            : t`${plural(comments.length, 'comment')} on lines will be sent with it.`}
        </p>
      )}
      <p className="setting-hint">{t`The agent gets these words. The task returns to the column for ready tasks, and the work so far stays.`}</p>
      {failed !== null && (
        <p className="wrong-note" role="alert">
          {failed}
        </p>
      )}
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
        <button type="submit" className="solid" disabled={busy || away || !isReady}>
          {busy ? t`Sending…` : t`Send it back`}
        </button>
      </div>
    </form>
  );
}

/** Asks once more before something is written to the person's repository. */
function MergeQuestion({ task, diff, onMerge, onClose }: MergeQuestionProps) {
  const { project } = useBoard();
  const [busy, setBusy] = useState(false);
  const unsent = useLineNotes().drafts.filter(({ text }) => text.trim() !== '').length;
  const files = plural(diff.files.length + diff.more, 'file');
  return (
    <Dialog title={t`Merge #${task.number}?`} onClose={onClose}>
      <div className="work-question">
        <p>
          {project.kind === 'folder'
            ? t`The project gets this work: ${files}. Tasks that begin later start from there.`
            : project.baseBranch === ''
              ? t`Git merges this work into the base branch of the repository: ${files}. Nothing is forced.`
              : t`Git merges this work into ${project.baseBranch}: ${files}. Nothing is forced.`}
        </p>
        {unsent > 0 && (
          <p className="board-note">{t`You have not sent ${plural(unsent, 'comment')} on lines. A merge does not send them.`}</p>
        )}
        <p className="setting-hint">{t`The task is done then. Roost cannot take a merge back.`}</p>
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button
            type="button"
            className="solid"
            disabled={busy}
            onClick={() => {
              setBusy(true);
              void onMerge();
            }}
          >
            {busy ? t`Merging…` : t`Merge`}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
interface MergeQuestionProps {
  readonly task: Task;
  readonly diff: Diff;
  readonly onMerge: () => Promise<void>;
  readonly onClose: () => void;
}

/** What the person is asked about, or is told after a refusal. */
type Asked =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'merge' }
  | { readonly kind: 'changes'; readonly first: string }
  | { readonly kind: 'conflict'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };
const NOTHING: Asked = { kind: 'nothing' };

const conflictNote = (why: string) =>
  t`This cannot be merged. ${why} Bring your branch up to date with the base branch, and resolve the conflicts.`;

interface Props {
  readonly task: Task;
  readonly onClose: () => void;
}

export function Review({ task, onClose }: Props) {
  const work = taskWorkOf(useRoost());
  const { project, known, now, away } = useBoard();
  const { read, again, more, show } = useDiff(task);
  const [asked, setAsked] = useState<Asked>(NOTHING);
  const [isNewer, setIsNewer] = useState(false);
  const [busy, setBusy] = useState(false);
  const { request } = task;
  const isOpen = request?.state === 'open';
  const diff = read.kind === 'ready' ? read.diff : null;
  const notes = useLineNotesOf(task, diff);
  /** The commit of the request when the diff was read. The branch itself may be further. */
  const [readFor, setReadFor] = useState(request?.head);
  const cameLater = isOpen && diff !== null && request.head !== readFor && request.head !== diff.head;
  const showNewer = async () => {
    setIsNewer(true);
    setReadFor(request?.head);
    await again();
  };
  const merge = async () => {
    if (diff === null) return;
    const problem = await work.merge(task, diff.head);
    if (problem === null) return onClose();
    if (isRefusedAs(problem, 'changed-elsewhere')) {
      setAsked(NOTHING);
      await showNewer();
    } else {
      const why = problemText(problem);
      setAsked({ kind: isRefusedAs(problem, 'merge-conflict') ? 'conflict' : 'refused', why });
    }
  };
  const close = async () => {
    setBusy(true);
    const why = await work.closeRequest(task);
    setBusy(false);
    if (why === null) onClose();
    else setAsked({ kind: 'refused', why });
  };
  return (
    <LineNotesProvider value={notes}>
      <Dialog title={t`Review of #${task.number} ${task.title}`} shape="wide" onClose={onClose}>
        <div className="review">
          {request !== null && (
            <header className="review-head">
              <p>
                <RequestState state={request.state} />{' '}
                <span dir="auto">{t`${known.nameOf(request.by)} asks you to accept this`}</span>{' '}
                <time dateTime={new Date(request.openedAt).toISOString()}>{dayAndClock(request.openedAt, now)}</time>
              </p>
              {request.title !== task.title && (
                <h3 className="review-title" dir="auto">
                  {request.title}
                </h3>
              )}
              {request.body !== '' && (
                <div className="task-said">
                  <Words text={request.body} />
                </div>
              )}
              {project.kind === 'git' && (
                <p className="review-branch">
                  <code dir="ltr">{request.branch}</code>
                </p>
              )}
            </header>
          )}
          {(isNewer || cameLater) && (
            <div className="board-note" role="status">
              {cameLater ? (
                <>
                  {t`There are newer commits than the ones shown here.`}{' '}
                  <button type="button" className="link-button" onClick={() => void showNewer()}>{t`Show them`}</button>
                </>
              ) : (
                t`There were newer commits than the ones that you had looked at. They are shown now. Nothing was merged.`
              )}
            </div>
          )}
          {read.kind === 'loading' && <QueryLoading />}
          {read.kind === 'failed' && (
            <div className="wrong-note" role="alert">
              <p>{t`The changes could not be read: ${read.reason}`}</p>
              <button type="button" className="ghost" onClick={() => void again()}>{t`Try again`}</button>
            </div>
          )}
          {read.kind === 'ready' && (
            <Changes
              diff={read.diff}
              kind={project.kind}
              seen={read.seen}
              onMore={async () => {
                const fetched = await more();
                if (fetched.kind === 'changed') await showNewer();
                return fetched.kind === 'failed' ? fetched.why : null;
              }}
              onShow={async (file) => {
                const fetched = await show(file);
                return fetched.kind === 'failed' ? fetched.why : null;
              }}
            />
          )}
          {asked.kind === 'conflict' && (
            <div className="wrong-note" role="alert">
              <p>
                <strong>{t`It cannot be merged.`}</strong> <span>{asked.why}</span>
              </p>
              <button
                type="button"
                className="ghost"
                onClick={() => setAsked({ kind: 'changes', first: conflictNote(asked.why) })}
              >{t`Ask the agent to resolve it`}</button>
            </div>
          )}
          {asked.kind === 'refused' && (
            <p className="wrong-note" role="alert">
              {asked.why}
            </p>
          )}
          {isOpen &&
            (asked.kind === 'changes' ? (
              <ChangesForm
                key={asked.first}
                task={task}
                first={asked.first}
                onDone={onClose}
                onCancel={() => setAsked(NOTHING)}
              />
            ) : (
              <div className="review-ways">
                <button
                  type="button"
                  className="ghost"
                  disabled={away || busy}
                  onClick={() => void close()}
                >{t`Close without merging`}</button>
                <button
                  type="button"
                  className="ghost"
                  disabled={away}
                  onClick={() => setAsked({ kind: 'changes', first: '' })}
                >{t`Ask for changes`}</button>
                <button
                  type="button"
                  className="solid"
                  disabled={away || diff === null || cameLater}
                  onClick={() => setAsked({ kind: 'merge' })}
                >{t`Merge…`}</button>
              </div>
            ))}
        </div>
        {asked.kind === 'merge' && diff !== null && (
          <MergeQuestion task={task} diff={diff} onMerge={merge} onClose={() => setAsked(NOTHING)} />
        )}
      </Dialog>
    </LineNotesProvider>
  );
}
