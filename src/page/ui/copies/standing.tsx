import type { ReactNode } from 'react';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { Applicant } from '../../state/agent-copies.ts';
import { rosterOfDocs } from '../../state/household.ts';
import { useHousehold } from '../context.tsx';

/** Somebody of the file who is here already, in one way or another. */
export function useStanding({ parsed, comparison, consents }: Applicant) {
  const roster = useHousehold((state) => state.roster);
  const identities = useHousehold((state) => state.identities);
  const changes = useHousehold((state) => state.changes);
  const { agentId } = parsed;
  if (agentId === null) return { kind: 'nobody-yet' } as const;
  if (agentId === LEAD_ID) return { kind: 'lead' } as const;
  const agent = roster.byId.get(agentId);
  if (agent)
    return {
      kind: 'here',
      agent,
      fresh: (comparison?.fresh ?? []).filter((id) => !consents.needs.has(id)).length,
    } as const;
  const leaving = rosterOfDocs(identities.values(), changes.values()).byId.get(agentId);
  if (leaving) return { kind: 'leaving', name: leaving.name } as const;
  if ((comparison?.forgotten ?? 0) > 0) return { kind: 'forgotten' } as const;
  return { kind: 'away' } as const;
}

export function Standing({ children }: { children: ReactNode }) {
  return <p className="copies-standing">{children}</p>;
}
