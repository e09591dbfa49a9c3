import type { Costs } from '../../protocol/costs.ts';
import { costBookOf, type CostBook } from '../../state/costs.ts';
import type { QueryState } from '../../state/query.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../use-query.ts';

/** Days that a page looks at where nobody chose. */
export const USUAL_DAYS = 30;

export const useCostBook = (): CostBook => costBookOf(useRoost());
export const useCosts = (days: number): QueryState<Costs> => useQuery(useCostBook().report(days));
