/** The editors of reminders and scripts, and the hook that opens any editor of the page. */
import { type ReactNode, useId, useRef, useState } from 'react';
import type { AgentId, ScheduleId } from '../../../shared/domain/ids.ts';
import { SCHEDULE_BOUNDS, type Scheduled, SCRIPTS_OFF } from '../../../shared/protocol/schedules.ts';
import { retold, t } from '../../language/t.ts';
import { filesOf } from '../../state/files.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { Dialog } from '../design/dialog.tsx';
import { SelectField, TextField } from '../design/field.tsx';
import { useRoost } from '../context.tsx';
import { CopyableText } from '../parts/copyable-text.tsx';
import { useQuery } from '../hooks.ts';
import { ON_FAILURE, OVERLAPS } from '../text/value-names.ts';
import type { Teammate } from '../use-somebody.ts';
import {
  ContextField,
  CronChoice,
  EditorEnd,
  type Kind,
  NameField,
  useSaving,
  WhenFields,
  WhoFields,
} from './editor-parts.tsx';
import {
  type Draft,
  draftOf,
  emptyDraft,
  emptyScript,
  FIELDS_OF_REMINDER,
  FIELDS_OF_SCRIPT,
  type Reminder,
  type ReminderDraft,
  reminderDraftOf,
  reminderOf,
  type Routine,
  type Script,
  SCRIPT_STANDS_AT,
  type ScriptDraft,
  scriptDraftOf,
  scriptOf,
  withoutText,
  wrongInReminder,
  wrongInScript,
} from './drafts.ts';
import { RoutineEditor } from './editor.tsx';

interface Props {
  readonly scheduleId: ScheduleId;
  readonly before: Reminder;
  /** Minutes that the relay gave an interval. */
  readonly offset: number | null;
  readonly draft: ReminderDraft;
  /** Receives the draft if the editor was only closed; null: it was saved or discarded. */
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
 * Edits a reminder of an agent to itself. It closes once the relay has accepted it. Refused values
 * stay in the fields.
 */
function ReminderEditor({ scheduleId, before, offset, draft: first, onClose }: Props) {
  const { draft, set, wrong, refused, busy, save } = useSaving(REMINDER, scheduleId, before, first, () =>
    onClose(null),
  );
  return (
    <Dialog title={before.name} shape="wide" onClose={() => onClose(draft)}>
      <form className="editor" onSubmit={save} noValidate>
        <NameField draft={draft} set={set} wrong={wrong} />
        <TextField
          label={t`Message`}
          wrong={wrong['message']}
          prose
          rows={4}
          maxLength={SCHEDULE_BOUNDS.message}
          value={draft.message}
          onText={(message) => set({ message })}
        />
        <WhenFields
          draft={draft}
          set={set}
          wrong={wrong}
          before={before.timing}
          offset={offset}
          onceHint={t`In quiet hours it waits for their end.`}
        />
        <CronChoice draft={draft} set={set} />
        <ContextField draft={draft} set={set} wrong={wrong} />
        <EditorEnd refused={refused} busy={busy} onDiscard={() => onClose(null)} />
      </form>
    </Dialog>
  );
}

interface ScriptEditorProps {
  /** null: a new one. */
  readonly scheduleId: ScheduleId | null;
  readonly before: Script | null;
  /** Minutes that the relay gave an interval. */
  readonly offset: number | null;
  readonly draft: ScriptDraft;
  readonly team: readonly Teammate[];
  /** Receives the draft if the editor was only closed; null: it was saved or discarded. */
  readonly onClose: (kept: ScriptDraft | null) => void;
}

const SCRIPT: Kind<ScriptDraft, Script> = {
  scheduleOf: scriptOf,
  draftOf: scriptDraftOf,
  wrongIn: wrongInScript,
  of: (schedule) => (schedule.kind === 'script' ? schedule : null),
  fields: FIELDS_OF_SCRIPT,
  standsAt: SCRIPT_STANDS_AT,
  asSaved: withoutText,
};

/** Suggests files of an agent's folder while the path is typed. */
function FileNames({ id, agentId }: { id: string; agentId: AgentId }) {
  const folder = useQuery(filesOf(useRoost()).folder(agentId, ''));
  const names = folder.kind === 'ready' ? folder.value.entries.filter(({ kind }) => kind === 'file') : [];
  return (
    <datalist id={id}>
      {names.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

/**
 * Edits a script, which runs without a model. It closes once the relay has accepted it. Refused
 * values stay in the fields.
 */
function ScriptEditor({ scheduleId, before, offset, draft: first, team, onClose }: ScriptEditorProps) {
  const { draft, set, wrong, refused, busy, save } = useSaving(SCRIPT, scheduleId, before, first, () => onClose(null));
  const namesId = useId();
  const { scriptMs } = SCHEDULE_BOUNDS;
  const list = useQuery(schedulesOf(useRoost()).list);
  const mayOwn = list.kind === 'ready' && list.value.ownHosts === true;
  return (
    <Dialog title={before === null ? t`A new script` : before.name} shape="wide" onClose={() => onClose(draft)}>
      <form className="editor stack gap-5" onSubmit={save} noValidate>
        <p className="setting-hint">{t`The relay runs it with bash, in the agent’s folder. Exit status 0 is success; 75 ends it for good.`}</p>
        <WhoFields draft={draft} set={set} wrong={wrong} team={team} example={t`Is the site up`} />
        <TextField
          label={t`File`}
          hint={t`Saving accepts its text. Later changes of the file do not run before you accept them. Other files that it uses can change.`}
          wrong={wrong['script']}
          list={namesId}
          maxLength={SCHEDULE_BOUNDS.path}
          placeholder="checks/site.sh"
          value={draft.script}
          onText={(script) => set({ script })}
        />
        <FileNames id={namesId} agentId={draft.agentId} />
        <WhenFields draft={draft} set={set} wrong={wrong} before={before?.timing ?? null} offset={offset} />
        <CronChoice draft={draft} set={set} />
        <div className="halves gap-5 stack">
          <SelectField
            label={t`Where it fails`}
            wrong={wrong['on_failure']}
            choices={ON_FAILURE}
            value={draft.on_failure}
            onChange={(on_failure) => set({ on_failure })}
          />
          <TextField
            label={t`Seconds it may take`}
            wrong={wrong['most']}
            type="number"
            inputMode="numeric"
            min={scriptMs.min / 1_000}
            max={scriptMs.max / 1_000}
            value={draft.most}
            onText={(most) => set({ most })}
          />
          <SelectField
            label={t`Where it still runs when it is due again`}
            wrong={wrong['overlap']}
            choices={OVERLAPS}
            value={draft.overlap}
            onChange={(overlap) => set({ overlap })}
          />
          <ContextField draft={draft} set={set} wrong={wrong} />
        </div>
        <TextField
          label={t`Hosts that it reaches, one in a line`}
          hint={t`Empty: no network. Without a port: 80 and 443.`}
          wrong={wrong['hosts']}
          rows={2}
          placeholder="example.org"
          value={draft.hosts}
          onText={(hosts) => set({ hosts })}
        />
        {(mayOwn || draft.own_hosts !== '') && (
          <TextField
            label={t`Hosts on the relay’s own computer and networks that it may also reach (optional)`}
            wrong={wrong['own_hosts']}
            rows={2}
            placeholder="localhost:8080"
            value={draft.own_hosts}
            onText={(own_hosts) => set({ own_hosts })}
          />
        )}
        <EditorEnd refused={refused} busy={busy} onDiscard={() => onClose(null)} />
      </form>
    </Dialog>
  );
}

/**
 * Explains scripts, what enabling them means, and how. `why`: the relay runs none, in its own
 * words.
 */
function ScriptsOff({ why, onClose }: { why: string | undefined; onClose: () => void }) {
  const startsSo = why === undefined || why === SCRIPTS_OFF;
  return (
    <Dialog title={t`Scripts are off`} onClose={onClose}>
      <div className="stack gap-5 ink-2 text-3">
        <p>{t`A check that runs without a model, and wakes an agent only where it fails.`}</p>
        <p>{retold(why ?? SCRIPTS_OFF)}</p>
        {startsSo && (
          <>
            <p>{t`Without a sandbox, scripts and MCP servers can do what your user account can. To allow that, start the relay with:`}</p>
            <CopyableText text="npm start -- --scripts" what={t`How to start it`} />
          </>
        )}
      </div>
    </Dialog>
  );
}

/**
 * The schedule being edited, new or existing. `off`: the relay runs no scripts, and an explanation
 * is shown instead.
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
/** Draft keys of new schedules. Existing ones use their id. */
const NEW = { routine: '', script: 'script' } as const;

interface Editor {
  /** Starts a new routine; null: an empty one, or its unsaved draft. */
  begin(draft: Omit<Draft, 'agentId'> | null): void;
  /** Starts a new script. `scripts`: the relay runs them. `why`: why not, in the relay's words. */
  beginScript(scripts: boolean, why: string | undefined): void;
  change(scheduled: Scheduled): void;
  /** The dialog of the open editor. */
  readonly editor: ReactNode;
}

/**
 * Edits routines, scripts and reminders. `who`: the initial agent of a new one. `living`: the
 * agents that may have one.
 */
export function useEditor(who: AgentId, living: readonly Teammate[]): Editor {
  const [editing, setEditing] = useState<Editing | null>(null);
  // Unsaved drafts of closed dialogs, by schedule.
  const draftsKept = useRef({
    routine: new Map<string, Draft>(),
    script: new Map<string, ScriptDraft>(),
    reminder: new Map<string, ReminderDraft>(),
  });
  const fresh = { scheduleId: null, before: null, offset: null } as const;
  const begin = (draft: Omit<Draft, 'agentId'> | null) =>
    setEditing({
      ...fresh,
      kind: 'routine',
      draft: draft ? { ...draft, agentId: who } : (draftsKept.current.routine.get(NEW.routine) ?? emptyDraft(who)),
    });
  const beginScript = (scripts: boolean, why: string | undefined) =>
    setEditing(
      scripts
        ? { ...fresh, kind: 'script', draft: draftsKept.current.script.get(NEW.script) ?? emptyScript(who) }
        : { ...fresh, kind: 'off', why },
    );
  const change = ({ scheduleId, schedule, offset }: Scheduled) => {
    const { routine, script, reminder } = draftsKept.current;
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
              draftsKept.current.routine,
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
              draftsKept.current.script,
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
          onClose={(draft) =>
            keep(draftsKept.current.reminder, editing.scheduleId, draft, reminderDraftOf(editing.before))
          }
        />
      )}
      {editing?.kind === 'off' && <ScriptsOff why={editing.why} onClose={() => setEditing(null)} />}
    </>
  );
  return { begin, beginScript, change, editor };
}
