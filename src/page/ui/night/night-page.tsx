import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentId, RunId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import type { Occurrence, Scheduled } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { FaceOf } from '../grid/face-of.tsx';
import { AgentSelect } from '../parts/agent-select.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { clockTime } from '../text/time.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';
import { StopSwitch } from '../wakes/stop-switch.tsx';
import ClockNote, { StoodNote } from './clock-note.tsx';
import { StandingCopies } from './copies.tsx';
import { EXAMPLES, type Draft } from './draft.ts';
import { Elsewhere } from './elsewhere.tsx';
import { Lately } from './lately.tsx';
import { Proposals } from './proposals.tsx';
import { AgentGroup } from './routines.tsx';
import { NightTimeline } from './timeline.tsx';
import { useEditor } from './use-editor.tsx';
import { useOpenedAt } from './use-opened-at.ts';
import { whatText } from './words.ts';
import { ZoneNote } from './zone-note.tsx';
import './night.css';

/** Their ids, with two in each other's place. */
const swapped = (all: readonly Scheduled[], one: string, other: string): readonly string[] =>
  all.map(({ scheduleId }) => (scheduleId === one ? other : scheduleId === other ? one : scheduleId));

/** `onExample` null: nobody is born yet who could have one. */
function Empty({ onExample }: { onExample: ((draft: Omit<Draft, 'agentId'>) => void) | null }) {
  return (
    <div className="night-empty">
      <p>{t`A routine is something that an agent does by itself, at times that you set, also while no page is open. The relay wakes it, it does its work and says what came of it in its conversation. Nothing runs until you make one.`}</p>
      {onExample === null && <p>{t`Nobody is born yet who could have one: SUMMON first.`}</p>}
      <ul aria-label={t`Examples`}>
        {EXAMPLES.map(({ title, draft }) => (
          <li key={title}>
            <button
              type="button"
              className="night-example"
              disabled={onExample === null}
              onClick={() => onExample?.(draft)}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

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

/**
 * Runs that go on: each can be watched as it happens, and stopped. Nothing where nobody is at work
 * alone.
 */
function AtWork({ agentId }: { agentId: AgentId | null }) {
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

/**
 * What agents do by themselves: what is due, what became of it, and the switch that stops it all.
 */
export default function NightPage({ agentId, onClose }: { agentId: AgentId | null; onClose: () => void }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  // Whoever looks here first has the page open from now on.
  useOpenedAt();
  // The lead works in sessions alone: it leaves nothing with the relay to be woken from.
  const living = team.all.filter(({ agentId: id, retired }) => !retired && id !== LEAD_ID);
  const who = living.find(({ agentId: id }) => id === agentId)?.agentId ?? living[0]?.agentId ?? '';
  const { begin, beginScript, change, editor } = useEditor(who, living);
  return (
    <div className="night">
      <PageHead
        title={t`Night`}
        pageTitle={agentId === null ? t`Night` : t`Night of ${team.find(agentId).name}`}
        onClose={onClose}
      >
        <button
          type="button"
          className="ghost ghost-dawn"
          disabled={who === ''}
          onClick={() => begin(null)}
        >{t`New routine`}</button>
      </PageHead>
      <p className="night-about">{t`What your agents do by themselves, while you are away.`}</p>
      <ClockNote />
      <StopSwitch
        label={t`Stop everything`}
        on={t`Stopped: no routine, reminder or script runs, and nothing but you wakes anybody.`}
        off={t`At once, for everybody: routines, reminders, scripts and every other wake but yours.`}
      />
      <StoodNote />
      <ZoneNote />
      <AtWork agentId={agentId} />
      <Proposals agentId={agentId} />
      <section className="night-block" aria-labelledby="night-routines">
        <div className="night-bar">
          <h2 id="night-routines">{t`Routines`}</h2>
          <AgentSelect label={t`Of`} everybody={t`everybody`} agentId={agentId} path={PATHS.night} />
        </div>
        <QueryView query={schedules.list} what={t`What is due`}>
          {({ schedules: all, scripts, why }) => {
            const shown = all.filter(({ schedule }) => agentId === null || schedule.agentId === agentId);
            const checks = (
              <p className="night-checks">
                <button
                  type="button"
                  className="ghost"
                  disabled={who === ''}
                  onClick={() => beginScript(scripts, why)}
                >{t`New script`}</button>
                <span>{t`A check that runs without a model, and wakes an agent only where it fails.`}</span>
              </p>
            );
            if (shown.length === 0)
              return (
                <>
                  <Empty onExample={who === '' ? null : begin} />
                  {checks}
                </>
              );
            const groups = team
              .among([...new Set(shown.map(({ schedule }) => schedule.agentId))])
              .map((mate) => (
                <AgentGroup
                  key={mate.agentId}
                  mate={mate}
                  scheduled={shown.filter(({ schedule }) => schedule.agentId === mate.agentId)}
                  scripts={scripts}
                  why={why}
                  onChange={change}
                  onSwap={(one, other) => schedules.order(swapped(all, one, other))}
                />
              ));
            return (
              <>
                <Elsewhere all={shown} />
                {groups}
                {checks}
              </>
            );
          }}
        </QueryView>
      </section>
      <Lately agentId={agentId} />
      <NightTimeline agentId={agentId} />
      <StandingCopies agentId={agentId} />
      {editor}
    </div>
  );
}
