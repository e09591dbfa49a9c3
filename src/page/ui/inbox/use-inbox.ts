import { useEffect, useMemo } from 'react';
import { approvalsOf } from '../../state/approvals.ts';
import { dreamsOf } from '../../state/dreams.ts';
import { examsOf } from '../../state/exams.ts';
import { inboxOf, waitingTasksOf } from '../../state/inbox.ts';
import { notificationsOf } from '../../state/notifications.ts';
import type { Query } from '../../state/query.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { threadsOf } from '../../state/threads/index.ts';
import { waitingOf } from '../../state/waiting.ts';
import { useHousehold, useRoost, useUnread } from '../context.tsx';
import { useCosts, USUAL_DAYS } from '../costs/budget-field.tsx';
import { useQuery } from '../hooks.ts';

/** The value of the relay; undefined while it is not known. */
function useValue<Value>(query: Query<Value>): Value | undefined {
  const state = useQuery(query);
  return state.kind === 'ready' ? state.value : undefined;
}

/** Keeps the one list of what waits up to date. Used once on the page. */
export function useKeptInbox(): void {
  const roost = useRoost();
  const schedules = schedulesOf(roost);
  const approvals = useValue(approvalsOf(roost).approvals);
  const tasks = useValue(waitingTasksOf(roost));
  const runs = useValue(schedules.runs);
  const listed = useValue(schedules.list);
  const proposals = useValue(schedules.proposals);
  const dreams = useValue(dreamsOf(roost).waiting);
  const exams = useValue(examsOf(roost).waiting);
  const threads = useValue(threadsOf(roost).list);
  const notified = useValue(notificationsOf(roost).shown);
  const costs = useCosts(USUAL_DAYS);
  const stopped = costs.kind === 'ready' ? costs.value.stopped : undefined;
  const counts = useUnread((state) => state.counts);
  const readTo = useHousehold(({ settings }) => settings.runsReadTo);
  const inbox = useMemo(
    () =>
      inboxOf({
        calls: approvals?.waiting ?? [],
        tasks: tasks ?? [],
        runs: runs ?? [],
        schedules: listed?.schedules ?? [],
        proposals: proposals ?? [],
        dreams: dreams ?? [],
        exams: exams ?? [],
        stopped: stopped ?? [],
        counts,
        threads: threads ?? [],
        notifications: notified?.open ?? [],
        readTo,
      }),
    [approvals, tasks, runs, listed, proposals, dreams, exams, stopped, counts, threads, notified, readTo],
  );
  useEffect(() => waitingOf(roost).setState(inbox), [roost, inbox]);
}
