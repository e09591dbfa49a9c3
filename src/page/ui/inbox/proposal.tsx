/** A routine that an agent proposes. Nothing of it runs before the person allows it. */
import { useState } from 'react';
import type { Proposal } from '../../../shared/protocol/schedules.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useNow } from '../hooks.ts';
import { timingText } from '../schedule/words.ts';
import { useTeammates } from '../use-somebody.ts';

export function ProposalRow({ proposal }: { proposal: Proposal }) {
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
    <li className="proposal tint" style={{ '--c': mate.color }}>
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
