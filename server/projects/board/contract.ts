/** What the relay's other parts and the modules of this folder know of projects. */
import type { z } from 'zod';
import type { AgentId, ProjectId, RunId, TaskId } from '../../../src/shared/domain/ids.ts';
import type { ColumnKind } from '../../../src/shared/domain/projects.ts';
import type { CommandGrant, DoneNeeds } from '../../../src/shared/protocol/attempts.ts';
import type { ProblemName } from '../../../src/shared/protocol/problems.ts';
import type {
  changeProjectSchema,
  changeTaskSchema,
  createProjectSchema,
  createTaskSchema,
  boardSchema,
  FoundTasks,
  Project,
  ProjectValue,
  Task,
  TaskValue,
} from '../../../src/shared/protocol/projects.ts';
import type { Caller } from '../../tools/index.ts';
import type { RecordSource } from '../../team/records/index.ts';

export type ProjectRefusal = Extract<
  ProblemName,
  | 'no-project'
  | 'no-task'
  | 'misfit'
  | 'too-many'
  | 'projects-full'
  | 'not-ready'
  | 'not-proven'
  | 'other-agent'
  | 'unsaved'
>;
export interface Refused {
  readonly ok: false;
  readonly reason: ProjectRefusal;
  readonly detail: string;
  /** The field of the call that is wrong; left out: the call as a whole. */
  readonly field?: string;
}
/** `current`: the record as it is now. */
export interface ChangedElsewhere<Value> {
  readonly ok: false;
  readonly reason: 'changed-elsewhere';
  readonly current: Value;
}
export type Outcome<Value> = { readonly ok: true; readonly value: Value } | Refused;
export type Changed<Value> = Outcome<Value> | ChangedElsewhere<Value>;

/** Who holds a claim: an agent in one of its runs, or an API client with the agent's credential. */
export type Holder =
  | { readonly agentId: AgentId; readonly runId: RunId }
  | { readonly agentId: AgentId; readonly credentialId: string };

export interface TaskQuery {
  readonly column: string | null;
  readonly assignee: string | null;
  readonly label: string | null;
  readonly after: number;
  readonly limit: number;
}

/**
 * Since when the agent of a claim does not work, in ms since the epoch. Undefined: it works, or
 * nobody here knows. `run`: as in the row.
 */
export type RestOf = (claim: {
  readonly agentId: AgentId;
  readonly run: string;
  readonly since: number;
}) => number | undefined;

/** The claim of a task, and its task, when the claim has ended. */
export interface EndedClaim {
  readonly projectId: ProjectId;
  readonly taskId: TaskId;
  readonly agentId: AgentId;
  readonly token: number;
  /** What the task's history says last. */
  readonly last: TaskValue['history'][number];
  /** Where the task is now. */
  readonly kind: ColumnKind | null;
}

/** The claim of a task now. `run`: the run, or the credential of a client, that holds it. */
export interface HeldClaim {
  readonly agentId: AgentId;
  readonly token: number;
  readonly run: string;
}

/** Money of a project or a task that is used up. */
export interface SpentUp {
  /** A sentence for people and agents. */
  readonly detail: string;
  /** When it opens again by itself, in ms since the epoch. Null: never. */
  readonly until: number | null;
}

/**
 * Where agents work on tasks, and what they did there. Files, branches and commands belong to
 * another part; a relay without folders for agents has none.
 */
export interface TaskWork {
  /** What of this project cannot be used, and why, as a sentence. Null: all can. */
  examine(
    project: Pick<ProjectValue, 'kind' | 'repository' | 'baseBranch' | 'copy'>,
    projectId: ProjectId | null,
  ): Promise<{ readonly field: string; readonly why: string } | null>;
  /** The project has cost as much today as it may, so no task is begun. Null: it has not. */
  spentToday(project: Pick<Project, 'projectId' | 'name' | 'dayMicroUsd'>): Promise<SpentUp | null>;
  /**
   * Prepares the place of work of a task that this holder has claimed. `text`: for the agent. Not
   * ok: `text` says why nobody can work on it here, and the claim should end.
   */
  begin(
    holder: Holder,
    project: Project,
    task: Task,
    caller: Caller,
  ): Promise<{ readonly ok: boolean; readonly text: string }>;
  /**
   * Why no run of this agent could do a task of the project, as a sentence. Null: nothing is known
   * to be off.
   */
  lacking(
    agentId: AgentId,
    project: Pick<ProjectValue, 'kind' | 'checks' | 'setup' | 'doneNeeds'>,
  ): Promise<string | null>;
  /**
   * The agent says that its work is done. Null: the task may move to review. Otherwise a sentence
   * that says what is missing.
   */
  finish(project: Project, task: Task, caller: Caller): Promise<string | null>;
  /**
   * The task has moved to review: the person is asked to accept the work. Resolves with what went
   * wrong with the request, as a sentence for the agent. Null: nothing.
   */
  moved(project: Project, task: Task): Promise<string | null>;
  /**
   * The attempts at a task, and the person's comments on lines, as text for an agent. Of an attempt
   * it is first what git and the checks say, then the words.
   */
  told(project: Project, task: Task, nameOf: (agentId: AgentId) => string): Promise<string>;
  /** Conditions of done that do not hold for the task. */
  missing(
    project: Pick<ProjectValue, 'checks'>,
    taskId: TaskId,
    task: Pick<TaskValue, 'criteria'>,
  ): Promise<readonly (keyof DoneNeeds)[]>;
  /** What would be lost with this project and is nowhere else, as a sentence. Null: nothing. */
  lostWith(projectId: ProjectId): Promise<string | null>;
}

export type BoardPage = z.output<typeof boardSchema>;

export interface ProjectForgetting {
  /** Takes these agents out of projects and tasks. Their claims end. */
  agents(agentIds: readonly string[]): Promise<void>;
  /** Takes every word out of those of these projects that were removed, and of their tasks. */
  projects(projectIds: readonly string[]): Promise<void>;
  /** Projects that were removed. */
  removed(): Promise<readonly ProjectId[]>;
}

/** What a project grants of commands. */
export interface ProjectCommands {
  readonly projectId: ProjectId;
  readonly commands: CommandGrant;
}

/** `by`: `human`, or the id of the calling agent. */
export interface Projects {
  /** The part in which agents work. Connected once, before anything is asked. */
  connect(work: TaskWork): void;
  /** The columns from which routines take tasks of a project. Connected once, like `work`. */
  connectRoutines(taken: (id: ProjectId, project: ProjectValue) => Promise<readonly string[]>): void;
  /** Since when the agent of a claim does not work. Connected once, like `work`. */
  connectRest(restOf: RestOf): void;
  /** The agent's turn is over. Pages read its tasks again. */
  agentStopped(agentId: AgentId): Promise<void>;
  /** Calls the listener after each end of a claim. */
  onClaimEnded(listener: (ended: EndedClaim) => void): void;
  /** The claims of a project now. `since`: ms since the epoch. */
  claims(projectId: ProjectId): Promise<readonly (HeldClaim & { readonly taskId: TaskId; readonly since: number })[]>;
  /** The claim of this task now. Null: nobody has it. */
  heldBy(taskId: TaskId): Promise<HeldClaim | null>;
  /**
   * Changes a task under a lock on its row. `endsClaim`: also its claim ends. `isLimited`: refused
   * where the household has no room for it. Without it, what has happened already is written.
   */
  update(
    projectId: ProjectId,
    taskId: TaskId,
    change: (at: {
      readonly value: TaskValue;
      readonly project: ProjectValue;
    }) => { readonly value: TaskValue; readonly endsClaim?: boolean; readonly isLimited?: boolean } | Refused,
  ): Promise<Outcome<Task>>;
  list(): Promise<readonly Project[]>;
  read(projectId: ProjectId): Promise<Outcome<Project>>;
  create(given: z.input<typeof createProjectSchema>): Promise<Outcome<Project>>;
  change(projectId: ProjectId, given: z.output<typeof changeProjectSchema>): Promise<Changed<Project>>;
  /** `lose`: also where something would be lost that is nowhere else. */
  remove(projectId: ProjectId, lose: boolean): Promise<Outcome<null>>;
  tasks(
    projectId: ProjectId,
    query: TaskQuery,
  ): Promise<Outcome<{ readonly tasks: readonly Task[]; readonly more: boolean }>>;
  /**
   * Tasks as cards, by number. `since`: an `asOf` of an earlier answer; only what changed after it.
   */
  board(
    projectId: ProjectId,
    query: { readonly since: number | null; readonly after: number; readonly limit: number },
  ): Promise<Outcome<BoardPage>>;
  /** Tasks in which all words of a text stand, with their comments. */
  search(projectId: ProjectId, text: string): Promise<Outcome<FoundTasks>>;
  task(projectId: ProjectId, taskId: TaskId): Promise<Outcome<Task>>;
  /**
   * `fromWebhook`: the task comes from outside, through a webhook that is `by`. A task with this id
   * that is there already, or was deleted, stays as it is.
   */
  createTask(
    by: string,
    projectId: ProjectId,
    given: z.output<typeof createTaskSchema>,
    fromWebhook?: { readonly taskId: TaskId; readonly column: ColumnKind },
  ): Promise<Outcome<Task>>;
  changeTask(
    by: string,
    projectId: ProjectId,
    taskId: TaskId,
    given: z.output<typeof changeTaskSchema>,
  ): Promise<Changed<Task>>;
  removeTask(projectId: ProjectId, taskId: TaskId): Promise<Outcome<null>>;
  /** A move to any column that is not `in_progress` ends the claim. */
  move(
    by: string,
    projectId: ProjectId,
    taskId: TaskId,
    to: {
      readonly columnId: string;
      readonly note: string;
      /** To done, although a condition does not hold. */
      readonly anyway?: boolean;
      readonly version?: number | undefined;
    },
  ): Promise<Changed<Task>>;
  meet(
    by: string,
    projectId: ProjectId,
    taskId: TaskId,
    criterionId: string,
    said: { readonly met: boolean; readonly evidence: string },
  ): Promise<Outcome<Task>>;
  /**
   * A task that the agent holds already stays claimed, from now on by this holder. `columns`: only
   * from these, of any kind but done. Left out: from any that is ready.
   */
  claim(holder: Holder, projectId: ProjectId, taskId: TaskId, columns?: readonly string[]): Promise<Outcome<Task>>;
  /**
   * The place of work of a task that this agent has claimed could not be prepared. The claim ends.
   * After `unpreparedMost` times in a row the task is blocked until the person moves it. `why`: a
   * sentence.
   */
  failClaim(agentId: AgentId, projectId: ProjectId, taskId: TaskId, why: string): Promise<Outcome<Task>>;
  /** Tasks whose work could not begin the last time. */
  unprepared(projectId: ProjectId): Promise<readonly { readonly taskId: TaskId; readonly why: string }[]>;
  release(by: string, projectId: ProjectId, taskId: TaskId, note: string): Promise<Outcome<Task>>;
  /** What the projects of its tasks grant this agent of commands. Empty: it has no task. */
  commandsOf(agentId: AgentId): Promise<readonly ProjectCommands[]>;
  /** Whether the agent is assigned to a project. Asked for each list of tools. */
  isAssigned(agentId: AgentId): Promise<boolean>;
  /** Projects that the agent is assigned to. */
  ofAgent(agentId: AgentId): Promise<readonly Project[]>;
  /**
   * Tasks that the agent may claim now, most urgent first. `columns`: as for `claim`. A list of the
   * first.
   */
  ready(agentId: AgentId, projectId: ProjectId, columns?: readonly string[]): Promise<Outcome<readonly Task[]>>;
  /**
   * Who works on what, as a sentence, where the project takes one task at a time. Null: nothing is
   * in the way.
   */
  atWork(agentId: AgentId, projectId: ProjectId): Promise<string | null>;
  /** Why the project may cost nothing more today, as a sentence. Null: it may. */
  spentUp(projectId: ProjectId): Promise<string | null>;
  /** All tasks of the project that the agent may claim now, most urgent first. */
  readyTasks(
    agentId: AgentId,
    projectId: ProjectId,
    columns?: readonly string[],
  ): Promise<readonly { readonly taskId: TaskId; readonly columnId: string; readonly version: number }[]>;
  /**
   * Calls the listener with projects that were removed here, or by a record, and with none where a
   * task was removed. It takes the rest.
   */
  onRemoved(listener: (projectIds: readonly ProjectId[]) => Promise<void>): void;
  readonly forgetting: ProjectForgetting;
  /** An API client has called: its claims last longer. */
  called(credentialId: string): Promise<void>;
  readonly records: RecordSource;
  /** Ends claims whose lease is over, and watches the others. Called once. */
  recover(): Promise<void>;
  close(): void;
}
