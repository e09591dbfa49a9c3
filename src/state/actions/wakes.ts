/** The household's switch that stops all wakes but the person's own. */
import type { HouseholdConfig } from '../../protocol/config.ts';
import type { ConfigAnswer } from '../../relay/reach-client.ts';
import type { Kept } from '../kept.ts';
import { problemText } from '../ports.ts';
import type { Parts } from './parts.ts';

export interface WakeActions {
  /** Holds at once, for everybody. Done when the relay has it; where it does not take it, the person is told. */
  stopWakes(stopped: boolean): Promise<void>;
}

export function createWakeActions({ reach, notices, config }: Pick<Parts, 'reach' | 'notices'> & { readonly config: Kept<ConfigAnswer<HouseholdConfig>> }): WakeActions {
  return {
    async stopWakes(stopped) {
      // Read anew: what another tab has set since must stay.
      const put = await reach(async (client) => {
        const read = await client.householdConfig();
        return read.ok ? client.putHouseholdConfig({ ...read.value.own, wakes_enabled: !stopped }) : read;
      });
      if (!put.ok) notices.error(`${stopped ? 'Wakes could not be stopped' : 'Wakes could not be allowed again'}: ${problemText(put.problem)}`);
      await config.again();
    },
  };
}
