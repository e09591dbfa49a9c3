import { useStore } from 'zustand';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { replyCostsOf } from '../../state/costs.ts';
import { useRoost } from '../context.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { useRehearsing } from '../models/chip.tsx';
import { costText } from '../text/money.ts';
import { AgentBudget, Meter, useCostQueries, USUAL_DAYS } from './budget-field.tsx';
import './costs.css';

/** An agent's costs and budget, on its page. */
export function AgentCosts({ agentId, name }: { agentId: AgentId; name: string }) {
  const replies = replyCostsOf(useRoost());
  const always = useStore(replies.store, (held) => held.always);
  const queries = useCostQueries();
  const rehearsing = useRehearsing();
  return (
    <div>
      <h3>{t`Costs`}</h3>
      <QueryView query={queries.report(USUAL_DAYS)}>
        {({ agents }) => {
          const own = agents.find((agent) => agent.agentId === agentId);
          return (
            <>
              <dl className="facts gap-5 stack">
                <dt className="ink-3">{t`Today`}</dt>
                <dd className="break ink text-end">{own ? costText(own.today) : '$0'}</dd>
                <dt className="ink-3">{t`${USUAL_DAYS} days`}</dt>
                <dd className="break ink text-end">{own ? costText(own.total) : '$0'}</dd>
              </dl>
              {own && <Meter label={t`Today’s budget of ${name}`} spent={own.today} budgetUsd={own.dailyBudgetUsd} />}
            </>
          );
        }}
      </QueryView>
      {rehearsing && <p className="ink-3 above-3">{t`Demo: no model is connected, and nothing costs anything.`}</p>}
      <div className="agent-budget at-top above-4 flex apart gap-5">
        <span className="ink-3 above-4" aria-hidden="true">{t`Budget a day`}</span>
        <AgentBudget agentId={agentId} name={name} />
      </div>
      <label className="tick-line">
        <input type="checkbox" checked={always} onChange={() => replies.showAlways(!always)} />
        {t`Show what each reply cost`}
      </label>
    </div>
  );
}
