import { useMemo } from 'react';
import type { AgentId } from '../../shared/domain/ids.ts';
import { isSeatPosition, LEAD_COLOR, LEAD_ID, SEAT_ORDER } from '../../shared/domain/seat.ts';
import { t } from '../language/t.ts';
import { leadNameOf } from '../state/people.ts';
import { useHousehold, useLive } from './context.tsx';
import { seatView, type SeatView } from './grid/seat-view.ts';

interface Shown {
  readonly agentId: AgentId;
  readonly name: string;
  readonly face: string;
  readonly color: string;
}

/** Whoever an address or a message speaks of. */
export type Somebody =
  | (Shown & { readonly kind: 'lead'; readonly awake: boolean })
  | (Shown & { readonly kind: 'agent'; readonly awake: boolean; readonly seat: SeatView })
  /** Somebody without a seat: waiting for one, or retired. */
  | (Shown & { readonly kind: 'seatless'; readonly awake: false; readonly retired: boolean })
  /** Being born, with no name yet. */
  | (Shown & { readonly kind: 'egg'; readonly awake: false; readonly seat: SeatView })
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
          seat,
        };
      return {
        kind: 'agent',
        agentId,
        name: seat.name ?? seat.agent.name,
        face: seat.agent.face,
        color: seat.color,
        awake: seat.state === 'awake',
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
      retired: retired || !isSeatPosition(position),
    };
  }, [agentId, roster, settings, live]);
}
