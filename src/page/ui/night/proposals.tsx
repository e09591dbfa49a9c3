import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Proposal } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useNow } from '../use-now.ts';
import { useQuery } from '../use-query.ts';
import { useTeammates } from '../use-teammates.ts';
import { timingText } from './words.ts';

function Ask({ proposal }: { proposal: Proposal }) {
  const schedules = schedulesOf(useRoost());
  const team = useTeammates();
  const now = useNow();
  const [busy, setBusy] = useState(false);
  const { agentId, why, routine } = proposal;
  const mate = team.find(agentId);
  const answer = (does: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    void does().finally(() => setBusy(false));
  };
  return (
    <li className="tint" style={{ '--c': mate.color }}>
      <p>
        <span>{t`${(
          <span className="sheet-name" dir="auto">
            {mate.name}
          </span>
        )} asks for ${<strong dir="auto">{routine.name}</strong>}, ${timingText(routine.timing, now)}`}</span>
        {routine.when === 'something_waits' && <span>{t`, only when something waits`}</span>}
      </p>
      {why !== '' && (
        <blockquote dir="auto" className="proposal-why">
          {why}
        </blockquote>
      )}
      <details>
        <summary>{t`What it would do`}</summary>
        <p className="proposal-words" dir="auto">
          {routine.instructions}
        </p>
      </details>
      <div className="proposal-ways">
        <button
          type="button"
          className="ghost"
          disabled={busy}
          aria-label={t`Decline: ${routine.name}`}
          onClick={() => answer(() => schedules.decline(proposal))}
        >{t`Decline`}</button>
        <button
          type="button"
          className="solid"
          disabled={busy}
          aria-label={t`Allow: ${routine.name}`}
          onClick={() => answer(() => schedules.accept(proposal))}
        >{t`Allow`}</button>
      </div>
    </li>
  );
}

/**
 * Routines that agents ask for. Nothing of them runs before the person has said yes. Nothing is
 * shown where none asks.
 */
export function Proposals({ agentId }: { agentId: AgentId | null }) {
  const state = useQuery(schedulesOf(useRoost()).proposals);
  const asked = state.kind === 'ready' ? state.value : [];
  const shown = asked.filter((proposal) => agentId === null || proposal.agentId === agentId);
  if (shown.length === 0) return null;
  return (
    <section className="night-block" aria-labelledby="night-asked">
      <h2 id="night-asked">{t`Asked for by your agents`}</h2>
      <ul className="proposals" aria-labelledby="night-asked">
        {shown.map((proposal) => (
          <Ask key={proposal.proposalId} proposal={proposal} />
        ))}
      </ul>
    </section>
  );
}
