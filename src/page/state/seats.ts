/**
 * Agents change places, by whichever way it was asked for. Fetched with the first of these ways.
 */
import { displayName, type ChangeKind, type Roster } from '../../shared/domain/agent.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { isSeatPosition, seatNumber, type SeatPosition } from '../../shared/domain/seat.ts';
import { t } from '../language/t.ts';
import type { RoostState } from './index.ts';

/**
 * What is written for an agent to have this place: whoever sits there takes the one it leaves.
 * `position` null: none.
 */
export function seatChanges(
  { seats, byId }: Roster,
  agentId: AgentId,
  position: number | null,
): readonly { readonly agentId: AgentId; readonly change: ChangeKind }[] {
  const there = isSeatPosition(position) ? seats.get(position) : undefined;
  const from = byId.get(agentId)?.position ?? null;
  if (there?.agentId === agentId) return [];
  return [
    { agentId, change: { kind: 'seat', position } },
    ...(there ? [{ agentId: there.agentId, change: { kind: 'seat', position: from } as const }] : []),
  ];
}

/** Is somebody being born there? Then the seat is theirs. */
export const isHatching = ({ live }: Pick<RoostState, 'live'>, position: SeatPosition): boolean =>
  live.store.getState().live?.births.has(position) ?? false;

/**
 * Gives an agent this seat; whoever sits there takes the one it leaves. What became of it is told,
 * with an undo. True: it sits there now.
 */
export async function moveToSeat(roost: RoostState, agentId: AgentId, position: SeatPosition): Promise<boolean> {
  const { actions, household, notices } = roost;
  const { roster } = household.store.getState();
  const agent = roster.byId.get(agentId);
  const from = agent?.position ?? null;
  if (!agent || from === position) return false;
  const other = roster.seats.get(position);
  if (isHatching(roost, position) || (other && isSeatPosition(from) && isHatching(roost, from))) {
    notices.info(t`Somebody is being born in that seat. ${displayName(agent, roster)} stays.`);
    return false;
  }
  const done = await actions.changeAgents(seatChanges(roster, agentId, position));
  if (!done.ok) {
    notices.error(t`This could not be saved: ${done.reason}`);
    return false;
  }
  const name = displayName(agent, roster);
  const back = [
    { agentId, change: { kind: 'seat', position: from } as const },
    ...(other ? [{ agentId: other.agentId, change: { kind: 'seat', position } as const }] : []),
  ];
  notices.info(
    other
      ? t`${name} and ${displayName(other, roster)} changed places: ${name} has seat ${seatNumber(position)} now.`
      : t`${name} has seat ${seatNumber(position)} now.`,
    { label: t`Undo`, run: () => void actions.changeAgents(back) },
  );
  return true;
}
