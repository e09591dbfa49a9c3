/**
 * Rows of attempts. An attempt begins with a claim and ends with it, and its receipt is written
 * once, at its end.
 */
import { type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { AgentId, ProjectId, RunId, TaskId } from '../../../src/shared/domain/ids.ts';
import {
  ATTEMPT_LIMITS,
  type Attempt,
  attemptValueSchema,
  type AttemptValue,
  type Receipt,
  receiptSchema,
  type SecondReview,
} from '../../../src/shared/protocol/attempts.ts';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import type { RecordAnswer, RecordOf } from '../../../src/shared/protocol/records.ts';
import { isBefore } from '../../store/dialect.ts';
import type { Db, HomeStore } from '../../store/index.ts';
import type { Tables } from '../../store/tables.ts';
import { type RecordSource, stampRow, stampsOf, statusAt } from '../../team/records/index.ts';
import type { Holder } from './contract.ts';
import { attemptWithout, removedAttempt } from './forgetting.ts';
import { runOf } from './rows.ts';
import type { ProjectRoom } from './room.ts';
import { PROJECT_SETTINGS } from './settings.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

type AttemptRow = Selectable<Tables['attempts']>;
export type RanCommand = Receipt['commands'][number];

const commandsSchema = z.array(receiptSchema.shape.commands.element);
const draftSchema = z.object({ head: z.string().nullable(), checks: receiptSchema.shape.checks });
/** What was found out about a commit before its attempt ends. */
export type Draft = z.infer<typeof draftSchema>;

/** What an attempt has used. */
export type Spent = Pick<Receipt, 'tokens' | 'costMicroUsd' | 'estimated'>;
const spentSchema = receiptSchema.pick({ tokens: true, costMicroUsd: true, estimated: true });
const plus = (before: Spent | null, more: Spent): Spent => ({
  tokens: before?.tokens == null ? more.tokens : before.tokens + (more.tokens ?? 0),
  costMicroUsd: (before?.costMicroUsd ?? 0) + more.costMicroUsd,
  estimated: (before?.estimated ?? false) || more.estimated,
});

/** An attempt that has begun. `run`: the run, or the credential of a client, that works. */
export interface Began {
  readonly attemptId: string;
  readonly projectId: ProjectId;
  readonly taskId: TaskId;
  readonly agentId: AgentId;
  readonly run: string;
}

/** An attempt that is under way. */
export interface OpenAttempt {
  readonly attempt: Attempt;
  readonly claimToken: number;
  readonly commands: readonly RanCommand[];
  readonly draft: Draft | null;
}

export interface Attempts {
  begin(
    holder: Holder,
    claimToken: number,
    given: Omit<
      AttemptValue,
      'number' | 'runId' | 'endedAt' | 'outcome' | 'head' | 'receipt' | 'note' | 'noteBy' | 'agentId' | 'review'
    >,
  ): Promise<Attempt>;
  /** The attempt under way of the agent that has claimed the task. Executors of it are left out. */
  openOf(taskId: TaskId): Promise<OpenAttempt | null>;
  /** The attempts under way, of one agent or of all. */
  open(agentId?: AgentId): Promise<readonly OpenAttempt[]>;
  list(taskId: TaskId): Promise<readonly Attempt[]>;
  /**
   * Attempts of a project. `from`: those that began then or later, or are under way; left out: all.
   */
  ofProject(projectId: ProjectId, from?: number): Promise<readonly Attempt[]>;
  /** The last commit of each branch on which attempts that ran here have ended. */
  headsOf(projectId: ProjectId): Promise<readonly { readonly branch: string; readonly head: string }[]>;
  /** Attempts that ended after this time, newest first. */
  endedSince(since: number): Promise<readonly Attempt[]>;
  /** Runs that worked under this claim. */
  runsOf(taskId: TaskId, claimToken: number): Promise<readonly RunId[]>;
  /** Notes a command of an attempt under way. */
  ran(attemptId: string, command: RanCommand): Promise<void>;
  found(attemptId: string, draft: Draft): Promise<void>;
  /** Counts what a request used to an attempt, also to one that has just ended. */
  add(attemptId: string, more: Spent): Promise<void>;
  /** What a second mind says of it. */
  reviewed(attemptId: string, review: SecondReview): Promise<void>;
  /** Deletes the attempts of these agents, and what was said in their name of others. */
  forgetAgents(agentIds: readonly AgentId[]): Promise<void>;
  /** Takes every word out of the attempts of these projects. */
  forgetProjects(projectIds: readonly ProjectId[]): Promise<void>;
  /** Ends it. False: it has ended already. */
  end(attemptId: string, end: Pick<AttemptValue, 'outcome' | 'head' | 'receipt' | 'note' | 'noteBy'>): Promise<boolean>;
}

const attemptValueOf = (row: Pick<AttemptRow, 'value_json'>): AttemptValue =>
  attemptValueSchema.parse(JSON.parse(row.value_json));
const spentOf = ({ spent_json: text }: Pick<AttemptRow, 'spent_json'>): Spent | null =>
  text === null ? null : spentSchema.parse(JSON.parse(text));
function attemptOf(row: Pick<AttemptRow, 'attempt' | 'value_json' | 'spent_json'>): Attempt {
  const value = attemptValueOf(row);
  return { ...value, attemptId: row.attempt, spent: value.receipt === null ? spentOf(row) : null };
}
const openOf = (row: AttemptRow): OpenAttempt => ({
  attempt: attemptOf(row),
  claimToken: Number(row.claim_token),
  commands: commandsSchema.parse(JSON.parse(row.commands_json)),
  draft: row.draft_json === null ? null : draftSchema.parse(JSON.parse(row.draft_json)),
});

export interface AttemptsDeps extends HomeStore {
  readonly now: () => number;
  readonly newId: () => string;
  /** An attempt began or ended, or has used more. */
  readonly onChange: (projectId: ProjectId) => void;
  readonly onBegin?: (began: Began) => void;
  readonly onEnd?: (attemptId: string) => void;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

export function createAttempts({
  db,
  home,
  now,
  newId,
  onChange,
  onBegin,
  onEnd,
  setAside = SETS_NOTHING_ASIDE,
}: AttemptsDeps): Attempts {
  const read = <Value>(rows: readonly AttemptRow[], readOne: (row: AttemptRow) => Value): Value[] =>
    setAside.read('attempts', rows, ({ attempt }) => attempt, readOne);
  const rowsOf = (within: Db) => within.selectFrom('attempts').selectAll().where('home', '=', home);

  /**
   * Changes an attempt. Resolves with its row before. Null: there is none. `isOpen`: only one that
   * is under way.
   */
  async function changing(
    attemptId: string,
    change: (row: AttemptRow) => object | null,
    { isOpen }: { readonly isOpen: boolean } = { isOpen: true },
  ): Promise<AttemptRow | null> {
    return await db.transaction().execute(async (trx) => {
      const row = await rowsOf(trx).where('attempt', '=', attemptId).forUpdate().executeTakeFirst();
      if (!row || (isOpen && !row.is_open)) return null;
      const set = change(row);
      if (set !== null)
        await trx.updateTable('attempts').set(set).where('home', '=', home).where('attempt', '=', attemptId).execute();
      return row;
    });
  }

  async function rewrite(row: AttemptRow, value: AttemptValue, also: object = {}): Promise<void> {
    await db
      .updateTable('attempts')
      .set({ ...also, ...written(row, value), version: sql<number>`version + 1` })
      .where('home', '=', home)
      .where('attempt', '=', row.attempt)
      .execute();
    onChange(row.project);
  }

  const written = (row: AttemptRow, value: AttemptValue) => ({
    value_json: JSON.stringify(value),
    stamp: null,
    version: Number(row.version) + 1,
  });

  return {
    async begin(holder, claimToken, given) {
      const attemptId = newId();
      const before = await rowsOf(db).where('task', '=', given.taskId).execute();
      const numbers = read(before, (row) => attemptValueOf(row).number);
      const value: AttemptValue = {
        ...given,
        number: Math.max(0, ...numbers) + 1,
        agentId: holder.agentId,
        runId: 'runId' in holder ? holder.runId : null,
        ...{ endedAt: null, outcome: null, head: null, receipt: null, note: '', noteBy: 'agent', review: null },
      };
      await db
        .insertInto('attempts')
        .values({
          ...{ home, attempt: attemptId, project: given.projectId, task: given.taskId },
          ...{ claim_token: claimToken, agent_json: JSON.stringify(holder.agentId), run: runOf(holder) },
          ...{ is_open: true, started_at: given.startedAt, value_json: JSON.stringify(value), draft_json: null },
          ...{ spent_json: null, stamp: null },
        })
        .execute();
      const { projectId, taskId } = given;
      onBegin?.({ attemptId, projectId, taskId, agentId: holder.agentId, run: runOf(holder) });
      onChange(projectId);
      return { ...value, attemptId, spent: null };
    },
    async openOf(taskId) {
      const rows = await rowsOf(db).where('task', '=', taskId).where('is_open', '=', true).execute();
      return read(rows, openOf).find(({ attempt }) => attempt.kind === 'agent') ?? null;
    },
    async open(agentId) {
      const rows = await rowsOf(db)
        .where('is_open', '=', true)
        .$if(agentId !== undefined, (query) => query.where('agent_json', '=', JSON.stringify(agentId)))
        .execute();
      return read(rows, openOf);
    },
    async list(taskId) {
      const rows = await rowsOf(db).where('task', '=', taskId).orderBy('started_at').execute();
      return read(rows, attemptOf).toSorted((a, b) => a.number - b.number);
    },
    async ofProject(projectId, from = 0) {
      const rows = rowsOf(db)
        .where('project', '=', projectId)
        .where((or) => or.or([or('started_at', '>=', from), or('is_open', '=', true)]));
      return read(await rows.orderBy('started_at').execute(), attemptOf);
    },
    async headsOf(projectId) {
      const rows = await rowsOf(db)
        .where('project', '=', projectId)
        .where('is_open', '=', false)
        // An attempt that came as a record has no run.
        .where('run', 'is not', null)
        .execute();
      const heads = new Map<string, string>();
      const ended = read(rows, attemptValueOf).toSorted((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0));
      for (const { branch, head } of ended) if (head !== null) heads.set(branch, head);
      return [...heads].map(([branch, head]) => ({ branch, head }));
    },
    async endedSince(since) {
      const rows = await rowsOf(db)
        .where('is_open', '=', false)
        .where('started_at', '>=', since - PROJECT_SETTINGS.longestAttemptMs)
        .execute();
      return read(rows, attemptOf)
        .filter(({ endedAt }) => endedAt !== null && endedAt > since)
        .toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
    },
    async runsOf(taskId, claimToken) {
      const rows = await rowsOf(db).where('task', '=', taskId).where('claim_token', '=', claimToken).execute();
      return read(rows, (row) => attemptValueOf(row).runId).flatMap((runId) => runId ?? []);
    },
    async ran(attemptId, command) {
      await changing(attemptId, (row) => {
        const commands = [...commandsSchema.parse(JSON.parse(row.commands_json)), command];
        // A receipt lists fewer. What comes after these is not noted.
        return commands.length > 2 * ATTEMPT_LIMITS.commands ? null : { commands_json: JSON.stringify(commands) };
      });
    },
    async found(attemptId, draft) {
      await changing(attemptId, () => ({ draft_json: JSON.stringify(draft) }));
    },
    async add(attemptId, more) {
      const row = await changing(
        attemptId,
        (before) => {
          const value = attemptValueOf(before);
          const spent_json = JSON.stringify(plus(spentOf(before), more));
          // Its record says what an attempt has used when it has ended.
          if (before.is_open) return { spent_json };
          const receipt = value.receipt && { ...value.receipt, ...plus(value.receipt, more) };
          return { spent_json, ...written(before, { ...value, receipt }) };
        },
        { isOpen: false },
      );
      if (row) onChange(row.project);
    },
    async reviewed(attemptId, review) {
      const row = await changing(attemptId, (before) => written(before, { ...attemptValueOf(before), review }), {
        isOpen: false,
      });
      if (row) onChange(row.project);
    },
    async forgetAgents(agentIds) {
      const gone = new Set(agentIds);
      for (const agentId of agentIds) {
        const own = rowsOf(db).where('agent_json', '=', JSON.stringify(agentId));
        for (const { attempt, is_open } of await own.execute()) if (is_open) onEnd?.(attempt);
        await db
          .deleteFrom('attempts')
          .where('home', '=', home)
          .where('agent_json', '=', JSON.stringify(agentId))
          .execute();
        const named = sql<boolean>`replace(value_json, ${JSON.stringify(agentId)}, '') <> value_json`;
        for (const row of await rowsOf(db).where(named).execute()) {
          const value = attemptWithout(attemptValueOf(row), gone);
          if (value !== null) await rewrite(row, value);
        }
      }
    },
    async forgetProjects(projectIds) {
      for (const projectId of projectIds)
        for (const row of await rowsOf(db).where('project', '=', projectId).execute()) {
          const value = attemptValueOf(row);
          const left = removedAttempt(value);
          if (JSON.stringify(left) === JSON.stringify(value)) continue;
          if (row.is_open) onEnd?.(row.attempt);
          await rewrite(row, left, { is_open: false, commands_json: '[]', draft_json: null });
        }
    },
    async end(attemptId, end) {
      const before = await changing(attemptId, (row) => {
        // A request may have been counted since the receipt was made.
        const receipt = end.receipt && { ...end.receipt, ...spentOf(row) };
        const value: AttemptValue = { ...attemptValueOf(row), ...end, receipt, endedAt: now() };
        return { ...written(row, value), is_open: false, commands_json: '[]', draft_json: null };
      });
      if (!before) return false;
      onEnd?.(attemptId);
      onChange(before.project);
      return true;
    },
  };
}

/**
 * Attempts as records: see server/team/records. A restored attempt is over: the relay that knew its
 * run is gone.
 */
export function createAttemptRecords({
  db,
  home,
  room,
  setAside = SETS_NOTHING_ASIDE,
}: Pick<AttemptsDeps, 'db' | 'home' | 'setAside'> & { readonly room: ProjectRoom }): RecordSource {
  async function restore({ id, value, at }: RecordOf<'attempt'> & { readonly at: Stamp }): Promise<RecordAnswer> {
    const ended: AttemptValue =
      value.endedAt === null ? { ...value, endedAt: value.startedAt, outcome: 'lost' } : value;
    const own = { value_json: JSON.stringify(ended), is_open: false, stamp: at };
    const { numInsertedOrUpdatedRows = 0n } = await db
      .insertInto('attempts')
      .values({
        ...{ home, attempt: id, project: value.projectId, task: value.taskId, claim_token: 0, run: null },
        ...{ agent_json: JSON.stringify(value.agentId), started_at: value.startedAt, draft_json: null },
        spent_json: null,
        ...own,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['home', 'attempt'])
          .doUpdateSet({ ...own, version: sql<number>`attempts.version + 1` })
          .where(isBefore('attempts.stamp', at))
          // What this relay ran itself, it knows better.
          .where('attempts.run', 'is', null),
      )
      .executeTakeFirst();
    return { answer: numInsertedOrUpdatedRows === 0n ? 'kept' : 'taken' };
  }
  return {
    types: ['attempt'],
    hears: ({ what }) => what === 'projects',
    says: ['projects'],
    async unannounced() {
      const rows = await db
        .selectFrom('attempts')
        .selectAll()
        .where('home', '=', home)
        .where('stamp', 'is', null)
        .orderBy('started_at')
        .limit(PROJECT_SETTINGS.recordsAnnounced)
        .execute();
      return setAside.read(
        'attempts',
        rows,
        ({ attempt }) => attempt,
        (row) => ({
          record: { type: 'attempt', id: row.attempt, value: attemptValueOf(row) },
          announced: (at) => stampRow({ db, home, table: 'attempts' }, row.attempt, row.version, at),
        }),
      );
    },
    async statuses(asked) {
      const stamps = await stampsOf(
        { db, home, table: 'attempts' },
        asked.map(({ id }) => id),
      );
      // No record replaces an attempt that ran here, so no page need offer one.
      const ran = await db
        .selectFrom('attempts')
        .select('attempt')
        .where('home', '=', home)
        .where('run', 'is not', null)
        .where(
          'attempt',
          'in',
          asked.map(({ id }) => id),
        )
        .execute();
      const own = new Set<string>(ran.map(({ attempt }) => attempt));
      return asked.map(({ id, at }) => (own.has(id) ? 'known' : statusAt(stamps.get(id), at)));
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      await room.ready();
      for (const record of offered) {
        const full = room.take(Buffer.byteLength(JSON.stringify(record.value)));
        if (full !== null) answers.push({ answer: 'refused', why: full });
        else
          answers.push(
            record.type === 'attempt'
              ? await restore(record)
              : { answer: 'refused', why: 'It is no attempt at a task.' },
          );
      }
      return answers;
    },
  };
}
