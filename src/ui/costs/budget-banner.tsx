import { useTeammates } from '../use-teammates.ts';
import { StoppedBanner } from './stopped.tsx';
import { USUAL_DAYS, useCosts } from './use-costs.ts';

/** Across the page while a budget is used up. What cannot be read now says nothing here: the costs page does. */
export default function BudgetBanner() {
  const costs = useCosts(USUAL_DAYS);
  const team = useTeammates();
  return costs.kind === 'ready' ? <StoppedBanner stopped={costs.value.stopped} team={team} /> : null;
}
