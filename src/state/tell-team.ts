/** Tells the relay who the household has, whenever that or the line to it changes: names and seats, never souls. */
import type { Agent, Roster } from '../domain/agent.ts';
import type { Team } from '../protocol/team.ts';
import type { Parts } from './actions/parts.ts';
import { problemText } from './ports.ts';

/** Everybody, as the relay's directory takes it. Who waits for a seat that another has is without one. */
export function teamOf(roster: Roster): Team {
  const seated = new Set([...roster.seats.values(), ...(roster.lead ? [roster.lead] : [])].map(({ agentId }) => agentId));
  const member = ({ agentId, name, position, retired }: Agent) => ({ agentId, name, position: seated.has(agentId) ? position : null, retired });
  return { agents: [...roster.byId.values()].map(member) };
}

/** Returns the way to stop. */
export function tellTeam({ household, live, reach, notices }: Pick<Parts, 'household' | 'live' | 'reach' | 'notices'>): () => void {
  /** What the relay at the other end of this line has. */
  let told = '';
  let telling = false;

  async function tell() {
    const { status, roster } = household.store.getState();
    if (live.store.getState().link.kind !== 'live') {
      told = '';
      return;
    }
    if (telling || status !== 'ready') return;
    const team = teamOf(roster);
    const text = JSON.stringify(team);
    if (text === told) return;
    telling = true;
    const result = await reach((client) => client.putTeam(team));
    telling = false;
    // Where it did not arrive, the next change or the next connection says it again.
    if (!result.ok) {
      if (result.problem.kind === 'refused') notices.error(`The relay did not take the team’s names: ${problemText(result.problem)}`);
      return;
    }
    told = text;
    await tell();
  }

  const stops = [household.store, live.store].map((store) => store.subscribe(() => void tell()));
  return () => stops.forEach((stop) => stop());
}
