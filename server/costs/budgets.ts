/**
 * The daily budgets: whether one more request fits in.
 *
 * What a request will cost is known when it is over. Each one under way is counted as the mean of the last ones
 * (a fixed amount while there are none), and another is sent while what is spent and what is held so are below the
 * budget; otherwise it waits for one of them to end, and is decided anew. So the first request of an untouched
 * budget is always sent, and a budget is overrun by at most what the requests under way cost beyond that mean.
 * Holds are this process's; what is spent is counted in the store, for every process.
 */
import { microUsdOf, roomIn, usdText, type BudgetState } from '../../src/domain/prices.ts';
import { dayOf, type Day } from '../../src/domain/zone-days.ts';
import type { Configs, CostCheck, Directory } from '../contracts.ts';
import type { Holds } from './holds.ts';
import { COST_LIMITS } from './settings.ts';
import type { UsageRows } from './usage-rows.ts';

export interface BudgetDeps {
  readonly rows: UsageRows;
  readonly holds: Holds;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** ms, only ever forward, whatever becomes of the wall clock: for spans. */
  readonly elapsed: () => number;
  readonly waitMs: number;
}

type Spending = readonly { readonly agentId: string; readonly microUsd: number }[];
export type BudgetScope = { readonly scope: 'household' } | { readonly scope: 'agent'; readonly agentId: string };

export interface Budgets {
  check(agentId: string, signal?: AbortSignal): Promise<CostCheck>;
  /** How the message for a budget that is used up reads. */
  usedUp(scope: BudgetScope, state: BudgetState, spending: Spending, day: Day, timeZone: string): Promise<string>;
  /** Called with what each request cost. */
  learn(microUsd: number): void;
}

const sumOf = (spending: Spending, agentId: string | null) =>
  spending.reduce((sum, each) => (agentId === null || each.agentId === agentId ? sum + each.microUsd : sum), 0);

export function createBudgets({ rows, holds, configs, directory, now, elapsed, waitMs }: BudgetDeps): Budgets {
  let last: number[] | null = null;

  async function expected(): Promise<number> {
    last ??= [...(await rows.lastCosts(COST_LIMITS.expectedFrom))];
    if (last.length === 0) return COST_LIMITS.firstRequestMicroUsd;
    return Math.ceil(last.reduce((sum, each) => sum + each, 0) / last.length);
  }

  async function nameOf(agentId: string): Promise<string> {
    const known = (await directory.all()).find((agent) => agent.agentId === agentId);
    return known?.name ?? (agentId === 'lead' ? 'the lead' : agentId);
  }

  async function usedUp(scope: BudgetScope, { budget, spent }: BudgetState, spending: Spending, day: Day, timeZone: string): Promise<string> {
    const name = scope.scope === 'agent' ? await nameOf(scope.agentId) : null;
    const whose = name === null ? 'The household’s' : `${name}’s`;
    const raise = `Raise it in the settings, under costs${name === null ? '' : ` of ${name}`}.`;
    if (budget === 0) return `${whose} daily budget for model requests is $0: none is sent. ${raise}`;
    const most = name === null ? spending.filter((each) => each.microUsd > 0).slice(0, COST_LIMITS.spendersNamed) : [];
    const by = await Promise.all(most.map(async (each) => `${await nameOf(each.agentId)} ${usdText(each.microUsd)}`));
    const spentBy = by.length > 0 ? ` (most by ${by.join(', ')})` : '';
    const until = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(day.end);
    return `${whose} daily budget of ${usdText(budget ?? 0)} for model requests is used up: ${usdText(spent)} spent today${spentBy}. It opens again on ${until} (${timeZone}). ${raise}`;
  }

  const held = (state: BudgetState) =>
    `What is left of today’s budget of ${usdText(state.budget ?? 0)} is held for requests that are under way (${usdText(state.spent)} spent, ${usdText(state.held)} held). Try again when they are done, or raise the budget in the settings, under costs.`;

  return {
    usedUp,
    learn(microUsd) {
      if (last) last = [microUsd, ...last].slice(0, COST_LIMITS.expectedFrom);
    },
    async check(agentId, signal) {
      const giveUp = elapsed() + waitMs;
      for (;;) {
        const { effective } = await configs.agent(agentId);
        const household = microUsdOf(effective.daily_budget_usd);
        const own = microUsdOf(effective.coordination.daily_budget_usd);
        const each = await expected();
        const day = dayOf(effective.time_zone, now());
        const released = holds.released();
        const spending = household === null && own === null ? [] : await rows.byAgent(day.start);
        signal?.throwIfAborted();
        // What was released meanwhile is in neither of the two sums.
        if (holds.released() !== released) continue;
        // From here to the hold nothing is awaited, so that two cannot both take the last room.
        const states: readonly (readonly [BudgetScope, BudgetState])[] = [
          [{ scope: 'agent', agentId }, { budget: own, spent: sumOf(spending, agentId), held: holds.of(agentId) }],
          [{ scope: 'household' }, { budget: household, spent: sumOf(spending, null), held: holds.of(null) }],
        ];
        const spent = states.find(([, state]) => roomIn(state) === 'spent');
        if (spent) return { ok: false, message: await usedUp(spent[0], spent[1], spending, day, effective.time_zone), until: day.end };
        const full = states.find(([, state]) => roomIn(state) === 'held');
        if (!full) return { ok: true, hold: holds.take(agentId, each) };
        const left = giveUp - elapsed();
        if (left <= 0) return { ok: false, message: held(full[1]), until: day.end };
        await holds.nextRelease(left, signal);
      }
    },
  };
}
