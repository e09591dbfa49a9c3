import { retold, t } from '../../language/t.ts';

/** The relay runs no programs for its pages. `why`: in its own words, if it gives a reason. */
export const ProgramsOff = ({ why }: { why?: string | undefined }) => (
  <p className="setting-hint">
    {why === undefined
      ? t`This relay runs no programs for its pages. Start it with ${<code className="ink-2">--scripts</code>} to let it.`
      : retold(why)}
  </p>
);
