/** Tasks that would wait for themselves. Pure. */
import type { TaskId } from './ids.ts';

interface Waiting {
  readonly taskId: TaskId;
  /** Tasks that must be done first. */
  readonly blockedBy: readonly TaskId[];
}

/**
 * Whether the task would wait for itself, directly or through others, if it were blocked by these.
 */
export function waitsForItself(taskId: TaskId, blockedBy: readonly TaskId[], all: readonly Waiting[]): boolean {
  const byId = new Map(all.map((task) => [task.taskId, task.blockedBy]));
  const seen = new Set<TaskId>();
  const open = [...blockedBy];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === taskId) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(byId.get(next) ?? []));
  }
  return false;
}
