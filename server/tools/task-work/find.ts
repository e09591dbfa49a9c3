/** Finds tasks and files of all projects by their words. */
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { missingWords, wordsIn } from '../../../src/shared/domain/task-search.ts';
import { type FoundAnywhere, PROJECT_LIMITS, type Project } from '../../../src/shared/protocol/projects.ts';
import type { Projects } from '../../team/projects/index.ts';
import type { Repositories } from '../checkouts/index.ts';
import { isFault } from './outcome.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

interface FindDeps {
  readonly projects: Pick<Projects, 'list' | 'search' | 'task'>;
  readonly repositories: Pick<Repositories, 'of'>;
}

export function createFind({ projects, repositories }: FindDeps): (text: string) => Promise<FoundAnywhere> {
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

  return (text) =>
    inTurn(async () => {
      const words = wordsIn(text);
      const found = { tasks: [] as FoundAnywhere['tasks'], files: [] as FoundAnywhere['files'], more: false };
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
        const paths = (await pathsOf(project)).filter((path) => missingWords(path.toLowerCase(), words).length === 0);
        const shown = paths.slice(0, most - found.files.length);
        found.more ||= shown.length < paths.length;
        found.files.push(...shown.map((path) => ({ projectId, path })));
      }
      return found;
    });
}
