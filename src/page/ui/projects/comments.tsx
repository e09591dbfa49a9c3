/** Comments on a task, in its sheet. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import { commentsThread } from '../../../shared/domain/threads.ts';
import { PROJECT_LIMITS, type Task } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { commentsOf } from '../../state/comments.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { keyOf } from '../design/keys.ts';
import { QueryView } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { dayAndClock } from '../text/time.ts';
import { useBoard } from './board.ts';
import { keepCommentDraft, readCommentDraft } from './drafts.ts';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** Names the agents that are notified of a comment, in a sentence. */
function useNotified({ claim, assignee }: Task): string {
  const { known } = useBoard();
  const who = claim?.agentId ?? assignee;
  return who === null ? t`Name an agent with @ to notify it.` : t`Notified, and may wake: ${known.nameOf(who)}`;
}

/** What is typed stays in this browser until it is written. */
function NewComment({ task }: { task: Task }) {
  const state = useRoost();
  const { device } = state;
  const comments = commentsOf(state);
  const { away } = useBoard();
  const notified = useNotified(task);
  const [text, setText] = useState(() => readCommentDraft(device.browser, task.taskId));
  /** Of the comment that is on its way: another try writes it only once. */
  const [clientId, setClientId] = useState(() => device.newId());
  const { busy, failed, act } = useAction();
  const change = (next: string) => {
    setText(next);
    keepCommentDraft(device.browser, task.taskId, next);
  };
  const send = () => {
    const said = text.trim();
    if (said === '' || away) return;
    act(async () => {
      const done = await comments.add(task, said, clientId);
      if (!done.ok) return t`Could not save this. ${done.reason}`;
      change('');
      return setClientId(device.newId());
    });
  };
  return (
    <form
      className="comment-form above-5 stack gap-4"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        className="field min-40 text-3"
        dir="auto"
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        maxLength={PROJECT_LIMITS.comment}
        aria-label={t`New comment`}
        placeholder={t`New comment`}
        readOnly={away || busy}
        value={text}
        onChange={({ target }) => change(target.value)}
        onKeyDown={(event) => {
          if (keyOf(event) === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      <WrongNote text={failed} />
      {text.trim() !== '' && (
        <div className="task-ways to-end gap-4 cluster">
          <span className="setting-hint">{notified}</span>
          <button type="submit" className="solid" disabled={busy || away}>
            {busy ? t`Working…` : t`Comment`}
          </button>
        </div>
      )}
    </form>
  );
}

export function Comments({ task }: { task: Task }) {
  const { known, now } = useBoard();
  const comments = commentsOf(useRoost());
  return (
    <section aria-label={t`Comments`}>
      <h3 className="eyebrow flex gap-4 ink-3 text-1 under-4">{t`Comments`}</h3>
      <QueryView query={comments.of(task)}>
        {({ comments: shown, more }) => (
          <>
            {more && (
              <p className="under-4 text-3">
                <Link href={PATHS.thread(commentsThread(task.taskId))}>{t`Show more`}</Link>
              </p>
            )}
            {shown.length > 0 && (
              <ol className="ink-2 text-2 gap-4 stack">
                {shown.map(({ messageId, from, text, time }) => (
                  <li key={messageId}>
                    <p>
                      <b dir="auto">{known.nameOf(from)}</b>{' '}
                      <time className="ink-3 text-1" dateTime={new Date(time).toISOString()}>
                        {dayAndClock(time, now)}
                      </time>
                    </p>
                    <div className="above-2 narrow break ink-2 full text-3">
                      <Words text={text} />
                    </div>
                  </li>
                ))}
              </ol>
            )}
          </>
        )}
      </QueryView>
      <NewComment key={task.taskId} task={task} />
    </section>
  );
}
