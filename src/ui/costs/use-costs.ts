import type { Costs } from '../../protocol/costs.ts';
import { costBookOf, type CostBook } from '../../state/costs.ts';
import type { KeptState } from '../../state/kept.ts';
import { useRoost } from '../context.tsx';
import { useKept } from '../use-kept.ts';

/** Days that a page looks at where nobody chose. */
export const USUAL_DAYS = 30;

export const useCostBook = (): CostBook => costBookOf(useRoost());
export const useCosts = (days: number): KeptState<Costs> => useKept(useCostBook().report(days));
