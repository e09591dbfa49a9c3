/** Finds tasks of all projects, and files of projects and agents, by their words. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { missingWords, wordsIn } from '../../../src/shared/domain/task-search.ts';
import { type FoundAnywhere, PROJECT_LIMITS, type Project } from '../../../src/shared/protocol/projects.ts';
import type { Projects } from '../board/index.ts';
import { CHECKOUTS_FOLDER } from '../../../src/shared/protocol/outward-texts.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Repositories } from '../checkouts/index.ts';
import type { Workspaces } from '../../files/workspaces/index.ts';
import { isFault } from './outcome.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

export interface FindDeps {
  readonly directory: Pick<Directory, 'all'>;
  readonly workspaces: Pick<Workspaces, 'of'>;
  readonly projects: Pick<Projects, 'list' | 'search' | 'task'>;
  readonly repositories: Pick<Repositories, 'of'>;
}

export function createFind({
  projects,
  repositories,
  directory,
  workspaces,
}: FindDeps): (text: string) => Promise<FoundAnywhere> {
  const most = PROJECT_LIMITS.foundAnywhere;
  const inTurn = createLimiter(TASK_WORK_SETTINGS.findsAtOnce);

  /** Paths of the base branch as it was seen last. A search fetches nothing. */
  async function pathsOf(project: Project): Promise<readonly string[]> {
    try {
      const repository = await repositories.of(project.projectId, project);
      const base = await repository.knownBase();
      return base === null ? [] : [...(await repository.list(base)).keys()];
    } catch (error) {
      // The project says it where its files are shown.
      if (isFault(error)) return [];
      throw error;
    }
  }

  /** Paths in an agent's folder. Its checkouts are left out: they have the files of projects. */
  async function ownPathsOf(agentId: AgentId): Promise<readonly string[]> {
    const paths: string[] = [];
    try {
      for await (const { kind, path } of workspaces.of(agentId).walk('', TASK_WORK_SETTINGS.findEntries))
        if (kind === 'file' && !path.startsWith(`${CHECKOUTS_FOLDER}/`)) paths.push(path);
    } catch (error) {
      if (!isFault(error)) throw error;
    }
    return paths;
  }

  return (text) =>
    inTurn(async () => {
      const words = wordsIn(text);
      const found = { tasks: [] as FoundAnywhere['tasks'], files: [] as FoundAnywhere['files'], more: false };
      function addFiles(all: readonly string[], fileOf: (path: string) => FoundAnywhere['files'][number]): void {
        const fitting = all.filter((path) => missingWords(path, words).length === 0);
        const shown = fitting.slice(0, most - found.files.length);
        found.more ||= shown.length < fitting.length;
        found.files.push(...shown.map(fileOf));
      }
      for (const project of await projects.list()) {
        const { projectId } = project;
        const searched = await projects.search(projectId, text);
        for (const taskId of searched.ok ? searched.value.taskIds : []) {
          if (found.tasks.length === most) {
            found.more = true;
            break;
          }
          const task = await projects.task(projectId, taskId);
          if (!task.ok) continue;
          const { number, title, columnId } = task.value;
          found.tasks.push({ projectId, taskId, number, title, columnId });
        }
        addFiles(await pathsOf(project), (path) => ({ of: 'project', projectId, path }));
      }
      for (const { agentId } of await directory.all())
        addFiles(await ownPathsOf(agentId), (path) => ({ of: 'agent', agentId, path }));
      return found;
    });
}
