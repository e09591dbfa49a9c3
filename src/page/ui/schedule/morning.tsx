/** What happened since the person was last here, in one line above the grid and in the inbox. */
import { useEffect } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { t } from '../../language/t.ts';
import { onePerPage } from '../../state/per-page.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { waitingOf } from '../../state/waiting.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { CloseIcon } from '../design/icons.tsx';
import { useQuery } from '../hooks.ts';
import { waitsText } from '../inbox/words.ts';
import { PATHS } from '../routes.ts';
import { costText } from '../text/money.ts';
import { plural } from '../text/sizes.ts';
import { useTeammates } from '../use-somebody.ts';
import { activityOf, idleIn, useOpenedAt } from './activity-list.tsx';
import { attemptsOfClients, useEndedAttempts } from './receipts.tsx';
import { LEFT_OUT } from './words.ts';
import './morning.css';

const HOUR = 3_600_000;
/** Longest period, in hours, that the relay reports at once. */
const MOST_HOURS = 168;

/** Put away up to here, before the ledger says so; ms since the epoch. */
const putAwayOf = onePerPage(() => createStore<{ readonly upTo: number }>()(() => ({ upTo: 0 })));

/** What ended since `from`; ms since the epoch. null: not known yet. */
export function useReport(from: number) {
  const state = useRoost();
  const team = useTeammates();
  const opened = useOpenedAt();
  const since = Math.max(from, opened - MOST_HOURS * HOUR);
  const hours = Math.min(MOST_HOURS, Math.max(1, Math.ceil((opened - since) / HOUR) + 1));
  const timeline = useQuery(schedulesOf(state).timeline(hours));
  const ended = useEndedAttempts(hours);
  if (timeline.kind !== 'ready') return null;
  const { occurrences, leftOut } = timeline.value;
  const lines = activityOf(occurrences, since, opened);
  const attempts = ended.filter(({ endedAt }) => endedAt > since && endedAt <= opened);
  const spent = {
    costMicroUsd: lines.reduce((sum, { costMicroUsd }) => sum + costMicroUsd, 0),
    estimated: lines.some(({ estimated }) => estimated),
  };
  return {
    ...{ since, opened, lines, attempts, spent },
    byClients: attemptsOfClients(attempts),
    workers: team.among([...new Set(lines.filter(({ ran }) => ran).map(({ agentId }) => agentId))]),
    idle: idleIn(occurrences, since, opened),
    leftOut: leftOut?.occurrences === true ? LEFT_OUT : null,
    // A person who never put a report away was not away since the beginning of time.
    isCut: from > 0 && from < since,
  };
}
export type Report = NonNullable<ReturnType<typeof useReport>>;

export const isEmpty = ({ lines, byClients }: Report) => lines.length === 0 && byClients.length === 0;

/** `2 agents worked · $0.02 · 1 review` */
export function useSummary(report: Report): string {
  const { waits } = useStore(waitingOf(useRoost()));
  const { workers, spent } = report;
  const outcomes = waits.filter(({ kind }) => kind === 'review' || kind === 'failed' || kind === 'blocked');
  return [
    ...(workers.length > 0 ? [plural(workers.length, 'agent worked', 'agents worked')] : []),
    costText(spent),
    ...(outcomes.length > 0 ? [waitsText(outcomes)] : []),
  ].join(' · ');
}

function usePutAway(report: Report): () => void {
  const roost = useRoost();
  const actions = useActions();
  const { runsReadTo, runsReadFrom } = useHousehold(({ settings }) => settings);
  const { notices } = roost;
  const putAway = putAwayOf(roost);
  return () => {
    // Hidden at once. If that could not be stored, it appears again.
    putAway.setState({ upTo: report.opened });
    const saved = actions.saveSettings({ runsReadFrom: report.since, runsReadTo: report.opened });
    void saved.then((done) => {
      if (!done.ok) {
        putAway.setState({ upTo: 0 });
        return notices.error(t`Could not save this. ${done.reason}`);
      }
      notices.info(t`Dismissed`, {
        label: t`Undo`,
        run: () => {
          putAway.setState({ upTo: 0 });
          void actions.saveSettings({ runsReadFrom, runsReadTo });
        },
      });
    });
  };
}

function Line({ report }: { report: Report }) {
  const summary = useSummary(report);
  const putAway = usePutAway(report);
  return (
    <section className="morning-line line gap-4 text-3 round pad-block-3" aria-label={t`While you were away`}>
      <p className="fill">{summary}</p>
      <Link href={PATHS.morning} className="ghost">{t`Read`}</Link>
      <button type="button" className="icon-button" aria-label={t`Put away`} title={t`Put away`} onClick={putAway}>
        <CloseIcon />
      </button>
    </section>
  );
}

/** Tells the tiles until when agents were at work before this page was opened. */
function useRunEnds(): void {
  const roost = useRoost();
  const runs = useQuery(schedulesOf(roost).runs);
  useEffect(() => {
    if (runs.kind !== 'ready') return;
    const ended = new Map(roost.live.store.getState().ranUntil);
    for (const { runId, agentId, endedAt } of runs.value)
      if (runId !== null && endedAt !== null) ended.set(agentId, Math.max(endedAt, ended.get(agentId) ?? 0));
    roost.live.store.setState({ ranUntil: ended });
  }, [roost, runs]);
}

/** One line until the person puts it away, on any device. Nothing if nothing happened. */
export default function MorningLine() {
  useRunEnds();
  const ready = useHousehold(({ status }) => status === 'ready');
  const readTo = useHousehold(({ settings }) => settings.runsReadTo);
  const upTo = useStore(putAwayOf(useRoost()), (state) => state.upTo);
  const report = useReport(Math.max(readTo, upTo));
  return !ready || report === null || isEmpty(report) ? null : <Line report={report} />;
}
