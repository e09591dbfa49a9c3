import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { callsOf } from '../../state/calls.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { readDraft } from '../chat/drafts.ts';
import { useRoost, useUnread } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { plural } from '../text/sizes.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';

interface Wait {
  readonly key: string;
  readonly path: string;
  readonly words: ReactNode;
}

/** What only the person can do, each leading there: questions, what agents ask for, what was said, and what they began to write. */
function useWaits(): readonly Wait[] {
  const state = useRoost();
  const team = useTeammates();
  const counts = useUnread((unread) => unread.counts);
  const schedules = schedulesOf(state);
  const approvals = useQuery(callsOf(state).approvals);
  const proposals = useQuery(schedules.proposals);
  const list = useQuery(schedules.list);
  const asked = approvals.kind === 'ready' ? approvals.value.waiting : [];
  const nameOf = (agentId: string) => <bdi>{team.find(agentId).name}</bdi>;
  return [
    ...team
      .among([...new Set(asked.map(({ agentId }) => agentId))])
      .map(({ agentId }): readonly [string, number] => [
        agentId,
        asked.filter((call) => call.agentId === agentId).length,
      ])
      .map(([agentId, count]) => ({
        key: `call ${agentId}`,
        path: PATHS.approvals(agentId),
        words: <>{t`${plural(count, 'question')} of ${nameOf(agentId)}: yes or no?`}</>,
      })),
    ...(proposals.kind === 'ready' ? proposals.value : []).map(({ proposalId, agentId, routine }) => ({
      key: proposalId,
      path: PATHS.night(agentId),
      words: <>{t`${nameOf(agentId)} asks for a routine: “${<bdi>{routine.name}</bdi>}”`}</>,
    })),
    ...(list.kind === 'ready' ? list.value.schedules : []).flatMap(({ scheduleId, schedule, pausedWhy, elsewhere }) =>
      pausedWhy === null || elsewhere !== null
        ? []
        : [
            {
              key: scheduleId,
              path: PATHS.night(schedule.agentId),
              words: (
                <>{t`“${<bdi>{schedule.name}</bdi>}” of ${nameOf(schedule.agentId)} is paused until you switch it on`}</>
              ),
            },
          ],
    ),
    ...[...counts].flatMap(([agentId, count]) =>
      count === 0
        ? []
        : [
            {
              key: `unread ${agentId}`,
              path: PATHS.agent(agentId),
              words: <>{t`${plural(count, 'message')} from ${nameOf(agentId)}`}</>,
            },
          ],
    ),
    ...team.all.flatMap(({ agentId, retired }) =>
      retired || readDraft(state.device.browser, agentId).trim() === ''
        ? []
        : [
            {
              key: `draft ${agentId}`,
              path: PATHS.agent(agentId),
              words: <>{t`Your message to ${nameOf(agentId)}, begun and not sent`}</>,
            },
          ],
    ),
  ];
}

/** Nothing where nothing waits. */
export function Waits() {
  const waits = useWaits();
  if (waits.length === 0) return null;
  return (
    <div className="morning-waits">
      <h3 id="morning-waits">{t`Waits for you`}</h3>
      <ul aria-labelledby="morning-waits">
        {waits.map(({ key, path, words }) => (
          <li key={key}>
            <Link href={path}>{words}</Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
