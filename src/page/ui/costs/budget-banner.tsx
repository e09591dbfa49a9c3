import { t } from '../../language/t.ts';
import { type Teammates, useTeammates } from '../use-somebody.ts';
import { useCosts, USUAL_DAYS } from './budget-field.tsx';
import { Link } from 'wouter';
import type { Costs } from '../../../shared/protocol/costs.ts';
import { WarnIcon } from '../design/icons.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { names } from '../text/sizes.ts';
import { clockTime } from '../text/time.ts';

type Stopped = Costs['stopped'];

/** What has stopped, in a few words. */
export function stoppedText(stopped: Stopped, team: Teammates): string {
  if (stopped.some(({ scope }) => scope === 'household')) return t`Today’s budget is used up`;
  const who = stopped.flatMap(({ agentId }) => (agentId === null ? [] : [team.find(agentId).name]));
  return t`Today’s budget of ${names(who)} is used up`;
}

/** Exhausted budgets, and what to do about them. */
function StoppedBanner({ stopped, team }: { stopped: Stopped; team: Teammates }) {
  const { route } = useRoute();
  const first = stopped.find(({ scope }) => scope === 'household') ?? stopped[0];
  if (!first) return null;
  const there = route.kind === 'settings' && route.section === 'costs';
  return (
    <div className="banner text-2 line gap-5 ink-2" data-tone="warn" role="alert">
      <WarnIcon />
      <p className="fill">
        {t`${<strong>{stoppedText(stopped, team)}.</strong>} It continues at ${clockTime(first.until)} or when you raise the budget.`}
      </p>
      {!there && <Link href={PATHS.settings('costs')} className="ghost">{t`Raise it`}</Link>}
    </div>
  );
}

/**
 * Shown across the page while a budget is exhausted. Read errors are shown on the costs page only.
 */
export default function BudgetBanner() {
  const costs = useCosts(USUAL_DAYS);
  const team = useTeammates();
  return costs.kind === 'ready' ? <StoppedBanner stopped={costs.value.stopped} team={team} /> : null;
}
