/** What the relay's other parts know of the work on tasks. */
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import type { Attempt, Diff, FilePatch, ProjectSpent, Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { FoundAnywhere, Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { CommandOf } from '../../execution/shell/tools.ts';
import type { Caller } from '../../tools/index.ts';
import type { TaskWork } from '../board/index.ts';
import type { WorkForgetting } from './forgetting.ts';
import type { endedSince } from './ended.ts';
import type { CheckoutList } from './checkout-list.ts';
import type { Done } from './outcome.ts';
import type { Requests } from './requests.ts';
import type { ProjectFiles } from './project-files.ts';
export interface OpenTaskWork extends TaskWork, ProjectFiles, CheckoutList, WorkForgetting, Omit<Requests, 'moved'> {
  /** Tasks and files of all projects with these words. */
  find(text: string): Promise<FoundAnywhere>;
  attempts(projectId: ProjectId, taskId: TaskId): Promise<Done<readonly Attempt[]>>;
  /** Attempts of all projects that ended after this time, newest first. */
  ended(since: number): ReturnType<typeof endedSince>;
  /** What the attempts of a project have cost. */
  spent(projectId: ProjectId): Promise<Done<ProjectSpent['attempts']>>;
  /** A page of the changed files, from the one with this number on. */
  diff(projectId: ProjectId, taskId: TaskId, from: number): Promise<Done<Diff>>;
  /** The patch of one file of a diff, from this byte on. */
  filePatch(
    projectId: ProjectId,
    taskId: TaskId,
    file: { readonly before: string | null; readonly after: string | null; readonly from: number },
  ): Promise<Done<FilePatch>>;
  /**
   * Commits what the checkout of a task has in no commit, where this caller may run no git.
   * Resolves with what could not be committed, as a sentence. Null: everything could be.
   */
  commit(project: Project, task: Task, caller: Caller): Promise<string | null>;
  /** What the attempt of this task that is under way has come to now, with its checks. */
  found(project: Project, task: Task): Promise<Receipt | null>;
  /** Calls the listener for each task that an agent has moved to review. */
  onReview(listener: (project: Project, task: Task) => void): void;
  /** Variables for the commands of an agent, or an executor, that works on a task. */
  environmentOf(by: CommandOf): Promise<Readonly<Record<string, string>>>;
  /** The agent is about to do something there: a path, or a command. */
  touches(by: CommandOf, text: string): Promise<void>;
  /** A command has ended. */
  ran(by: CommandOf, command: Receipt['commands'][number]): void;
  /** A limit of the project is reached: ends the work on this task, and tells the person. */
  stop(
    kind: 'task' | 'day',
    at: { readonly projectId: ProjectId; readonly taskId: TaskId; readonly agentId: AgentId },
    why: string,
  ): Promise<void>;
  /** Ends attempts whose claim is over. Called once, before anybody works. */
  recover(): Promise<void>;
  /** Resolves when every attempt that ended is written. */
  close(): Promise<void>;
}
