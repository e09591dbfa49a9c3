import { spoken } from '../../language/catalogue.ts';
import { t } from '../../language/t.ts';
import type { Costs } from '../../../shared/protocol/costs.ts';
import { budgetText, costText, money, tokens, tokensOf, usdOf } from '../text/money.ts';

export type Measure = 'money' | 'tokens';
type Day = Costs['days'][number];

const dayFormat = new Intl.DateTimeFormat(spoken.locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** `2026-11-21` as `21 Nov`. */
export function dayText(day: string): string {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : dayFormat.format(time);
}

/** Steps that people count in. */
const STEPS = [1, 2, 2.5, 5, 10];
/** The least round number that is not below `value`. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return (STEPS.find((step) => step * unit >= value * (1 - 1e-9)) ?? 10) * unit;
}

const valueOf = ({ spent }: Day, measure: Measure) =>
  measure === 'money' ? usdOf(spent.costMicroUsd) : tokensOf(spent);

/**
 * A bar for each day. Decoration: the table beside it says the same in words. `days`: newest first.
 */
export function Chart({
  days,
  measure,
  budgetUsd,
}: {
  days: readonly Day[];
  measure: Measure;
  budgetUsd: number | null;
}) {
  const oldestFirst = [...days].reverse();
  const budget = measure === 'money' ? budgetUsd : null;
  const highest = Math.max(...oldestFirst.map((day) => valueOf(day, measure)), 0);
  // A budget far above what is spent would press the bars flat.
  const top = roundUp(budget !== null && budget <= highest * 4 ? Math.max(highest, budget) : highest);
  const label = (value: number) => (measure === 'money' ? money(Math.round(value * 1_000_000)) : tokens(value));
  return (
    <div className="chart" aria-hidden="true">
      <div className="chart-scale">
        <span>{label(top)}</span>
        <span>{label(top / 2)}</span>
        <span>0</span>
      </div>
      <div className="chart-bars" style={{ '--days': oldestFirst.length }}>
        {budget !== null && budget <= top && (
          <span className="chart-budget" style={{ '--at': budget / top }}>
            <small>{t`budget ${budgetText(budget)}`}</small>
          </span>
        )}
        {oldestFirst.map((day, i) => (
          <span
            key={day.day}
            className="chart-day"
            title={t`${dayText(day.day)}: ${costText(day.spent)}, ${tokens(tokensOf(day.spent))} tokens`}
            data-today={i === oldestFirst.length - 1}
          >
            <i style={{ '--share': valueOf(day, measure) / top }} data-none={valueOf(day, measure) === 0} />
          </span>
        ))}
      </div>
      <div className="chart-days">
        <span>{dayText(oldestFirst[0]?.day ?? '')}</span>
        {oldestFirst.length > 2 && (
          <span>{dayText(oldestFirst[Math.floor((oldestFirst.length - 1) / 2)]?.day ?? '')}</span>
        )}
        <span>{oldestFirst.length > 1 ? t`today` : ''}</span>
      </div>
    </div>
  );
}
