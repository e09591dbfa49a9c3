/**
 * Projects and tasks as records: see server/team/records. A restored task is nobody's: who worked
 * on it is not in its record.
 */
import { sql } from 'kysely';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import type { RecordAnswer, RecordOf } from '../../../src/shared/protocol/records.ts';
import { isBefore } from '../../store/dialect.ts';
import type { Db } from '../../store/index.ts';
import { type RecordSource, stampRow, stampsOf, statusAt, type Unannounced } from '../records/index.ts';
import { columnsOf, projectValueOf, taskValueOf, UNCLAIMED } from './rows.ts';
import type { ProjectRoom } from './room.ts';
import { PROJECT_SETTINGS } from './settings.ts';

const TAKEN: RecordAnswer = { answer: 'taken' };
const KEPT: RecordAnswer = { answer: 'kept' };

interface ProjectRecordsDeps {
  readonly db: Db;
  readonly home: string;
  readonly room: ProjectRoom;
  /** Records have removed these projects. */
  readonly onRemoved: (projectIds: readonly ProjectId[]) => Promise<void>;
}

export function createProjectRecords({ db, home, room, onRemoved }: ProjectRecordsDeps): RecordSource {
  async function unannouncedProjects(): Promise<Unannounced[]> {
    const rows = await db
      .selectFrom('projects')
      .selectAll()
      .where('home', '=', home)
      .where('stamp', 'is', null)
      .orderBy('created_at')
      .limit(PROJECT_SETTINGS.recordsAnnounced)
      .execute();
    return rows.map((row) => ({
      record: { type: 'project', id: row.project, value: projectValueOf(row) },
      announced: (at) => stampRow({ db, home, table: 'projects' }, row.project, row.version, at),
    }));
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
    return rows.map((row) => ({
      record: { type: 'task', id: row.task, value: taskValueOf(row) },
      announced: (at) => stampRow({ db, home, table: 'tasks' }, row.task, row.version, at),
    }));
  }

  async function restoreProject({
    id,
    value,
    at,
  }: RecordOf<'project'> & { readonly at: Stamp }): Promise<RecordAnswer> {
    const own = { value_json: JSON.stringify(value), removed: value.removed, stamp: at };
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('projects')
      .values({ home, project: id, ...own, created_at: value.createdAt })
      .onConflict((conflict) =>
        conflict
          .columns(['home', 'project'])
          .doUpdateSet({ ...own, version: sql<number>`projects.version + 1` })
          .where(isBefore('projects.stamp', at)),
      )
      .executeTakeFirst();
    return numInsertedOrUpdatedRows === 0n ? KEPT : TAKEN;
  }
  async function restoreTask({ id, value, at }: RecordOf<'task'> & { readonly at: Stamp }): Promise<RecordAnswer> {
    const own = { ...columnsOf(value), project: value.projectId, ...UNCLAIMED, stamp: at };
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
    return numInsertedOrUpdatedRows === 0n ? KEPT : TAKEN;
  }

  return {
    types: ['project', 'task'],
    hears: ({ what }) => what === 'projects',
    says: ['projects'],
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
      const removed = offered.filter(
        (record, i) => record.type === 'project' && record.value.removed && answers[i]?.answer === 'taken',
      );
      if (removed.length > 0) await onRemoved(removed.map(({ id }) => id));
      return answers;
    },
  };
}
