/** Projects and tasks that came as records and wait for the person's yes. */
import { sql } from 'kysely';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { columnOfKind, givesTasks, kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { heldProject } from '../../../src/shared/protocol/project-records.ts';
import { projectValueSchema, type ProjectValue, type TaskValue } from '../../../src/shared/protocol/projects.ts';
import type { AskedAnswer, AskedOutcome, AskedRecord } from '../../../src/shared/protocol/records.ts';
import type { Db } from '../../store/index.ts';
import { createAskedRows, hashOf, type RecordSource } from '../../team/records/index.ts';
import type { ProjectsBase } from './base.ts';
import { columnsOf, projectValueOf, readProjectRow, type TaskRow, taskValueOf, withHistory } from './rows.ts';
import { PROJECT_SETTINGS } from './settings.ts';

export const askedProjects = (db: Db, home: string) => createAskedRows({ db, home }, 'project');

/** `changed` is called after an answer. */
export function createAskedProjects(
  { db, home, setAside, now, connected }: ProjectsBase,
  changed: () => void,
): Required<Pick<RecordSource, 'asked' | 'answer'>> {
  const tasksOf = (within: Db, id: ProjectId) =>
    within
      .selectFrom('tasks')
      .selectAll()
      .where('home', '=', home)
      .where('project', '=', id)
      .where('removed', '=', false);

  /** Why the source of the project cannot become another one. Null: it can, or stays. */
  async function refuseSource(id: ProjectId, here: ProjectValue, after: ProjectValue): Promise<string | null> {
    const isMoved = here.kind !== after.kind || here.repository !== after.repository;
    const isSame = here.baseBranch === after.baseBranch && JSON.stringify(here.copy) === JSON.stringify(after.copy);
    if (!isMoved && isSame) return null;
    const begun = await db
      .selectFrom('attempts')
      .select('attempt')
      .where('home', '=', home)
      .where('project', '=', id)
      .where('run', 'is not', null)
      .executeTakeFirst();
    if (isMoved && (here.kind === 'git' || begun))
      return sentence`Its kind and its repository stay as they are, because they are in use here.`;
    // The same check as for a project that the person creates here: paths and addresses need
    // rights.
    return (await connected.work?.examine(after, null))?.why ?? null;
  }

  /**
   * Stored tasks of a project that wait with it, those that came as records first. `chosen`: as
   * `taken` answers.
   */
  async function waitingTasks(
    within: Db,
    id: ProjectId,
    {
      here,
      after,
      chosen,
    }: { readonly here: ProjectValue; readonly after: ProjectValue; readonly chosen: readonly string[] },
  ) {
    const stored = await tasksOf(within, id).orderBy('asked', 'desc').orderBy('number').execute();
    const tasks = setAside.read(
      'tasks',
      stored,
      ({ task }) => task,
      (row) => ({ row, value: taskValueOf(row) }),
    );
    const waiting = tasks.filter(({ row }) => row.asked || after !== here);
    if (waiting.length === 0) return [];
    const blockers = new Set(
      tasks.flatMap(({ value: { columnId, blockedBy } }) =>
        kindOfColumn(after, columnId) === 'done' ? [] : blockedBy,
      ),
    );
    const isReady = ({ columnId }: TaskValue) =>
      [here, after].some(
        (project) => givesTasks(project, columnId, undefined) || givesTasks(project, columnId, chosen),
      );
    const shown: { readonly row: TaskRow; readonly value: TaskValue }[] = [];
    let characters = 0;
    for (const { row, value } of waiting) {
      const frees = row.asked && blockers.has(row.task) && kindOfColumn(after, value.columnId) === 'done';
      if (!isReady(value) && !frees) continue;
      characters += row.value_json.length;
      if (shown.length > 0 && characters > PROJECT_SETTINGS.askedCharacters) break;
      shown.push({ row, value });
      if (shown.length === PROJECT_SETTINGS.askedTasks) break;
    }
    return shown;
  }

  /** Read before a transaction, which must not wait for a second connection. */
  async function chosenOf(id: ProjectId): Promise<readonly string[]> {
    const row = await readProjectRow(db, home, id);
    return row ? await connected.routines(id, projectValueOf(row)) : [];
  }
  /** What of this project waits. Null: nothing does. `chosen`: as `taken` answers. */
  async function waitingOf(within: Db, id: ProjectId, chosen: readonly string[]) {
    const row = await readProjectRow(within, home, id);
    if (!row) return null;
    const here = projectValueOf(row);
    const waitingProject = await askedProjects(within, home).get(id, '');
    const offered = waitingProject && projectValueSchema.parse(waitingProject.value);
    const after = offered && heldProject(offered, here).waits.length > 0 ? offered : here;
    const tasks = await waitingTasks(within, id, { here, after, chosen });
    if (after === here && tasks.length === 0) return null;
    const shown = tasks.map(({ row: { task: taskId, version, asked: isAsked }, value }) => ({
      ...{ taskId, version, number: value.number, title: value.title, description: value.description },
      ...{ criteria: value.criteria.map(({ text }) => text), assignee: value.assignee, priority: value.priority },
      ...{ columnId: value.columnId, asked: isAsked },
      comments: value.lineComments.map(({ text }) => text),
      notes: value.history.flatMap(({ note }) => (note === '' ? [] : [note])),
    }));
    const record: Extract<AskedRecord, { type: 'project' }> = {
      ...{ type: 'project', id, part: '', here, after, tasks: shown },
      hash: hashOf({ id, here, after, shown }),
    };
    return { record, tasks };
  }

  return {
    async asked() {
      const came = await db
        .selectFrom('tasks')
        .select('project')
        .distinct()
        .where('home', '=', home)
        .where('asked', '=', true)
        .where('removed', '=', false)
        .execute();
      const waiting = await askedProjects(db, home).all();
      const all: AskedRecord[] = [];
      const ids = [...new Set([...waiting.map((row) => row.id as ProjectId), ...came.map(({ project }) => project)])];
      await setAside.each(
        'projects',
        ids,
        (id) => id,
        async (id) => {
          const one = await waitingOf(db, id, await chosenOf(id));
          if (one) all.push(one.record);
        },
      );
      return all;
    },
    async answer({ type, id: askedId, part, hash, yes }: AskedAnswer): Promise<AskedOutcome> {
      if (type !== 'project' || part !== '') return { outcome: 'over' };
      const id = askedId as ProjectId;
      const chosen = await chosenOf(id);
      const first = await waitingOf(db, id, chosen);
      if (first?.record.hash !== hash) return { outcome: 'over' };
      const { here, after } = first.record;
      const why = yes ? await refuseSource(id, here, after) : null;
      if (why !== null) return { outcome: 'refused', why };
      const outcome = await db.transaction().execute(async (trx): Promise<AskedOutcome> => {
        await readProjectRow(trx, home, id, true);
        const waitingItem = await waitingOf(trx, id, chosen);
        if (waitingItem?.record.hash !== hash) return { outcome: 'over' };
        const changes = { stamp: null, version: sql<number>`version + 1` };
        if (yes && waitingItem.record.after !== waitingItem.record.here)
          await trx
            .updateTable('projects')
            .set({ ...changes, value_json: JSON.stringify(waitingItem.record.after) })
            .where('home', '=', home)
            .where('project', '=', id)
            .execute();
        // Where no routine takes it: the person has said no.
        const rests = (['backlog', 'blocked', 'planning'] as const)
          .map((kind) => columnOfKind(waitingItem.record.here, kind)?.columnId)
          .find((columnId) => columnId !== undefined && !chosen.includes(columnId));
        for (const { row, value } of waitingItem.tasks.filter((task) => task.row.asked)) {
          const moved = {
            time: now(),
            by: PERSON,
            what: 'moved',
            columnId: rests ?? value.columnId,
            note: '',
          } as const;
          const declined = withHistory({ ...value, columnId: moved.columnId }, moved);
          await trx
            .updateTable('tasks')
            .set(yes ? { asked: false } : { ...columnsOf(declined), ...changes })
            .where('home', '=', home)
            .where('task', '=', row.task)
            .where('version', '=', row.version)
            .execute();
        }
        if (yes) await askedProjects(trx, home).drop(id, '');
        else await askedProjects(trx, home).decline(id, '');
        return { outcome: 'done' };
      });
      changed();
      return outcome;
    },
  };
}
