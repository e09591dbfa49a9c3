/**
 * Asks the relay what a wake, or a run, would send and what that costs. No model is asked.
 */
import type { Agent } from '../../shared/domain/agent.ts';
import { writeWake } from '../../shared/domain/wake-payload.ts';
import { spoken } from '../language/t.ts';
import type { WakeCost } from '../../shared/protocol/costs.ts';
import type { ScheduleOf } from '../../shared/protocol/schedules.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { payloadOf } from './wake-sizes.ts';

/** Rejects where the ledger cannot be read. null: none of these has a seat. */
export async function askWakeCost(
  { household, wakeSizes, callRelay }: Pick<RoostState, 'household' | 'wakeSizes' | 'callRelay'>,
  agents: readonly Agent[],
): Promise<RelayResult<WakeCost> | null> {
  const { roster, settings } = household.store.getState();
  const [lead = null] = roster.lead ? await wakeSizes.read([roster.lead]) : [];
  const payloads = (await wakeSizes.read(agents)).flatMap((share) => payloadOf(share) ?? []);
  if (payloads.length === 0) return null;
  const { startSessionBody } = await import('./wake-context.ts');
  const start = startSessionBody(lead, roster, settings, spoken.language);
  return await callRelay((client) => client.wakeCost({ body: { start, text: writeWake(payloads) } }));
}

/** The same for a run of this routine. null: its agent has no seat to work from. */
export async function askRunCost(
  { household, wakeSizes, callRelay }: Pick<RoostState, 'household' | 'wakeSizes' | 'callRelay'>,
  routine: ScheduleOf<'routine'>,
): Promise<RelayResult<WakeCost> | null> {
  const state = household.store.getState();
  const agent = state.roster.byId.get(routine.agentId);
  const [share] = agent ? await wakeSizes.read([agent]) : [];
  const { snapshotOf } = await import('./agent-snapshot.ts');
  const snapshot = share ? snapshotOf(share, state, spoken.language) : null;
  return snapshot && (await callRelay((client) => client.runCost({ body: { snapshot, routine } })));
}
