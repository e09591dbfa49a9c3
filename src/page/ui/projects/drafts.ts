/** What is typed in the sheet of a task and not saved yet, in the browser's storage. */
import { z } from 'zod';
import type { TaskId } from '../../../shared/domain/ids.ts';
import type { Task } from '../../../shared/protocol/projects.ts';
import type { Device } from '../../state/ports.ts';

export interface TaskDraft {
  /** The task from which the change was made. */
  readonly base: Task;
  readonly title: string;
  readonly description: string;
}

const key = (taskId: TaskId) => `roost-task-draft:${taskId}`;
const text = z.object({ title: z.string(), description: z.string() });
const storedSchema = text.extend({ base: text.extend({ version: z.number() }) });

/** null: there is none. */
export function readTaskDraft(browser: Device['browser'], task: Task): TaskDraft | null {
  try {
    const read = storedSchema.safeParse(JSON.parse(browser.read(key(task.taskId)) ?? 'null'));
    return read.success ? { ...read.data, base: { ...task, ...read.data.base } } : null;
  } catch {
    return null;
  }
}

/** null: it is saved, or dropped. */
export function keepTaskDraft(browser: Device['browser'], taskId: TaskId, draft: TaskDraft | null): void {
  browser.write(key(taskId), draft === null ? '' : JSON.stringify(storedSchema.parse(draft)));
}

const commentKey = (taskId: TaskId) => `roost-comment-draft:${taskId}`;

/** A comment that is not written yet. Empty: there is none. */
export const readCommentDraft = (browser: Device['browser'], taskId: TaskId): string =>
  browser.read(commentKey(taskId)) ?? '';
export function keepCommentDraft(browser: Device['browser'], taskId: TaskId, draft: string): void {
  browser.write(commentKey(taskId), draft);
}
