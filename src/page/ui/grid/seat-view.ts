/** The content of a seat's cell as plain values: accessible name, state, reason. */
import { displayName, type Agent, type Roster } from '../../../shared/domain/agent.ts';
import { type JoinedClient, type Lifecycle, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { seatColor, seatNumber, type Position, type SeatPosition } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { asleepReason, type LiveState } from '../../state/live.ts';

/** The grid, row by row. */
export const POSITIONS: readonly Position[] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

export interface SeatView {
  readonly position: SeatPosition;
  readonly agent: Agent | null;
  /** Id of the conversation: the agent's, or the egg's. */
  readonly agentId: AgentId | null;
  readonly state: Lifecycle;
  /** The agent and its seat, for example "Lyra, seat 1". The activity or the state follows. */
  readonly label: string;
  /** The state in the accessible name: "sleeping". */
  readonly still: string;
  readonly name: string | null;
  readonly color: string;
  readonly colorName: string;
  /** Why it sleeps although it was woken, or why no agent was born, in the relay's words. */
  readonly reason: string | null;
  /** It is in the running session and was put to sleep. */
  readonly paused: boolean;
  /** It sleeps in the person’s session, and works in a run. */
  readonly working: boolean;
  /** The API client that drives it, with or without a mind here. */
  readonly client: JoinedClient | null;
}

export function seatView(position: SeatPosition, roster: Roster, live: LiveState): SeatView {
  const agent = roster.seats.get(position) ?? null;
  const state = lifecycleOf(agent ?? undefined, position, live.live);
  const seat = t`seat ${seatNumber(position)}`;
  const name = agent ? displayName(agent, roster) : null;
  const egg = live.live
    ? live.session?.hatching.find((item) => item.call === 'summon' && item.position === position)
    : undefined;
  const said = agent ? asleepReason(live, agent.agentId) : (live.birthReasons.get(position) ?? null);
  const client = (agent && live.live?.clients.get(agent.agentId)) ?? null;
  const working = agent !== null && state === 'sleeping' && live.working.has(agent.agentId);
  const quiet = said?.code === 'put-to-sleep' || said?.code === 'cancelled';
  return {
    position,
    agent,
    agentId: agent?.agentId ?? egg?.agentId ?? null,
    state,
    label: name === null ? seat : `${name}, ${seat}`,
    still: state === 'played' ? t`driven by ${client?.name ?? t`a program`}` : state,
    name,
    ...(agent ? { color: agent.color, colorName: agent.colorName } : seatColor(position)),
    reason: said && !quiet && (state === 'sleeping' || state === 'empty') && !working ? said.message : null,
    paused:
      agent !== null &&
      live.live !== null &&
      (live.live.awake.has(agent.agentId) || client !== null) &&
      live.live.paused.has(agent.agentId),
    working,
    client,
  };
}

/** The seat an arrow key leads to, or the same one at the edge. */
export function neighbour(position: Position, key: string): Position {
  const column = position % 3;
  const row = Math.floor(position / 3);
  const at = (x: number, y: number): Position =>
    POSITIONS[Math.min(2, Math.max(0, y)) * 3 + Math.min(2, Math.max(0, x))] ?? position;
  switch (key) {
    case 'ArrowLeft':
      return at(column - 1, row);
    case 'ArrowRight':
      return at(column + 1, row);
    case 'ArrowUp':
      return at(column, row - 1);
    case 'ArrowDown':
      return at(column, row + 1);
    case 'Home':
      return at(0, row);
    case 'End':
      return at(2, row);
    default:
      return position;
  }
}
