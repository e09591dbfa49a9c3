/** Drafts outlive a reload of their tab, one for each conversation. */
import type { AgentId } from '../../domain/ids.ts';
import type { Device } from '../../state/ports.ts';

const key = (agentId: AgentId) => `roost-draft:${agentId}`;

export const readDraft = (tab: Device['tab'], agentId: AgentId): string => tab.read(key(agentId)) ?? '';

/** False where there is no room for it: the text stays on the page, but a reload would lose it. */
export const keepDraft = (tab: Device['tab'], agentId: AgentId, text: string): boolean => tab.write(key(agentId), text);
