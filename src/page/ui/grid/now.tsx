/** One line for each agent that works or asks: what it does, its task, since when, cost, stop. */
import { useMemo } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { type AnswersState, openAnswerOf } from '../../state/answers.ts';
import { atWorkOf } from '../../state/at-work.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useActions, useAnswers, useHousehold, useLive, useRoost } from '../context.tsx';
import { useDoingNow, type DoingNow } from '../doing-now.ts';
import { useNow, useQuery } from '../hooks.ts';
import { StopIcon } from '../design/more-icons.tsx';
import { spanText } from '../parts/part.tsx';
import { PATHS } from '../routes.ts';
import { money } from '../text/money.ts';
import { useTeammates, type Teammate } from '../use-somebody.ts';
import './now.css';

/** ms between updates of a line. Its words are not redrawn with each one that arrives. */
const EVERY_MS = 1_000;
/** Characters of the last words. */
const WORDS = 90;

/** The end of what it has written so far; null: nothing. */
export function lastWords(state: AnswersState, agentId: AgentId): string | null {
  const last = openAnswerOf(state, agentId)?.blocks.at(-1);
  if (last?.kind !== 'text') return null;
  const text = last.text.replace(/[\s*_#`~>|]+/g, ' ').trim();
  if (text === '') return null;
  return text.length <= WORDS ? text : `…${text.slice(-WORDS).replace(/^\S*\s/, '')}`;
}

/** Ids of agents with an answer, a run, a call of a client or a question, in the team's order. */
function useBusy(): readonly Teammate[] {
  const roost = useRoost();
  const team = useTeammates();
  const byId = useHousehold((state) => state.roster.byId);
  const heard = useLive((state) => state.link.kind === 'live');
  const working = useLive((state) => state.working);
  const clients = useLive((state) => state.clientCalls);
  const answering = useAnswers((state) =>
    [...new Set([...state.open.values()].map(({ agentId }) => agentId))].sort().join(' '),
  );
  const approvals = useQuery(approvalsOf(roost).approvals);
  return useMemo(() => {
    if (!heard) return [];
    const asking = approvals.kind === 'ready' ? approvals.value.waiting.map(({ agentId }) => agentId) : [];
    const busy = new Set([...asking, ...working.keys(), ...clients.keys(), ...answering.split(' ')]);
    return team.all.filter(({ agentId }) => busy.has(agentId) && (agentId === LEAD_ID || byId.has(agentId)));
  }, [heard, approvals, working, clients, answering, team, byId]);
}

/** Stops the answer in the session, or the run outside it. */
function Stop({ agentId, name }: { agentId: AgentId; name: string }) {
  const roost = useRoost();
  const actions = useActions();
  const runId = useAnswers((state) => openAnswerOf(state, agentId)?.aloneIn);
  return (
    <button
      type="button"
      className="icon-button now-stop fixed"
      aria-label={t`Stop ${name}`}
      title={t`Stop`}
      onClick={() => void (runId === undefined ? actions.stop(agentId) : schedulesOf(roost).stopRun(runId))}
    >
      <StopIcon />
    </button>
  );
}

function Cost({ messageId }: { messageId: string }) {
  const cost = useQuery(costQueriesOf(useRoost()).ofAnswer(messageId));
  const value = cost.kind === 'ready' ? cost.value : null;
  return value && value.costMicroUsd > 0 ? <span>{money(value.costMicroUsd)}</span> : null;
}

const DOTS: Readonly<Record<DoingNow['mood'], string>> = {
  asks: 'dot-asks',
  queued: 'dot-waits',
  waits: 'dot-waits',
  writes: 'dot-live',
  works: 'dot-live',
};

function Line({ mate: { agentId, name, color }, doing }: { mate: Teammate; doing: DoingNow }) {
  const roost = useRoost();
  const now = useNow(EVERY_MS);
  const tasks = useQuery(atWorkOf(roost));
  const task = tasks.kind === 'ready' ? tasks.value.get(agentId)?.card : undefined;
  const messageId = useAnswers((state) => openAnswerOf(state, agentId)?.messageId);
  // Read with each tick. A subscription would render with each word.
  const words = doing.mood === 'writes' ? lastWords(roost.answers.store.getState(), agentId) : null;
  return (
    <li className="now-line touchable ruled line gap-4 text-2 tint" data-line={doing.mood} style={{ '--c': color }}>
      <Link href={PATHS.agent(agentId)} className="now-who touchable unlined line gap-4 fill ink-2">
        <i className={`dot ${DOTS[doing.mood]}`} aria-hidden="true" />
        <b className="truncate fixed named" dir="auto">
          {name}
        </b>
        <span className="now-words truncate" dir="auto" data-said={words !== null}>
          {words ?? doing.text}
        </span>
      </Link>
      <span className="now-facts flex gap-4 fixed figures ink-3 text-1">
        {task && (
          <Link className="ink-3" href={PATHS.task(task.projectId, task.taskId)} title={task.title}>
            #{task.number}
          </Link>
        )}
        <span>{spanText(Math.max(0, now - doing.from))}</span>
        {messageId !== undefined && <Cost messageId={messageId} />}
      </span>
      {messageId !== undefined && <Stop agentId={agentId} name={name} />}
    </li>
  );
}

function LineOf({ mate }: { mate: Teammate }) {
  const doing = useDoingNow(mate.agentId);
  return doing && <Line mate={mate} doing={doing} />;
}

export default function Now() {
  const busy = useBusy();
  if (busy.length === 0) return null;
  return (
    <section className="now panel box pad-4-6" aria-label={t`Now`}>
      <h2 className="ink-3 text-1">{t`Now`}</h2>
      <ul>
        {busy.map((mate) => (
          <LineOf key={mate.agentId} mate={mate} />
        ))}
      </ul>
    </section>
  );
}
