/** Claims of tasks together with the place where the work is done. */
import { kindOfColumn } from '../../../src/shared/domain/projects.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Caller } from '../../tools/index.ts';
import type { Holder, Projects, Refused, TaskWork } from './contract.ts';

export type Claimed =
  /** `place`: where the work is done, for the agent. */
  | { readonly ok: true; readonly task: Task; readonly place: string }
  | { readonly ok: false; readonly refused: Refused }
  /** The work could not begin, and the claim has ended. `why`: for the agent. */
  | { readonly ok: false; readonly refused: null; readonly why: string; readonly detail: string };

/** Claims a task and prepares its place of work. `columns`: as in `Projects.claim`. */
export async function claimTask(
  { projects, work }: { readonly projects: Projects; readonly work: TaskWork | null },
  { holder, caller }: { readonly holder: Holder; readonly caller: Caller },
  project: Project,
  taskId: string,
  columns?: readonly string[],
): Promise<Claimed> {
  const claimed = await projects.claim(holder, project.projectId, taskId, columns);
  if (!claimed.ok) return { ok: false, refused: claimed };
  const place = (await work?.begin(holder, project, claimed.value, caller)) ?? { ok: true, text: '' };
  if (place.ok) return { ok: true, task: claimed.value, place: place.text };
  const failed = await projects.failClaim(caller.agentId, project.projectId, taskId, place.text);
  const isBlocked = failed.ok && failed.value.columnId !== claimed.value.columnId && failed.value.claim === null;
  const kind = isBlocked ? kindOfColumn(project, failed.value.columnId) : 'ready';
  const why =
    kind === 'ready' ? place.text : `${place.text}\nThe human has to look at it. Do not claim this task again.`;
  return { ok: false, refused: null, why, detail: place.text };
}
