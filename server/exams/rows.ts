/** The rows of exams. Each change of a state is one statement. A kill leaves one or the other. */
import { sql } from 'kysely';
import { EXAM_LIMITS, type ExamState, examStatesBefore } from '../../src/shared/domain/exams.ts';
import type { AgentId, ExamId } from '../../src/shared/domain/ids.ts';
import {
  type Exam,
  examRecordSchema,
  examSchema,
  type ExamValue,
  examValueSchema,
} from '../../src/shared/protocol/exams.ts';
import { isCovered } from '../../src/shared/protocol/documents/kinds.ts';
import type { RecordAnswer } from '../../src/shared/protocol/records.ts';
import type { SetAside } from '../platform/set-aside.ts';
import { isBefore, isOneOf } from '../store/dialect.ts';
import type { Db, HomeStore } from '../store/index.ts';
import type { Forgets } from '../team/memory/forgets.ts';
import { type RecordSource, stampRow, stampsOf, statusAt } from '../team/records/index.ts';

export interface ExamRows {
  /** Null: an exam of the agent is under way, or waits for the person. */
  add(examId: ExamId, value: ExamValue): Promise<Exam | null>;
  get(examId: ExamId): Promise<Exam | null>;
  /** Newest first. */
  of(agentId: AgentId): Promise<readonly Exam[]>;
  /** Exams of all agents in this state, newest first. */
  inState(state: ExamState): Promise<readonly Exam[]>;
  /**
   * Brings the exam to this state, with what has changed of its value. Null: it was in no state
   * from which it may come to it.
   */
  become(examId: ExamId, state: ExamState, more?: Partial<ExamValue>): Promise<Exam | null>;
  /** Certificates are records. */
  readonly records: RecordSource;
}

interface ExamRowsDeps extends HomeStore {
  /** ms since the epoch */
  readonly now: () => number;
  readonly forgets: Pick<Forgets, 'all'>;
  readonly setAside: SetAside;
}

/** An upgrade of Roost that was accepted, for one agent. */
export interface Certificate {
  /** Id of the home. */
  readonly home: string;
  readonly agentId: AgentId;
  readonly items: Exam['items'];
}

/**
 * Adds the certificates of an upgrade to this version, each with a new id. An agent that has one of
 * this version gets no other.
 */
export async function addCertificates(
  db: Db,
  certificates: readonly Certificate[],
  { version, now, newId }: { readonly version: string; readonly now: number; readonly newId: () => string },
): Promise<void> {
  for (const { home, agentId, items } of certificates) {
    const agentJson = JSON.stringify(agentId);
    const rows = await db
      .selectFrom('exams')
      .select('value_json')
      .where('home', '=', home)
      .where('agent_json', '=', agentJson)
      .where('state', '=', 'kept')
      .orderBy('made_at', 'desc')
      .execute();
    const before = rows.flatMap(({ value_json: text }) => {
      const value = examValueSchema.safeParse(JSON.parse(text));
      return value.success && value.data.cause === 'upgrade' ? [value.data.after] : [];
    })[0];
    if (before === version) continue;
    const value: ExamValue = {
      ...{ agentId, cause: 'upgrade', before: before ?? '', after: version, items: [...items], detail: null },
      ...{ tokens: null, costMicroUsd: 0, mostMicroUsd: 0, estimated: false, madeAt: now },
    };
    await db
      .insertInto('exams')
      .values({
        ...{ home, exam: newId(), agent_json: agentJson, state: 'kept', value_json: JSON.stringify(value) },
        ...{ made_at: now, changed_at: now, stamp: null },
      })
      .execute();
  }
}

/** Records announced at once. */
const BATCH = 100;
const CERTIFICATES = ['kept', 'declined'] as const satisfies readonly ExamState[];

export function createExamRows({ db, home, now, forgets, setAside }: ExamRowsDeps): ExamRows {
  const all = () => db.selectFrom('exams').selectAll().where('home', '=', home);
  type Row = Awaited<ReturnType<ReturnType<typeof all>['execute']>>[number];
  const examOf = (row: Row): Exam =>
    examSchema.parse({
      ...examValueSchema.parse(JSON.parse(row.value_json)),
      examId: row.exam,
      state: row.state,
      changedAt: row.changed_at,
    });
  const readable = (rows: readonly Row[]) => setAside.read('exams', rows, ({ exam }) => exam, examOf);

  async function get(examId: ExamId): Promise<Exam | null> {
    const row = await all().where('exam', '=', examId).executeTakeFirst();
    return row ? examOf(row) : null;
  }

  async function restore(
    examId: ExamId,
    value: Extract<Parameters<RecordSource['restore']>[0][number], { type: 'exam' }>['value'],
    at: string,
  ): Promise<RecordAnswer> {
    const { state, changedAt, ...rest } = value;
    const doc = { type: 'exam', recordId: examId, agentId: rest.agentId, at };
    if ((await forgets.all()).some((forget) => isCovered(doc, forget))) return { answer: 'kept' };
    const own = { state, value_json: JSON.stringify(rest), changed_at: changedAt, stamp: at };
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('exams')
      .values({ home, exam: examId, agent_json: JSON.stringify(rest.agentId), made_at: rest.madeAt, ...own })
      .onConflict((conflict) =>
        conflict
          .columns(['home', 'exam'])
          .doUpdateSet({ ...own, version: sql<number>`exams.version + 1` })
          .where(isBefore('exams.stamp', at)),
      )
      .executeTakeFirst();
    return { answer: numInsertedOrUpdatedRows > 0n ? 'taken' : 'kept' };
  }

  return {
    get,
    async add(examId, value) {
      // The new one takes the place of those that failed.
      await db
        .deleteFrom('exams')
        .where('home', '=', home)
        .where('agent_json', '=', JSON.stringify(value.agentId))
        .where('state', '=', 'failed')
        .execute();
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('exams')
        .values({
          ...{ home, exam: examId, agent_json: JSON.stringify(value.agentId), state: 'running' },
          ...{ value_json: JSON.stringify(value), made_at: value.madeAt, changed_at: value.madeAt, stamp: null },
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n ? { ...value, examId, state: 'running', changedAt: value.madeAt } : null;
    },
    async of(agentId) {
      const rows = await all()
        .where('agent_json', '=', JSON.stringify(agentId))
        .orderBy('made_at', 'desc')
        .orderBy('exam', 'desc')
        .limit(EXAM_LIMITS.listed)
        .execute();
      return readable(rows);
    },
    inState: async (state) => readable(await all().where('state', '=', state).orderBy('made_at', 'desc').execute()),
    async become(examId, state, more = {}) {
      const before = await get(examId);
      if (!before) return null;
      const value = examValueSchema.strip().parse({ ...before, ...more });
      const changedAt = now();
      const { numUpdatedRows } = await db
        .updateTable('exams')
        .set((eb) => ({
          ...{ state, value_json: JSON.stringify(value), changed_at: changedAt, stamp: null },
          version: eb('version', '+', 1),
        }))
        .where('home', '=', home)
        .where('exam', '=', examId)
        .where(isOneOf('state', examStatesBefore(state)))
        .executeTakeFirst();
      return numUpdatedRows > 0n ? { ...before, ...value, state, changedAt } : null;
    },
    records: {
      types: ['exam'],
      hears: ({ what }) => what === 'exams',
      says: ['exams'],
      async unannounced() {
        const rows = await all()
          .where('stamp', 'is', null)
          .where(isOneOf('state', CERTIFICATES))
          .orderBy('changed_at')
          .limit(BATCH)
          .execute();
        return setAside.read(
          'exams',
          rows,
          ({ exam }) => exam,
          (row) => ({
            record: {
              type: 'exam' as const,
              id: row.exam,
              value: examRecordSchema.strip().parse({ ...examOf(row), changedAt: row.changed_at }),
            },
            announced: (at) => stampRow({ db, home, table: 'exams' }, row.exam, row.version, at),
          }),
        );
      },
      async statuses(asked) {
        const stamps = await stampsOf(
          { db, home, table: 'exams' },
          asked.map(({ id }) => id),
        );
        return asked.map(({ id, at }) => statusAt(stamps.get(id), at));
      },
      async restore(offered) {
        const answers: RecordAnswer[] = [];
        for (const { type, id, value, at } of offered)
          answers.push(
            type === 'exam' ? await restore(id, value, at) : { answer: 'refused', why: 'It is no certificate.' },
          );
        return answers;
      },
    },
  };
}
