/** Looks up teammates by id: name, colour, seat and state. */
import { useCallback, useMemo } from 'react';
import { displayName } from '../../shared/domain/agent.ts';
import { applicationNameOf } from '../../shared/domain/applications.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { isSeatPosition, LEAD_COLOR, LEAD_ID, SEAT_ORDER } from '../../shared/domain/seat.ts';
import { PERSON } from '../../shared/domain/threads.ts';
import { t } from '../language/t.ts';
import { authorName, leadNameOf } from '../state/household.ts';
import { useHousehold, useLive } from './context.tsx';
import { seatView, type SeatView } from './grid/seat-figure.tsx';

/**
 * Anyone who can join threads, cause costs or be driven by an API client: the lead and every agent,
 * retired or not.
 */
export interface Teammate {
  readonly agentId: AgentId;
  /** Unique among the team, for people. */
  readonly name: string;
  readonly face: string;
  readonly color: string;
  readonly retired: boolean;
}

/** For those without a colour: the person, and unknown ids. */
export const PLAIN_COLOR = '#8d95b3';

export interface Teammates {
  /** The lead first, then by seat and age; retired ones last. */
  readonly all: readonly Teammate[];
  /** The teammate of this id; a nameless one if the id is unknown. */
  find(agentId: AgentId): Teammate;
  /** These, in the order of `all`; unknown ones come last. */
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
      const agent = byId.get(agentId);
      if (agent) return agent;
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

/** The teammate that a tool refers to. */
export const namedIn =
  (team: Teammates) =>
  (reference: string): string => {
    if (reference.toLowerCase() === PERSON) return t`you`;
    return team.all.some(({ agentId }) => agentId === reference) ? team.find(reference as AgentId).name : reference;
  };

/** Returns the name for an id in a message or a wake. */
export function useNames(): (id: string) => string {
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  return useCallback((id) => (id === 'human' ? t`You` : authorName(id, roster, settings)), [roster, settings]);
}

interface Shown {
  readonly agentId: AgentId;
  readonly name: string;
  readonly face: string;
  readonly color: string;
}

/** The target of an address or a message. */
export type Somebody =
  | (Shown & { readonly kind: 'lead'; readonly awake: boolean; readonly asleep: boolean })
  | (Shown & { readonly kind: 'agent'; readonly awake: boolean; readonly asleep: boolean; readonly seat: SeatView })
  /** An agent without a seat: waiting for one, or retired. */
  | (Shown & { readonly kind: 'seatless'; readonly awake: false; readonly asleep: boolean; readonly retired: boolean })
  /** Hatching, without a name yet. */
  | (Shown & { readonly kind: 'egg'; readonly awake: false; readonly asleep: false; readonly seat: SeatView })
  | { readonly kind: 'nobody' };

export function useSomebody(agentId: AgentId): Somebody {
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  const live = useLive((state) => state);
  return useMemo((): Somebody => {
    if (agentId === LEAD_ID) {
      const name = leadNameOf(roster, settings);
      return {
        kind: 'lead',
        agentId,
        name,
        face: roster.lead?.face ?? name,
        color: LEAD_COLOR.color,
        awake: live.live !== null,
        asleep: live.live === null && !live.working.has(LEAD_ID),
      };
    }
    for (const position of SEAT_ORDER) {
      const seat = seatView(position, roster, live);
      if (seat.agentId !== agentId) continue;
      if (!seat.agent)
        return {
          kind: 'egg',
          agentId,
          name: t`The egg in seat ${position + 1}`,
          face: '',
          color: seat.color,
          awake: false,
          asleep: false,
          seat,
        };
      return {
        kind: 'agent',
        agentId,
        name: seat.name ?? seat.agent.name,
        face: seat.agent.face,
        color: seat.color,
        awake: seat.state === 'awake',
        asleep: seat.asleep,
        seat,
      };
    }
    const agent = roster.byId.get(agentId);
    if (!agent) return { kind: 'nobody' };
    const { name, face, color, retired, position } = agent;
    return {
      kind: 'seatless',
      agentId,
      name,
      face,
      color,
      awake: false,
      asleep: true,
      retired: retired || !isSeatPosition(position),
    };
  }, [agentId, roster, settings, live]);
}
