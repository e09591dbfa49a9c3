/**
 * The daily budgets: whether one more request fits in.
 *
 * What a request will cost is known when it is over. Until then the most that it may come to is
 * held: by its size, its longest answer and the dearest rate that applies. Another is sent where
 * what is spent, what is held and the most of its own stay within the budget; otherwise it waits
 * for one of them to end, and is decided anew. One alone is sent while anything is left, so a
 * budget is overrun by one request at most, and never stands unused because nothing fits in. Holds
 * are this process's; what is spent is counted in the store, for every process. What a process held
 * that was killed is spent: see `reserves.ts`.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { microUsdOf, roomIn, usdText, type BudgetState } from '../../../src/shared/domain/prices.ts';
import { mostCost } from '../../../src/shared/domain/request-cost.ts';
import { dayOf, type Day } from '../../../src/shared/domain/zone-days.ts';
import type { Configs, CostRequest, Directory } from '../../contracts/index.ts';
import type { Holds } from './holds.ts';
import type { PriceTable } from './price-table.ts';
import { COST_LIMITS } from './settings.ts';
import type { UsageRows } from './usage-rows.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';

export interface BudgetDeps {
  readonly rows: UsageRows;
  readonly prices: Pick<PriceTable, 'read'>;
  readonly holds: Holds;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** ms, only ever forward, whatever becomes of the wall clock: for spans. */
  readonly elapsed: () => number;
  readonly waitMs: number;
}

type Spending = readonly { readonly agentId: AgentId; readonly microUsd: number }[];
type BudgetScope = { readonly scope: 'household' } | { readonly scope: 'agent'; readonly agentId: AgentId };

/**
 * As `CostCheck`, with what gives the hold back. `most`: what is held, in millionths of a dollar.
 */
export type Room =
  | { readonly ok: true; readonly most: number; readonly release: () => void }
  | { readonly ok: false; readonly message: string; readonly until: number };

export interface Budgets {
  /** `patient` false: what would have to wait is refused. */
  check(request: CostRequest, signal?: AbortSignal, patient?: boolean): Promise<Room>;
  /**
   * The budget that is used up, of the agent's and the household's; null: a request of this agent
   * may still be sent.
   */
  used(agentId: AgentId): Promise<Extract<Room, { ok: false }> | null>;
  /** How the message for a budget that is used up reads. */
  usedUp(scope: BudgetScope, state: BudgetState, spending: Spending, day: Day, timeZone: string): Promise<string>;
}

const CROWDED = 'Too many requests of this agent are under way at once. Try again when some of them are done.';

const sumOf = (spending: Spending, agentId: AgentId | null) =>
  spending.reduce((sum, each) => (agentId === null || each.agentId === agentId ? sum + each.microUsd : sum), 0);

export function createBudgets({ rows, prices, holds, configs, directory, now, elapsed, waitMs }: BudgetDeps): Budgets {
  async function nameOf(agentId: AgentId): Promise<string> {
    const known = (await directory.all()).find((agent) => agent.agentId === agentId);
    return known?.name ?? (agentId === 'lead' ? 'the lead' : agentId);
  }

  async function usedUp(
    scope: BudgetScope,
    { budget, spent }: BudgetState,
    spending: Spending,
    day: Day,
    timeZone: string,
  ): Promise<string> {
    const name = scope.scope === 'agent' ? await nameOf(scope.agentId) : null;
    if (budget === 0)
      return name === null
        ? sentence`The household’s daily budget for model requests is $0: none is sent. Raise it in the settings, under “Budgets and prices”.`
        : sentence`${name}’s daily budget for model requests is $0: none is sent. Raise it in the settings, under “Budgets and prices”.`;
    const most = name === null ? spending.filter((each) => each.microUsd > 0).slice(0, COST_LIMITS.spendersNamed) : [];
    const by = await Promise.all(most.map(async (each) => `${await nameOf(each.agentId)} ${usdText(each.microUsd)}`));
    const spentBy = by.length > 0 ? sentence` (most by ${by.join(', ')})` : '';
    const until = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' }).format(
      day.end,
    );
    const [daily, used] = [usdText(budget ?? 0), usdText(spent)];
    return name === null
      ? sentence`The household’s daily budget of ${daily} for model requests is used up: ${used} spent today${spentBy}. It opens again on ${until} (${timeZone}). Raise it in the settings, under “Budgets and prices”.`
      : sentence`${name}’s daily budget of ${daily} for model requests is used up: ${used} spent today${spentBy}. It opens again on ${until} (${timeZone}). Raise it in the settings, under “Budgets and prices”.`;
  }

  const held = (state: BudgetState, most: number) =>
    sentence`What is left of today’s budget of ${usdText(state.budget ?? 0)} is held for requests that are under way (${usdText(state.spent)} spent, ${usdText(state.held)} held; this one may cost up to ${usdText(most)}). Try again when they are done, or raise the budget in the settings, under “Budgets and prices”.`;

  async function setFor(agentId: AgentId) {
    const { effective } = await configs.agent(agentId);
    const household = microUsdOf(effective.daily_budget_usd);
    const own = microUsdOf(effective.coordination.daily_budget_usd);
    const timeZone = effective.time_zone;
    return { household, own, isNone: household === null && own === null, timeZone, day: dayOf(timeZone, now()) };
  }
  type SetBudgets = Awaited<ReturnType<typeof setFor>>;
  type States = readonly (readonly [BudgetScope, BudgetState])[];
  const statesOf = (
    agentId: AgentId,
    { household, own }: SetBudgets,
    spending: Spending,
    heldOf: (agentId: AgentId | null) => number,
  ): States => [
    [
      { scope: 'agent', agentId },
      { budget: own, spent: sumOf(spending, agentId), held: heldOf(agentId) },
    ],
    [{ scope: 'household' }, { budget: household, spent: sumOf(spending, null), held: heldOf(null) }],
  ];
  const spentIn = (states: States, most: number) => states.find(([, state]) => roomIn(state, most) === 'spent');
  async function refusal(
    [scope, state]: States[number],
    spending: Spending,
    { day, timeZone }: SetBudgets,
  ): Promise<Extract<Room, { ok: false }>> {
    return { ok: false, message: await usedUp(scope, state, spending, day, timeZone), until: day.end };
  }

  async function used(agentId: AgentId): Promise<Extract<Room, { ok: false }> | null> {
    const set = await setFor(agentId);
    if (set.isNone) return null;
    const spending = await rows.byAgent(set.day.start);
    const spent = spentIn(
      statesOf(agentId, set, spending, () => 0),
      0,
    );
    return spent ? await refusal(spent, spending, set) : null;
  }

  return {
    usedUp,
    used,
    async check({ agentId, size, credentialId }, signal, patient = true) {
      const giveUp = elapsed() + (patient ? waitMs : 0);
      for (;;) {
        const set = await setFor(agentId);
        const { day } = set;
        const released = holds.released();
        const [most, spending] = await Promise.all([
          prices.read().then((table) => mostCost(size, table)),
          set.isNone ? [] : rows.byAgent(day.start),
        ]);
        signal?.throwIfAborted();
        // What was released meanwhile is in neither of the two sums.
        if (holds.released() !== released) continue;
        // From here to the hold nothing is awaited, so that two cannot both take the last room.
        const states = statesOf(agentId, set, spending, holds.of);
        const spent = spentIn(states, most);
        if (spent) return await refusal(spent, spending, set);
        const full = states.find(([, state]) => roomIn(state, most) === 'held');
        const crowded =
          holds.count((held) => held.agentId === agentId) >= COST_LIMITS.underWayPerAgent ||
          (credentialId !== undefined &&
            holds.count((held) => held.credentialId === credentialId) >= COST_LIMITS.underWayPerCredential);
        if (!full && !crowded)
          return { ok: true, most, release: holds.take({ agentId, credentialId, microUsd: most }) };
        const left = giveUp - elapsed();
        if (left <= 0) return { ok: false, message: full ? held(full[1], most) : CROWDED, until: day.end };
        await holds.nextRelease(left, signal);
      }
    },
  };
}
