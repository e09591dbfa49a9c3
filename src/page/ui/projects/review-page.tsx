/**
 * The review of a task: files on the left, what changed in the middle, and what it is judged by on
 * the right.
 */
import { type ReactNode, type RefObject, useRef, useState } from 'react';
import { kindOfColumn } from '../../../shared/domain/projects.ts';
import type { MergeRequest } from '../../../shared/protocol/attempts.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { isRefusedAs, problemText } from '../../state/ports.ts';
import { projectsOf } from '../../state/projects.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { useQuery, useTitle } from '../hooks.ts';
import { CloseIcon, MoreIcon } from '../design/icons.tsx';
import { MenuButton } from '../design/menu.tsx';
import { QueryLoading, QueryProblem } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { dayAndClock } from '../text/time.ts';
import { revealed, revealedLine } from '../text/unseen.ts';
import { Link } from 'wouter';
import { useBoard } from './board.ts';
import { Changes, LineCounts } from './changes.tsx';
import { type ShownDiff, useDiff } from './diff-reading.ts';
import { LineNotesProvider, useLineNotes, useLineNotesOf } from './line-comments.tsx';
import { ChangesForm, MergeQuestion, RevertQuestion } from './review-decide.tsx';
import { useReviewKeys } from './review-keys.ts';
import { Criteria } from './task-sheet.tsx';
import { RequestState, TaskAttempts } from './task-work.tsx';
import { titleOf } from './words.ts';
import { SHORT_COMMIT } from './work-words.ts';
import './review.css';
import { useAction } from '../design/use-action.ts';

/** The changed files. A press leads to the file in the middle. */
function Files({ diff, diffRef }: { diff: ShownDiff; diffRef: RefObject<HTMLElement | null> }) {
  const { at } = useLineNotes().placed;
  const show = (number: number) => {
    const file = diffRef.current?.querySelector<HTMLDetailsElement>(`[data-number="${number}"]`);
    if (!file) return;
    file.open = true;
    file.scrollIntoView?.({ block: 'start' });
    file.querySelector<HTMLElement>('summary')?.focus({ preventScroll: true });
  };
  return (
    <ul className="review-files">
      {diff.files.map(({ number, path, status, added, removed }) => {
        const notes = [...(at.get(path)?.values() ?? [])].flat().length;
        return (
          <li key={number}>
            <button
              className="flex ink-2 round-s middle gap-3 full touchable text-start no-fill wrap no-frame pad-3-5"
              type="button"
              data-status={status}
              onClick={() => show(number)}
            >
              <span dir="ltr">{revealedLine(path)}</span>
              {notes > 0 && <span className="tag">{plural(notes, 'comment')}</span>}
              <LineCounts added={added} removed={removed} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** `seen`: commits of the diff before; null: it is the first one. */
function Commits({ commits, seen }: Pick<ShownDiff, 'commits'> & { seen: ReadonlySet<string> | null }) {
  return (
    <section aria-label={plural(commits.length, 'commit')}>
      <h2 className="ink-3 text-1 medium">{plural(commits.length, 'commit')}</h2>
      <ol className="commits stack gap-2">
        {commits.map(({ commit, subject }) => (
          <li className="flex baseline ink-2 gap-3 text-2 wrap break" key={commit}>
            <code className="ink-3 text-2 break" dir="ltr">
              {commit.slice(0, SHORT_COMMIT)}
            </code>{' '}
            <span dir="auto">{revealed(subject)}</span>
            {seen !== null && !seen.has(commit) && (
              <span className="tag" data-tone="live">
                {t`newer`}
              </span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** `commit` null: the project shows none. */
function standingText(state: MergeRequest['state'], commit: string | null): ReactNode {
  if (commit === null) return state === 'merged' ? t`Merged` : t`Reverted`;
  const short = <code dir="ltr">{commit.slice(0, SHORT_COMMIT)}</code>;
  return state === 'merged' ? t`Merged as ${short}` : t`Reverted as ${short}`;
}

/** The question to the person, or the outcome of the work. */
function Standing({ task }: { task: Task }) {
  const { project, known, now, away } = useBoard();
  const [reverts, setReverts] = useState(false);
  const { request } = task;
  if (request === null) return null;
  const { state, by, title, body, branch, merged, reverted, openedAt, updatedAt } = request;
  const last = state === 'merged' ? merged : state === 'reverted' ? reverted : null;
  const time = state === 'open' ? openedAt : updatedAt;
  const name = state === 'open' ? known.nameOf(by) : t`You`;
  return (
    <section className="review-standing stack gap-4 break" aria-label={t`Request to merge`} data-state={state}>
      <p className="gap-3 cluster">
        {last === null ? (
          <RequestState state={state} />
        ) : (
          <>
            <b>{standingText(state, project.kind === 'git' ? last : null)}</b>
            <button type="button" className="link-button" disabled={away} onClick={() => setReverts(true)}>
              {state === 'merged' ? t`Revert` : t`Merge again`}
            </button>
          </>
        )}
        <span className="figures ink-3 text-1">
          <span dir="auto">{name}</span> <time dateTime={new Date(time).toISOString()}>{dayAndClock(time, now)}</time>
        </span>
      </p>
      {reverts && last !== null && <RevertQuestion task={task} commit={last} onClose={() => setReverts(false)} />}
      {title !== task.title && (
        <h2 className="text-4" dir="auto">
          {title}
        </h2>
      )}
      {body !== '' && body !== task.description && (
        <div className="above-2 narrow break ink-2 full text-3">
          <Words text={body} />
        </div>
      )}
      {project.kind === 'git' && (
        <p>
          <code className="ink-3 text-2 break" dir="ltr">
            {branch}
          </code>
        </p>
      )}
    </section>
  );
}

/** The keys, where there is a keyboard. */
function Keys({ isOpen }: { isOpen: boolean }) {
  const all: readonly (readonly [keys: readonly string[], does: string])[] = [
    [['J', 'K'], t`next, previous`],
    ...(isOpen
      ? ([
          [['C'], t`Comment`],
          [['A'], t`accept`],
          [['M'], t`Merge`],
        ] as const)
      : []),
    [['Esc'], t`Close`],
    [['?'], t`all keys`],
  ];
  return (
    <dl className="review-keys gap-5 flex wrap ink-3 text-1">
      {all.map(([keys, does]) => (
        <div className="line gap-3" key={does}>
          <dt className="flex gap-2">
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
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
  t`This cannot be merged. ${why} Update your branch from the base branch, and resolve the conflicts.`;

/** Why the request was not merged, and what helps. `onAskAgent`: with the text for the agent. */
function Refusal({ asked, onAskAgent }: { asked: Asked; onAskAgent: (first: string) => void }) {
  if (asked.kind === 'refused')
    return (
      <p className="wrong-note" role="alert">
        {asked.why}
      </p>
    );
  if (asked.kind !== 'conflict') return null;
  return (
    <div className="wrong-note" role="alert">
      <p>
        <strong>{t`It cannot be merged.`}</strong> <span>{asked.why}</span>
      </p>
      <button
        type="button"
        className="ghost"
        onClick={() => onAskAgent(conflictNote(asked.why))}
      >{t`Ask the agent to resolve it`}</button>
    </div>
  );
}

interface Props {
  readonly task: Task;
  readonly onClose: () => void;
}

function Opened({ task, onClose }: Props) {
  const roost = useRoost();
  const work = taskWorkOf(roost);
  const { project, away } = useBoard();
  const { read, again, more, show } = useDiff(task);
  const [asked, setAsked] = useState<Asked>(NOTHING);
  const [isNewer, setIsNewer] = useState(false);
  const { busy, act } = useAction();
  const root = useRef<HTMLDivElement>(null);
  const diffRef = useRef<HTMLElement>(null);
  const { request } = task;
  const isOpen = request?.state === 'open';
  const maySendBack = isOpen || (request?.state === 'reverted' && kindOfColumn(project, task.columnId) === 'review');
  const diff = read.kind === 'ready' ? read.diff : null;
  const notes = useLineNotesOf(task, diff);
  /** The commit of the request when the diff was read. The branch itself may be further. */
  const [readFor, setReadFor] = useState(request?.head);
  const cameLater = isOpen && diff !== null && request.head !== readFor && request.head !== diff.head;
  const unmet = task.criteria.filter(({ met }) => met === null);
  const unsent = notes.drafts.filter(({ text }) => text.trim() !== '').length;
  const showNewer = async () => {
    setIsNewer(true);
    setReadFor(request?.head);
    await again();
  };
  const merge = () =>
    act(async () => {
      if (diff === null) return;
      const problem = await work.merge(task, diff.head);
      if (problem === null) setAsked(NOTHING);
      else if (isRefusedAs(problem, 'changed-elsewhere')) {
        setAsked(NOTHING);
        await showNewer();
      } else {
        const why = problemText(problem);
        setAsked({ kind: isRefusedAs(problem, 'merge-conflict') ? 'conflict' : 'refused', why });
      }
    });
  const mayMerge = isOpen && !away && !busy && diff !== null && !cameLater;
  /** A key may be pressed by mistake, and comments may be forgotten. */
  const askMerge = (byKey: boolean) => {
    if (!mayMerge) return;
    if (byKey || unsent > 0) setAsked({ kind: 'merge' });
    else merge();
  };
  const close = () =>
    act(async () => {
      const why = await work.closeRequest(task);
      setAsked(why === null ? NOTHING : { kind: 'refused', why });
    });
  const accept = () =>
    act(async () => {
      if (away || !isOpen) return;
      for (const { criterionId } of unmet) {
        const done = await projectsOf(roost).meet(task, criterionId, true, '');
        if (!done.ok) return setAsked({ kind: 'refused', why: done.reason });
      }
    });
  useReviewKeys(root, { accept, merge: () => askMerge(true) });
  return (
    <LineNotesProvider value={notes}>
      <div ref={root} className="review shrinks stack full-height" role="region" aria-label={titleOf(task)}>
        <header className="review-head gap-4 whole-row pad-wide cluster ruled-below">
          <h1 className="narrow text-5 break" tabIndex={-1}>
            <span className="ink-3 semi-medium">#{task.number}</span>{' '}
            <Link className="ink unlined underlined" href={PATHS.task(project.projectId, task.taskId)} dir="auto">
              {task.title}
            </Link>
          </h1>
          {maySendBack && asked.kind !== 'changes' && (
            <div className="review-ways flex wrap gap-4">
              <button
                type="button"
                className="ghost"
                disabled={away || busy}
                onClick={() => setAsked({ kind: 'changes', first: '' })}
              >
                {unsent > 0 ? t`Send back with ${plural(unsent, 'comment')}` : t`Send back`}
              </button>
              {isOpen && (
                <>
                  <button type="button" className="solid" disabled={!mayMerge} onClick={() => askMerge(false)}>
                    {busy ? t`Working…` : t`Merge`}
                  </button>
                  <MenuButton
                    label={t`More for ${titleOf(task)}`}
                    items={[{ label: t`Close without merging`, disabled: away || busy, run: close }]}
                  >
                    <MoreIcon />
                  </MenuButton>
                </>
              )}
            </div>
          )}
          <button type="button" className="icon-button review-close" aria-label={t`Close`} onClick={onClose}>
            <CloseIcon />
          </button>
        </header>
        <nav className="review-side column-wise gap-5 flex narrow scroll" aria-label={t`Files`}>
          {diff !== null && (
            <>
              <h2 className="ink-3 text-1 medium">{plural(diff.files.length + diff.more, 'file')}</h2>
              <Files diff={diff} diffRef={diffRef} />
              {project.kind === 'git' && diff.commits.length > 0 && (
                <Commits commits={diff.commits} seen={read.kind === 'ready' ? read.seen : null} />
              )}
            </>
          )}
          <Keys isOpen={isOpen} />
        </nav>
        <section
          ref={diffRef}
          className="review-diff rows-top stack gap-6 narrow scroll"
          aria-label={t`Changes`}
          // A scrollable part that may have nothing to focus in it.
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
        >
          {away && (
            <p
              className="board-note round-s pad warn-box text-2 warn"
              role="status"
            >{t`The relay cannot be reached. Nothing can be changed now.`}</p>
          )}
          {(isNewer || cameLater) && (
            <div className="board-note round-s pad warn-box text-2 warn" role="status">
              {cameLater ? (
                <>
                  {t`There are newer commits than the ones shown here.`}{' '}
                  <button type="button" className="link-button" onClick={() => void showNewer()}>{t`Show`}</button>
                </>
              ) : (
                t`Newer commits are shown now. Nothing was merged.`
              )}
            </div>
          )}
          <Refusal asked={asked} onAskAgent={(first) => setAsked({ kind: 'changes', first })} />
          {maySendBack && asked.kind === 'changes' && (
            <ChangesForm
              key={asked.first}
              task={task}
              first={asked.first}
              onDone={onClose}
              onCancel={() => setAsked(NOTHING)}
            />
          )}
          {read.kind === 'loading' && <QueryLoading />}
          {read.kind === 'failed' && (
            <div className="wrong-note narrow" role="alert">
              <p>{t`Could not load this. ${read.reason}`}</p>
              {request === null ? (
                <Link className="ghost" href={PATHS.task(project.projectId, task.taskId)}>{`#${task.number}`}</Link>
              ) : (
                <button type="button" className="ghost" onClick={() => void again()}>{t`Try again`}</button>
              )}
            </div>
          )}
          {read.kind === 'ready' && (
            <Changes
              diff={read.diff}
              kind={project.kind}
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
        </section>
        <aside className="review-about rows-top gap-7 stack narrow scroll ruled-start" aria-label={t`Details`}>
          <Standing task={task} />
          <Criteria task={task} />
          {isOpen && unmet.length > 0 && (
            <button type="button" className="ghost self-start" disabled={away || busy} onClick={accept}>
              {t`Accept ${plural(unmet.length, 'criterion', 'criteria')}`}
            </button>
          )}
          <TaskAttempts task={task} inReview />
        </aside>
        {asked.kind === 'merge' && diff !== null && (
          <MergeQuestion task={task} diff={diff} busy={busy} onMerge={merge} onClose={() => setAsked(NOTHING)} />
        )}
      </div>
    </LineNotesProvider>
  );
}

/** In place of a project or task that does not exist. `children`: where to go. */
export function Gone({ children }: { children: ReactNode }) {
  return (
    <div className="project-gone rows-top stack at-start gap-5 ink-2" role="alert">
      <h1 className="ink" tabIndex={-1}>{t`Not found`}</h1>
      <p>{t`It was deleted, or the link was cut short.`}</p>
      {children}
    </div>
  );
}

/** The page of a review. The board has only cards: the whole task is read first. */
export function ReviewPage({ taskNumber, onClose }: { taskNumber: number; onClose: () => void }) {
  const { project, tasks } = useBoard();
  const card = tasks.find(({ number }) => number === taskNumber);
  useTitle(card ? titleOf(card) : project.name);
  if (card) return <Read taskId={card.taskId} onClose={onClose} />;
  return (
    <Gone>
      <Link href={PATHS.project(project.projectId)} className="ghost">
        {project.name}
      </Link>
    </Gone>
  );
}

function Read({ taskId, onClose }: { taskId: Task['taskId']; onClose: () => void }) {
  const { project } = useBoard();
  const query = projectsOf(useRoost()).task(project.projectId, taskId);
  const state = useQuery(query);
  if (state.kind === 'ready' && state.value) return <Opened task={state.value} onClose={onClose} />;
  return (
    <div className="project-gone rows-top stack at-start gap-5 ink-2">
      {state.kind === 'loading' ? <QueryLoading /> : <QueryProblem query={query} state={state} before={false} />}
    </div>
  );
}
