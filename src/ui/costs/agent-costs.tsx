import { useStore } from 'zustand';
import { replyCostsOf } from '../../state/reply-costs.ts';
import { useRoost } from '../context.tsx';
import { useRehearsing } from '../shell/rehearsal-note.tsx';
import { costText } from '../text/money.ts';
import { useKept } from '../use-kept.ts';
import { BudgetField } from './budget-field.tsx';
import { Meter } from './meter.tsx';
import { MOST_AGENT, USUAL_DAYS, useCostBook, useCosts } from './use-costs.ts';
import './costs.css';

/** What an agent costs and may cost, on its page. */
export function AgentCosts({ agentId, name }: { agentId: string; name: string }) {
  const state = useRoost();
  const replies = replyCostsOf(state);
  const always = useStore(replies.store, (held) => held.always);
  const book = useCostBook();
  const costs = useCosts(USUAL_DAYS);
  const config = useKept(book.agent(agentId));
  const rehearsing = useRehearsing();
  const own = costs.kind === 'ready' ? costs.value.agents.find((agent) => agent.agentId === agentId) : undefined;
  return (
    <div>
      <h3>Costs</h3>
      {costs.kind === 'failed' ? (
        <p className="quiet">They could not be read: {costs.problem.message}</p>
      ) : (
        <dl className="facts">
          <dt>Today</dt>
          <dd>{own ? costText(own.today) : costs.kind === 'ready' ? '$0' : '…'}</dd>
          <dt>{USUAL_DAYS} days</dt>
          <dd>{own ? costText(own.total) : costs.kind === 'ready' ? '$0' : '…'}</dd>
        </dl>
      )}
      {own && <Meter label={`Today’s budget of ${name}`} spentMicroUsd={own.today.costMicroUsd} budgetUsd={own.dailyBudgetUsd} />}
      {rehearsing && <p className="quiet">A rehearsal costs nothing.</p>}
      {config.kind === 'ready' && (
        <div className="agent-budget">
          <span aria-hidden="true">Budget a day</span>
          <BudgetField
            bare
            label={`Daily budget of ${name}, in dollars`}
            held={config.value.own.coordination.daily_budget_usd ?? null}
            none={config.value.effective.coordination.daily_budget_usd === null ? 'no limit' : String(config.value.effective.coordination.daily_budget_usd)}
            most={MOST_AGENT}
            onSave={(usd) => book.setAgentBudget(agentId, usd)}
          />
        </div>
      )}
      <label className="tick-line">
        <input type="checkbox" checked={always} onChange={() => replies.showAlways(!always)} />
        Show what each reply cost
      </label>
    </div>
  );
}
