/** What came of the work on tasks, as the relay found it: one line for each attempt. */
import { Link } from 'wouter';
import type { RunId } from '../../../shared/domain/ids.ts';
import type { EndedAttempt } from '../../../shared/protocol/attempts.ts';
import { t } from '../../language/t.ts';
import { endedAttemptsOf } from '../../state/ended-attempts.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { OUTCOMES, spentText } from '../projects/work-words.ts';
import { PATHS } from '../routes.ts';
import { count, plural } from '../text/sizes.ts';
import { useTeammates } from '../use-somebody.ts';

/** Attempts at tasks that ended in these hours, newest first; none as long as they are not read. */
export function useEndedAttempts(hours: number): readonly EndedAttempt[] {
  const state = useQuery(endedAttemptsOf(useRoost())(hours));
  return state.kind === 'ready' ? state.value : NONE;
}
const NONE: readonly EndedAttempt[] = [];

/** The attempts of an agent, and those of its executors at the same tasks. */
const withExecutors = (own: readonly EndedAttempt[], all: readonly EndedAttempt[]): readonly EndedAttempt[] =>
  all.filter(
    (attempt) =>
      own.includes(attempt) ||
      (attempt.kind === 'executor' &&
        own.some(
          ({ agentId, taskId, startedAt, endedAt }) =>
            agentId === attempt.agentId &&
            taskId === attempt.taskId &&
            startedAt <= attempt.startedAt &&
            attempt.startedAt <= endedAt,
        )),
  );

/** The attempts of these runs. */
export const attemptsOf = (runIds: readonly RunId[], all: readonly EndedAttempt[]): readonly EndedAttempt[] =>
  withExecutors(
    all.filter(({ kind, runId }) => kind === 'agent' && runId !== null && runIds.includes(runId)),
    all,
  );

/** The attempts of API clients, which have no runs here. */
export const attemptsOfClients = (all: readonly EndedAttempt[]): readonly EndedAttempt[] =>
  withExecutors(
    all.filter(({ kind, runId }) => kind === 'agent' && runId === null),
    all,
  );

/** `2 commits · 3 files +10 −2 · 2 checks passed, 1 failed · $0.12` */
function receiptText({ receipt }: EndedAttempt): string {
  if (receipt === null) return t`There is no record of what it did.`;
  const { commits, files, added, removed, checks } = receipt;
  return [
    ...(commits === null || commits === 0 ? [] : [plural(commits, 'commit')]),
    files === 0 ? t`Nothing was changed.` : `${plural(files, 'file')} +${count(added)} −${count(removed)}`,
    ...(checks.failed > 0
      ? [t`${count(checks.failed)} of ${plural(checks.passed + checks.failed, 'check')} failed`]
      : checks.passed > 0
        ? [t`${plural(checks.passed, 'check')} passed`]
        : []),
    spentText(receipt),
  ].join(' · ');
}

/** `named`: each with the name of its agent. */
export function Receipts({ attempts, named = false }: { attempts: readonly EndedAttempt[]; named?: boolean }) {
  const team = useTeammates();
  if (attempts.length === 0) return null;
  return (
    <ul className="schedule-receipts stack gap-1" aria-label={t`Receipts`}>
      {attempts.map((attempt) => {
        const { attemptId, projectId, taskId, agentId, kind, outcome, task } = attempt;
        const { name, tone } = OUTCOMES[outcome ?? 'ended'];
        const agentName = team.find(agentId).name;
        return (
          <li className="baseline wrap break" key={attemptId}>
            <Link href={PATHS.task(projectId, taskId)}>
              <span dir="auto">{`#${task.number} ${task.title}`}</span>
            </Link>
            {(named || kind === 'executor') && (
              <small dir="auto">{kind === 'executor' ? t`Executor of ${agentName}` : agentName}</small>
            )}
            <small className={tone === 'good' ? 'good' : tone === 'bad' || tone === 'warn' ? 'warn' : undefined}>
              {name}
            </small>
            <small>{receiptText(attempt)}</small>
          </li>
        );
      })}
    </ul>
  );
}
