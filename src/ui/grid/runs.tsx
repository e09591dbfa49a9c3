import { pathOf, type Run } from './pixels.ts';

/** One element for all of them: a log shows many faces at once. */
export const Runs = ({ runs, className }: { runs: readonly Run[]; className: string }) => (
  <path className={className} d={pathOf(runs)} />
);
