/**
 * Projects and their tasks as the page shows them. Loaded with the parts of the page that show
 * them.
 */
import { createQueue } from '../../shared/domain/platform/queue.ts';
import type { ProjectId, TaskId } from '../../shared/domain/ids.ts';
import type { z } from 'zod';
import { createStore, type StoreApi } from 'zustand/vanilla';
import {
  type changeProjectSchema,
  type changeTaskSchema,
  type createProjectSchema,
  type createTaskSchema,
  type Project,
  type Task,
  type TaskCard,
} from '../../shared/protocol/projects.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { t } from '../language/t.ts';
import { createBoards } from './boards.ts';
import { overNewest } from './documents.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { isRefusedAs, problemText } from './ports.ts';
import { type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

type NewProject = z.input<typeof createProjectSchema>;
type NewTask = z.input<typeof createTaskSchema>;
export type ProjectFields = Omit<z.input<typeof changeProjectSchema>, 'version'>;
export type TaskFields = Omit<z.input<typeof changeTaskSchema>, 'version'>;

/** `why`: a failure, or null. `isUnsaved`: something would be lost, and `why` names it. */
export interface Removed {
  readonly why: string | null;
  readonly isUnsaved: boolean;
}

/** The outcome of a change, with what is there now. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  /**
   * `newer`: the same fields were changed elsewhere meanwhile, and nothing was saved. This is how
   * they are now. null: another reason.
   */
  | {
      readonly ok: false;
      readonly reason: string;
      readonly newer: Value | null;
      /** The field that the relay refused; left out: it named none. */
      readonly field?: string;
    };

/** A move to done that was refused, because a condition of the project does not hold. */
export interface NotProven {
  readonly task: TaskCard;
  readonly columnId: string;
  readonly note: string;
  /** What is missing, as the relay says it. */
  readonly why: string;
}

export interface Projects {
  readonly list: Query<readonly Project[]>;
  /** The tasks of a board, as cards. After a change only what changed is read. */
  tasks(projectId: ProjectId): Query<readonly TaskCard[]>;
  /** The whole task. null: there is no such task. */
  task(projectId: ProjectId, taskId: TaskId): Query<Task | null>;
  /** Creates a project with these tasks, or nothing. */
  create(project: NewProject, tasks?: readonly NewTask[]): Promise<Outcome<Project>>;
  /** Changes these fields of `base`, the project from which the change was made. */
  change(base: Project, fields: ProjectFields): Promise<Outcome<Project>>;
  /** null: it is deleted. Otherwise the reason why not. */
  /** `lose`: also what would be lost with it. */
  remove(projectId: ProjectId, lose: boolean): Promise<Removed>;
  addTask(projectId: ProjectId, task: NewTask): Promise<Outcome<Task>>;
  /** Changes these fields of `base`, the task from which the change was made. */
  changeTask(base: Task, fields: TaskFields): Promise<Outcome<Task>>;
  /** Shows the task in its new column at once. A notice reports a refusal, and it goes back. */
  move(task: TaskCard, columnId: string, note?: string, anyway?: boolean): Promise<boolean>;
  /** The last such move, until the person has decided what to do. null: none. */
  readonly notProven: StoreApi<{ readonly refused: NotProven | null }>;
  /** Shows a task as a call has answered it. */
  show(task: Task): void;
  meet(task: Task, criterionId: string, met: boolean, evidence: string): Promise<Outcome<Task>>;
  /** Ends the claim of the agent that works on it. */
  release(task: Task): Promise<Outcome<Task>>;
  removeTask(task: Task): Promise<string | null>;
}

/** A field without what another call changes: a tick of a criterion is no change of its text. */
function plainField(name: string, value: unknown): string {
  const plain =
    name === 'criteria' && Array.isArray(value)
      ? (value as readonly { readonly text: string }[]).map(({ text }) => text)
      : value;
  return JSON.stringify(plain);
}

/** Has somebody else changed one of these fields to something else? */
function clashes(base: object, now: object, fields: object): boolean {
  return Object.entries(fields).some(([name, wanted]) => {
    const held = plainField(name, Reflect.get(now, name));
    return held !== plainField(name, Reflect.get(base, name)) && held !== plainField(name, wanted);
  });
}

function createProjects({
  callRelay,
  changes,
  device,
  notices,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device' | 'notices'>): Projects {
  const { tasks, task, moving, showCard, showTask, dropTask } = createBoards({ callRelay, changes, device });
  const list = relayQuery<readonly Project[]>({ callRelay, changes, device }, ['projects'], async (client) =>
    mapResult(await client.projects(), ({ projects }) => projects),
  );
  const notProven = createStore<{ readonly refused: NotProven | null }>(() => ({ refused: null }));
  /** The answer to this page's last move of each task. */
  const moved = new Map<TaskId, Task>();
  const showProject = (project: Project) =>
    list.amend((all) => {
      const at = all.findIndex(({ projectId }) => projectId === project.projectId);
      return at < 0 ? [...all, project] : all.with(at, project);
    });

  function outcomeOf<Value>(result: RelayResult<Value>, show: (value: Value) => void): Outcome<Value> {
    if (!result.ok) {
      const { problem } = result;
      const [error] = problem.kind === 'refused' ? (problem.problem.errors ?? []) : [];
      return { ok: false, reason: problemText(problem), newer: null, ...(error ? { field: error.field } : {}) };
    }
    show(result.value);
    return result;
  }

  /** Moves and new tasks go out one after the other, so that they arrive in the person's order. */
  const inTurn = createQueue();

  async function remove(projectId: ProjectId, lose: boolean): Promise<Removed> {
    const removed = await callRelay((client) => client.removeProject({ projectId, ...(lose ? { lose: 'true' } : {}) }));
    if (!removed.ok) return { why: problemText(removed.problem), isUnsaved: isRefusedAs(removed.problem, 'unsaved') };
    list.amend((all) => all.filter((project) => project.projectId !== projectId));
    return { why: null, isUnsaved: false };
  }

  async function addTask(projectId: ProjectId, task: NewTask): Promise<Outcome<Task>> {
    return outcomeOf(await inTurn(() => callRelay((client) => client.createTask({ projectId, body: task }))), showTask);
  }

  return {
    list,
    tasks,
    task,
    async create(project, first = []) {
      const made = await callRelay((client) => client.createProject({ body: project }));
      if (!made.ok) return outcomeOf(made, showProject);
      for (const task of first) {
        const added = await addTask(made.value.projectId, task);
        if (added.ok) continue;
        await remove(made.value.projectId, true);
        return { ok: false, reason: added.reason, newer: null };
      }
      await list.again();
      return made;
    },
    async change(base, fields) {
      const result = await overNewest(base, (now) =>
        clashes(base, now, fields)
          ? null
          : callRelay((client) =>
              client.changeProject({ projectId: base.projectId, body: { ...fields, version: now.version } }),
            ),
      );
      if (!('clash' in result)) return outcomeOf(result, showProject);
      showProject(result.clash);
      return { ok: false, reason: '', newer: result.clash };
    },
    remove,
    addTask,
    async changeTask(base, fields) {
      const { projectId, taskId } = base;
      const result = await overNewest(base, (now) =>
        clashes(base, now, fields)
          ? null
          : callRelay((client) => client.changeTask({ projectId, taskId, body: { ...fields, version: now.version } })),
      );
      if (!('clash' in result)) return outcomeOf(result, showTask);
      showTask(result.clash);
      return { ok: false, reason: '', newer: result.clash };
    },
    notProven,
    show: showTask,
    async move(card, columnId, note = '', anyway = false) {
      const { projectId, taskId, title } = card;
      moving.set(taskId, columnId);
      showCard(card);
      const result = await inTurn(() => {
        // Made from where this page itself has moved it to, before the answer to that was here.
        const before = moved.get(taskId);
        const base = before && before.columnId === card.columnId && before.version > card.version ? before : card;
        return overNewest<Task | TaskCard>(base, (now) =>
          now.columnId === card.columnId
            ? callRelay((client) =>
                client.moveTask({
                  projectId,
                  taskId,
                  body: { columnId, note, version: now.version, ...(anyway ? { anyway } : {}) },
                }),
              )
            : null,
        );
      });
      // A later move of the same task may have begun meanwhile, and says where it is shown.
      if (moving.get(taskId) === columnId) moving.delete(taskId);
      if ('clash' in result) {
        if ('history' in result.clash) showTask(result.clash);
        if (result.clash.columnId !== columnId)
          notices.info(t`“${title}” was moved elsewhere meanwhile, and is where it was put there.`);
        return result.clash.columnId === columnId;
      }
      if (result.ok && 'history' in result.value) {
        showTask(result.value);
        moved.set(taskId, result.value);
        return true;
      }
      showCard(card);
      if (!result.ok && isRefusedAs(result.problem, 'not-proven'))
        notProven.setState({ refused: { task: card, columnId, note, why: problemText(result.problem) } });
      else if (!result.ok) notices.refused(result.problem);
      // An earlier move of it may have been refused, too.
      void tasks(projectId).again();
      return false;
    },
    async meet({ projectId, taskId }, criterionId, met, evidence) {
      const said = await callRelay((client) =>
        client.meetCriterion({ projectId, taskId, criterionId, body: { met, evidence } }),
      );
      return outcomeOf(said, showTask);
    },
    async release({ projectId, taskId }) {
      return outcomeOf(await callRelay((client) => client.releaseTask({ projectId, taskId, body: {} })), showTask);
    },
    async removeTask({ projectId, taskId }) {
      const removed = await callRelay((client) => client.removeTask({ projectId, taskId }));
      if (!removed.ok) return problemText(removed.problem);
      dropTask(projectId, taskId);
      return null;
    },
  };
}

/** The projects of this page. */
export const projectsOf = onePerPage(createProjects);
