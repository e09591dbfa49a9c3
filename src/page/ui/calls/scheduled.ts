/**
 * What a call wants to have scheduled, as its card shows it: when it is due, and what it replaces.
 */
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
/** Moments to come that are named. */
const NEXT_SHOWN = 3;

/**
 * When it is due. `zone`: of the household; null while that is read. `timing`: null where what the
 * agent said cannot be read. `next`: moments to come, ms since the epoch.
 */
export function useWhen(call: Pick<ToolCall, 'input' | 'askedAt'>) {
  const now = useNow(15_000);
  const limits = useQuery(useRoost().limits.query);
  const zone = limits.kind === 'ready' ? limits.value.effective.time_zone : null;
  const input = inputOf(call);
  const of = (name: string) => textIn(input, name) ?? undefined;
  const said = { cron: of('cron'), every: of('every'), at: of('at') };
  // By the moment at which it was asked: one that is over by now is shown as it is.
  const read = zone === null ? null : saidTiming(said, zone, Math.min(now, call.askedAt));
  const timing = read?.ok ? read.timing : null;
  const next =
    zone === null || timing === null
      ? []
      : slotsBetween(timing, now, Infinity, { cron: CRON, zone, offset: 0 }, NEXT_SHOWN);
  return { now, zone, said: said.cron ?? said.every ?? said.at ?? '', timing, next };
}

/** What its agent has under this name already; undefined: nothing, or the list is not there yet. */
export function useBefore({ agentId }: ToolCall, name: string | null): Schedule | undefined {
  const list = useQuery(schedulesOf(useRoost()).list);
  const all = list.kind === 'ready' ? list.value.schedules : [];
  return all.find(({ schedule }) => schedule.agentId === agentId && schedule.name === name)?.schedule;
}
