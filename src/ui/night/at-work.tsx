import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentId, RunId } from '../../domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Occurrence } from '../../protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { PATHS } from '../routes.ts';
import { clockTime } from '../text/time.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';
import { whatText } from './words.ts';

function LiveRun({ run, runId }: { run: Occurrence; runId: RunId }) {
  const schedules = schedulesOf(useRoost());
  const mate = useTeammates().find(run.agentId);
  const [stopping, setStopping] = useState(false);
  const stop = () => {
    if (stopping) return;
    setStopping(true);
    void schedules.stopRun(runId).finally(() => setStopping(false));
  };
  return (
    <li className="at-work">
      <span className="routine-face">
        <FaceOf agentId={mate.agentId} />
      </span>
      <p>
        <Link href={PATHS.agent(mate.agentId)} className="name-link tint" style={{ '--c': mate.color }}>
          <span dir="auto">{mate.name}</span>
        </Link>{' '}
        <span dir="auto">{whatText(run)}</span>
        {run.startedAt !== null && <small>{t`since ${clockTime(run.startedAt)}`}</small>}
      </p>
      <div className="routine-ways">
        <Link
          href={PATHS.agent(mate.agentId)}
          className="ghost"
          aria-label={t`Watch ${mate.name}: ${whatText(run)}`}
        >{t`Watch`}</Link>
        <button
          type="button"
          className="ghost"
          aria-label={t`Stop ${mate.name}: ${whatText(run)}`}
          disabled={stopping}
          onClick={stop}
        >
          {stopping ? t`Stopping…` : t`Stop`}
        </button>
      </div>
    </li>
  );
}

/** Runs that go on: each can be watched as it happens, and stopped. Nothing where nobody is at work alone. */
export function AtWork({ agentId }: { agentId: AgentId | null }) {
  const live = useQuery(schedulesOf(useRoost()).live);
  if (live.kind !== 'ready') return null;
  const shown = live.value.filter((run) => agentId === null || run.agentId === agentId);
  if (shown.length === 0) return null;
  return (
    <section className="night-block" aria-labelledby="night-live">
      <h2 id="night-live">{t`At work now`}</h2>
      <ul className="routines">
        {shown.flatMap((run) => (run.runId === null ? [] : [<LiveRun key={run.runId} run={run} runId={run.runId} />]))}
      </ul>
    </section>
  );
}
