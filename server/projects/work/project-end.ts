/** What would be lost with a project that is deleted. */
import type { AgentId, TaskId } from '../../../src/shared/domain/ids.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project } from '../../../src/shared/protocol/projects.ts';
import type { Attempts, Projects, TaskWork } from '../board/index.ts';
import type { Checkouts, Repositories, Repository } from '../checkouts/index.ts';
import { placeOf, placesOf } from './checkout-list.ts';
import { isFault } from './outcome.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

export interface ProjectEndDeps {
  readonly projects: Pick<Projects, 'read' | 'task'>;
  readonly attempts: Pick<Attempts, 'ofProject'>;
  readonly checkouts: Pick<Checkouts, 'exists' | 'status'>;
  readonly repositories: Pick<Repositories, 'of'>;
  readonly nameOf: (agentId: AgentId) => Promise<string>;
}

export function createProjectEnd(deps: ProjectEndDeps): Pick<TaskWork, 'lostWith'> {
  const { projects, attempts, checkouts, repositories, nameOf } = deps;

  /** The work on a task is in the project's base branch, or has no change. */
  async function isMerged(repository: Repository, base: string, { branch, base: start }: Attempt): Promise<boolean> {
    const head = await repository.headOf(branch);
    return head === null || head === start || (await repository.forkOf(base, head)) === head;
  }
  async function unmerged(project: Project, repository: Repository): Promise<readonly string[]> {
    const base = await repository.knownBase();
    const last = new Map<TaskId, Attempt>();
    for (const attempt of await attempts.ofProject(project.projectId)) last.set(attempt.taskId, attempt);
    const found: string[] = [];
    for (const attempt of last.values()) {
      if (base !== null && (await isMerged(repository, base, attempt))) continue;
      const task = await projects.task(project.projectId, attempt.taskId);
      const isOver = task.ok && task.value.request?.state === 'merged';
      if (!isOver) found.push(task.ok ? `#${task.value.number} ${titled(task.value.title)}` : titled(attempt.branch));
    }
    return found;
  }
  async function onlyInCheckouts(project: Project, repository: Repository): Promise<readonly string[]> {
    const found: string[] = [];
    for (const attempt of await placesOf(attempts, project.projectId)) {
      const place = placeOf(project, attempt);
      if (!(await checkouts.exists(place))) continue;
      const { state, unsaved } = await checkouts.status(place, repository, project.copy);
      if (state === 'clean') continue;
      const [name, what] = [await nameOf(attempt.agentId), unsaved.length === 0 ? [attempt.folder] : unsaved];
      found.push(sentence`${listed(what)} in the checkout of ${name}`);
    }
    return found;
  }
  const listed = (names: readonly string[]) => {
    const most = TASK_WORK_SETTINGS.lostNamed;
    const more = names.length > most ? ` + ${names.length - most}` : '';
    return `${names.slice(0, most).map(titled).join(', ')}${more}`;
  };

  async function partsOf(project: Project): Promise<readonly string[]> {
    try {
      const repository = await repositories.of(project.projectId, project);
      const base = await repository.knownBase();
      const files = project.kind === 'folder' && base !== null ? (await repository.list(base)).size : 0;
      const work = await unmerged(project, repository);
      const most = TASK_WORK_SETTINGS.lostNamed;
      const more = work.length > most ? ` + ${work.length - most}` : '';
      return [
        ...(files === 0 ? [] : [sentence`the files of its folder (${files})`]),
        ...(work.length === 0 ? [] : [sentence`work that is not merged: ${work.slice(0, most).join(', ')}${more}`]),
        ...(await onlyInCheckouts(project, repository)),
      ];
    } catch (error) {
      if (!isFault(error)) throw error;
      return [sentence`what the relay cannot read: ${error instanceof Error ? error.message : ''}`];
    }
  }
  return {
    async lostWith(projectId) {
      const project = await projects.read(projectId);
      const parts = project.ok ? await partsOf(project.value) : [];
      return parts.length === 0 ? null : sentence`This is nowhere else: ${parts.join('; ')}.`;
    },
  };
}
