/** Looking after the ledger. */
import type { Parts } from './parts.ts';

export interface UpkeepActions {
  /** Has every volume checked and the views written anew. Does nothing while this tab has it done already. */
  rebuild(): Promise<void>;
}

export function createUpkeepActions({ owner, upkeep }: Parts): UpkeepActions {
  return {
    async rebuild() {
      if (upkeep.getState().rebuild.kind === 'running') return;
      upkeep.setState({ rebuild: { kind: 'running' } });
      try {
        upkeep.setState({ rebuild: { kind: 'done', report: await owner.call('rebuild') } });
      } catch (error) {
        // Said where the button stands.
        upkeep.setState({
          rebuild: { kind: 'failed', reason: error instanceof Error ? error.message : String(error) },
        });
      }
    },
  };
}
