/**
 * What is known of copies before they are needed: the rest is fetched after the page is painted.
 */
import { errorText } from '../../state/ports.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';

const load = () => import('./export-agent.ts');

const loadConversation = () => import('./export-conversation.ts');

/**
 * Fetches what exporting an agent and a conversation takes, so that it is there when the relay is
 * not.
 */
export const fetchAgentExport = (): Promise<unknown> => Promise.all([load(), loadConversation()]);

/** Writes one agent into a zip, where the person says, and says how it went. */
export async function exportAgentFile(state: RoostState, agentId: AgentId, name: string): Promise<void> {
  try {
    const { exportToFile } = await load();
    await exportToFile(state, agentId, name);
  } catch (error) {
    // The file could not be made, or a part of the page did not come.
    state.notices.error(t`${name} could not be exported: ${errorText(error)}`);
  }
}

/**
 * Writes one conversation into a file that people read, where the person says, and says how it
 * went.
 */
export async function exportConversationFile(state: RoostState, agentId: AgentId, name: string): Promise<void> {
  try {
    const { exportToFile } = await loadConversation();
    await exportToFile(state, agentId, name);
  } catch (error) {
    const reason = errorText(error);
    state.notices.error(t`The conversation with ${name} could not be exported: ${reason}`);
  }
}
