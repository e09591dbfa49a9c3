/**
 * Tells the relay who the household has, and who was forgotten, whenever that or the line to it
 * changes: names and seats, never souls.
 */
import type { Agent, Roster } from '../../shared/domain/agent.ts';
import { isSameName, NAME_MAX } from '../../shared/domain/names.ts';
import { t } from '../language/t.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
import type { Team } from '../../shared/protocol/team.ts';
import type { Parts } from './actions/parts.ts';
import { isRefusedAs, problemText } from './ports.ts';
import { humanNameOf } from './people.ts';

/**
 * Everybody, as the relay's directory takes it. Who waits for a seat that another has is without
 * one; who has the person's name has its colour in it.
 */
export function teamOf(roster: Roster, person: string): Team {
  const seated = new Set(
    [...roster.seats.values(), ...(roster.lead ? [roster.lead] : [])].map(({ agentId }) => agentId),
  );
  const member = ({ agentId, name, colorName, position, retired }: Agent) => ({
    agentId,
    name: isSameName(name, person) ? `${name.slice(0, NAME_MAX / 2)} ${colorName}` : name,
    position: seated.has(agentId) ? position : null,
    retired,
  });
  return { agents: [...roster.byId.values()].map(member) };
}

/** Returns the way to stop. */
export function announceTeam({
  household,
  live,
  reach,
  relay,
  notices,
}: Pick<Parts, 'household' | 'live' | 'reach' | 'relay' | 'notices'>): () => void {
  /** What the relay at the other end of this line has. */
  let announced = '';
  let announcing = false;

  async function liveBeside() {
    const begun = await relay.beginHome({ body: { beside: true } });
    if (!begun.ok) return notices.error(problemText(begun.problem));
    await announce();
  }

  async function announce() {
    const { status, roster, settings, forgotten } = household.store.getState();
    if (live.store.getState().link.kind !== 'live') {
      announced = '';
      return;
    }
    // A browser that keeps nobody has nothing to say of who lives there: its sign-in may be of a
    // team that others keep.
    if (announcing || status !== 'ready' || roster.byId.size === 0) return;
    const team = { ...teamOf(roster, humanNameOf(settings)), forgotten: forgotten.slice(-LIMITS.forgotten) };
    const text = JSON.stringify(team);
    if (text === announced) return;
    announcing = true;
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    const result = await reach((client) => client.putTeam({ body: { ...team, timeZone } }));
    announcing = false;
    // Where it did not arrive, the next change or the next connection says it again.
    if (!result.ok) {
      // This team began elsewhere, or without its relay: it does not come to live beside others
      // unasked.
      if (isRefusedAs(result.problem, 'not-begun'))
        notices.offer(t`Another household lives at this relay. This browser’s team is not known to it yet.`, {
          label: t`Let it live there too`,
          run: () => void liveBeside(),
        });
      else if (result.problem.kind === 'refused')
        notices.error(t`The relay did not take the team’s names: ${problemText(result.problem)}`);
      return;
    }
    announced = text;
    await announce();
  }

  const stops = [household.store, live.store].map((store) => store.subscribe(() => void announce()));
  return () => stops.forEach((stop) => stop());
}
