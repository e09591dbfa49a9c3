/** The household's switch that stops all wakes but the person's own. */
import type { HouseholdLimits } from '../limits.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../ports.ts';
import type { Parts } from './parts.ts';

export interface WakeActions {
  /** Holds at once, for everybody. Done when the relay has it; where it does not take it, the person is told. */
  stopWakes(stopped: boolean): Promise<void>;
}

export function createWakeActions({
  notices,
  limits,
}: Pick<Parts, 'notices'> & { readonly limits: HouseholdLimits }): WakeActions {
  return {
    async stopWakes(stopped) {
      const put = await limits.change((own) => ({ ...own, wakes_enabled: !stopped }));
      if (!put.ok)
        notices.error(
          stopped
            ? t`Wakes could not be stopped: ${problemText(put.problem)}`
            : t`Wakes could not be allowed again: ${problemText(put.problem)}`,
        );
    },
  };
}
