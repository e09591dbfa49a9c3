/** What a task is doing, with the last step of the agent that has it. */
import type { TaskState } from '../../../shared/domain/task-state.ts';
import type { TaskCard } from '../../../shared/protocol/projects.ts';
import { useDoingNow } from '../doing-now.ts';
import { stateOf, useBoard } from './board.ts';

export function useTaskState(task: TaskCard): TaskState {
  const step = useDoingNow(task.claim?.agentId ?? null);
  return stateOf(useBoard(), task, step);
}
