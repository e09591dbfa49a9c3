/** The settings of a project: its name, instructions, agents and columns. */
import { type FormEvent, useId, useRef, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { type Column, COLUMN_KINDS, NEEDED_KINDS } from '../../../shared/domain/projects.ts';
import { type Project, PROJECT_LIMITS, type TaskCard } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { CHANGED_ELSEWHERE } from '../../state/documents.ts';
import { type ProjectFields, projectsOf } from '../../state/projects.ts';
import { useRoost } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { MoreIcon } from '../design/icons.tsx';
import { MenuButton } from '../design/menu.tsx';
import { plural } from '../text/sizes.ts';
import { useTeammates } from '../use-somebody.ts';
import { ProjectWork } from './checkouts.tsx';
import { ProjectPlace } from './project-place.tsx';
import { type WorkDraft, WorkSettings, workOf, wrongWork } from './work-settings.tsx';
import { WebhooksDialog } from '../webhooks/webhooks.tsx';
import { useProjectRoutines } from './project-routines.tsx';
import { KIND_HINTS, KIND_NAMES } from './words.ts';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

interface ChoicesProps {
  readonly chosen: readonly AgentId[];
  readonly onChange: (chosen: readonly AgentId[]) => void;
}

/** The agents that may work on a project. */
export function AgentChoices({ chosen, onChange }: ChoicesProps) {
  const team = useTeammates();
  const able = team.all.filter(({ retired, agentId }) => !retired || chosen.includes(agentId));
  return (
    <fieldset>
      <legend className="under-3 ink-2 text-2">{t`Who may work on it`}</legend>
      <ul className="tiles-s stack gap-4">
        {able.map(({ agentId, name, face, color }) => (
          <li key={agentId}>
            <label className="picks touchable gap-4 box line tint pad-2-5" style={{ '--c': color }}>
              <input
                type="checkbox"
                checked={chosen.includes(agentId)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, agentId] : chosen.filter((one) => one !== agentId))
                }
              />
              <Face agentId={agentId} face={face} color={color} awake={false} />
              <span className="named agent-name narrow break" dir="auto">
                {name}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <p className="setting-hint">{t`Agents don’t start until you start a task or give them a routine.`}</p>
    </fieldset>
  );
}

interface ColumnsProps {
  readonly columns: readonly Column[];
  readonly countOf: (columnId: string) => number;
  readonly onChange: (columns: readonly Column[]) => void;
}

const swapped = (columns: readonly Column[], at: number, to: number): readonly Column[] => {
  const [one, other] = [columns[at], columns[to]];
  return one && other ? columns.with(at, other).with(to, one) : columns;
};

function ColumnsEditor({ columns, countOf, onChange }: ColumnsProps) {
  const { device } = useRoost();
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  return (
    <fieldset>
      <legend className="under-3 ink-2 text-2">{t`Columns`}</legend>
      <ol className="columns-editor stack gap-4" ref={list}>
        {columns.map((column, at) => {
          const { columnId, name, kind } = column;
          const isLast = NEEDED_KINDS.includes(kind) && columns.filter((one) => one.kind === kind).length === 1;
          const taskCount = countOf(columnId);
          return (
            <li className="stack middle gap-4" key={columnId}>
              <i className="kind-mark fixed inline-block" data-kind={kind} aria-hidden="true" />
              <input
                className="field text-3 pad-block-2 min-40"
                dir="auto"
                autoComplete="off"
                aria-label={t`Name of column ${at + 1}`}
                aria-invalid={name.trim() === ''}
                maxLength={PROJECT_LIMITS.name}
                value={name}
                onChange={({ target }) => onChange(columns.with(at, { ...column, name: target.value }))}
              />
              <select
                className="field field-select text-3 pad-block-2 min-40"
                aria-label={t`Kind of column ${at + 1}`}
                aria-describedby={`${id}-kinds`}
                title={KIND_HINTS[kind]}
                value={kind}
                disabled={isLast}
                onChange={({ target }) => {
                  const next = COLUMN_KINDS.find((one) => one === target.value);
                  if (next) onChange(columns.with(at, { ...column, kind: next }));
                }}
              >
                {COLUMN_KINDS.map((one) => (
                  <option key={one} value={one}>
                    {KIND_NAMES[one]}
                  </option>
                ))}
              </select>
              <MenuButton
                label={t`More for ${name}`}
                items={[
                  { label: t`Move up`, disabled: at === 0, run: () => onChange(swapped(columns, at, at - 1)) },
                  {
                    label: t`Move down`,
                    disabled: at === columns.length - 1,
                    run: () => onChange(swapped(columns, at, at + 1)),
                  },
                  {
                    label: t`Remove`,
                    disabled: isLast,
                    ...(isLast
                      ? { hint: t`A project needs a column of this kind` }
                      : taskCount > 0
                        ? { hint: t`${plural(taskCount, 'task')} of it move to the backlog` }
                        : {}),
                    run: () => onChange(columns.filter((one) => one.columnId !== columnId)),
                  },
                ]}
              >
                <MoreIcon />
              </MenuButton>
            </li>
          );
        })}
      </ol>
      <p
        id={`${id}-kinds`}
        className="setting-hint"
      >{t`Agents take tasks only from columns of the kind “${KIND_NAMES.ready}”.`}</p>
      {columns.length < PROJECT_LIMITS.columns && (
        <button
          type="button"
          className="ghost"
          onClick={() => {
            onChange([...columns, { columnId: device.newId(), name: t`Add a column`, kind: 'backlog' }]);
            // It stands at the end as soon as it is rendered.
            device.after(0, () => list.current?.querySelector<HTMLInputElement>('li:last-child input')?.select());
          }}
        >{t`Add a column`}</button>
      )}
    </fieldset>
  );
}

type Draft = Pick<Project, 'name' | 'instructions' | 'columns' | 'agents'> & WorkDraft;

/** The fields that differ from the project. */
function changedFields(base: Project, draft: Draft): ProjectFields {
  const wanted = { ...draft, name: draft.name.trim() };
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(base, name))),
  );
}

function wrongWith(draft: Draft): string | null {
  if (draft.name.trim() === '') return t`It needs a name.`;
  if (draft.columns.some(({ name }) => name.trim() === '')) return t`${t`Columns`}: ${t`It needs a name.`}`;
  return wrongWork(draft);
}

interface Props {
  readonly project: Project;
  readonly tasks: readonly TaskCard[];
  readonly away: boolean;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}

export function ProjectSettings({ project, tasks, away, onClose, onRemoved }: Props) {
  const projects = projectsOf(useRoost());
  /** The project from which the change was made. */
  const [base, setBase] = useState(project);
  const [draft, setDraft] = useState<Draft>({
    name: project.name,
    instructions: project.instructions,
    columns: project.columns,
    agents: project.agents,
    ...workOf(project),
  });
  const { busy, failed, act } = useAction();
  const [removing, setRemoving] = useState(false);
  const [unsaved, setUnsaved] = useState(false);
  const [webhooks, setWebhooks] = useState(false);
  const routines = useProjectRoutines(project, away);
  const wrong = wrongWith(draft);
  const fields = changedFields(base, draft);
  const isChanged = Object.keys(fields).length > 0;
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (wrong !== null) return;
    if (!isChanged) return onClose();
    act(async () => {
      const done = await projects.change(base, fields);
      if (done.ok) return onClose();
      if (done.newer) setBase(done.newer);
      return done.newer ? CHANGED_ELSEWHERE : t`Could not save this. ${done.reason}`;
    });
  };
  return (
    <Dialog title={t`Settings of ${project.name}`} onClose={onClose}>
      <form className="project-form stack gap-6" noValidate onSubmit={save}>
        <label className="stack gap-3">
          <span className="ink-2 text-2">{t`Name`}</span>
          <input
            className="field"
            dir="auto"
            autoComplete="off"
            maxLength={PROJECT_LIMITS.name}
            value={draft.name}
            aria-invalid={draft.name.trim() === ''}
            onChange={({ target }) => change({ name: target.value })}
          />
        </label>
        <label className="stack gap-3">
          <span className="ink-2 text-2">{t`Instructions for agents (optional)`}</span>
          <textarea
            className="field"
            rows={5}
            dir="auto"
            maxLength={PROJECT_LIMITS.text}
            value={draft.instructions}
            onChange={({ target }) => change({ instructions: target.value })}
          />
        </label>
        <AgentChoices chosen={draft.agents} onChange={(agents) => change({ agents: [...agents] })} />
        {routines.list}
        <ColumnsEditor
          columns={draft.columns}
          countOf={(columnId) => tasks.filter((task) => task.columnId === columnId).length}
          onChange={(columns) => change({ columns: [...columns] })}
        />
        <WorkSettings project={project} draft={draft} onChange={change} />
        <ProjectWork project={project} tasks={tasks} away={away} />
        <ProjectPlace project={project} away={away} />
        <button type="button" className="ghost self-start" onClick={() => setWebhooks(true)}>{t`Webhooks`}</button>
        <button
          type="button"
          className="ghost ghost-danger self-start"
          disabled={away}
          onClick={() => setRemoving(true)}
        >{t`Delete ${project.name}`}</button>
        <WrongNote text={wrong ?? failed} />
        <div className="dialog-ways">
          <button type="button" className="ghost" onClick={onClose}>{t`Cancel`}</button>
          <button type="submit" className="solid" disabled={busy || away}>
            {busy ? t`Saving…` : t`Save`}
          </button>
        </div>
      </form>
      {webhooks && (
        <WebhooksDialog
          subject={{ kind: 'project', projectId: project.projectId, name: project.name }}
          onClose={() => setWebhooks(false)}
        />
      )}
      {routines.dialog}
      {removing && (
        <SureDialog
          title={t`Delete ${project.name}`}
          does={unsaved ? t`Delete it with that` : t`Delete`}
          onSure={async () => {
            const { why, isUnsaved } = await projects.remove(project.projectId, unsaved);
            setUnsaved(isUnsaved);
            if (why === null) onRemoved();
            return why;
          }}
          onClose={() => {
            setRemoving(false);
            setUnsaved(false);
          }}
        >
          {tasks.length > 0 && <p>{t`Its ${plural(tasks.length, 'task')} are deleted too.`}</p>}
        </SureDialog>
      )}
    </Dialog>
  );
}
