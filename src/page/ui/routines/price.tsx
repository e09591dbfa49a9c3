/** What a routine costs a day, before it is saved. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { slotsBetween, type Timing } from '../../../shared/domain/schedule/timing.ts';
import { createCronClock } from '../../../shared/protocol/timing-arguments.ts';
import { t } from '../../language/t.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { useNow, useQuery } from '../hooks.ts';
import { useRehearsing } from '../models/chip.tsx';
import { useWakeCosts } from '../preview/use-wake-cost.ts';
import { money } from '../text/money.ts';
import { plural } from '../text/sizes.ts';
import './routines.css';

const CRON = createCronClock();
const DAY_MS = 86_400_000;
/** Days that are searched for the one with most runs. */
const DAYS = 7;
/** Runs that are counted at most. A routine that is due every minute has fewer in a week. */
const MOST_RUNS = 20_000;
/** Days of which past runs tell what one costs. */
const PAST_DAYS = 30;
/** Millionths of a dollar a day, above which the price is a warning. */
const DEAR = 5_000_000;

/** Runs on the busiest of the next days. */
function runsADay(timing: Timing, now: number, zone: string): number {
  const context = { cron: CRON, zone, offset: 0 };
  const slots = slotsBetween(timing, now, now + DAYS * DAY_MS, context, MOST_RUNS);
  const counts = Array.from({ length: DAYS }, (_, day) => now + day * DAY_MS).map(
    (from) => slots.filter((at) => at > from && at <= from + DAY_MS).length,
  );
  return Math.max(0, ...counts);
}

/** Millionths of a dollar for one run of the agent. `isLeast`: a run may cost more. */
function useRunPrice(agentId: AgentId): { readonly microUsd: number; readonly isLeast: boolean } | null {
  const report = useQuery(costQueriesOf(useRoost()).report(PAST_DAYS));
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const past = report.kind === 'ready' ? report.value.routines.filter((one) => one.agentId === agentId) : [];
  const runs = past.reduce((sum, one) => sum + one.runs, 0);
  // Without past runs: what the first request of a run reads.
  const reads = useWakeCosts(report.kind === 'ready' && runs === 0 && agent ? [agent] : []);
  if (runs > 0) return { microUsd: past.reduce((sum, one) => sum + one.costMicroUsd, 0) / runs, isLeast: false };
  const read = reads.of(agentId);
  return read === null || read.microUsd === null ? null : { microUsd: read.microUsd, isLeast: true };
}

interface Props {
  readonly agentId: AgentId;
  /** null: it cannot be read yet. */
  readonly timing: Timing | null;
  /** It runs only if something waits for its agent. */
  readonly isConditional: boolean;
}

/** `1 run a day · about $0.12 a day`. A high price is a warning. */
export function RoutinePrice({ agentId, timing, isConditional }: Props) {
  const now = useNow(60_000);
  const limits = useQuery(useRoost().limits.query);
  const rehearsing = useRehearsing();
  const price = useRunPrice(agentId);
  if (limits.kind !== 'ready' || timing === null) return null;
  const runs = runsADay(timing, now, limits.value.effective.time_zone);
  const count = plural(runs, 'run a day', 'runs a day');
  const most = isConditional ? t`at most ${count}` : count;
  if (rehearsing || price === null)
    return (
      <p className="routine-price figures ink-2 text-2">
        {rehearsing ? t`${most} · free in the demo` : t`${most} · cost unknown until the first run`}
      </p>
    );
  const aDay = Math.round(price.microUsd * runs);
  const isDear = aDay > DEAR;
  return (
    <p className="routine-price figures ink-2 text-2" data-dear={isDear} role={isDear ? 'alert' : undefined}>
      <span>{price.isLeast ? t`${most} · from ${money(aDay)} a day` : t`${most} · about ${money(aDay)} a day`}</span>
      {isDear && <span> {t`That is more than ${money(DEAR)} a day.`}</span>}
    </p>
  );
}
