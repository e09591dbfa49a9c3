/** What the relay tells of costs, to test with. */
import type { Costs, Spent } from '../../../../src/shared/protocol/costs.ts';

export const spent = (costMicroUsd: number, change: Partial<Spent> = {}): Spent => ({
  requests: 3,
  inputTokens: 1200,
  outputTokens: 300,
  cacheReadTokens: 500,
  cacheWriteTokens: 0,
  costMicroUsd,
  estimated: false,
  ...change,
});
export const NOTHING = spent(0, { requests: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 });

export const report = (change: Partial<Costs> = {}): Costs => ({
  today: spent(410_000),
  dailyBudgetUsd: 2,
  days: [
    { day: '2026-11-21', spent: spent(410_000) },
    { day: '2026-11-20', spent: NOTHING },
    { day: '2026-11-19', spent: spent(1_250_000, { estimated: true }) },
  ],
  agents: [{ agentId: 'agent-1', today: spent(400_000), total: spent(1_600_000), dailyBudgetUsd: 1 }],
  routines: [
    {
      scheduleId: 's1',
      agentId: 'agent-1',
      name: 'Morning round',
      kind: 'routine',
      runs: 12,
      tokens: 1_200,
      costMicroUsd: 120_000,
      estimated: true,
    },
    {
      scheduleId: 's2',
      agentId: 'agent-1',
      name: 'The week',
      kind: 'routine',
      runs: 1,
      tokens: 300,
      costMicroUsd: 30_000,
      estimated: false,
    },
    {
      scheduleId: 'w1',
      agentId: 'agent-1',
      name: null,
      kind: 'wake',
      runs: 1,
      tokens: 300,
      costMicroUsd: 10_000,
      estimated: false,
    },
  ],
  sessions: [{ sessionId: 'session-2', lastAt: Date.UTC(2026, 10, 21, 10, 30), spent: spent(410_000) }],
  stopped: [],
  ...change,
});
