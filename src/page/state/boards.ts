/**
 * The tasks of each board as the page shows them, with the moves that the relay has not answered.
 */
import type { ProjectId, TaskId } from '../../shared/domain/ids.ts';
import { cardOf, type Task, type TaskCard } from '../../shared/protocol/projects.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import { isRefusedAs } from './ports.ts';
import { createQuery, createQueryFamily, type Query } from './query.ts';

/** Cards per request. Reading one answer must not hold the page up for long. */
const CARDS_PAGE = 1_000;

type Show = (tasks: readonly TaskCard[]) => void;

type Claimed = Pick<Task, 'claim'>;
const sameClaim = (one: Claimed, other: Claimed) =>
  one.claim?.agentId === other.claim?.agentId &&
  one.claim?.since === other.claim?.since &&
  one.claim?.rests === other.claim?.rests;

export interface Boards {
  /** The tasks of a board, as cards. After a change only what changed is read. */
  tasks(projectId: ProjectId): Query<readonly TaskCard[]>;
  /** The whole task. null: there is no such task. */
  task(projectId: ProjectId, taskId: TaskId): Query<Task | null>;
  /** Columns to which tasks are on their way. A task is shown there, whatever is read meanwhile. */
  readonly moving: Map<TaskId, string>;
  showCard(card: TaskCard): void;
  showTask(task: Task): void;
  dropTask(projectId: ProjectId, taskId: TaskId): void;
}

export function createBoards({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): Boards {
  const deps = { changes, device, what: ['projects'] as const };
  /** Where the next request for each project's changes starts. */
  const readAsOf = new Map<ProjectId, number>();
  changes.subscribe(({ what }) => {
    // Changes may have been missed, and the relay may be in an older state. All is read again.
    if (what === 'everything') readAsOf.clear();
  });
  const tasks = createQueryFamily((projectId: ProjectId) => {
    const ask = (show: Show) => readBoard(projectId, show);
    return createQuery<readonly TaskCard[]>({ ...deps, projectId, ask });
  });
  const whole = new Map<TaskId, Query<Task | null>>();
  function task(projectId: ProjectId, taskId: TaskId): Query<Task | null> {
    const query =
      whole.get(taskId) ??
      createQuery<Task | null>({
        ...deps,
        projectId,
        async ask() {
          const read = await callRelay((client) => client.task({ projectId, taskId }));
          if (read.ok) return { ok: true, value: whereItGoes(read.value) };
          return isRefusedAs(read.problem, 'no-task') ? { ok: true, value: null } : read;
        },
      });
    whole.set(taskId, query);
    return query;
  }

  async function readBoard(projectId: ProjectId, show: Show): Promise<RelayResult<readonly TaskCard[]>> {
    const shown = tasks(projectId).store.getState();
    const since = shown.kind === 'ready' ? (readAsOf.get(projectId) ?? null) : null;
    const read: TaskCard[] = [];
    const goneIds = new Set<TaskId>();
    let asOf: number | null = null;
    for (let after: number | null = 0; after !== null;) {
      const from = since === null ? null : String(since);
      const page = await callRelay((client) => client.board({ projectId, since: from, after, limit: CARDS_PAGE }));
      if (!page.ok) return page;
      read.push(...page.value.cards.map(whereItGoes));
      for (const taskId of page.value.gone) goneIds.add(taskId);
      // Of the first page: what changed while the others were read is read again.
      asOf ??= page.value.asOf;
      after = page.value.next;
      // A large board is shown before all of it is read.
      if (since === null && after !== null) show([...read]);
    }
    if (asOf !== null) readAsOf.set(projectId, asOf);
    const now = tasks(projectId).store.getState();
    const before = new Map(now.kind === 'ready' ? now.value.map((card) => [card.taskId, card]) : []);
    // A card that is as it was stays the same object, so that it is not rendered anew.
    const keptCards = read.map((card) => {
      const known = before.get(card.taskId);
      const isSame = known?.version === card.version && known.columnId === card.columnId && sameClaim(known, card);
      return isSame ? known : card;
    });
    if (since === null || now.kind !== 'ready') return { ok: true, value: keptCards };
    const changed = new Map(
      keptCards
        .filter(({ taskId, version }) => (before.get(taskId)?.version ?? 0) <= version)
        .map((card) => [card.taskId, card]),
    );
    const value = now.value.flatMap((card) => (goneIds.has(card.taskId) ? [] : [changed.get(card.taskId) ?? card]));
    return { ok: true, value: [...value, ...[...changed.values()].filter(({ taskId }) => !before.has(taskId))] };
  }

  const moving = new Map<TaskId, string>();
  function whereItGoes<Shown extends Pick<Task, 'taskId' | 'columnId'>>(read: Shown): Shown {
    const columnId = moving.get(read.taskId);
    return columnId === undefined ? read : { ...read, columnId };
  }

  function showCard(read: TaskCard): void {
    const card = whereItGoes(read);
    tasks(card.projectId).amend((all) => {
      const at = all.findIndex(({ taskId }) => taskId === card.taskId);
      return at < 0 ? [...all, card] : all.with(at, card);
    });
    whole.get(card.taskId)?.amend((known) => known && { ...known, columnId: card.columnId });
  }
  function showTask(read: Task): void {
    showCard(cardOf(read));
    whole.get(read.taskId)?.amend(() => whereItGoes(read));
  }
  const dropTask = (projectId: ProjectId, gone: TaskId) =>
    tasks(projectId).amend((all) => all.filter(({ taskId }) => taskId !== gone));

  return { tasks, task, moving, showCard, showTask, dropTask };
}
