/** A routine that an agent proposes. Nothing of it runs before the person saves it. */
import type { Proposal } from '../../../shared/protocol/schedules.ts';
import { RoutineCard } from '../routines/proposed.tsx';

export function ProposalRow({ proposal }: { proposal: Proposal }) {
  return (
    <li>
      <RoutineCard proposal={proposal} />
    </li>
  );
}
