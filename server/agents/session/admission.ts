/**
 * Admission of a call to the team. No agent is woken twice and no seat is taken twice. So a double
 * click, two tabs or two devices cause only one wake.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { TeamCall } from '../../../src/shared/domain/wake-payload.ts';
import { seatNumber } from '../../../src/shared/domain/seat.ts';
import type { Presence } from './presence.ts';
import type { Guests } from './guests.ts';

/** `call` is null if everybody in it is here and only paused. */
type Admission =
  | { readonly ok: true; readonly call: TeamCall | null }
  | { readonly ok: false; readonly detail: string };

const sentence = (names: readonly string[]) => names.join(', ');

/**
 * Returns the call without agents that are awake or on the way. An agent that only a client drives
 * can be woken. No egg can hatch in its seat.
 */
export function admit(
  call: TeamCall,
  presence: Presence,
  guests: Pick<Guests, 'inSeat'>,
  isResting: (agentId: AgentId) => boolean,
): Admission {
  if (call.kind === 'summon') {
    const seats = call.seats.filter((seat) => !presence.inSeat(seat.position) && !guests.inSeat(seat.position));
    return seats.length > 0
      ? { ok: true, call: { kind: 'summon', seats } }
      : { ok: false, detail: 'Each of these seats has an agent or an egg already.' };
  }
  const agents = call.agents.filter((agent) => !presence.get(agent.id));
  if (agents.length === 0 && call.agents.some((agent) => isResting(agent.id))) return { ok: true, call: null };
  if (agents.length === 0) return { ok: false, detail: 'All of these agents are awake or waking already.' };
  const clashes = agents.filter((agent) => presence.inSeat(agent.position));
  if (clashes.length > 0)
    return {
      ok: false,
      detail: `${sentence(clashes.map((agent) => `${agent.name} (seat ${seatNumber(agent.position)})`))}: somebody else is in that seat. Put them to sleep first, or give this agent another seat.`,
    };
  return { ok: true, call: { kind: 'wake', agents } };
}
