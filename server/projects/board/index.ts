/**
 * Projects: boards of tasks that the person and agents write, and that agents claim and work on.
 *
 * `boards.ts` and `tasks.ts` write projects and tasks, `claims.ts` has claims, and `rows.ts` reads
 * the tables. `records.ts` restores projects to a relay that has lost them, and `tools.ts` has the
 * tools of agents. The rules are in `src/shared/domain/projects.ts`.
 *
 * Main types: `Projects`, `Holder`.
 *
 * Invariants:
 * - One agent at most works on a task. A claim is one lease on the task's row, with a token that
 *   counts the claims. A renewal, or the end of a claim, names the token, so an old run cannot end
 *   a newer claim.
 * - A claim of a run ends with the run, and the task returns to the column from which it was taken.
 *   The claim of a relay that died ends with its lease.
 * - Agents change tasks that they have claimed. Only the person moves a task to `done`.
 * - Every change is on disk before the caller is answered and pages are notified.
 *
 * It does not know what an agent does with a task: files, branches and runs belong to other parts.
 */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { createTimerSet } from '../../../src/shared/domain/platform/timers.ts';
import { SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
import { readAssigned, readCommandsOf, readProjects } from './board.ts';
import { createBoards } from './boards.ts';
import { createClaims } from './claims.ts';
import type { ProjectsBase, ProjectsDeps } from './base.ts';
import type { EndedClaim, Projects } from './contract.ts';
import { createProjectForgetting } from './forgetting.ts';
import { createProgress } from './progress.ts';
import { createReady } from './ready.ts';
import { createProjectRecords } from './records.ts';
import { createProjectRoom } from './room.ts';
import { PROJECT_SETTINGS } from './settings.ts';
import { createTaskChanges } from './task-changes.ts';
import { createTasks } from './tasks.ts';

export {
  type Attempts,
  type Began,
  createAttemptRecords,
  createAttempts,
  type Draft,
  type OpenAttempt,
  type Spent,
} from './attempts.ts';
export type { EndedClaim, HeldClaim, Holder, Projects, SpentUp, TaskWork } from './contract.ts';
export { type Comments, createComments } from './comments.ts';
export { attemptWithout, isProjectOf, REMOVED_BRANCH, taskWithout } from './forgetting.ts';
export { createProjectRoom, type ProjectRoom } from './room.ts';
export { createProjectRoutes } from './routes.ts';
export { createProjectTools } from './tools.ts';
export { claimTask } from './claiming.ts';
export { createTaskWords } from './task-words.ts';
export { askingProject, grantedByProjects } from './grants.ts';
export { RUN_ENDED, unmetCriteria } from './taking.ts';
export { withHistory } from './rows.ts';

export function createProjects({ log, tell, ...deps }: ProjectsDeps): Projects {
  const { db, home, now, setAside = SETS_NOTHING_ASIDE, settings = PROJECT_SETTINGS } = deps;
  const { room = createProjectRoom({ db, home, elapsed: now }) } = deps;
  const timers = createTimerSet(deps.timers);
  const listeners: ((ended: EndedClaim) => void)[] = [];
  /** Agents with a project, as they were read last. */
  let assigned: { readonly at: number; readonly agents: Promise<ReadonlySet<AgentId>> } | null = null;
  function changed(projectId: ProjectId): void {
    assigned = null;
    tell({ kind: 'changed', time: now(), what: 'projects', agentId: null, projectId });
  }
  const connected: ProjectsBase['connected'] = {
    work: null,
    routines: () => Promise.resolve([]),
    restOf: () => undefined,
    onRemoved: () => Promise.resolve(),
  };
  const base: ProjectsBase = { ...deps, room, timers, setAside, settings, connected, changed };
  const changing = createTaskChanges(base, (ended) => {
    for (const listener of listeners) listener(ended);
  });
  const { endClaim, close, ...claims } = createClaims({ ...base, log }, changing);

  const projects: Projects = {
    connect: (work) => void (connected.work = work),
    connectRoutines: (taken) => void (connected.routines = taken),
    connectRest: (restOf) => void (connected.restOf = restOf),
    onRemoved: (listener) => void (connected.onRemoved = listener),
    onClaimEnded: (listener) => void listeners.push(listener),
    ...createBoards(base),
    ...createTasks(base, changing),
    ...createProgress(base, changing),
    ...claims,
    ...createReady(base, claims.recover),
    async isAssigned(agentId) {
      if (!assigned || Math.abs(now() - assigned.at) > settings.assignedMs)
        assigned = { at: now(), agents: readAssigned(db, home, setAside) };
      const { agents } = assigned;
      try {
        return (await agents).has(agentId);
      } catch (error) {
        if (assigned?.agents === agents) assigned = null;
        throw error;
      }
    },
    commandsOf: async (agentId) => ((await projects.isAssigned(agentId)) ? readCommandsOf(db, home, agentId) : []),
    ofAgent: async (agentId) =>
      (await readProjects(db, home, setAside)).filter(({ agents }) => agents.includes(agentId)),
    forgetting: createProjectForgetting(base, endClaim),
    records: createProjectRecords(base, () => void (assigned = null)),
    close() {
      close();
      timers.close();
    },
  };
  return projects;
}
