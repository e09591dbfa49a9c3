import { BUDGET_BOUNDS } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { reachQueries } from '../../state/reach-queries.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../use-query.ts';
import { BudgetField } from './budget-field.tsx';
import { useCostQueries } from './use-costs.ts';
import { problemText } from '../../state/ports.ts';

/** An agent's own daily budget; empty where it has the one of every agent. */
export function AgentBudget({ agentId, name }: { agentId: AgentId; name: string }) {
  const state = useRoost();
  const queries = useCostQueries();
  const own = useQuery(reachQueries(state).limits(agentId).query);
  const household = useQuery(state.limits.query);
  if (own.kind !== 'ready')
    return <p className="setting-hint">{own.kind === 'loading' ? t`Reading…` : problemText(own.problem)}</p>;
  const usual = household.kind === 'ready' ? household.value.effective.coordination.daily_budget_usd : null;
  return (
    <BudgetField
      bare
      label={t`Daily budget of ${name}, in dollars`}
      held={own.value.own.coordination.daily_budget_usd ?? null}
      none={usual === null ? t`no limit` : String(usual)}
      most={BUDGET_BOUNDS.agent.max}
      onSave={(usd) => queries.setAgentBudget(agentId, usd)}
    />
  );
}
