/** Things said more than once: which documents are about the same thing. */
import { isSettingValue } from '../../domain/settings.ts';
import { reachesFurther, readMarkOf } from '../../domain/read-marks.ts';
import type { AgentChangeDoc, SettingDoc } from '../../protocol/documents.ts';
import { isNewer } from './order.ts';

/** Changes of one agent and kind; retiring and returning are one kind. */
export function changeSlot({ agentId, change }: AgentChangeDoc): string {
  return `${change.kind === 'return' ? 'retire' : change.kind}:${agentId}`;
}

/** Null where this app does not know the setting, or the value is none it can have: it then never holds. */
export function settingSlot(doc: SettingDoc): string | null {
  return isSettingValue(doc.key, doc.value) || readMarkOf(doc) ? doc.key : null;
}

/** Does a setting take the slot of another? The newer does; of marks how far was read, the one that reaches further. */
export function settingWins(doc: SettingDoc, held: SettingDoc): boolean {
  const [mark, before] = [readMarkOf(doc), readMarkOf(held)];
  return (mark && before && reachesFurther(mark, before)) ?? isNewer(doc, held);
}
