/**
 * Projects and tasks as records: see server/team/records. A restored task is nobody's: who worked
 * on it is not in its record. Nobody takes it before the person has said yes.
 */
import { sql } from 'kysely';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import { givesTasks, refuseColumns } from '../../../src/shared/domain/projects.ts';
import { heldProject } from '../../../src/shared/protocol/project-records.ts';
import type { RecordAnswer, RecordOf } from '../../../src/shared/protocol/records.ts';
import { isBefore } from '../../store/dialect.ts';
import { askedProjects, createAskedProjects } from './asked-projects.ts';
import type { ProjectsBase } from './base.ts';
import {
  orNoRoom,
  type RecordSource,
  stampRow,
  stampsOf,
  statusAt,
  type Unannounced,
} from '../../team/records/index.ts';
import { columnsOf, projectValueOf, readProjectRow, taskValueOf, UNCLAIMED } from './rows.ts';
import { PROJECT_SETTINGS } from './settings.ts';

const TAKEN: RecordAnswer = { answer: 'taken' };
const KEPT: RecordAnswer = { answer: 'kept' };
const ASKED: RecordAnswer = { answer: 'asked' };

/** `changed` is called when records have changed projects or tasks. */
export function createProjectRecords(base: ProjectsBase, changed: () => void): RecordSource {
  const { db, home, room, setAside, connected } = base;
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

  /** What would start, reach or cost more than what holds here waits for the person's yes. */
  const restoreProject = ({ id, value, at }: RecordOf<'project'> & { readonly at: Stamp }): Promise<RecordAnswer> => {
    const wrong = value.removed ? null : refuseColumns(value.columns);
    if (wrong !== null) return Promise.resolve({ answer: 'refused', why: wrong });
    return orNoRoom(
      db.transaction().execute(async (trx): Promise<RecordAnswer> => {
        const row = await readProjectRow(trx, home, id, true);
        const heldRecord = heldProject(value, row && projectValueOf(row));
        const own = { value_json: JSON.stringify(heldRecord.value), removed: value.removed, stamp: at };
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
        await askedProjects(trx, home).put(trx, id, at, new Map(heldRecord.waits.length > 0 ? [['', value]] : []));
        return heldRecord.waits.length > 0 ? ASKED : TAKEN;
      }),
    );
  };
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
      givesTasks(project, value.columnId, await connected.routines(value.projectId, project));
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
      if (removed.length > 0) await connected.onRemoved(removed.map(({ id }) => id));
      return answers;
    },
    ...createAskedProjects(base, changed),
  };
}
