import type { ScheduleId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { SCHEDULE_BOUNDS } from '../../../shared/protocol/schedules.ts';
import { Dialog } from '../parts/dialog.tsx';
import { WhenFields } from './editor-fields.tsx';
import { ContextField, EditorEnd, Labelled, NameField } from './editor-parts.tsx';
import {
  FIELDS_OF_REMINDER,
  reminderDraftOf,
  reminderOf,
  wrongInReminder,
  type Reminder,
  type ReminderDraft,
} from './reminder-draft.ts';
import { useSaving, type Kind } from './use-saving.ts';

interface Props {
  readonly scheduleId: ScheduleId;
  readonly before: Reminder;
  /** Minutes, that an interval was given. */
  readonly offset: number | null;
  readonly draft: ReminderDraft;
  /** What stands there, where it was only closed; null: it is saved, or to be forgotten. */
  readonly onClose: (kept: ReminderDraft | null) => void;
}

const REMINDER: Kind<ReminderDraft, Reminder> = {
  scheduleOf: reminderOf,
  draftOf: reminderDraftOf,
  wrongIn: wrongInReminder,
  of: (schedule) => (schedule.kind === 'reminder' ? schedule : null),
  fields: FIELDS_OF_REMINDER,
  standsAt: {},
};

/**
 * Changes a message that an agent has left for itself. It closes once the relay has it; what the
 * relay refuses stays in the fields.
 */
export function ReminderEditor({ scheduleId, before, offset, draft: first, onClose }: Props) {
  const { draft, set, wrong, refused, busy, save } = useSaving(REMINDER, scheduleId, before, first, () =>
    onClose(null),
  );
  return (
    <Dialog title={t`Change this reminder`} shape="wide" onClose={() => onClose(draft)}>
      <form className="editor" onSubmit={(event) => void save(event)} noValidate>
        <NameField draft={draft} set={set} wrong={wrong} />
        <Labelled
          label={t`Message`}
          hint={t`The agent is given it as a reminder from itself.`}
          wrong={wrong['message']}
        >
          {(given) => (
            <textarea
              {...given}
              className="field"
              dir="auto"
              rows={4}
              maxLength={SCHEDULE_BOUNDS.message}
              value={draft.message}
              onChange={({ target }) => set({ message: target.value })}
            />
          )}
        </Labelled>
        <WhenFields
          draft={draft}
          set={set}
          wrong={wrong}
          before={before.timing}
          offset={offset}
          onceHint={t`In your own time zone. In quiet hours it waits for their end.`}
        />
        <ContextField draft={draft} set={set} wrong={wrong} hint={t`When it comes while no session runs.`} />
        <EditorEnd refused={refused} busy={busy} onDiscard={() => onClose(null)} />
      </form>
    </Dialog>
  );
}
