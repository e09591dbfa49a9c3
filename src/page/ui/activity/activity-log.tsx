/** One log of wakes, runs and tool calls, newest first. */
import { Fragment, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { createStore } from 'zustand/vanilla';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Occurrence } from '../../../shared/protocol/schedules.ts';
import { retold, t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import type { Paged } from '../../state/pages.ts';
import { projectsOf } from '../../state/projects.ts';
import type { QueryState } from '../../state/query.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { CallLine } from '../approvals/call-log.tsx';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { FilesOfRun } from '../files/files-of-run.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { OneOf } from '../design/one-of.tsx';
import { QueryLoading, QueryProblem } from '../parts/page-head.tsx';
import { PATHS, type ActivityKind } from '../routes.ts';
import { GoOn } from '../schedule/activity-list.tsx';
import { useEndedAttempts } from '../schedule/receipts.tsx';
import { outcomeText, spentText, toneOf, whatText } from '../schedule/words.ts';
import { byDay } from '../text/by-day.ts';
import { plural } from '../text/sizes.ts';
import { clockTime } from '../text/time.ts';
import { useTeammates } from '../use-somebody.ts';
import { byClick, WakeGroup } from '../wakes/wake-feed.tsx';
import { isOfProject, type LogSource, mergeLog } from './log.ts';
import { useAction } from '../design/use-action.ts';

type LogKind = Exclude<ActivityKind, 'changes' | 'costs'>;

interface Entry {
  readonly key: string;
  readonly agentId: AgentId;
  readonly time: number;
  readonly line: ReactNode;
}

/** Stands for a source that is not shown. */
const NONE: Paged<never> = {
  store: createStore(() => ({
    kind: 'ready' as const,
    value: { rows: [], more: false },
    stale: false,
    problem: null,
  })),
  subscribe: () => () => undefined,
  again: () => Promise.resolve(),
  put: () => undefined,
  amend: () => undefined,
  pages: {
    older: () => Promise.resolve(null),
    toBeginning: () => Promise.resolve(true),
    until: () => Promise.resolve({ there: false, wrong: null }),
    stop: () => undefined,
  },
};

function RunLine({ run, named }: { run: Occurrence; named: boolean }) {
  const [open, setOpen] = useState(false);
  const mate = useTeammates().find(run.agentId);
  const spent = spentText(run);
  return (
    <li className="ground-1">
      <details
        className="run-line"
        data-tone={toneOf(run)}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary className="line gap-4 text-2 touchable pad-3-5">
          <time className="ink-2 truncate" dateTime={new Date(run.startedAt ?? run.dueAt).toISOString()}>
            {clockTime(run.startedAt ?? run.dueAt)}
          </time>
          <span className="log-face truncate" aria-hidden="true">
            <FaceOf agentId={run.agentId} />
          </span>
          <span className="truncate" dir="auto">
            {named ? `${mate.name}: ${whatText(run)}` : whatText(run)}
          </span>
          <small className="ink-2 text-1 truncate">
            <i className="tone-mark rounded fixed inline-block" aria-hidden="true" /> {outcomeText(run)}
          </small>
          {spent !== '' && <small className="ink-2 text-1 truncate">{spent}</small>}
        </summary>
        {open && (
          <div className="run-more stack gap-4 text-3">
            {run.detail !== null && <p>{retold(run.detail)}</p>}
            {run.said !== null && run.said !== '' && <Words text={run.said} />}
            <p className="gap-4 above-3 flex wrap text-2">
              <Link href={PATHS.agent(run.agentId)}>{mate.name}</Link>
              {run.runId !== null && <FilesOfRun agentId={run.agentId} runId={run.runId} />}
              <GoOn run={run} />
            </p>
          </div>
        )}
      </details>
    </li>
  );
}

const rowsOf = <Row,>(state: QueryState<{ readonly rows: readonly Row[]; readonly more: boolean }>) =>
  state.kind === 'ready' ? state.value : { rows: [], more: state.kind === 'loading' };

/** What is read of the three sources, and how each is read on. */
function useSources(kind: LogKind, agentId: AgentId | null) {
  const roost = useRoost();
  const shows = (one: LogKind) => kind === 'all' || kind === one;
  const queries = {
    wakes: shows('wakes') ? wakeQueries(roost).wakes(agentId) : NONE,
    runs: shows('runs') ? schedulesOf(roost).runLog(agentId) : NONE,
    calls: shows('calls') ? approvalsOf(roost).account(agentId) : NONE,
  };
  const [wakes, runs, calls] = [useQuery(queries.wakes), useQuery(queries.runs), useQuery(queries.calls)];
  const [open, setOpen] = useState<string | null>(null);
  const named = agentId === null;
  const sources: readonly LogSource<Entry>[] = [
    {
      more: rowsOf(wakes).more,
      entries: byClick(rowsOf(wakes).rows).flatMap((group) => {
        const [newest] = group;
        const first = group.at(-1);
        if (!newest || !first) return [];
        // Keyed by the first wake, which stays the same while others are added.
        const line = <WakeGroup wakes={group} open={open} setOpen={setOpen} />;
        return [{ key: `wake ${first.decisionId}`, agentId: newest.target, time: newest.time, line }];
      }),
    },
    {
      more: rowsOf(runs).more,
      entries: rowsOf(runs).rows.map((run) => ({
        key: `run ${run.runId ?? run.dueAt}`,
        agentId: run.agentId,
        time: run.startedAt ?? run.dueAt,
        line: <RunLine run={run} named={named} />,
      })),
    },
    {
      more: rowsOf(calls).more,
      entries: rowsOf(calls).rows.map((call) => ({
        key: `call ${call.callId}`,
        agentId: call.agentId,
        time: call.askedAt,
        line: <CallLine call={call} named={named} />,
      })),
    },
  ];
  const paged: readonly Paged<unknown>[] = [queries.wakes, queries.runs, queries.calls];
  return { sources, paged, states: [wakes, runs, calls] as const };
}

const DAY = 86_400_000;
/** Days of the filter; 0: any time. */
const PERIODS = [0, 1, 7] as const;
const PERIOD_TEXT: Readonly<Record<(typeof PERIODS)[number], string>> = {
  0: t`Any time`,
  1: plural(24, 'hour'),
  7: plural(7, 'day'),
};
/** Hours for which the relay knows which project an agent worked on. */
const PROJECT_HOURS = 168;

export function ActivityLog({ kind, agentId }: { kind: LogKind; agentId: AgentId | null }) {
  const roost = useRoost();
  const now = useNow();
  const { sources, paged, states } = useSources(kind, agentId);
  const projects = useQuery(projectsOf(roost).list);
  const attempts = useEndedAttempts(PROJECT_HOURS);
  const [projectId, setProjectId] = useState('');
  const [days, setDays] = useState<(typeof PERIODS)[number]>(0);
  const { busy, act } = useAction();
  const { entries, behind } = mergeLog(sources);
  const from = days === 0 ? 0 : now - days * DAY;
  const shown = entries.filter(
    (entry) => entry.time >= from && (projectId === '' || isOfProject(entry, projectId, attempts)),
  );
  const isLoading = states.some((state) => state.kind === 'loading');
  const mayHaveMore = behind.length > 0 && (entries.at(-1)?.time ?? Infinity) >= from;
  const older = () =>
    act(async () => {
      for (const at of behind) {
        const wrong = await paged[at]?.pages.older();
        if (wrong) roost.notices.error(wrong);
      }
    });
  return (
    <>
      <div className="log-filters gap-5 to-end cluster text-3">
        {projects.kind === 'ready' && projects.value.length > 0 && (
          <label>
            <span>{t`Project`}</span>{' '}
            <select className="field" value={projectId} onChange={({ target }) => setProjectId(target.value)}>
              <option value="">{t`All`}</option>
              {projects.value.map((project) => (
                <option key={project.projectId} value={project.projectId}>
                  {project.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <OneOf
          label={t`When`}
          options={PERIODS.map((value) => ({ value, text: PERIOD_TEXT[value] }))}
          value={days}
          onChange={setDays}
        />
      </div>
      {paged.map((query, at) => {
        const state = states[at];
        return state && <QueryProblem key={at} query={query} state={state} before={state.kind === 'ready'} />;
      })}
      {byDay(shown, now, ({ time }) => time).map(({ day, items }) => (
        <section key={day} className="log-day" aria-label={day}>
          <h3 className="ink-2 text-3">{day}</h3>
          <ul className="log scroll fill call-list wakes stack gap-3">
            {items.map(({ key, line }) => (
              <Fragment key={key}>{line}</Fragment>
            ))}
          </ul>
        </section>
      ))}
      {isLoading && entries.length === 0 && <QueryLoading />}
      {!isLoading && shown.length === 0 && (
        <p className="query-quiet ink-3 text-3">{t`What you and your agents do appears here.`}</p>
      )}
      {!isLoading && mayHaveMore && (
        <button type="button" className="ghost older flex" aria-disabled={busy} onClick={older}>
          {busy ? t`Loading…` : t`Show more`}
        </button>
      )}
    </>
  );
}
