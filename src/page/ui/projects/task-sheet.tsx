/** The sheet of a task: its text, criteria, place and history. */
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { Link } from 'wouter';
import { PRIORITIES } from '../../../shared/domain/projects.ts';
import { waitsForItself } from '../../../shared/domain/task-cycles.ts';
import type { TaskState } from '../../../shared/domain/task-state.ts';
import { cardOf, PROJECT_LIMITS, type Task } from '../../../shared/protocol/projects.ts';
import { retold, t } from '../../language/t.ts';
import { CHANGED_ELSEWHERE } from '../../state/documents.ts';
import { type Outcome, projectsOf, type TaskFields } from '../../state/projects.ts';
import { Words } from '../chat/markdown.tsx';
import { useRoost } from '../context.tsx';
import { Dialog, SureDialog } from '../design/dialog.tsx';
import { CloseIcon, MoreIcon } from '../design/icons.tsx';
import { CheckIcon } from '../design/more-icons.tsx';
import { keyOf } from '../design/keys.ts';
import { MenuButton } from '../design/menu.tsx';
import { PATHS } from '../routes.ts';
import { dayAndClock } from '../text/time.ts';
import type { Teammates } from '../use-somebody.ts';
import { useBoard } from './board.ts';
import { Comments } from './comments.tsx';
import { keepTaskDraft, readTaskDraft, type TaskDraft } from './drafts.ts';
import { TaskAttempts, TaskRequest } from './task-work.tsx';
import { StartButton } from './start.tsx';
import { AllowCommands } from './command-choice.tsx';
import { useTaskState } from './use-task-state.ts';
import { historyLines, historyText, metBy, PRIORITY_NAMES, stateHint, stateText, stateWhen } from './words.ts';
import { WrongNote } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';

type OnDone = (done: Outcome<Task>) => void;

interface Saving {
  readonly busy: boolean;
  readonly wrong: string | null;
  /** Saves these fields over the task as it is shown, or over `base`. */
  readonly save: (fields: TaskFields, onDone?: OnDone, base?: Task) => void;
  readonly run: (work: () => Promise<Outcome<Task>>, onDone?: OnDone) => void;
}

/** Makes one change at a time, and says why one was not made. */
function useSaving(task: Task): Saving {
  const projects = projectsOf(useRoost());
  const { busy, failed, act } = useAction();
  const run: Saving['run'] = (work, onDone) =>
    act(async () => {
      const done = await work();
      onDone?.(done);
      if (done.ok) return null;
      return done.newer ? CHANGED_ELSEWHERE : t`Could not save this. ${done.reason}`;
    });
  const save: Saving['save'] = (fields, onDone, base = task) => run(() => projects.changeTask(base, fields), onDone);
  return { busy, wrong: failed, run, save };
}

/** Title and description. What is typed stays until it is saved or dropped, in this browser. */
function TextFields({ task }: { task: Task }) {
  const { device } = useRoost();
  const { away } = useBoard();
  const saving = useSaving(task);
  const [draft, setDraft] = useState<TaskDraft | null>(() => readTaskDraft(device.browser, task));
  const { title, description } = draft ?? task;
  const change = (text: { readonly title?: string; readonly description?: string }) => {
    const next = { base: draft?.base ?? task, title, description, ...text };
    const isSame = next.title === task.title && next.description === task.description;
    setDraft(isSame ? null : next);
    keepTaskDraft(device.browser, task.taskId, isSame ? null : next);
  };
  const drop = () => {
    setDraft(null);
    keepTaskDraft(device.browser, task.taskId, null);
  };
  const empty = title.trim() === '' ? t`It needs a name.` : null;
  const save = () => {
    if (draft === null || empty !== null) return;
    const fields = {
      ...(draft.title === draft.base.title ? {} : { title: draft.title.trim() }),
      ...(draft.description === draft.base.description ? {} : { description: draft.description }),
    };
    const onDone: OnDone = (done) => {
      if (done.ok) drop();
      // What was typed can be saved over what is there now.
      else if (done.newer) setDraft({ ...draft, base: done.newer });
    };
    saving.save(fields, onDone, draft.base);
  };
  const isLong = task.description !== '';
  const [writes, setWrites] = useState(!isLong || draft !== null);
  return (
    <form
      className="stack gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label className="stack gap-3">
        <span className="ink-2 text-2">{t`Title`}</span>
        <input
          className="field medium"
          dir="auto"
          autoComplete="off"
          maxLength={PROJECT_LIMITS.title}
          value={title}
          aria-invalid={empty !== null}
          readOnly={away}
          onChange={({ target }) => change({ title: target.value })}
        />
      </label>
      {writes ? (
        <label className="stack gap-3">
          <span className="ink-2 text-2">{t`Description`}</span>
          <textarea
            className="field text-4 leading-5"
            dir="auto"
            rows={Math.min(14, Math.max(4, description.split('\n').length + 1))}
            maxLength={PROJECT_LIMITS.text}
            value={description}
            readOnly={away}
            onChange={({ target }) => change({ description: target.value })}
            onKeyDown={(event) => {
              if (keyOf(event) === 'Enter' && (event.ctrlKey || event.metaKey)) save();
            }}
          />
        </label>
      ) : (
        <div className="task-description stack at-start gap-4">
          <div className="narrow break ink-2 full text-4">
            <Words text={description} />
          </div>
          <button type="button" className="link-button text-2" onClick={() => setWrites(true)}>{t`Change`}</button>
        </div>
      )}
      <WrongNote text={empty ?? saving.wrong} />
      {draft !== null && (
        <div className="task-ways to-end gap-4 cluster">
          <button type="button" className="ghost" onClick={drop}>{t`Discard`}</button>
          <button type="submit" className="solid" disabled={saving.busy || away || empty !== null}>
            {saving.busy ? t`Saving…` : t`Save`}
          </button>
        </div>
      )}
    </form>
  );
}

type Criterion = Task['criteria'][number];

const plain = (criteria: readonly Criterion[]) => criteria.map(({ criterionId, text }) => ({ criterionId, text }));

function CriterionLine({ task, criterion }: { task: Task; criterion: Criterion }) {
  const projects = projectsOf(useRoost());
  const { away, known } = useBoard();
  const saving = useSaving(task);
  const { criterionId, text, met } = criterion;
  const [open, setOpen] = useState<'evidence' | 'text' | null>(null);
  const [typed, setTyped] = useState('');
  const close: OnDone = ({ ok }) => {
    if (ok) setOpen(null);
  };
  const say = (isMet: boolean, evidence: string) =>
    saving.run(() => projects.meet(task, criterionId, isMet, evidence), close);
  const rewrite = (next: string | null) => {
    const criteria = plain(task.criteria).flatMap((one) =>
      one.criterionId !== criterionId ? [one] : next === null ? [] : [{ criterionId, text: next }],
    );
    saving.save({ criteria }, close);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (open === 'evidence') say(true, typed.trim());
    else if (typed.trim() !== '') rewrite(typed.trim());
  };
  const begin = (what: 'evidence' | 'text') => {
    setTyped(what === 'text' ? text : '');
    setOpen(what);
  };
  return (
    <li className="at-top gap-4 stack cols-auto-fill-auto" data-met={met !== null}>
      <button
        type="button"
        role="checkbox"
        className="criterion-tick relative above-3 both-centred no-pad size-s round-s stack ground-1"
        aria-checked={met !== null}
        aria-label={text}
        disabled={away || saving.busy}
        onClick={() => (met === null ? begin('evidence') : say(false, ''))}
      >
        <CheckIcon />
      </button>
      <div className="criterion-words text-4 stack gap-1 break leading-5">
        {open !== 'text' && <span dir="auto">{text}</span>}
        {met !== null && (
          <small className="text-2">
            {metBy(met.by, known.nameOf)}
            {met.evidence !== '' && <span dir="auto">: {met.evidence}</span>}
          </small>
        )}
        {open !== null && (
          <form className="criterion-form above-3 flex wrap gap-4" onSubmit={submit}>
            <input
              className="field text-3"
              dir="auto"
              autoComplete="off"
              // It appears because of a press, and is what the person types into next.
              // eslint-disable-next-line jsx-a11y/no-autofocus
              autoFocus
              maxLength={open === 'text' ? PROJECT_LIMITS.criterion : PROJECT_LIMITS.evidence}
              aria-label={open === 'text' ? text : t`Evidence (optional)`}
              placeholder={open === 'text' ? '' : t`Evidence (optional)`}
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
            <button type="submit" className="ghost" disabled={saving.busy}>
              {open === 'text' ? t`Save` : t`Done`}
            </button>
            <button type="button" className="ghost" onClick={() => setOpen(null)}>{t`Cancel`}</button>
          </form>
        )}
        <WrongNote text={saving.wrong} />
      </div>
      <MenuButton
        label={t`More for ${text}`}
        items={[
          {
            label: t`Change`,
            disabled: away,
            run: () => begin('text'),
          },
          { label: t`Remove`, disabled: away, run: () => rewrite(null) },
        ]}
      >
        <MoreIcon />
      </MenuButton>
    </li>
  );
}

/** What must hold when the task is done. */
export function Criteria({ task }: { task: Task }) {
  const { away } = useBoard();
  const saving = useSaving(task);
  const [typed, setTyped] = useState('');
  const add = (event: FormEvent) => {
    event.preventDefault();
    const text = typed.trim();
    if (text === '') return;
    saving.save({ criteria: [...plain(task.criteria), { text }] }, ({ ok }) => {
      if (ok) setTyped('');
    });
  };
  const met = task.criteria.filter((one) => one.met !== null).length;
  return (
    <section>
      <h3 className="eyebrow flex gap-4 ink-3 text-1 under-4">
        <b>{t`Done when`}</b> {task.criteria.length > 0 && <span>{t`${met} of ${task.criteria.length}`}</span>}
      </h3>
      {task.criteria.length > 0 && (
        <ul className="criteria under-4 stack gap-3">
          {task.criteria.map((criterion) => (
            <CriterionLine key={criterion.criterionId} task={task} criterion={criterion} />
          ))}
        </ul>
      )}
      {task.criteria.length < PROJECT_LIMITS.criteria && (
        <form onSubmit={add}>
          <input
            className="field min-40 text-3"
            dir="auto"
            autoComplete="off"
            aria-label={t`New criterion`}
            placeholder={t`New criterion`}
            maxLength={PROJECT_LIMITS.criterion}
            disabled={away}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </form>
      )}
      <WrongNote text={saving.wrong} />
    </section>
  );
}

/** Its agent could not go on. */
const isHeldUp = (state: TaskState) =>
  state.state === 'stopped' ||
  (state.state === 'waits-for-you' && (state.held.why === 'asked' || state.held.why === 'column'));

/** Where the task stands, why it does not move, and where to move it. */
function Place({ task }: { task: Task }) {
  const projects = projectsOf(useRoost());
  const { project, known, now, away } = useBoard();
  const saving = useSaving(task);
  const [to, setTo] = useState<string | null>(null);
  const [note, setNote] = useState('');
  const id = useId();
  const card = cardOf(task);
  const state = useTaskState(card);
  const hint = stateHint(state);
  const noted = task.history.findLast(
    ({ by, note, what }) => by === 'relay' && note !== '' && (what === 'edited' || what === 'setup'),
  )?.note;
  const asks = state.state === 'waits-for-you' && state.held.why === 'obstacle' ? state.held.agentId : null;
  const target = to !== null && to !== task.columnId ? to : null;
  const move = async (event: FormEvent) => {
    event.preventDefault();
    if (target === null) return;
    if (!(await projects.move(card, target, note.trim()))) return;
    setTo(null);
    setNote('');
  };
  return (
    <section className="task-place pad-wide box ground-2">
      <p className="task-still fill break ink-3 text-1 line gap-3 leading-4 wrap text-3" data-state={state.state}>
        <b className="ink">{stateText(state, card, known)}</b>
        <span>{stateWhen(state, now)}</span>
        {asks !== null && <Link className="ghost" href={PATHS.inbox}>{t`Open`}</Link>}
        {state.state === 'working' && <Link className="ghost" href={PATHS.agent(state.agentId)}>{t`Watch`}</Link>}
        {task.claim !== null && (
          <button
            type="button"
            className="ghost end"
            disabled={away || saving.busy}
            onClick={() => saving.run(() => projects.release(task))}
          >{t`Release`}</button>
        )}
      </p>
      {hint !== null && <p className="setting-hint">{hint}</p>}
      {state.state === 'stopped' && noted !== undefined && <p className="setting-hint">{retold(noted)}</p>}
      {isHeldUp(state) && <AllowCommands />}
      <StartButton task={card} state={state} />
      <WrongNote text={saving.wrong} />
      <form className="task-move above-5 gap-4 cluster" onSubmit={(event) => void move(event)}>
        <label className="ink-2 text-2" htmlFor={`${id}-column`}>{t`Column`}</label>
        <select
          id={`${id}-column`}
          className="field field-select"
          disabled={away}
          value={target ?? task.columnId}
          onChange={(event) => setTo(event.target.value)}
        >
          {project.columns.map(({ columnId, name }) => (
            <option key={columnId} value={columnId}>
              {name}
            </option>
          ))}
        </select>
        {target !== null && (
          <>
            <input
              className="field text-3"
              dir="auto"
              autoComplete="off"
              aria-label={t`Note (optional)`}
              placeholder={t`Note (optional)`}
              maxLength={PROJECT_LIMITS.note}
              value={note}
              onChange={(event) => setNote(event.target.value)}
            />
            <button type="submit" className="solid">{t`Move to`}</button>
          </>
        )}
      </form>
    </section>
  );
}

/** Labels, or tasks, each with a button that removes it. */
function Removable({
  items,
  away,
  onRemove,
}: {
  items: readonly { readonly key: string; readonly text: string }[];
  away: boolean;
  onRemove: (key: string) => void;
}) {
  return items.length === 0 ? null : (
    <ul className="flex wrap gap-3 narrow">
      {items.map(({ key, text }) => (
        <li key={key} className="tag middle gap-1 inline-flex">
          <span className="clip ellipsis" dir="auto">
            {text}
          </span>
          <button
            className="stack ink-3 rounded both-centred no-fill size-s no-pad no-frame"
            type="button"
            aria-label={t`Remove ${text}`}
            disabled={away}
            onClick={() => onRemove(key)}
          >
            <CloseIcon />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Row({ label, htmlFor, children }: { label: string; htmlFor?: string; children: ReactNode }) {
  return (
    <div className="task-line at-top gap-4 stack">
      {htmlFor === undefined ? <span>{label}</span> : <label htmlFor={htmlFor}>{label}</label>}
      <div className="cluster gap-4 narrow">{children}</div>
    </div>
  );
}

/** Tasks that can be chosen as blockers. The search of the board finds the others. */
const MOST_CHOICES = 500;

function Details({ task, team }: { task: Task; team: Teammates }) {
  const { project, tasks, known, away } = useBoard();
  // Two fields may be changed at once, so each saves by itself.
  const ranking = useSaving(task);
  const assigning = useSaving(task);
  const labelling = useSaving(task);
  const blocking = useSaving(task);
  const [label, setLabel] = useState('');
  const id = useId();
  const able = team.among([...new Set([...project.agents, ...(task.assignee === null ? [] : [task.assignee])])]);
  const labels = [...new Set(tasks.flatMap((one) => one.labels))].filter((one) => !task.labels.includes(one));
  const blockers = tasks
    .filter(
      ({ taskId }) =>
        taskId !== task.taskId && !task.blockedBy.includes(taskId) && !waitsForItself(task.taskId, [taskId], tasks),
    )
    .slice(-MOST_CHOICES);
  const parent = task.parentTaskId === null ? undefined : known.taskOf(task.parentTaskId);
  const addLabel = (event: FormEvent) => {
    event.preventDefault();
    const wanted = label.trim();
    if (wanted === '' || task.labels.includes(wanted)) return setLabel('');
    labelling.save({ labels: [...task.labels, wanted] }, ({ ok }) => {
      if (ok) setLabel('');
    });
  };
  return (
    <section className="stack gap-4">
      <h3 className="eyebrow flex gap-4 ink-3 text-1 under-4">{t`Details`}</h3>
      {parent && (
        <Row label={t`Part of`}>
          <Link href={PATHS.task(project.projectId, parent.taskId)}>
            #{parent.number} <span dir="auto">{parent.title}</span>
          </Link>
        </Row>
      )}
      <Row label={t`Priority`} htmlFor={`${id}-priority`}>
        <select
          id={`${id}-priority`}
          className="field field-select at-most-full"
          disabled={away}
          value={task.priority}
          onChange={({ target }) => {
            const priority = PRIORITIES.find((one) => one === target.value);
            if (priority) ranking.save({ priority });
          }}
        >
          {PRIORITIES.map((priority) => (
            <option key={priority} value={priority}>
              {PRIORITY_NAMES[priority]}
            </option>
          ))}
        </select>
      </Row>
      <Row label={t`For`} htmlFor={`${id}-assignee`}>
        <select
          id={`${id}-assignee`}
          className="field field-select at-most-full"
          disabled={away}
          value={task.assignee ?? ''}
          onChange={({ target }) => assigning.save({ assignee: target.value === '' ? null : target.value })}
        >
          <option value="">{t`Any agent of the project`}</option>
          {able.map(({ agentId, name }) => (
            <option key={agentId} value={agentId}>
              {name}
            </option>
          ))}
        </select>
      </Row>
      <Row label={t`Labels`}>
        <Removable
          items={task.labels.map((text) => ({ key: text, text }))}
          away={away}
          onRemove={(gone) => labelling.save({ labels: task.labels.filter((one) => one !== gone) })}
        />
        <form onSubmit={addLabel}>
          <input
            className="field field-select at-most-full"
            dir="auto"
            autoComplete="off"
            list={`${id}-labels`}
            aria-label={t`Add a label`}
            placeholder={t`Add a label`}
            maxLength={PROJECT_LIMITS.label}
            disabled={away}
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
          <datalist id={`${id}-labels`}>
            {labels.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </form>
      </Row>
      <Row label={t`Waits for`} htmlFor={`${id}-blockers`}>
        <Removable
          items={task.blockedBy.map((taskId) => {
            const other = known.taskOf(taskId);
            return { key: taskId, text: other ? `#${other.number} ${other.title}` : t`a task that is gone` };
          })}
          away={away}
          onRemove={(gone) => blocking.save({ blockedBy: task.blockedBy.filter((one) => one !== gone) })}
        />
        <select
          id={`${id}-blockers`}
          className="field field-select at-most-full"
          disabled={away || blockers.length === 0}
          value=""
          onChange={({ target }) => {
            if (target.value !== '') blocking.save({ blockedBy: [...task.blockedBy, target.value] });
          }}
        >
          <option value="">{t`Add a task that must be done first`}</option>
          {blockers.map(({ taskId, number, title }) => (
            <option key={taskId} value={taskId}>
              #{number} {title}
            </option>
          ))}
        </select>
      </Row>
      <WrongNote text={ranking.wrong ?? assigning.wrong ?? labelling.wrong ?? blocking.wrong} />
    </section>
  );
}

/** Newest first. */
function History({ task }: { task: Task }) {
  const { project, known, now } = useBoard();
  const lines = historyLines(task.history);
  return (
    <section>
      <h3 className="eyebrow flex gap-4 ink-3 text-1 under-4">{t`History`}</h3>
      <ol className="task-history ink-2 text-2 gap-4 stack">
        {lines.map((line, i) => {
          const time = line.at(-1)?.time ?? 0;
          const notes = line.flatMap(({ note }) => (note === '' ? [] : [note]));
          return (
            <li className="indented" key={lines.length - i}>
              <p>
                <span dir="auto">{historyText(line, project, known.nameOf)}</span>{' '}
                <time className="ink-3 text-1" dateTime={new Date(time).toISOString()}>
                  {dayAndClock(time, now)}
                </time>
              </p>
              {notes.length > 0 && (
                <div className="above-2 narrow break ink-2 full text-3">
                  {notes.map((note, at) => (
                    <Words key={at} text={note} />
                  ))}
                </div>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

interface Props {
  /** null: there is no such task. */
  readonly task: Task | null;
  readonly team: Teammates;
  readonly onClose: () => void;
}

export function TaskSheet({ task, team, onClose }: Props) {
  const projects = projectsOf(useRoost());
  const { away } = useBoard();
  const [removing, setRemoving] = useState(false);
  if (task === null)
    return (
      <Dialog title={t`Not found`} shape="side" onClose={onClose}>
        <p>{t`It was deleted, or the link was cut short.`}</p>
      </Dialog>
    );
  return (
    <Dialog title={t`Task #${task.number}`} shape="side" onClose={onClose}>
      <div className="task-sheet gap-7 stack">
        {away && (
          <p
            className="board-note round-s pad warn-box text-2 warn"
            role="status"
          >{t`The relay cannot be reached. Nothing can be changed now.`}</p>
        )}
        <TextFields task={task} />
        <TaskRequest task={task} />
        <Place task={task} />
        <Criteria task={task} />
        <TaskAttempts task={task} />
        <Details task={task} team={team} />
        <Comments task={task} />
        <History task={task} />
        <div>
          <button
            type="button"
            className="ghost ghost-danger"
            disabled={away}
            onClick={() => setRemoving(true)}
          >{t`Delete ${`#${task.number} ${task.title}`}`}</button>
        </div>
      </div>
      {removing && (
        <SureDialog
          title={t`Delete ${`#${task.number} ${task.title}`}`}
          does={t`Delete`}
          onSure={async () => {
            const why = await projects.removeTask(task);
            if (why === null) onClose();
            return why;
          }}
          onClose={() => setRemoving(false)}
        >
          <p>{t`This cannot be undone.`}</p>
        </SureDialog>
      )}
    </Dialog>
  );
}
