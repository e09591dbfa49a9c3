/** Drafts outlive the page they were begun on: one for each conversation, in every tab of this browser. */
import type { AgentId } from '../../domain/ids.ts';
import type { Device } from '../../state/ports.ts';

const key = (agentId: AgentId) => `roost-draft:${agentId}`;

export const readDraft = (browser: Device['browser'], agentId: AgentId): string => browser.read(key(agentId)) ?? '';

/** False where there is no room for it: the text stays on the page, but a reload would lose it. */
export const keepDraft = (browser: Device['browser'], agentId: AgentId, text: string): boolean =>
  browser.write(key(agentId), text);

/** Hears of the draft when another tab has changed it; returns the way to stop that. */
export function followDraft(agentId: AgentId, onChange: (text: string) => void): () => void {
  const onStorage = (event: StorageEvent) => {
    if (event.key === key(agentId)) onChange(event.newValue ?? '');
  };
  addEventListener('storage', onStorage);
  return () => removeEventListener('storage', onStorage);
}
