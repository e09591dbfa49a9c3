/** The team in one line, for models. */
import type { AgentId } from './ids.ts';
import { applicationText } from './applications.ts';
import { alikeOf } from './names.ts';
import { LEAD_ID, seatNumber } from './seat.ts';

interface Teammate {
  readonly agentId: AgentId;
  readonly name: string;
  readonly position: number | null;
  readonly retired: boolean;
}

/**
 * `Lyra (seat 1), Vega (seat 2)`: every seated agent except the lead and the reader. Null: there is
 * none.
 */
export function teammatesText(team: readonly Teammate[], readerId: string): string | null {
  const others = team.filter(
    ({ agentId, position, retired }) => !retired && position !== null && agentId !== LEAD_ID && agentId !== readerId,
  );
  const inOrder = [...others].sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
  return inOrder.map(({ name, position }) => `${name} (seat ${seatNumber(position ?? 0)})`).join(', ') || null;
}

type Called = Pick<Teammate, 'agentId' | 'name' | 'position'>;

/**
 * `Lyra, seat 1`: the author as headings name it. An application by its name; an unknown author by
 * its id.
 */
export function withSeat(team: readonly Called[], agentId: AgentId): string {
  const one = team.find((member) => member.agentId === agentId);
  if (!one) return applicationText(agentId) ?? agentId;
  return one.position === null ? one.name : `${one.name}, seat ${seatNumber(one.position)}`;
}

/** `Lyra`, or `Lyra (seat 1)` if another agent's name looks the same. */
export function withSeatWhereAlike(team: readonly Called[], agentId: AgentId): string {
  const one = team.find((member) => member.agentId === agentId);
  if (!one) return applicationText(agentId) ?? agentId;
  if (!alikeOf(team).has(agentId)) return one.name;
  return one.position === null ? `${one.name} (id ${agentId})` : `${one.name} (seat ${seatNumber(one.position)})`;
}
