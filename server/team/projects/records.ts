/**
 * Projects and tasks as records: see server/team/records. A restored task is nobody's: who worked
 * on it is not in its record. Nobody takes it before the person has said yes.
 */
import { sql } from 'kysely';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import { columnOfKind, givesTasks, kindOfColumn, refuseColumns } from '../../../src/shared/domain/projects.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { heldProject } from '../../../src/shared/protocol/project-records.ts';
import { projectValueSchema, type ProjectValue, type TaskValue } from '../../../src/shared/protocol/projects.ts';
import type {
  AskedAnswer,
  AskedOutcome,
  AskedRecord,
  RecordAnswer,
  RecordOf,
} from '../../../src/shared/protocol/records.ts';
import { isBefore } from '../../store/dialect.ts';
import type { SetAside } from '../../platform/set-aside.ts';
import type { Db } from '../../store/index.ts';
import {
  createAskedRows,
  hashOf,
  orNoRoom,
  type RecordSource,
  stampRow,
  stampsOf,
  statusAt,
  type Unannounced,
} from '../records/index.ts';
import {
  columnsOf,
  projectValueOf,
  readProjectRow,
  type TaskRow,
  taskValueOf,
  UNCLAIMED,
  withHistory,
} from './rows.ts';
import type { ProjectRoom } from './room.ts';
import { PROJECT_SETTINGS } from './settings.ts';

const TAKEN: RecordAnswer = { answer: 'taken' };
const KEPT: RecordAnswer = { answer: 'kept' };
const ASKED: RecordAnswer = { answer: 'asked' };

interface ProjectRecordsDeps {
  readonly db: Db;
  readonly home: string;
  readonly room: ProjectRoom;
  readonly setAside: SetAside;
  /** Records have removed these projects. */
  readonly onRemoved: (projectIds: readonly ProjectId[]) => Promise<void>;
  readonly now: () => number;
  /** Projects have changed here. */
  readonly changed: () => void;
  /** Why this source cannot be used here, as a sentence. Null: it can. */
  readonly examine: (source: ProjectValue) => Promise<string | null>;
  /** Columns from which routines take tasks of this project, besides those that are ready. */
  readonly taken: (id: ProjectId, project: ProjectValue) => Promise<readonly string[]>;
}

export function createProjectRecords({
  db,
  home,
  room,
  setAside,
  onRemoved,
  now,
  changed,
  examine,
  taken,
}: ProjectRecordsDeps): RecordSource {
  async function unannouncedProjects(): Promise<Unannounced[]> {
    const rows = await db
      .selectFrom('projects')
      .selectAll()
      .where('home', '=', home)
      .where('stamp', 'is', null)
      .orderBy('created_at')
      .limit(PROJECT_SETTINGS.recordsAnnounced)
      .execute();
    return setAside.read(
      'projects',
      rows,
      ({ project }) => project,
      (row) => ({
        record: { type: 'project', id: row.project, value: projectValueOf(row) },
        announced: (at) => stampRow({ db, home, table: 'projects' }, row.project, row.version, at),
      }),
    );
  }
  async function unannouncedTasks(): Promise<Unannounced[]> {
    const rows = await db
      .selectFrom('tasks')
      .selectAll()
      .where('home', '=', home)
      .where('stamp', 'is', null)
      .orderBy('created_at')
      .limit(PROJECT_SETTINGS.recordsAnnounced)
      .execute();
    return setAside.read(
      'tasks',
      rows,
      ({ task }) => task,
      (row) => ({
        record: { type: 'task', id: row.task, value: taskValueOf(row) },
        announced: (at) => stampRow({ db, home, table: 'tasks' }, row.task, row.version, at),
      }),
    );
  }

  const askedIn = (within: Db) => createAskedRows({ db: within, home }, 'project');
  const tasksOf = (within: Db, id: ProjectId) =>
    within
      .selectFrom('tasks')
      .selectAll()
      .where('home', '=', home)
      .where('project', '=', id)
      .where('removed', '=', false);

  /** What would start, reach or cost more than what holds here waits for the person's yes. */
  const restoreProject = ({ id, value, at }: RecordOf<'project'> & { readonly at: Stamp }): Promise<RecordAnswer> => {
    const wrong = value.removed ? null : refuseColumns(value.columns);
    if (wrong !== null) return Promise.resolve({ answer: 'refused', why: wrong });
    return orNoRoom(
      db.transaction().execute(async (trx): Promise<RecordAnswer> => {
        const row = await readProjectRow(trx, home, id, true);
        const held = heldProject(value, row && projectValueOf(row));
        const own = { value_json: JSON.stringify(held.value), removed: value.removed, stamp: at };
        const { numInsertedOrUpdatedRows = 0n } = await trx
          .insertInto('projects')
          .values({ home, project: id, ...own, created_at: value.createdAt })
          .onConflict((conflict) =>
            conflict
              .columns(['home', 'project'])
              .doUpdateSet({ ...own, version: sql<number>`projects.version + 1` })
              .where(isBefore('projects.stamp', at)),
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) return KEPT;
        await askedIn(trx).put(trx, id, at, new Map(held.waits.length > 0 ? [['', value]] : []));
        return held.waits.length > 0 ? ASKED : TAKEN;
      }),
    );
  };
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
    return await examine(after);
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
    return row ? await taken(id, projectValueOf(row)) : [];
  }
  /** What of this project waits. Null: nothing does. `chosen`: as `taken` answers. */
  async function waitingOf(within: Db, id: ProjectId, chosen: readonly string[]) {
    const row = await readProjectRow(within, home, id);
    if (!row) return null;
    const here = projectValueOf(row);
    const asked = await askedIn(within).get(id, '');
    const offered = asked && projectValueSchema.parse(asked.value);
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
  async function answerOne({ type, id: askedId, part, hash, yes }: AskedAnswer): Promise<AskedOutcome> {
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
      const one = await waitingOf(trx, id, chosen);
      if (one?.record.hash !== hash) return { outcome: 'over' };
      const changes = { stamp: null, version: sql<number>`version + 1` };
      if (yes && one.record.after !== one.record.here)
        await trx
          .updateTable('projects')
          .set({ ...changes, value_json: JSON.stringify(one.record.after) })
          .where('home', '=', home)
          .where('project', '=', id)
          .execute();
      // Where no routine takes it: the person has said no.
      const rests = (['backlog', 'blocked', 'planning'] as const)
        .map((kind) => columnOfKind(one.record.here, kind)?.columnId)
        .find((columnId) => columnId !== undefined && !chosen.includes(columnId));
      for (const { row, value } of one.tasks.filter((task) => task.row.asked)) {
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
      if (yes) await askedIn(trx).drop(id, '');
      else await askedIn(trx).decline(id, '');
      return { outcome: 'done' };
    });
    changed();
    return outcome;
  }

  /** The task stands where its record says. No agent takes it before the person's yes. */
  async function restoreTask({ id, value, at }: RecordOf<'task'> & { readonly at: Stamp }): Promise<RecordAnswer> {
    const own = { ...columnsOf(value), project: value.projectId, ...UNCLAIMED, stamp: at, asked: !value.removed };
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('tasks')
      .values({ home, task: id, ...own })
      .onConflict((conflict) =>
        conflict
          .columns(['home', 'task'])
          .doUpdateSet({
            ...own,
            version: sql<number>`tasks.version + 1`,
            claim_token: sql<number>`tasks.claim_token + 1`,
          })
          .where(isBefore('tasks.stamp', at)),
      )
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) return KEPT;
    const row = value.removed ? null : await readProjectRow(db, home, value.projectId);
    if (!row) return TAKEN;
    const project = projectValueOf(row);
    const isTaken =
      givesTasks(project, value.columnId, undefined) ||
      givesTasks(project, value.columnId, await taken(value.projectId, project));
    return isTaken ? ASKED : TAKEN;
  }

  return {
    types: ['project', 'task'],
    hears: ({ what }) => what === 'projects',
    // A task that came may wait for the person since its project is there.
    says: ['projects', 'asked'],
    async unannounced() {
      const projects = await unannouncedProjects();
      return projects.length > 0 ? projects : await unannouncedTasks();
    },
    async statuses(asked) {
      const ids = asked.map(({ id }) => id);
      const projects = await stampsOf({ db, home, table: 'projects' }, ids);
      const tasks = await stampsOf({ db, home, table: 'tasks' }, ids);
      return asked.map(({ type, id, at }) => statusAt((type === 'project' ? projects : tasks).get(id), at));
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      await room.ready();
      for (const record of offered) {
        const full = room.take(Buffer.byteLength(JSON.stringify(record.value)));
        answers.push(
          full !== null
            ? { answer: 'refused', why: full }
            : record.type === 'project'
              ? await restoreProject(record)
              : record.type === 'task'
                ? await restoreTask(record)
                : { answer: 'refused', why: 'It is no project and no task.' },
        );
      }
      changed();
      const removed = offered.filter(
        (record, i) => record.type === 'project' && record.value.removed && answers[i]?.answer === 'taken',
      );
      if (removed.length > 0) await onRemoved(removed.map(({ id }) => id));
      return answers;
    },
    async asked() {
      const came = await db
        .selectFrom('tasks')
        .select('project')
        .distinct()
        .where('home', '=', home)
        .where('asked', '=', true)
        .where('removed', '=', false)
        .execute();
      const waiting = await askedIn(db).all();
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
    answer: answerOne,
  };
}
