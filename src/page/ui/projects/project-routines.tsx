/** The routines that work on a project, by agent: what the project sets for each. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { PROJECT_INSTRUCTIONS } from '../../../shared/domain/schedule/default-routine.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Project } from '../../../shared/protocol/projects.ts';
import type { Mapping } from '../../../shared/protocol/routine-mappings.ts';
import { t } from '../../language/t.ts';
import { CHANGED_ELSEWHERE } from '../../state/documents.ts';
import { type MappingFields, mappingsOf } from '../../state/mappings.ts';
import { problemText } from '../../state/ports.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { EXAMPLES, type Routine, routineOf } from '../schedule/drafts.ts';
import { SelectField, WrongNote } from '../design/field.tsx';
import { ToolsField } from '../schedule/tools-field.tsx';
import { Dialog } from '../design/dialog.tsx';
import { plural } from '../text/sizes.ts';
import { type Teammate, useTeammates } from '../use-somebody.ts';
import { KIND_NAMES } from './words.ts';
// Fields of routines look alike, wherever they stand.
import '../schedule/schedule.css';
import { useAction } from '../design/use-action.ts';

/** The mapping being edited; null: a new one. */
interface Editing {
  readonly mate: Teammate;
  readonly mapping: Mapping | null;
}

interface Part {
  /** Stands within the form of the settings. */
  readonly list: ReactNode;
  /** Has a form of its own, and stands outside of the other. */
  readonly dialog: ReactNode;
}

/** `away`: the relay cannot be reached, and nothing can be changed. */
export function useProjectRoutines(project: Project, away: boolean): Part {
  const team = useTeammates();
  const [editing, setEditing] = useState<Editing | null>(null);
  return {
    list: project.agents.length > 0 && (
      <fieldset>
        <legend className="ink-2 text-2">{t`Routines`}</legend>
        <ul className="stack gap-4" aria-label={t`Routines`}>
          {project.agents.map((agentId) => (
            <OfAgent
              key={agentId}
              project={project}
              mate={team.find(agentId)}
              away={away}
              onEdit={(mapping) => setEditing({ mate: team.find(agentId), mapping })}
            />
          ))}
        </ul>
      </fieldset>
    ),
    dialog: editing && <MappingDialog {...editing} project={project} away={away} onClose={() => setEditing(null)} />,
  };
}

interface OfAgentProps {
  readonly project: Project;
  readonly mate: Teammate;
  readonly away: boolean;
  readonly onEdit: (mapping: Mapping | null) => void;
}

function OfAgent({ project, mate, away, onEdit }: OfAgentProps) {
  const mappings = mappingsOf(useRoost());
  const query = mappings.of(project.projectId, mate.agentId);
  const shown = useQuery(query);
  return (
    <li>
      <p className="gap-4 cluster apart narrow break tint" style={{ '--c': mate.color }}>
        <span dir="auto">{mate.name}</span>
        <button
          type="button"
          className="ghost"
          aria-label={t`${t`Give a routine`}: ${mate.name}`}
          disabled={away || shown.kind !== 'ready'}
          onClick={() => onEdit(null)}
        >{t`Give a routine`}</button>
      </p>
      {shown.kind === 'loading' && <p className="setting-hint">{t`Loading…`}</p>}
      {shown.kind === 'failed' && (
        <p className="wrong-note" role="alert">
          <span>{t`Could not load this. ${problemText(shown.problem)}`}</span>{' '}
          <button type="button" className="link-button" onClick={() => void query.again()}>{t`Try again`}</button>
        </p>
      )}
      {shown.kind === 'ready' &&
        shown.value.map((mapping) => (
          <div key={mapping.mappingId} className="gap-4 pad box cluster apart">
            <p className="stack gap-1 narrow break">
              <strong dir="auto">{mapping.name}</strong>
              <small>{mappingText(project, mapping)}</small>
              {mapping.waits && (
                <small className="wrong-note">{t`It came from a copy, another device or another relay.`}</small>
              )}
            </p>
            <div className="flex wrap gap-3">
              {mapping.waits && (
                <button
                  type="button"
                  className="ghost"
                  disabled={away}
                  onClick={() => void mappings.change(mapping, {})}
                >{t`Use it here`}</button>
              )}
              <button
                type="button"
                className="ghost"
                aria-label={t`${t`Change`}: ${`${mapping.name}, ${mate.name}`}`}
                disabled={away}
                onClick={() => onEdit(mapping)}
              >{t`Change`}</button>
              <button
                type="button"
                className="ghost"
                aria-label={t`Remove ${`${mapping.name}, ${mate.name}`}`}
                disabled={away}
                onClick={() => void mappings.remove(mapping)}
              >{t`Remove`}</button>
            </div>
          </div>
        ))}
    </li>
  );
}

/** What the project sets for a routine, in words. */
function mappingText({ columns }: Project, { columnIds, toolOverrides, separate, enabled }: Mapping): string {
  const named = columns.filter(({ columnId }) => columnIds?.includes(columnId)).map(({ name }) => name);
  return [
    ...(enabled ? [] : [t`off`]),
    ...(columnIds === null ? [] : [t`takes from ${named.join(', ') || t`none`}`]),
    ...(toolOverrides === null ? [] : [toolOverrides.length === 0 ? t`none` : plural(toolOverrides.length, 'tool')]),
    ...(separate ? [t`A separate run for this project`] : []),
  ].join(' · ');
}

/** The example that works on projects, for this agent. `taken`: names of what it has. */
function projectRoutine(agentId: AgentId, taken: readonly string[]): Routine {
  const draft = EXAMPLES.find(({ instructions }) => instructions === PROJECT_INSTRUCTIONS);
  let name = draft?.name ?? '';
  for (let n = 2; taken.includes(name); n += 1) name = `${draft?.name ?? ''} (${n})`;
  const routine = draft ? routineOf({ ...draft, agentId, name }, null) : null;
  if (!routine) throw new Error('The example does not fit.');
  return routine;
}

/** In the choice of a routine: a new one. No schedule has this id. */
const NEW = '';

interface DialogProps extends Editing {
  readonly project: Project;
  readonly away: boolean;
  readonly onClose: () => void;
}

function MappingDialog({ project, mate, mapping, away, onClose }: DialogProps) {
  const roost = useRoost();
  const mappings = mappingsOf(roost);
  const schedules = useQuery(schedulesOf(roost).list);
  const [base, setBase] = useState(mapping);
  const [routineId, setRoutineId] = useState(NEW);
  const [draft, setDraft] = useState<Required<Pick<Mapping, 'columnIds' | 'toolOverrides' | 'separate'>>>({
    columnIds: mapping?.columnIds ?? null,
    toolOverrides: mapping?.toolOverrides ?? null,
    separate: mapping?.separate ?? false,
  });
  const { busy, failed, act } = useAction();
  const own = (schedules.kind === 'ready' ? schedules.value.schedules : []).filter(
    ({ schedule }) => schedule.agentId === mate.agentId,
  );
  const free = own.filter(
    ({ schedule, projectIds = [] }) => schedule.kind === 'routine' && !projectIds.includes(project.projectId),
  );
  const change = (part: Partial<typeof draft>) => setDraft({ ...draft, ...part });
  const { projectId } = project;

  function send() {
    if (base) return mappings.change(base, changedFields(base, draft));
    if (routineId !== NEW) return mappings.add(projectId, mate.agentId, { ...draft, routineId });
    const taken = own.map(({ schedule }) => schedule.name);
    return mappings.addNew(projectId, projectRoutine(mate.agentId, taken), draft);
  }
  function save(event: FormEvent) {
    event.preventDefault();
    if (away) return;
    act(async () => {
      const done = await send();
      if (done.ok) return onClose();
      if (done.clash) setBase(done.clash);
      return done.clash ? CHANGED_ELSEWHERE : t`Could not save this. ${done.reason}`;
    });
  }

  return (
    <Dialog title={t`${t`Routine`}: ${mapping?.name ?? mate.name}`} onClose={onClose}>
      <form className="project-form editor" noValidate onSubmit={save}>
        {!mapping && (
          <SelectField
            label={t`Routine`}
            wrong={schedules.kind === 'failed' ? problemText(schedules.problem) : undefined}
            choices={[
              [NEW, t`New: every 30 minutes, take a task that is ready`],
              ...free.map(({ scheduleId, schedule }) => [scheduleId, schedule.name] as const),
            ]}
            value={routineId}
            onChange={setRoutineId}
          />
        )}
        <ColumnsField project={project} columnIds={draft.columnIds} onColumns={(columnIds) => change({ columnIds })} />
        <ToolsField
          tools={draft.toolOverrides}
          onTools={(tools) => change({ toolOverrides: tools && [...tools] })}
          wrong={undefined}
          unset={t`As the routine says`}
        />
        <label className="tick-line">
          <input
            type="checkbox"
            checked={draft.separate}
            onChange={({ target }) => change({ separate: target.checked })}
          />
          {t`A separate run for this project`}
        </label>
        <WrongNote text={failed} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy || away || (!mapping && schedules.kind !== 'ready')}>
            {busy ? t`Saving…` : t`Save`}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function changedFields(base: Mapping, draft: MappingFields): MappingFields {
  return Object.fromEntries(
    Object.entries(draft).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(base, name))),
  );
}

interface ColumnsProps {
  readonly project: Project;
  readonly columnIds: readonly string[] | null;
  readonly onColumns: (columnIds: string[] | null) => void;
}

function ColumnsField({ project, columnIds, onColumns }: ColumnsProps) {
  const ready = project.columns.filter(({ kind }) => kind === 'ready').map(({ columnId }) => columnId);
  return (
    <div className="above-5 stack gap-4">
      <SelectField
        label={t`Columns it takes tasks from`}
        hint={t`Agents take tasks only from columns of the kind “${KIND_NAMES.ready}”.`}
        choices={[
          ['all', t`As the routine says`],
          ['some', t`Only these…`],
        ]}
        value={columnIds === null ? 'all' : 'some'}
        onChange={(value) => onColumns(value === 'all' ? null : ready)}
      />
      {columnIds !== null && (
        <ul className="choices stack gap-4" aria-label={t`Columns it takes tasks from`}>
          {project.columns.map(({ columnId, name, kind }) => (
            <li key={columnId}>
              <label className="picks touchable gap-4 box line pad-2-5">
                <input
                  type="checkbox"
                  checked={columnIds.includes(columnId)}
                  onChange={({ target }) =>
                    onColumns(target.checked ? [...columnIds, columnId] : columnIds.filter((one) => one !== columnId))
                  }
                />
                <i className="kind-mark fixed inline-block" data-kind={kind} aria-hidden="true" />
                <span className="named agent-name" dir="auto">
                  {name}
                </span>
              </label>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
