import type { Costs, Spent } from '../../../shared/protocol/costs.ts';
import { type CostQueries, costQueriesOf } from '../../state/costs.ts';
import type { QueryState } from '../../state/query.ts';
import { t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { UsedBar } from '../parts/progress.tsx';
import { budgetText, costText, money, usdOf } from '../text/money.ts';

/** The default period in days. */
export const USUAL_DAYS = 30;

export const useCostQueries = (): CostQueries => costQueriesOf(useRoost());
export const useCosts = (days: number): QueryState<Costs> => useQuery(useCostQueries().report(days));

/** The used part of a day's budget, in words and as a bar. */
export function Meter({
  label,
  spent,
  budgetUsd,
}: {
  label: string;
  spent: Pick<Spent, 'costMicroUsd' | 'estimated'>;
  budgetUsd: number | null;
}) {
  if (budgetUsd === null) return null;
  const spentUsd = usdOf(spent.costMicroUsd);
  const share = budgetUsd === 0 ? 1 : Math.min(1, spentUsd / budgetUsd);
  const left = Math.max(0, Math.round((budgetUsd - spentUsd) * 1_000_000));
  return (
    <div className="budget-meter" data-full={share >= 1}>
      <UsedBar
        share={share}
        meter={{ label, now: spentUsd, most: budgetUsd, text: t`${costText(spent)} of ${budgetText(budgetUsd)}` }}
      />
      <p>
        {budgetUsd === 0
          ? t`The budget is $0: no model is asked.`
          : share >= 1
            ? t`All of ${budgetText(budgetUsd)} is used.`
            : t`${spent.estimated ? '≈ ' : ''}${money(left)} of ${budgetText(budgetUsd)} left today`}
      </p>
    </div>
  );
}
