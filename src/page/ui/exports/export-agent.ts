/** Exports one agent as a zip. Loaded on demand, with its dependencies. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { agentFileName, exportAgent } from '../../state/exports.ts';
import type { RoostState } from '../../state/index.ts';
import { chooseSink } from './sink.ts';

/** Asks the person for a place and reports the outcome. Rejects if the file could not be made. */
export async function exportToFile(state: RoostState, agentId: AgentId, name: string): Promise<void> {
  const sink = await chooseSink(agentFileName(name));
  if (!sink) return;
  const done = await exportAgent(state, agentId, sink);
  if (done.ok) state.notices.info(t`Saved as ${sink.fileName}.`);
  else state.notices.error(t`Could not export ${name}. ${done.reason}`);
}
