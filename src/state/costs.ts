/** What the team costs, and what it may cost, as this page shows it. Fetched with the parts of the page that show it. */
import type { AgentConfig, HouseholdConfig } from '../protocol/config.ts';
import type { Costs, Price } from '../protocol/costs.ts';
import { DONE, type Done } from './actions/parts.ts';
import type { RoostState } from './index.ts';
import { createKept, createKeptFamily, type Kept } from './kept.ts';
import { problemText } from './ports.ts';
import type { RelayProblem } from '../relay/index.ts';
import type { ConfigAnswer } from '../relay/reach-client.ts';

export interface CostBook {
  /** Over so many days, 1 to 90. */
  report(days: number): Kept<Costs>;
  readonly prices: Kept<readonly Price[]>;
  readonly household: Kept<ConfigAnswer<HouseholdConfig>>;
  agent(agentId: string): Kept<ConfigAnswer<AgentConfig>>;
  /** US dollars a day for everybody together; null: no limit. */
  setHouseholdBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for each agent that has no budget of its own; null: no limit. */
  setEachBudget(usd: number | null): Promise<Done>;
  /** US dollars a day for one agent; null: as for each of them. */
  setAgentBudget(agentId: string, usd: number | null): Promise<Done>;
  /** An empty list brings Roost's own back. */
  setPrices(prices: readonly Price[]): Promise<Done>;
}

const failed = (problem: RelayProblem): Done => ({ ok: false, reason: problemText(problem) });

export function createCostBook({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): CostBook {
  const reports = createKeptFamily((days) => createKept<Costs>({ ask: () => reach((client) => client.costs(Number(days))), changes, device, what: ['costs', 'config'] }));
  const prices = createKept<readonly Price[]>({
    ask: async () => {
      const read = await reach((client) => client.prices());
      return read.ok ? { ok: true, value: read.value.prices } : read;
    },
    changes,
    device,
    what: ['costs'],
  });
  const household = createKept({ ask: () => reach((client) => client.householdConfig()), changes, device, what: ['config'] });
  const agents = createKeptFamily((agentId) => createKept({ ask: () => reach((client) => client.agentConfig(agentId)), changes, device, what: ['config'] }));

  /** What is set is read first, and put back whole: other settings stand as they are. */
  async function changeHousehold(change: (own: HouseholdConfig) => HouseholdConfig): Promise<Done> {
    const read = await reach((client) => client.householdConfig());
    if (!read.ok) return failed(read.problem);
    const put = await reach((client) => client.putHouseholdConfig(change(read.value.own)));
    if (!put.ok) return failed(put.problem);
    await household.again();
    return DONE;
  }

  return {
    report: (days) => reports(String(days)),
    prices,
    household,
    agent: agents,
    setHouseholdBudget: (usd) => changeHousehold((own) => ({ ...own, daily_budget_usd: usd })),
    setEachBudget: (usd) => changeHousehold((own) => ({ ...own, coordination: { ...own.coordination, daily_budget_usd: usd } })),
    async setAgentBudget(agentId, usd) {
      const read = await reach((client) => client.agentConfig(agentId));
      if (!read.ok) return failed(read.problem);
      const coordination = { ...read.value.own.coordination };
      if (usd === null) delete coordination.daily_budget_usd;
      else coordination.daily_budget_usd = usd;
      const put = await reach((client) => client.putAgentConfig(agentId, { ...read.value.own, coordination }));
      if (!put.ok) return failed(put.problem);
      await agents(agentId).again();
      return DONE;
    },
    async setPrices(table) {
      const put = await reach((client) => client.putPrices({ prices: [...table] }));
      if (!put.ok) return failed(put.problem);
      prices.put(put.value.prices);
      return DONE;
    },
  };
}

const made = new WeakMap<RoostState, CostBook>();

/** The cost book of this page: made when it is first shown. */
export function costBookOf(state: RoostState): CostBook {
  const known = made.get(state) ?? createCostBook(state);
  made.set(state, known);
  return known;
}
