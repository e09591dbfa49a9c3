import { UsedBar } from '../parts/used-bar.tsx';
import { budgetText, money, usdOf } from '../text/money.ts';

/** How much of a day's budget is used, in words and as a bar. */
export function Meter({
  label,
  spentMicroUsd,
  budgetUsd,
}: {
  label: string;
  spentMicroUsd: number;
  budgetUsd: number | null;
}) {
  if (budgetUsd === null) return null;
  const spent = usdOf(spentMicroUsd);
  const share = budgetUsd === 0 ? 1 : Math.min(1, spent / budgetUsd);
  const left = Math.max(0, Math.round((budgetUsd - spent) * 1_000_000));
  return (
    <div className="budget-meter" data-full={share >= 1}>
      <UsedBar
        share={share}
        meter={{ label, now: spent, most: budgetUsd, text: `${money(spentMicroUsd)} of ${budgetText(budgetUsd)}` }}
      />
      <p>
        {budgetUsd === 0
          ? 'The budget is $0: no model is asked.'
          : share >= 1
            ? `All of ${budgetText(budgetUsd)} is used.`
            : `${money(left)} of ${budgetText(budgetUsd)} left today`}
      </p>
    </div>
  );
}
