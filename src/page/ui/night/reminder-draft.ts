/**
 * A reminder as it stands in the fields of its editor: texts, until the relay has taken it. Pure.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { ScheduleOf } from '../../../shared/protocol/schedules.ts';
import { timingDraftOf, timingOf, wrongInTiming, type TimingDraft, type Wrong } from './timing-draft.ts';

export type Reminder = ScheduleOf<'reminder'>;

export interface ReminderDraft extends TimingDraft {
  readonly agentId: AgentId;
  readonly name: string;
  readonly message: string;
  readonly context: Reminder['context'];
}

export const reminderDraftOf = ({ agentId, name, message, timing, context }: Reminder): ReminderDraft => ({
  ...timingDraftOf(timing),
  agentId,
  name,
  message,
  context,
});

/** Its fields that the editor writes. */
export const FIELDS_OF_REMINDER = [
  'agentId',
  'name',
  'message',
  'timing',
  'context',
] as const satisfies readonly (keyof Reminder)[];

/** What is wrong before anybody is asked. */
export function wrongInReminder(draft: ReminderDraft): Wrong {
  const wrong = wrongInTiming(draft);
  if (draft.name.trim() === '') wrong['name'] = t`Give it a name.`;
  if (draft.message.trim() === '') wrong['message'] = t`Say what it is to be told.`;
  return wrong;
}

/** The whole of it as the relay takes it. Null while `wrongInReminder` finds something. */
export function reminderOf(draft: ReminderDraft, before: Reminder | null): Reminder | null {
  const timing = timingOf(draft, before?.timing ?? null);
  if (!timing || Object.keys(wrongInReminder(draft)).length > 0) return null;
  return {
    kind: 'reminder',
    agentId: draft.agentId,
    name: draft.name.trim(),
    message: draft.message,
    timing,
    context: draft.context,
  };
}
