/**
 * Agents that hatched in the demo. Once a model is connected, the person keeps them or replaces
 * them with a real team.
 */
import type { Agent } from '../../shared/domain/agent.ts';
import { isDemoSoul } from '../../shared/domain/demo-words.ts';
import { lifecycleOf } from '../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID } from '../../shared/domain/seat.ts';
import { t } from '../language/t.ts';
import type { Done } from './attempt.ts';
import type { HouseholdState } from './household.ts';
import type { RoostState } from './index.ts';
import { until } from './documents.ts';

/** Browser storage key with the ids of the demo agents to keep. */
const KEPT_AT = 'roost.demo-agents-kept';
/** ms to wait for agents to fall asleep. None is forgotten while it may still say something. */
const ASLEEP_MS = 20_000;

export const demoTeam = ({ roster }: Pick<HouseholdState, 'roster'>): readonly Agent[] =>
  [...roster.seats.values()].filter(({ soul }) => isDemoSoul(soul));

export function storedIds({ device }: Pick<RoostState, 'device'>): readonly string[] {
  try {
    const kept: unknown = JSON.parse(device.browser.read(KEPT_AT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    // The value was not written by Roost. The person is asked once more.
    return [];
  }
}

export function storeDemoTeam(roost: Pick<RoostState, 'device'>, agents: readonly Agent[]): void {
  const ids = new Set([...storedIds(roost), ...agents.map(({ agentId }) => agentId)]);
  roost.device.browser.write(KEPT_AT, JSON.stringify([...ids]));
}

/**
 * Forgets these agents and hatches new ones in their seats. A demo soul of the lead is removed, so
 * that it writes its own. Any failure ends it and leaves the remaining agents as they are.
 * Forgetting can be undone in the storage settings, as usual.
 */
export async function hatchRealTeam(roost: RoostState, agents: readonly Agent[]): Promise<Done> {
  const { actions, household, live, device } = roost;
  const isAsleep = ({ agentId, position }: Agent, session = live.store.getState().live) =>
    !isSeatPosition(position) ||
    (lifecycleOf(
      agents.find((each) => each.agentId === agentId),
      position,
      session,
    ) === 'sleeping' &&
      session?.paused.has(agentId) !== true);
  await Promise.all(agents.filter((agent) => !isAsleep(agent)).map(({ agentId }) => actions.sleep(agentId)));
  await until(device, ASLEEP_MS, live.store, (state) => agents.every((agent) => isAsleep(agent, state.live)));
  if (!agents.every((agent) => isAsleep(agent)))
    return { ok: false, reason: t`Some agents of the demo are still awake, so none was forgotten. Try again.` };
  for (const { agentId } of agents) {
    const asked = await actions.forget({ kind: 'agent', agentId });
    if (!asked.ok) return asked;
  }
  const { lead } = household.store.getState().roster;
  if (lead && isDemoSoul(lead.soul)) {
    const emptied = await actions.changeAgent(LEAD_ID, [{ kind: 'soul', individuationArtifact: '' }]);
    if (!emptied.ok) return emptied;
  }
  await actions.summon(agents.flatMap(({ position }) => (isSeatPosition(position) ? [position] : [])));
  return { ok: true };
}
