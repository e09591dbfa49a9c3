/**
 * What the work on a project may cost: one task in all, and the project in a day. Asked before
 * work begins, and after each request that counts to it.
 */
import type { TaskId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { usdText } from '../../../src/shared/domain/money.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import type { Day } from '../../../src/shared/domain/zone-days.ts';
import type { Attempt } from '../../../src/shared/protocol/attempts.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { Attempts, SpentUp } from '../board/index.ts';

export interface WorkLimits {
  /** Null: the task may cost more. */
  ofTask(project: Project, task: Pick<Task, 'taskId' | 'title'>): Promise<SpentUp | null>;
  /** Null: the project may cost more today. */
  ofDay(project: Pick<Project, 'projectId' | 'name' | 'dayMicroUsd'>): Promise<SpentUp | null>;
  /** Tasks of the project that have cost as much as they may. */
  ofTasks(project: Project): Promise<ReadonlyMap<TaskId, SpentUp>>;
}

export interface WorkLimitsDeps {
  readonly attempts: Pick<Attempts, 'list' | 'ofProject'>;
  /** The day of the household's time zone. */
  readonly today: () => Promise<Day>;
}

type Priced = Pick<Attempt, 'receipt' | 'spent' | 'review'>;
/** In millionths of a dollar, with the second mind that looked at it. */
const costOf = ({ receipt, spent, review }: Priced): number =>
  (receipt?.costMicroUsd ?? spent?.costMicroUsd ?? 0) + (review?.costMicroUsd ?? 0);
const sumOf = (all: readonly Priced[]): number => all.reduce((sum, attempt) => sum + costOf(attempt), 0);

const taskText = (title: string | null, spent: number, most: number) =>
  title === null
    ? sentence`It has cost ${usdText(spent)}, and its project allows ${usdText(most)} for one task. Raise that in the settings of the project.`
    : sentence`The task ${titled(title)} has cost ${usdText(spent)}, and its project allows ${usdText(most)} for one task. Raise that in the settings of the project.`;

export function createWorkLimits({ attempts, today }: WorkLimitsDeps): WorkLimits {
  return {
    async ofTask({ taskMicroUsd: most }, { taskId, title }) {
      if (most === null) return null;
      const spent = sumOf(await attempts.list(taskId));
      return spent < most ? null : { detail: taskText(title, spent, most), until: null };
    },
    async ofDay({ projectId, name, dayMicroUsd: most }) {
      if (most === null) return null;
      const day = await today();
      const spent = sumOf(await attempts.ofProject(projectId, day.start));
      if (spent < most) return null;
      return {
        detail: sentence`The project ${titled(name)} has cost ${usdText(spent)} today, and may cost ${usdText(most)} in a day. Raise that in its settings.`,
        until: day.end,
      };
    },
    async ofTasks({ projectId, taskMicroUsd: most }) {
      if (most === null) return new Map();
      const spent = new Map<TaskId, number>();
      for (const attempt of await attempts.ofProject(projectId))
        spent.set(attempt.taskId, (spent.get(attempt.taskId) ?? 0) + costOf(attempt));
      return new Map(
        [...spent].flatMap(([taskId, cost]) =>
          cost < most ? [] : [[taskId, { detail: taskText(null, cost, most), until: null }] as const],
        ),
      );
    },
  };
}
