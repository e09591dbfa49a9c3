import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { PATHS } from '../routes.ts';
import { costText } from '../text/money.ts';
import { useCosts, USUAL_DAYS } from './budget-field.tsx';

/** The cost of today, with a link to all costs. Nothing until the first request to a model. */
export default function CostChip() {
  const costs = useCosts(USUAL_DAYS);
  if (costs.kind !== 'ready' || costs.value.today.requests === 0) return null;
  const spent = costText(costs.value.today);
  return (
    <Link
      href={PATHS.activity('costs')}
      className="cost-chip underlined unlined nowrap figures ink-2 text-2"
      title={t`Costs of today`}
    >
      <b className="ink">{spent}</b> <span>{t`today`}</span>
    </Link>
  );
}
