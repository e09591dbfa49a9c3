import { canBeWoken, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition } from '../../../shared/domain/seat.ts';
import { useHousehold, useLive } from '../context.tsx';

/**
 * Agents in their seats whom WAKE calls, in seat order: who sleeps, and who is only driven by a
 * client. `resting`: with those of the running session that are only set to sleep.
 */
export function useSleepers({ withPaused }: { readonly withPaused: boolean }) {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  return [...roster.seats]
    .filter(
      ([position, agent]) =>
        isSeatPosition(position) &&
        canBeWoken(lifecycleOf(agent, position, live)) &&
        (withPaused || !live?.awake.has(agent.agentId)),
    )
    .sort(([a], [b]) => a - b)
    .map(([, agent]) => agent);
}
