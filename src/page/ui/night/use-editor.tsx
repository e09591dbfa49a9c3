import { useRef, useState, type ReactNode } from 'react';
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import type { Scheduled } from '../../../shared/protocol/schedules.ts';
import type { Teammate } from '../use-teammates.ts';
import { draftOf, emptyDraft, type Draft, type Routine } from './draft.ts';
import { RoutineEditor } from './editor.tsx';
import { reminderDraftOf, type Reminder, type ReminderDraft } from './reminder-draft.ts';
import { ReminderEditor } from './reminder-editor.tsx';
import { emptyScript, scriptDraftOf, type Script, type ScriptDraft } from './script-draft.ts';
import { ScriptEditor, ScriptsOff } from './script-editor.tsx';

/**
 * What is being written: a new one, or one that is there. `off`: the relay runs no scripts, which
 * is said in its place.
 */
type Editing = { readonly scheduleId: ScheduleId | null; readonly offset: number | null } & (
  | {
      readonly kind: 'reminder';
      readonly scheduleId: ScheduleId;
      readonly before: Reminder;
      readonly draft: ReminderDraft;
    }
  | { readonly kind: 'routine'; readonly before: Routine | null; readonly draft: Draft }
  | { readonly kind: 'script'; readonly before: Script | null; readonly draft: ScriptDraft }
  | { readonly kind: 'off'; readonly why: string | undefined }
);
/** A name for what is kept of a new one; others have their id. */
const NEW = { routine: '', script: 'script' } as const;

interface Editor {
  /** A new routine; null: an empty one, or what was written of one and not saved. */
  begin(draft: Omit<Draft, 'agentId'> | null): void;
  /** A new script. `scripts`: the relay runs them; `why`: why not, as a sentence of the relay's. */
  beginScript(scripts: boolean, why: string | undefined): void;
  change(scheduled: Scheduled): void;
  /** What is being written, in its dialog. */
  readonly editor: ReactNode;
}

/**
 * Writes routines and scripts, and changes reminders. `who`: for whom a new one is at first;
 * `living`: for whom it may be.
 */
export function useEditor(who: AgentId, living: readonly Teammate[]): Editor {
  const [editing, setEditing] = useState<Editing | null>(null);
  // What was written and not saved, where its dialog was closed: by what it is of.
  const kept = useRef({
    routine: new Map<string, Draft>(),
    script: new Map<string, ScriptDraft>(),
    reminder: new Map<string, ReminderDraft>(),
  });
  const fresh = { scheduleId: null, before: null, offset: null } as const;
  const begin = (draft: Omit<Draft, 'agentId'> | null) =>
    setEditing({
      ...fresh,
      kind: 'routine',
      draft: draft ? { ...draft, agentId: who } : (kept.current.routine.get(NEW.routine) ?? emptyDraft(who)),
    });
  const beginScript = (scripts: boolean, why: string | undefined) =>
    setEditing(
      scripts
        ? { ...fresh, kind: 'script', draft: kept.current.script.get(NEW.script) ?? emptyScript(who) }
        : { ...fresh, kind: 'off', why },
    );
  const change = ({ scheduleId, schedule, offset }: Scheduled) => {
    const { routine, script, reminder } = kept.current;
    if (schedule.kind === 'routine') {
      const draft = routine.get(scheduleId) ?? draftOf(schedule);
      setEditing({ kind: 'routine', scheduleId, before: schedule, offset, draft });
    } else if (schedule.kind === 'script') {
      const draft = script.get(scheduleId) ?? scriptDraftOf(schedule);
      setEditing({ kind: 'script', scheduleId, before: schedule, offset, draft });
    } else {
      const draft = reminder.get(scheduleId) ?? reminderDraftOf(schedule);
      setEditing({ kind: 'reminder', scheduleId, before: schedule, offset, draft });
    }
  };
  const keep = <D,>(drafts: Map<string, D>, key: string, draft: D | null, untouched: D) => {
    if (draft !== null && JSON.stringify(draft) !== JSON.stringify(untouched)) drafts.set(key, draft);
    else drafts.delete(key);
    setEditing(null);
  };
  const editor = (
    <>
      {editing?.kind === 'routine' && (
        <RoutineEditor
          key={editing.scheduleId}
          {...editing}
          team={living}
          onClose={(draft) =>
            keep(
              kept.current.routine,
              editing.scheduleId ?? NEW.routine,
              draft,
              editing.before ? draftOf(editing.before) : emptyDraft(draft?.agentId ?? ''),
            )
          }
        />
      )}
      {editing?.kind === 'script' && (
        <ScriptEditor
          key={editing.scheduleId}
          {...editing}
          team={living}
          onClose={(draft) =>
            keep(
              kept.current.script,
              editing.scheduleId ?? NEW.script,
              draft,
              editing.before ? scriptDraftOf(editing.before) : emptyScript(draft?.agentId ?? ''),
            )
          }
        />
      )}
      {editing?.kind === 'reminder' && (
        <ReminderEditor
          key={editing.scheduleId}
          {...editing}
          onClose={(draft) => keep(kept.current.reminder, editing.scheduleId, draft, reminderDraftOf(editing.before))}
        />
      )}
      {editing?.kind === 'off' && <ScriptsOff why={editing.why} onClose={() => setEditing(null)} />}
    </>
  );
  return { begin, beginScript, change, editor };
}
