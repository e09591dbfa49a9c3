import { Link } from 'wouter';
import { useLive } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { PATHS } from '../places.ts';
import { useRehearsing } from '../shell/rehearsal-note.tsx';
import { costText } from '../text/money.ts';
import { useKept } from '../use-kept.ts';
import { useTeammates, type Teammate } from '../use-teammates.ts';
import { BudgetField } from './budget-field.tsx';
import { PriceTable } from './price-table.tsx';
import { MOST_AGENT, MOST_HOUSEHOLD, USUAL_DAYS, useCostBook, useCosts } from './use-costs.ts';
import './costs.css';

function AgentBudget({ who, today }: { who: Teammate; today: string }) {
  const book = useCostBook();
  const config = useKept(book.agent(who.agentId));
  const each = useKept(book.household);
  const usual = each.kind === 'ready' ? (each.value.effective.coordination.daily_budget_usd ?? null) : null;
  return (
    <li className="budget-line tint" style={{ '--c': who.color }}>
      <Face agentId={who.agentId} birthName={who.birthName} color={who.color} awake={false} />
      <div>
        <Link href={PATHS.soul(who.agentId)} dir="auto">
          {who.name}
        </Link>
        <small>{today} today</small>
      </div>
      {config.kind === 'ready' ? (
        <BudgetField
          bare
          label={`Daily budget of ${who.name}, in dollars`}
          held={config.value.own.coordination.daily_budget_usd ?? null}
          none={usual === null ? 'no limit' : String(usual)}
          most={MOST_AGENT}
          onSave={(usd) => book.setAgentBudget(who.agentId, usd)}
        />
      ) : (
        <p className="setting-hint">{config.kind === 'loading' ? 'Reading…' : config.problem.message}</p>
      )}
    </li>
  );
}

function Budgets() {
  const book = useCostBook();
  const household = useKept(book.household);
  const costs = useCosts(USUAL_DAYS);
  const team = useTeammates();
  if (household.kind === 'loading')
    return (
      <p className="settings-note" role="status">
        Asking the relay…
      </p>
    );
  if (household.kind === 'failed')
    return (
      <div className="wrong-note" role="alert">
        <p>
          <strong>The budgets could not be read.</strong> {household.problem.message}
        </p>
        <button type="button" className="ghost" onClick={() => void book.household.again()}>
          Try again
        </button>
      </div>
    );
  const { own } = household.value;
  const spentOf = (agentId: string) => (costs.kind === 'ready' ? costs.value.agents.find((agent) => agent.agentId === agentId)?.today : undefined);
  return (
    <>
      <BudgetField label="Everybody together" hint="Empty: no limit. 0: no model is asked at all." held={own.daily_budget_usd ?? null} none="no limit" most={MOST_HOUSEHOLD} onSave={book.setHouseholdBudget} />
      <BudgetField label="Each agent" hint="For every agent that has no budget of its own below." held={own.coordination.daily_budget_usd ?? null} none="no limit" most={MOST_AGENT} onSave={book.setEachBudget} />
      <h3>One by one</h3>
      <ul className="budget-list">
        {team.all
          .filter(({ retired }) => !retired)
          .map((who) => {
            const spent = spentOf(who.agentId);
            return <AgentBudget key={who.agentId} who={who} today={spent ? costText(spent) : '$0'} />;
          })}
      </ul>
    </>
  );
}

/** What a day may cost, and the prices that it is counted with. */
export function CostsSection() {
  const costs = useCosts(USUAL_DAYS);
  const rehearsing = useRehearsing();
  const online = useLive((state) => state.link.kind === 'live');
  return (
    <div className="cost-settings">
      <p className="settings-note">
        {costs.kind === 'ready' && `Today: ${costText(costs.value.today)}. `}
        <Link href={PATHS.costs}>All the figures</Link>
      </p>
      {rehearsing && <p className="cost-note">Rehearsal: nobody is thinking, and nothing costs anything. Budgets and prices hold once a model is connected.</p>}
      {!online && <p className="settings-note">The relay cannot be reached now: what is set here could not be saved.</p>}
      <h3>Daily budgets</h3>
      <p className="setting-hint">Before a request goes to a model, Roost looks whether it still fits. When a budget is used up, no more requests are sent until midnight; the agent and you are told.</p>
      <Budgets />
      <h3>Prices</h3>
      <PriceTable />
    </div>
  );
}
