/** What the person decides in a review: to send the work back, or to merge it. */
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import type { Diff } from '../../../shared/protocol/attempts.ts';
import { LINE_COMMENT_LIMITS } from '../../../shared/protocol/line-comments.ts';
import { PROJECT_LIMITS, type Task } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { startTask } from '../../state/start-task.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { useRoost } from '../context.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { plural } from '../text/sizes.ts';
import { useBoard } from './board.ts';
import { useLineNotes } from './line-comments.tsx';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

interface ChangesFormProps {
  readonly task: Task;
  readonly first: string;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** Says what is missing. The agent that did the work starts again, unless it is only sent back. */
export function ChangesForm({ task, first, onDone, onCancel }: ChangesFormProps) {
  const roost = useRoost();
  const work = taskWorkOf(roost);
  const { project, away } = useBoard();
  const [note, setNote] = useState(first);
  const { busy, failed, act } = useAction();
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const { drafts, drop } = useLineNotes();
  const comments = drafts.filter(({ text }) => text.trim() !== '');
  const tooMany = comments.length - LINE_COMMENT_LIMITS.atOnce;
  const isReady = (note.trim() !== '' || comments.length > 0) && tooMany <= 0;
  useEffect(() => field.current?.focus(), []);
  const by = task.request?.by ?? null;
  const agentId = by !== null && project.agents.includes(by) ? by : null;
  const restart = async () => {
    if (agentId === null) return;
    const refused = await startTask(roost, project, task, agentId);
    if (refused !== null) roost.notices.info(t`It was sent back, and did not start: ${refused}`);
  };
  const send = (restarts: boolean) => {
    if (!isReady) return;
    act(async () => {
      const why = await work.wantChanges(task, note.trim(), comments);
      if (why !== null) return why;
      drop(comments.map(({ commentId }) => commentId));
      onDone();
      if (restarts) void restart();
      return null;
    });
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send(true);
  };
  return (
    <form className="review-changes stack gap-3" onSubmit={onSubmit}>
      <label className="text-3 medium" htmlFor={id}>{t`What has to change?`}</label>
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
            ? t`${plural(comments.length, 'comment')} on lines are too many. ${LINE_COMMENT_LIMITS.atOnce} can be sent at once.`
            : t`With ${plural(comments.length, 'comment')} on lines`}
        </p>
      )}
      <WrongNote text={failed} />
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
        {agentId !== null && (
          <button type="button" className="ghost" disabled={busy || away || !isReady} onClick={() => send(false)}>
            {t`Only send back`}
          </button>
        )}
        <button type="submit" className="solid" disabled={busy || away || !isReady}>
          {busy ? t`Sending…` : agentId === null ? t`Send back` : t`Send back and restart`}
        </button>
      </div>
    </form>
  );
}

/** Asks before a merge that a key began, or that leaves comments behind. */
export function MergeQuestion({ task, diff, busy, onMerge, onClose }: MergeQuestionProps) {
  const { project } = useBoard();
  const unsent = useLineNotes().drafts.filter(({ text }) => text.trim() !== '').length;
  const button = useRef<HTMLButtonElement>(null);
  // The key that asked is followed by Enter.
  useEffect(() => button.current?.focus(), []);
  const files = plural(diff.files.length + diff.more, 'file');
  return (
    <Dialog title={t`Merge #${task.number}?`} onClose={onClose}>
      <div className="work-question stack gap-5">
        <p>
          {t`${files} will be merged into ${project.kind === 'git' && project.baseBranch !== '' ? project.baseBranch : project.name}.`}
        </p>
        {unsent > 0 && (
          <p className="board-note round-s pad warn-box text-2 warn">{t`A merge does not send your ${plural(unsent, 'comment')} on lines.`}</p>
        )}
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button ref={button} type="button" className="solid" disabled={busy} onClick={onMerge}>
            {busy ? t`Working…` : t`Merge`}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
interface MergeQuestionProps {
  readonly task: Task;
  readonly diff: Diff;
  readonly busy: boolean;
  readonly onMerge: () => void;
  readonly onClose: () => void;
}

/** Asks once before a commit takes a merge or a revert back. `commit`: what is taken back. */
export function RevertQuestion({ task, commit, onClose }: RevertQuestionProps) {
  const work = taskWorkOf(useRoost());
  const does = task.request?.state === 'reverted' ? t`Merge again` : t`Revert`;
  return (
    <SureDialog
      title={t`${does}: ${`#${task.number} ${task.title}`}`}
      does={does}
      stays={t`Cancel`}
      onSure={() => work.revert(task, commit)}
      onClose={onClose}
    >
      <p>{t`Later changes stay.`}</p>
    </SureDialog>
  );
}
interface RevertQuestionProps {
  readonly task: Task;
  readonly commit: string;
  readonly onClose: () => void;
}
