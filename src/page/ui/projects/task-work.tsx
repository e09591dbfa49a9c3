/** The work on a task in its sheet: the request that waits for the person, and the attempts. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { kindOfColumn } from '../../../shared/domain/projects.ts';
import type { Attempt, MergeRequest, Receipt } from '../../../shared/protocol/attempts.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import { retold, t } from '../../language/t.ts';
import { taskWorkOf } from '../../state/task-work.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { useQuery } from '../hooks.ts';
import { ChevronIcon } from '../design/more-icons.tsx';
import { QueryProblem } from '../parts/page-head.tsx';
import { PATHS } from '../routes.ts';
import { costText, tokens } from '../text/money.ts';
import { asBeginning, count, plural } from '../text/sizes.ts';
import { clockTime, dayAndClock, duration } from '../text/time.ts';
import { revealed, revealedCode, revealedLine } from '../text/unseen.ts';
import { useBoard } from './board.ts';
import { LineCounts } from './changes.tsx';
import {
  FILE_STATUS,
  OUTCOMES,
  REQUEST_STATES,
  SHORT_COMMIT,
  spentOf,
  spentText,
  UNDER_WAY,
  VERDICTS,
} from './work-words.ts';
import './work.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/** Files and commits of a receipt that are shown before the rest is folded. */
const SHOWN = 8;

function Fold({ summary, children }: { summary: ReactNode; children: ReactNode }) {
  return (
    <details>
      <summary className="line gap-4 touchable">
        <ChevronIcon />
        {summary}
      </summary>
      {children}
    </details>
  );
}

/** A list of which only the first lines are open. `more`: those that the receipt does not list. */
function Some<Item>({
  items,
  more,
  title,
  children,
}: {
  items: readonly Item[];
  more: number;
  title: string;
  children: (item: Item, at: number) => ReactNode;
}) {
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, SHOWN);
  if (items.length === 0) return null;
  return (
    <div className="receipt-part">
      <h5 className="under-3 ink-3 text-1 medium">{title}</h5>
      <ul>{shown.map(children)}</ul>
      {shown.length < items.length && (
        <button type="button" className="link-button text-2" onClick={() => setAll(true)}>{t`Show more`}</button>
      )}
      {all && more > 0 && <p className="setting-hint">{t`and ${count(more)} more`}</p>}
    </div>
  );
}

/** How a command ended, with a mark that does not depend on colour. */
function Exit({ code }: { code: number | null }) {
  return (
    <span className={`end fixed figures text-1 medium ${code === 0 ? 'good' : 'danger'}`}>
      {code === null ? `✕ ${t`cut short`}` : `${code === 0 ? '✓' : '✕'} ${code}`}
    </span>
  );
}

function Checks({ checks }: Pick<Receipt, 'checks'>) {
  if (checks.length === 0) return null;
  return (
    <div>
      <h5 className="ink-3 text-1 medium">{plural(checks.length, 'check')}</h5>
      {checks.map((check, at) => (
        // A failed check is what the person looks for.
        <details key={at} open={check.code !== 0}>
          <summary className="line gap-4 touchable">
            <ChevronIcon />
            <code className="text-2 break truncate narrow" dir="ltr">
              {revealedLine(check.command)}
            </code>{' '}
            <Exit code={check.code} />
          </summary>
          {check.output === '' ? (
            <p className="setting-hint">{t`nothing`}</p>
          ) : (
            // Scrollable where it is too long, by keyboard too.
            <pre
              className="short break as-written ground-0 round-s pad scroll framed code-small"
              dir="ltr"
              // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
              tabIndex={0}
              role="region"
              aria-label={t`End of the output`}
            >
              {revealedCode(check.output)}
            </pre>
          )}
        </details>
      ))}
    </div>
  );
}

/** `inReview`: files and commits are beside it. */
function ReceiptView({ receipt, inReview }: { receipt: Receipt; inReview: boolean }) {
  const isGit = useBoard().project.kind === 'git';
  const {
    commands,
    moreCommands,
    files,
    moreFiles,
    commits,
    moreCommits,
    uncommitted,
    elsewhere,
    rewritten,
    checks,
    pushes,
    approvals,
  } = receipt;
  return (
    <div className="text-2 stack gap-5">
      {files.length === 0 && commits.length === 0 && <p className="text-2 ink-3">{t`Nothing was changed.`}</p>}
      <Checks checks={checks} />
      <Some items={inReview ? [] : files} more={moreFiles} title={plural(files.length + moreFiles, 'file')}>
        {({ path, status, added, removed }) => (
          <li key={path} className="flex baseline wrap ink-2 gap-3">
            <code className="ink" dir="ltr">
              {revealedLine(path)}
            </code>
            {status !== 'changed' && <span className="tag">{FILE_STATUS[status]}</span>}
            <LineCounts added={added} removed={removed} />
          </li>
        )}
      </Some>
      {uncommitted.length > 0 && (
        <div>
          <h5>{t`In no commit`}</h5>
          <ul>
            {uncommitted.map((path) => (
              <li className="flex baseline wrap ink-2 gap-3" key={path}>
                <code dir="ltr">{revealedLine(path)}</code>
              </li>
            ))}
          </ul>
        </div>
      )}
      <Some items={elsewhere} more={0} title={t`Commits that are not on the branch`}>
        {({ commit, subject }) => (
          <li key={commit}>
            <code dir="ltr">{commit.slice(0, SHORT_COMMIT)}</code> <span dir="auto">{revealed(subject)}</span>
          </li>
        )}
      </Some>
      <Some items={rewritten} more={0} title={t`Rewritten commits`}>
        {({ ref, commit, subject }) => (
          <li key={ref}>
            <code dir="ltr">{commit.slice(0, SHORT_COMMIT)}</code> <span dir="auto">{revealed(subject)}</span>{' '}
            <small>
              <code dir="ltr">{ref}</code>
            </small>
          </li>
        )}
      </Some>
      <Some
        items={isGit && !inReview ? commits : []}
        more={moreCommits}
        title={plural(commits.length + moreCommits, 'commit')}
      >
        {({ commit, subject }) => (
          <li key={commit}>
            <code dir="ltr">{commit.slice(0, SHORT_COMMIT)}</code> <span dir="auto">{revealed(subject)}</span>
          </li>
        )}
      </Some>
      {pushes.length > 0 && (
        <p className="break ink-3 text-2">
          {t`Pushed:`} <code dir="ltr">{pushes.join(', ')}</code>
        </p>
      )}
      {approvals.length > 0 && (
        <div>
          <h5>{t`What you were asked`}</h5>
          <ul>
            {approvals.map(({ tool, allowed }, at) => (
              <li className="flex baseline wrap ink-2 gap-3" key={at}>
                <code dir="ltr">{tool}</code>{' '}
                <span>
                  {allowed === null ? t`not answered` : allowed ? t`You said yes` : asBeginning(t`you said no`)}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {receipt.tokens !== null && <p className="break ink-3 text-2">{t`${tokens(receipt.tokens)} tokens`}</p>}
      {commands.length > 0 && (
        <Fold summary={<span>{plural(commands.length + moreCommands, 'command')}</span>}>
          <ol className="receipt-commands short scroll stack gap-2">
            {commands.map(({ command, code, ms }, at) => (
              <li className="stack baseline gap-4" key={at}>
                <code className="as-written text-2 break" dir="ltr">
                  {revealedCode(command)}
                </code>{' '}
                <Exit code={code} />
                <small className="figures text-end">{t`${(ms / 1_000).toFixed(1)} s`}</small>
              </li>
            ))}
          </ol>
        </Fold>
      )}
    </div>
  );
}

/** What a second mind says, which saw the criteria, the diff and the checks. */
function SecondReview({ review }: { review: NonNullable<Attempt['review']> }) {
  const { known } = useBoard();
  const { by, model, criteria, error } = review;
  return (
    <div className="above-5 text-2">
      <h5>{t`${t`Automatic reviewer`}: ${`${known.nameOf(by)}, ${model}`}`}</h5>
      {error !== null && <p className="text-2 ink-3">{error}</p>}
      <ul>
        {criteria.map(({ text, verdict, why }, at) => (
          <li className="flex baseline wrap ink-2 gap-3" key={at}>
            <span className="tag" data-tone={VERDICTS[verdict].tone}>
              {VERDICTS[verdict].name}
            </span>
            <b dir="auto">{revealed(text)}</b>
            {why !== '' && (
              <p className="full" dir="auto">
                {revealed(why)}
              </p>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

interface AttemptProps {
  readonly attempt: Attempt;
  readonly isOpen: boolean;
  readonly inReview: boolean;
}

function AttemptView({ attempt, isOpen, inReview }: AttemptProps) {
  const { project, known, now } = useBoard();
  const { agentId, number, kind, model, outcome, startedAt, endedAt, branch, receipt, spent, note, noteBy, review } =
    attempt;
  const used = receipt ?? spent;
  const { name, tone } = outcome === null ? UNDER_WAY : OUTCOMES[outcome];
  const who = known.nameOf(agentId);
  return (
    <li>
      <details className="attempt box ground-2" open={isOpen}>
        <summary className="pad line gap-4 touchable">
          <ChevronIcon />
          <span className="size-s fixed">
            <FaceOf agentId={agentId} />
          </span>
          <span className="stack fill">
            <b className="text-3 break" dir="auto">
              {kind === 'executor' ? t`Executor of ${who}` : who}
            </b>
            <small className="figures text-1">
              {[
                endedAt === null
                  ? t`since ${clockTime(startedAt)}`
                  : `${dayAndClock(startedAt, now)}, ${duration(endedAt - startedAt)}`,
                ...(used === null ? [] : [spentText(used)]),
              ].join(' · ')}
            </small>
            <span className="tag self-start above-2" data-tone={tone}>
              {name}
            </span>
          </span>
        </summary>
        {receipt !== null ? (
          <ReceiptView receipt={receipt} inReview={inReview && isOpen} />
        ) : (
          outcome !== null && <p className="text-2 ink-3">{t`There is no record of what it did.`}</p>
        )}
        {review !== null && <SecondReview review={review} />}
        {note !== '' && (
          <div className="indented above-5">
            <h5 className="ink-3 text-1 medium">{noteBy === 'agent' ? who : noteBy === 'human' ? t`You` : t`Roost`}</h5>
            <div className="above-2 narrow break ink-2 full text-3">
              <Words text={noteBy === 'relay' ? retold(note) : note} />
            </div>
          </div>
        )}
        <p className="break ink-3 text-2 above-5">
          <span>{t`Attempt ${String(number)}`}</span>{' '}
          {project.kind === 'git' && (
            <code className="text-2 break" dir="ltr">
              {branch}
            </code>
          )}{' '}
          {model !== null && <span>{model}</span>}
        </p>
      </details>
    </li>
  );
}

/** Chip with the state of a request. */
export function RequestState({ state }: Pick<MergeRequest, 'state'>) {
  const { name, tone } = REQUEST_STATES[state];
  return (
    <span className="tag" data-tone={tone}>
      {name}
    </span>
  );
}

/** Opens the request of a task, or sends it to the forge again. */
function OpenRequest({ task, label }: { task: Task; label: string }) {
  const work = taskWorkOf(useRoost());
  const { away } = useBoard();
  const { busy, failed, act } = useAction();
  return (
    <>
      <button type="button" className="ghost" disabled={away || busy} onClick={() => act(() => work.openRequest(task))}>
        {label}
      </button>
      <WrongNote text={failed} />
    </>
  );
}

/** The request of a task, and the way to what was changed. */
export function TaskRequest({ task }: { task: Task }) {
  const { project, known, now } = useBoard();
  const { request } = task;
  if (request === null) return null;
  const { state, title, by, updatedAt, url, forgeProblem } = request;
  const isLeft = state !== 'open' && kindOfColumn(project, task.columnId) === 'review';
  return (
    <section
      className="task-request pad-wide box stack at-start gap-3 break ground-2"
      data-state={state}
      aria-label={t`Request to merge`}
    >
      <p className="task-request-head gap-4 cluster">
        <RequestState state={state} />
        <time className="ink-3 text-1" dateTime={new Date(updatedAt).toISOString()}>
          {dayAndClock(updatedAt, now)}
        </time>
      </p>
      {title !== task.title && (
        <p>
          <b dir="auto">{title}</b>
        </p>
      )}
      <p dir="auto">{known.nameOf(by)}</p>
      <Link
        className={state === 'open' ? 'solid above-4' : 'ghost above-4'}
        href={PATHS.review(task.projectId, task.number)}
      >
        {state === 'open' ? t`Review` : t`Show the changes`}
      </Link>
      {url !== null && (
        <a className="text-2" href={url} target="_blank" rel="noreferrer" dir="ltr">
          {revealedLine(url)}
        </a>
      )}
      {forgeProblem !== null && (
        <p className="wrong-note" role="status">
          {t`The request on the forge is not up to date. ${retold(forgeProblem)}`}
        </p>
      )}
      {forgeProblem !== null && state === 'open' && <OpenRequest task={task} label={t`Try again`} />}
      {isLeft && <OpenRequest task={task} label={t`Open a request`} />}
    </section>
  );
}

/** What was tried, newest first, and its cost. `inReview`: the changes are beside it. */
export function TaskAttempts({ task, inReview = false }: { task: Task; inReview?: boolean }) {
  const { project } = useBoard();
  const query = taskWorkOf(useRoost()).attempts(task);
  const state = useQuery(query);
  const attempts = state.kind === 'ready' ? state.value : [];
  const problem = <QueryProblem query={query} state={state} before={state.kind === 'ready'} />;
  if (attempts.length === 0) return state.kind === 'failed' ? problem : null;
  const receipts = attempts.flatMap(({ receipt }) => receipt ?? []);
  const used = attempts.flatMap(({ receipt, spent }) => receipt ?? spent ?? []);
  const reviews = attempts.flatMap(({ review }) => review ?? []);
  const sum = spentOf([
    ...used,
    ...reviews.map(({ costMicroUsd, estimated }) => ({ costMicroUsd, tokens: null, estimated })),
  ]);
  const hasChange = receipts.some(({ files, commits }) => files.length + commits.length > 0);
  return (
    <section aria-label={t`Attempts`}>
      <h3 className="eyebrow flex gap-4 ink-3 text-1 under-4">
        <b>{t`Attempts`}</b>{' '}
        {used.length + reviews.length > 1 && (
          <span>{sum.tokens === null ? spentText(sum) : `${costText(sum)} · ${t`${tokens(sum.tokens)} tokens`}`}</span>
        )}
      </h3>
      {problem}
      <ol className="attempts stack gap-4">
        {attempts.map((attempt, at) => (
          <AttemptView key={attempt.attemptId} attempt={attempt} isOpen={at === 0} inReview={inReview} />
        ))}
      </ol>
      {task.request === null && hasChange && (
        <>
          {!inReview && (
            <Link
              className="ghost above-4"
              href={PATHS.review(task.projectId, task.number)}
            >{t`Show the changes`}</Link>
          )}
          {kindOfColumn(project, task.columnId) === 'review' && <OpenRequest task={task} label={t`Open a request`} />}
        </>
      )}
    </section>
  );
}
