/** The schedule that a call requests, as its card shows it: its timing, and what it replaces. */
import { slotsBetween } from '../../../shared/domain/schedule/timing.ts';
import type { ToolCall } from '../../../shared/protocol/calls.ts';
import { createCronClock } from '../../../shared/protocol/cron.ts';
import { saidTiming } from '../../../shared/protocol/said-timing.ts';
import type { Schedule } from '../../../shared/protocol/schedules.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { inputOf, textIn } from './words.ts';

const CRON = createCronClock();
/** Number of next moments that are listed. */
const NEXT_SHOWN = 3;

/**
 * The requested timing. `zone`: of the household; null while loading. `timing`: null if the agent's
 * input cannot be parsed. `next`: the next moments, ms since the epoch.
 */
export function useWhen(call: Pick<ToolCall, 'input' | 'askedAt'>) {
  const now = useNow(15_000);
  const limits = useQuery(useRoost().limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const input = inputOf(call);
  const of = (name: string) => textIn(input, name) ?? undefined;
  const said = { cron: of('cron'), every: of('every'), at: of('at') };
  // Relative to the moment of the request, so that a moment in the past is shown as it is.
  const read = zone === null ? null : saidTiming(said, zone, Math.min(now, call.askedAt));
  const timing = read?.ok ? read.timing : null;
  const next =
    zone === null || timing === null
      ? []
      : slotsBetween(timing, now, Infinity, { cron: CRON, zone, offset: 0 }, NEXT_SHOWN);
  return { now, zone, said: said.cron ?? said.every ?? said.at ?? '', timing, next };
}

/** The agent's existing schedule of this name; undefined: none, or still loading. */
export function useBefore({ agentId }: ToolCall, name: string | null): Schedule | undefined {
  const list = useQuery(schedulesOf(useRoost()).list);
  const all = list.kind === 'ready' ? list.value.schedules : [];
  return all.find(({ schedule }) => schedule.agentId === agentId && schedule.name === name)?.schedule;
}
