import { Link } from 'wouter';
import { BUDGET_BOUNDS } from '../../../shared/domain/guardrails.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { HouseholdConfig } from '../../../shared/protocol/config.ts';
import { useLive, useRoost } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { QueryView } from '../parts/query-view.tsx';
import { PATHS } from '../routes.ts';
import { useRehearsing } from '../models/chip.tsx';
import { costText } from '../text/money.ts';
import { useTeammates, type Teammate } from '../use-teammates.ts';
import { AgentBudget } from './agent-budget.tsx';
import { BudgetField } from './budget-field.tsx';
import { PriceTable } from './price-table.tsx';
import { USUAL_DAYS, useCostQueries, useCosts } from './use-costs.ts';
import './costs.css';

function AgentLine({ who, today }: { who: Teammate; today: string }) {
  return (
    <li className="budget-line tint" style={{ '--c': who.color }}>
      <Face agentId={who.agentId} face={who.face} color={who.color} awake={false} />
      <div>
        <Link href={PATHS.soul(who.agentId)} dir="auto">
          {who.name}
        </Link>
        <small>{t`${today} today`}</small>
      </div>
      <AgentBudget agentId={who.agentId} name={who.name} />
    </li>
  );
}

function Budgets({ own }: { own: HouseholdConfig }) {
  const queries = useCostQueries();
  const costs = useCosts(USUAL_DAYS);
  const team = useTeammates();
  const spentOf = (agentId: AgentId) =>
    costs.kind === 'ready' ? costs.value.agents.find((agent) => agent.agentId === agentId)?.today : undefined;
  return (
    <>
      <BudgetField
        label={t`Everybody together`}
        hint={t`Empty: no limit. 0: no model is asked at all.`}
        held={own.daily_budget_usd ?? null}
        none={t`no limit`}
        most={BUDGET_BOUNDS.household.max}
        onSave={queries.setHouseholdBudget}
      />
      <BudgetField
        label={t`Each agent`}
        hint={t`For every agent that has no budget of its own below.`}
        held={own.coordination.daily_budget_usd ?? null}
        none={t`no limit`}
        most={BUDGET_BOUNDS.agent.max}
        onSave={queries.setEachBudget}
      />
      <h3>{t`One by one`}</h3>
      <ul className="budget-list">
        {team.all
          .filter(({ retired }) => !retired)
          .map((who) => {
            const spent = spentOf(who.agentId);
            return <AgentLine key={who.agentId} who={who} today={spent ? costText(spent) : '$0'} />;
          })}
      </ul>
    </>
  );
}

/** What a day may cost, and the prices that it is counted with. */
export function CostsSection() {
  const { limits } = useRoost();
  const costs = useCosts(USUAL_DAYS);
  const rehearsing = useRehearsing();
  const online = useLive((state) => state.link.kind === 'live');
  return (
    <div className="cost-settings">
      <p className="settings-note">
        {costs.kind === 'ready' && <span>{t`Today: ${costText(costs.value.today)}. `}</span>}
        <Link href={PATHS.costs}>{t`All the figures`}</Link>
      </p>
      {rehearsing && (
        <p className="cost-note">{t`Demo: no model is connected, and nothing costs anything. Budgets and prices hold once a model is connected.`}</p>
      )}
      {!online && (
        <p className="settings-note">{t`The relay cannot be reached now: what is set here could not be saved.`}</p>
      )}
      <h3>{t`Daily budgets`}</h3>
      <p className="setting-hint">{t`Before a request goes to a model, Roost looks whether it still fits. When a budget is used up, no more requests are sent until midnight; the agent and you are told.`}</p>
      <QueryView query={limits.query} what={t`The budgets`}>
        {({ own }) => <Budgets own={own} />}
      </QueryView>
      <h3>{t`Prices`}</h3>
      <PriceTable />
    </div>
  );
}
