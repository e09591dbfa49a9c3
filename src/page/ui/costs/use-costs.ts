import type { Costs } from '../../../shared/protocol/costs.ts';
import { costQueriesOf, type CostQueries } from '../../state/costs.ts';
import type { QueryState } from '../../state/query.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';

/** The default period in days. */
export const USUAL_DAYS = 30;

export const useCostQueries = (): CostQueries => costQueriesOf(useRoost());
export const useCosts = (days: number): QueryState<Costs> => useQuery(useCostQueries().report(days));
