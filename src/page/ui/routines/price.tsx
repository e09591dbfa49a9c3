/** What a routine costs a day, before it is saved. */
import { useEffect, useRef, useState } from 'react';
import { slotsBetween, type Timing } from '../../../shared/domain/schedule/timing.ts';
import type { WakeCost } from '../../../shared/protocol/costs.ts';
import { createCronClock } from '../../../shared/protocol/timing-arguments.ts';
import { t } from '../../language/t.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { askRunCost } from '../../state/wake-cost.ts';
import { useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { useRehearsing } from '../models/chip.tsx';
import type { Routine } from '../schedule/drafts.ts';
import { money } from '../text/money.ts';
import { plural } from '../text/sizes.ts';
import './routines.css';

const CRON = createCronClock();
const DAY_MS = 86_400_000;
/** The relay caches the prompt of such a routine for an hour. */
const HOUR_MS = 3_600_000;
/** Days that are searched for the one with most runs. */
const DAYS = 7;
/** Runs that are counted at most. A routine that is due every minute has fewer in a week. */
const MOST_RUNS = 20_000;
/** Days of which past runs tell what one costs. */
const PAST_DAYS = 30;
/** Millionths of a dollar a day, above which the price is a warning. */
const DEAR = 5_000_000;

/** Runs on the busiest of the next days. `warm`: those less than an hour after another. */
export function runsADay(timing: Timing, now: number, zone: string): { readonly runs: number; readonly warm: number } {
  const context = { cron: CRON, zone, offset: 0 };
  const slots = slotsBetween(timing, now - HOUR_MS, now + DAYS * DAY_MS, context, MOST_RUNS);
  const days = Array.from({ length: DAYS }, (_, day) => now + day * DAY_MS).map((from) => {
    const within = [...slots.entries()].filter(([, at]) => at > from && at <= from + DAY_MS);
    const warm = within.filter(([n, at]) => at - (slots[n - 1] ?? -Infinity) < HOUR_MS);
    return { runs: within.length, warm: warm.length };
  });
  return days.reduce((most, day) => (day.runs > most.runs ? day : most));
}

/** ms without a change of the routine before a run of it is measured. */
const MEASURE_AFTER_MS = 300;

/** Millionths of a dollar for one run: by itself, and as one of several within the hour. */
interface RunPrice {
  readonly alone: number;
  readonly withinHour: { readonly first: number; readonly again: number };
  /** A run may cost more. */
  readonly isLeast: boolean;
}

function priceOf(reads: WakeCost['reads']): RunPrice | null {
  if (reads.length === 0 || reads.some(({ program }) => program)) return null;
  const sum = (of: (one: WakeCost['reads'][number]) => number) => reads.reduce((total, one) => total + of(one), 0);
  return {
    alone: sum(({ costMicroUsd }) => costMicroUsd),
    withinHour: {
      first: sum(({ costMicroUsd, withinHour }) => withinHour?.firstMicroUsd ?? costMicroUsd),
      again: sum(({ costMicroUsd, withinHour }) => withinHour?.againMicroUsd ?? costMicroUsd),
    },
    isLeast: true,
  };
}

/** The price of the first request of a run. null: unknown, or another bill. */
function useFirstRequest(routine: Routine | null): RunPrice | null {
  const roost = useRoost();
  const key = routine && JSON.stringify(routine);
  const newest = useRef(routine);
  const [measured, setMeasured] = useState<RunPrice | null>(null);
  useEffect(() => {
    newest.current = routine;
  });
  useEffect(() => {
    if (key === null) return undefined;
    let current = true;
    const cancel = roost.device.after(MEASURE_AFTER_MS, () => {
      if (newest.current === null) return;
      askRunCost(roost, newest.current).then(
        (result) => {
          if (!current) return;
          setMeasured(result?.ok === true ? priceOf(result.value.reads) : null);
        },
        // The ledger could not be read, which the page reports elsewhere.
        () => current && setMeasured(null),
      );
    });
    return () => {
      current = false;
      cancel();
    };
  }, [roost, key]);
  return measured;
}

function useRunPrice(routine: Routine | null): RunPrice | null {
  const report = useQuery(costQueriesOf(useRoost()).report(PAST_DAYS));
  const past = report.kind === 'ready' ? report.value.routines.filter((one) => one.agentId === routine?.agentId) : [];
  const runs = past.reduce((sum, one) => sum + one.runs, 0);
  const first = useFirstRequest(report.kind === 'ready' && runs === 0 ? routine : null);
  if (runs === 0) return first;
  const usual = past.reduce((sum, one) => sum + one.costMicroUsd, 0) / runs;
  return { alone: usual, withinHour: { first: usual, again: usual }, isLeast: false };
}

/**
 * `1 run a day · about $0.12 a day`. A high price is a warning. `routine` null: it cannot be read
 * yet.
 */
export function RoutinePrice({ routine }: { readonly routine: Routine | null }) {
  const now = useNow(60_000);
  const limits = useQuery(useRoost().limits.query);
  const rehearsing = useRehearsing();
  const price = useRunPrice(routine);
  if (limits.kind !== 'ready' || routine === null) return null;
  const { runs, warm } = runsADay(routine.timing, now, limits.value.effective.time_zone);
  const count = plural(runs, 'run a day', 'runs a day');
  const most = routine.when === 'something_waits' ? t`at most ${count}` : count;
  if (rehearsing || price === null)
    return (
      <p className="figures ink-2 text-2">
        {rehearsing ? t`${most} · free in the demo` : t`${most} · cost unknown until the first run`}
      </p>
    );
  const { alone, withinHour } = price;
  const aDay = Math.round(warm === 0 ? alone * runs : withinHour.first * (runs - warm) + withinHour.again * warm);
  const isDear = aDay > DEAR;
  return (
    <p className={`figures text-2 ${isDear ? 'warn' : 'ink-2'}`} role={isDear ? 'alert' : undefined}>
      <span>{price.isLeast ? t`${most} · from ${money(aDay)} a day` : t`${most} · about ${money(aDay)} a day`}</span>
      {isDear && <span> {t`That is more than ${money(DEAR)} a day.`}</span>}
    </p>
  );
}
