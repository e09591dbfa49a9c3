/** Routines that an agent proposes, as cards in its conversation. One press saves a routine. */
import { useId } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Proposal } from '../../../shared/protocol/schedules.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { timingText } from '../schedule/words.ts';
import { PATHS } from '../routes.ts';
import { useTeammates } from '../use-somebody.ts';
import { RoutinePrice } from './price.tsx';
import '../approvals/approvals.css';
import { useAction } from '../design/use-action.ts';
import { asBeginning } from '../text/sizes.ts';

/** One proposed routine: its time, its price a day, and *Save*. */
export function RoutineCard({ proposal }: { proposal: Proposal }) {
  const schedules = schedulesOf(useRoost());
  const mate = useTeammates().find(proposal.agentId);
  const now = useNow();
  const { busy, act } = useAction();
  const id = useId();
  const { why, routine } = proposal;
  return (
    <article
      className="routine-card pad-wide stack gap-3 round ground-2 tint"
      aria-labelledby={id}
      style={{ '--c': mate.color }}
    >
      <p className="ink-3 text-2" dir="auto">{t`${mate.name} proposes`}</p>
      <h3 id={id} dir="auto">
        {routine.name}
      </h3>
      <p className="ink bold">{asBeginning(timingText(routine.timing, now))}</p>
      <p className="routine-does clamp clip ink-2" dir="auto">
        {routine.instructions}
      </p>
      {why !== '' && (
        <p className="routine-why ink-3" dir="auto">
          {why}
        </p>
      )}
      <RoutinePrice routine={routine} />
      <div className="to-end gap-4 cluster">
        <button
          type="button"
          className="ghost"
          disabled={busy}
          aria-label={t`${t`Decline`}: ${routine.name}`}
          onClick={() => act(() => schedules.decline(proposal))}
        >{t`Decline`}</button>
        <button
          type="button"
          className="solid"
          disabled={busy}
          aria-label={t`${t`Save`}: ${routine.name}`}
          onClick={() => act(() => schedules.accept(proposal))}
        >{t`Save`}</button>
      </div>
    </article>
  );
}

/** The proposals of this agent, above the composer. */
export default function ProposedRoutines({ agentId }: { agentId: AgentId }) {
  const state = useQuery(schedulesOf(useRoost()).proposals);
  const proposals = (state.kind === 'ready' ? state.value : []).filter((proposal) => proposal.agentId === agentId);
  const [first, ...others] = proposals;
  if (!first) return null;
  return (
    <section className="call-waiting stack gap-4 scroll-y" aria-label={t`Proposed routines`}>
      <RoutineCard key={first.proposalId} proposal={first} />
      {others.length > 0 && (
        <p>
          <Link href={PATHS.schedule(agentId)}>{t`and ${others.length} more`}</Link>
        </p>
      )}
    </section>
  );
}
