/**
 * What of a call to the team may pass: nobody is woken twice, no seat is taken twice. This is what
 * makes a double click, two tabs and two devices one wake.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { seatNumber } from '../../../src/shared/domain/seat.ts';
import type { TeamCall } from '../../../src/shared/domain/wake-payload.ts';
import type { Guests } from './guests.ts';
import type { Presence } from './presence.ts';

/** `call` is null where everybody in it is here and only set to sleep. */
export type Admission =
  | { readonly ok: true; readonly call: TeamCall | null }
  | { readonly ok: false; readonly detail: string };

const sentence = (names: readonly string[]) => names.join(', ');

/**
 * The call without those who are awake or on the way already. Whoever is only driven by a client
 * can be woken; nobody is born in its seat.
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
      : { ok: false, detail: 'Somebody is in each of these seats, or on the way there.' };
  }
  const agents = call.agents.filter((agent) => !presence.get(agent.id));
  if (agents.length === 0 && call.agents.some((agent) => isResting(agent.id))) return { ok: true, call: null };
  if (agents.length === 0) return { ok: false, detail: 'All of them are awake or on the way already.' };
  const clashes = agents.filter((agent) => presence.inSeat(agent.position));
  if (clashes.length > 0)
    return {
      ok: false,
      detail: `${sentence(clashes.map((agent) => `${agent.name} (seat ${seatNumber(agent.position)})`))}: somebody else is in that seat. Put them to sleep first, or give this agent another seat.`,
    };
  return { ok: true, call: { kind: 'wake', agents } };
}
