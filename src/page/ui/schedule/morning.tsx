/** The card above the grid that summarises what happened since the person was last here. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { WAITS_FOR_YES } from '../../../shared/protocol/schedules.ts';
import { callsOf } from '../../state/calls.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { readDraft } from '../chat/drafts.ts';
import { useActions, useHousehold, useRoost, useUnread } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { costText } from '../text/money.ts';
import { names, plural } from '../text/sizes.ts';
import { useQuery } from '../hooks.ts';
import { useTeammates } from '../use-somebody.ts';
import { ActivityList, activityOf, idleIn, useOpenedAt } from './activity-list.tsx';
import { attemptsOfClients, Receipts, useEndedAttempts } from './receipts.tsx';
import { pastLeftOutText } from './words.ts';
import './morning.css';

const HOUR = 3_600_000;
/** Longest period, in hours, that the relay reports at once. */
const MOST_HOURS = 168;

interface Wait {
  readonly key: string;
  readonly path: string;
  readonly words: ReactNode;
}

/**
 * What only the person can do, each with a link: questions, proposals, unread messages and drafts.
 */
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
        path: PATHS.inbox,
        words: <>{t`${plural(count, 'question')} of ${nameOf(agentId)}: yes or no?`}</>,
      })),
    ...(proposals.kind === 'ready' ? proposals.value : []).map(({ proposalId, agentId, routine }) => ({
      key: proposalId,
      path: PATHS.schedule(agentId),
      words: <>{t`${nameOf(agentId)} asks for a routine: “${<bdi>{routine.name}</bdi>}”`}</>,
    })),
    ...(list.kind === 'ready' ? list.value.schedules : []).flatMap(({ scheduleId, schedule, pausedWhy, elsewhere }) =>
      pausedWhy === null || pausedWhy === WAITS_FOR_YES || elsewhere !== null
        ? []
        : [
            {
              key: scheduleId,
              path: PATHS.schedule(schedule.agentId),
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

/** Renders nothing if nothing waits. */
function Waits() {
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

/**
 * Summary of what happened since the person was last here. It is shown once, until it is closed on
 * any device. Wakes can open it `again`, with what was added since.
 */
export default function Morning({ again }: { again: boolean }) {
  const state = useRoost();
  const actions = useActions();
  const { go } = useRoute();
  const team = useTeammates();
  const ready = useHousehold(({ status }) => status === 'ready');
  const { runsReadTo, runsReadFrom } = useHousehold(({ settings }) => settings);
  const [closed, setClosed] = useState(0);
  const opened = useOpenedAt();
  const wanted = again ? runsReadFrom : Math.max(runsReadTo, closed);
  const since = Math.max(wanted, opened - MOST_HOURS * HOUR);
  // A person who never closed one was not away since the beginning of time.
  const isCut = wanted > 0 && wanted < since;
  const hours = Math.min(MOST_HOURS, Math.max(1, Math.ceil((opened - since) / HOUR) + 1));
  const timeline = useQuery(schedulesOf(state).timeline(hours));
  const ended = useEndedAttempts(hours);
  if (!ready || timeline.kind !== 'ready') return null;
  const { occurrences, leftOut } = timeline.value;
  const lines = activityOf(occurrences, since, opened);
  const attempts = ended.filter(({ endedAt }) => endedAt > since && endedAt <= opened);
  const byClients = attemptsOfClients(attempts);
  if (lines.length === 0 && byClients.length === 0 && !again) return null;
  const cost = lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0);
  const estimated = lines.some((line) => line.estimated);
  const workers = team.among([...new Set(lines.filter(({ ran }) => ran).map(({ agentId }) => agentId))]);
  const who = names(workers.map(({ name }) => name));
  const spent = cost > 0 ? t`, for ${costText({ costMicroUsd: cost, estimated })} in all` : t`, which cost nothing`;
  const idle = idleIn(occurrences, since, opened);
  const close = () => {
    // Hidden at once. If that could not be stored, it appears again.
    setClosed(opened);
    if (again) go(PATHS.hearth);
    void actions.saveSettings({ runsReadFrom: since, runsReadTo: opened }).then((done) => {
      if (!done.ok) return state.notices.error(t`This could not be put away for good: ${done.reason}`);
      state.notices.info(t`What was done while you were away is put away.`, {
        label: t`Undo`,
        run: () => {
          setClosed(0);
          void actions.saveSettings({ runsReadFrom, runsReadTo });
        },
      });
    });
  };
  return (
    <section className="morning" aria-label={t`While you were away`}>
      <header>
        <h2>{t`While you were away`}</h2>
        <button type="button" className="icon-button" aria-label={t`Put this away`} onClick={close}>
          <CloseIcon />
        </button>
      </header>
      {workers.length > 0 && (
        <p className="morning-sum">
          {workers.length === 1 ? t`${who} was at work${spent}.` : t`${who} were at work${spent}.`}
        </p>
      )}
      <Receipts attempts={byClients} named />
      {lines.length === 0 && byClients.length === 0 && (
        <p className="query-quiet">{t`Nothing to tell of the last 7 days.`}</p>
      )}
      {lines.length > 0 && <ActivityList lines={lines} attempts={attempts} />}
      {isCut && lines.length > 0 && (
        <p className="morning-sum">{t`You were away for longer. This is about the last 7 days.`}</p>
      )}
      {leftOut?.occurrences === true && <p className="morning-sum">{pastLeftOutText(timeline.value)}</p>}
      {idle > 0 && (
        <p className="morning-sum">
          {idle === 1
            ? t`Once, nothing waited when they looked: no model was asked, and it cost nothing.`
            : t`${idle} times, nothing waited when they looked: no model was asked, and it cost nothing.`}
        </p>
      )}
      <Waits />
      <p>
        <Link href={PATHS.schedule()}>{t`All of it, in the schedule`}</Link>
      </p>
    </section>
  );
}
