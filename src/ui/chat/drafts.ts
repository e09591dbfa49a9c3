/** Drafts outlive a reload of their tab, one for each conversation. */

const key = (agentId: string) => `roost-draft:${agentId}`;

export const readDraft = (agentId: string): string => sessionStorage.getItem(key(agentId)) ?? '';

/** False where the browser has no room for it: the text stays on the page, but a reload would lose it. */
export function keepDraft(agentId: string, text: string): boolean {
  try {
    if (text === '') sessionStorage.removeItem(key(agentId));
    else sessionStorage.setItem(key(agentId), text);
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}
