/** Who lives here, in one line for a mind. */
import { LEAD_ID, seatNumber } from './seat.ts';

interface Teammate {
  readonly agentId: string;
  readonly name: string;
  readonly position: number | null;
  readonly retired: boolean;
}

/** `Lyra (seat 1), Vega (seat 2)`: everybody in a seat but the lead and the one who reads it; null where there is nobody. */
export function teammatesText(team: readonly Teammate[], readerId: string): string | null {
  const others = team.filter(({ agentId, position, retired }) => !retired && position !== null && agentId !== LEAD_ID && agentId !== readerId);
  const inOrder = [...others].sort((a, b) => (a.position ?? 0) - (b.position ?? 0));
  return inOrder.map(({ name, position }) => `${name} (seat ${seatNumber(position ?? 0)})`).join(', ') || null;
}
