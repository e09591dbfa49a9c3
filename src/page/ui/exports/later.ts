/** Entry points of the exports. The rest is loaded after the page is painted. */
import { errorText } from '../../state/ports.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';

const loadAgent = () => import('./export-agent.ts');
const loadConversation = () => import('./export-conversation.ts');

/** Preloads the exports of agents and conversations, so that they work without the relay. */
export const fetchAgentExport = (): Promise<unknown> => Promise.all([loadAgent(), loadConversation()]);

type Load = () => Promise<{ exportToFile: (state: RoostState, agentId: AgentId, name: string) => Promise<void> }>;

/** Exports to a place that the person chooses, and reports the outcome. */
const exporting = (load: Load) => async (state: RoostState, agentId: AgentId, name: string) => {
  try {
    const { exportToFile } = await load();
    await exportToFile(state, agentId, name);
  } catch (error) {
    // The file could not be made, or a module could not be loaded.
    state.notices.error(t`Could not export ${name}. ${errorText(error)}`);
  }
};

/** Exports one agent as a zip. */
export const exportAgentFile = exporting(loadAgent);

/** Exports one conversation as a readable file. */
export const exportConversationFile = exporting(loadConversation);
