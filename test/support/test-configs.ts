/**
 * The real settings on a store, with words for what tests change; waits may be shorter than a
 * person can set them.
 */
import { createConfigs } from '../../server/team/gate/index.ts';
import type { Configs } from '../../server/team/gate/configs.ts';
import type { Db } from '../../server/store/index.ts';

export interface TestConfigs extends Configs {
  /** US dollars a day. */
  householdBudget(usd: number | null): Promise<void>;
  agentBudget(agentId: string, usd: number | null): Promise<void>;
  zone(name: string): Promise<void>;
  startsPaused(agentId: string): Promise<void>;
  /** Seconds that a call of a sleeping agent is held. */
  sleepWait(seconds: number): void;
}

export function createTestConfigs({ db, relay }: { readonly db: Db; readonly relay: string }): TestConfigs {
  const configs = createConfigs({
    db,
    home: relay,
    alone: false,
    tell: () => undefined,
    now: () => 0,
    timeZone: 'UTC',
  });
  let seconds: number | null = null;
  return {
    ...configs,
    async agent(agentId) {
      const { effective, ...rest } = await configs.agent(agentId);
      return { ...rest, effective: { ...effective, sleep_wait_seconds: seconds ?? effective.sleep_wait_seconds } };
    },
    async householdBudget(usd) {
      await configs.setHousehold({ ...(await configs.household()).own, daily_budget_usd: usd });
    },
    async agentBudget(agentId, usd) {
      await configs.setAgent(agentId, { coordination: { daily_budget_usd: usd } });
    },
    async zone(name) {
      await configs.setHousehold({ ...(await configs.household()).own, time_zone: name });
    },
    async startsPaused(agentId) {
      await configs.setAgent(agentId, { coordination: { sleep_events: ['agent_started'] } });
    },
    sleepWait: (given) => void (seconds = given),
  };
}
