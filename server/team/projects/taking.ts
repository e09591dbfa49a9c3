/** Who may take a task. A project may allow one task at a time. */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { takesOneTask, taskAtWork } from '../../../src/shared/domain/one-task.ts';
import { kindOfColumn, openBlockers } from '../../../src/shared/domain/projects.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import type { DoneNeeds } from '../../../src/shared/protocol/attempts.ts';
import type { ProjectValue, Task } from '../../../src/shared/protocol/projects.ts';
import type { Db } from '../../store/index.ts';
import { readStates } from './rows.ts';

/** Why a claim ended, where its run did not end it. */
export const LOST = 'Its run gave no sign of life any more.';

/** What a task lacks that would be moved to done. */
export const MISSING: Readonly<Record<keyof DoneNeeds, string>> = {
  change: sentence`No file was changed, and nothing was committed.`,
  checks: sentence`Not all checks passed.`,
  criteria: sentence`Not every criterion is met.`,
};

/** The task on which an agent works, in a project that takes one at a time. */
interface AtWork {
  readonly number: number;
  readonly claim: { readonly agentId: AgentId; readonly since: number };
}

/** Why the other task cannot be taken, to an agent that asks for it. */
export function atWorkText({ number, claim }: AtWork, reader: AgentId, names: ReadonlyMap<AgentId, string>): string {
  const since = `on #${number} since ${new Date(claim.since).toISOString()}`;
  return claim.agentId === reader
    ? `You work ${since}. This project takes one task at a time: move that one on, or release it.`
    : `${titled(names.get(claim.agentId) ?? claim.agentId)} works ${since}. This project takes one task at a time.`;
}

/**
 * Why this agent cannot take the unclaimed task: a sentence, or the task that is worked on. Null:
 * it can. `now`: ms since the epoch.
 */
export async function refuseClaim(
  within: Db,
  home: string,
  project: ProjectValue & { readonly projectId: ProjectId },
  value: Task,
  agentId: AgentId,
  now: number,
): Promise<string | AtWork | null> {
  if (!project.agents.includes(agentId)) return 'You are not assigned to this project.';
  if (value.assignee !== null && value.assignee !== agentId) return 'The task is assigned to another agent.';
  if (kindOfColumn(project, value.columnId) !== 'ready') return 'The task is not in a column that is ready.';
  if (value.asked) return 'The task came from elsewhere, and the human has not said yes to it.';
  if (value.blockedBy.length === 0 && !takesOneTask(project)) return null;
  const all = await readStates(within, home, project.projectId, now);
  const numbers = openBlockers(project, value, all).map(({ number }) => `#${number}`);
  return numbers.length > 0 ? `The task waits for ${numbers.join(', ')}.` : (taskAtWork(project, value, all) ?? null);
}
