/** Things said more than once: which documents are about the same thing. */
import { isSettingValue } from '../../domain/settings.ts';
import type { AgentChangeDoc, SettingDoc } from '../../protocol/documents.ts';

/** Changes of one agent and kind; retiring and returning are one kind. */
export function changeSlot({ agentId, change }: AgentChangeDoc): string {
  return `${change.kind === 'return' ? 'retire' : change.kind}:${agentId}`;
}

/** Null where this app does not know the setting, or the value is none it can have: it then never holds. */
export function settingSlot({ key, value }: SettingDoc): string | null {
  return isSettingValue(key, value) ? key : null;
}
