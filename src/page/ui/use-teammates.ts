import { useMemo } from 'react';
import { displayName } from '../../shared/domain/agent.ts';
import { applicationNameOf } from '../../shared/domain/applications.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { LEAD_COLOR, LEAD_ID } from '../../shared/domain/seat.ts';
import { PERSON } from '../../shared/domain/threads.ts';
import { t } from '../language/t.ts';
import { leadNameOf } from '../state/people.ts';
import { useHousehold } from './context.tsx';

/**
 * Whoever may take part in a thread, cost something or let a client join: the lead and every agent,
 * retired or not.
 */
export interface Teammate {
  readonly agentId: AgentId;
  /** As people tell them apart. */
  readonly name: string;
  readonly face: string;
  readonly color: string;
  readonly retired: boolean;
}

/** Of whoever has no colour of their own: the person, and who is not known here. */
export const PLAIN_COLOR = '#8d95b3';

export interface Teammates {
  /** The lead first, then by seat and age; those who are retired last. */
  readonly all: readonly Teammate[];
  /** Whoever has this id; somebody without a name where nobody is known by it. */
  find(agentId: AgentId): Teammate;
  /** These, in the order of `all`; who is not known comes last. */
  among(agentIds: readonly AgentId[]): readonly Teammate[];
}

export function useTeammates(): Teammates {
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  return useMemo(() => {
    const leadName = leadNameOf(roster, settings);
    const lead: Teammate = {
      agentId: LEAD_ID,
      name: leadName,
      face: roster.lead?.face ?? leadName,
      color: LEAD_COLOR.color,
      retired: false,
    };
    const seated = [...roster.seats].sort(([a], [b]) => a - b).map(([, agent]) => agent);
    const others = [...seated, ...roster.waiting, ...roster.retired].map((agent): Teammate => ({
      agentId: agent.agentId,
      name: displayName(agent, roster),
      face: agent.face,
      color: agent.color,
      retired: agent.retired,
    }));
    const all = [lead, ...others];
    const byId = new Map(all.map((one) => [one.agentId, one]));
    function find(agentId: AgentId): Teammate {
      const known = byId.get(agentId);
      if (known) return known;
      const application = applicationNameOf(agentId);
      const plain = { agentId, face: agentId, color: PLAIN_COLOR };
      return application === null
        ? { ...plain, name: t`Somebody unknown here`, retired: true }
        : { ...plain, name: t`${application} (application)`, retired: false };
    }
    const among = (agentIds: readonly AgentId[]) => [
      ...all.filter(({ agentId }) => agentIds.includes(agentId)),
      ...agentIds.filter((agentId) => !byId.has(agentId)).map(find),
    ];
    return { all, find, among };
  }, [roster, settings]);
}

/** Somebody as a tool names them. */
export const namedIn =
  (team: Teammates) =>
  (reference: string): string => {
    if (reference.toLowerCase() === PERSON) return t`you`;
    return team.all.some(({ agentId }) => agentId === reference) ? team.find(reference as AgentId).name : reference;
  };
