/**
 * Records are rows that the relay needs to act alone, and that the household must not lose with the
 * relay's home. Each change of a record is written to the event log. Every browser stores it from
 * there as a document, and a page restores it to a relay that has lost it. A changed row has no
 * stamp until the change is in the log. It is announced with the change, or after a crash when the
 * home is opened again.
 */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import {
  type AskedAnswer,
  type AskedOutcome,
  type AskedRecord,
  type OfferedRecord,
  type RecordAnswer,
  recordSchema,
  type RecordStatus,
  type RecordType,
  type RecordVersion,
  type RelayRecord,
} from '../../../src/shared/protocol/records.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Changed, EventOf } from '../../../src/shared/protocol/events.ts';
import { recordEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import { scheduleRecordSchema } from '../../../src/shared/protocol/schedules.ts';
import { isOneOf } from '../../store/dialect.ts';
import type { Db } from '../../store/index.ts';
import { scopeOf } from '../gate/index.ts';
import type { EventLog } from '../../log/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';

export { stampRow, stampsOf, statusAt } from './stamps.ts';

/** Limits of restored records. */
const RECORD_LIMITS = {
  /** Most parts of records per household that wait for the person's consent. */
  asked: 500,
} as const;

// Parts of restored records that need the person's consent at this relay, because they act outside
// the household or allow agents to do so. They come from a copy, another device or another relay,
// and have no effect before. A refusal is remembered, so that the person is not asked again.

type AskedType = AskedRecord['type'];

export interface AskedRow {
  readonly id: string;
  readonly part: string;
  readonly at: Stamp;
  readonly value: unknown;
}

interface AskedRows {
  /** Parts that wait for consent. */
  all(): Promise<readonly AskedRow[]>;
  get(id: string, part: string): Promise<AskedRow | null>;
  /** The newest version of each record that waits or was declined. */
  newest(ids: readonly string[]): Promise<ReadonlyMap<string, Stamp>>;
  /** Replaces what waits of this record, in the given transaction. Throws `NoRoomError`. */
  put(within: Db, id: string, at: Stamp, parts: ReadonlyMap<string, unknown>): Promise<void>;
  decline(id: string, part: string): Promise<void>;
  /** `part` left out: all parts of this record. */
  drop(id: string, part?: string): Promise<void>;
}

/** Too many parts wait already. No person would look at more. */
class NoRoomError extends Error {
  constructor() {
    super('Too much waits for your yes already. Answer that first, and give this back again.');
  }
}

/** Turns a `NoRoomError` into a refusal. */
export const orNoRoom = (answer: Promise<RecordAnswer>): Promise<RecordAnswer> =>
  answer.catch((error: unknown) => {
    if (error instanceof NoRoomError) return { answer: 'refused', why: error.message };
    throw error;
  });

/** Hash of what was shown. Consent is to exactly this. */
export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex');

const text = (value: string) => JSON.stringify(value);

export function createAskedRows({ db, home }: { readonly db: Db; readonly home: string }, type: AskedType): AskedRows {
  const rows = (from = db) =>
    from.selectFrom('asked_records').selectAll().where('home', '=', home).where('type', '=', type);
  type Row = Awaited<ReturnType<ReturnType<typeof rows>['execute']>>[number];
  const read = (row: Row): AskedRow => ({
    id: JSON.parse(row.record_json) as string,
    part: JSON.parse(row.part_json) as string,
    at: row.stamp,
    value: (JSON.parse(row.value_json) as { readonly value?: unknown }).value,
  });
  const drop: AskedRows['drop'] = async (id, part) => {
    await db
      .deleteFrom('asked_records')
      .where('home', '=', home)
      .where('type', '=', type)
      .where('record_json', '=', text(id))
      .$if(part !== undefined, (query) => query.where('part_json', '=', text(part ?? '')))
      .execute();
  };

  return {
    all: async () => (await rows().where('declined', '=', false).orderBy('stamp').execute()).map(read),
    async get(id, part) {
      const row = await rows()
        .where('record_json', '=', text(id))
        .where('part_json', '=', text(part))
        .where('declined', '=', false)
        .executeTakeFirst();
      return row ? read(row) : null;
    },
    async newest(ids) {
      const records = await rows()
        .where(isOneOf('record_json', ids.map(text)))
        .execute();
      const newest = new Map<string, Stamp>();
      for (const { id, at } of records.map(read)) if ((newest.get(id) ?? '') < at) newest.set(id, at);
      return newest;
    },
    async put(trx, id, at, parts) {
      const before = await rows(trx).where('record_json', '=', text(id)).forUpdate().execute();
      const { count } = await trx
        .selectFrom('asked_records')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('home', '=', home)
        .executeTakeFirstOrThrow();
      if (Number(count) - before.length + parts.size > RECORD_LIMITS.asked) throw new NoRoomError();
      await trx
        .deleteFrom('asked_records')
        .where('home', '=', home)
        .where('type', '=', type)
        .where('record_json', '=', text(id))
        .execute();
      for (const [part, value] of parts) {
        const value_json = JSON.stringify({ value });
        // The person has declined the same value before, and is not asked again.
        const declined = before.some(
          (row) => row.declined && row.part_json === text(part) && row.value_json === value_json,
        );
        await trx
          .insertInto('asked_records')
          .values({ home, type, record_json: text(id), part_json: text(part), stamp: at, value_json, declined })
          .execute();
      }
    },
    async decline(id, part) {
      await db
        .updateTable('asked_records')
        .set({ declined: true })
        .where('home', '=', home)
        .where('type', '=', type)
        .where('record_json', '=', text(id))
        .where('part_json', '=', text(part))
        .execute();
    },
    drop,
  };
}

/** Deletes what waits of these agents, or of these projects. */
export async function forgetAsked(
  { db, home }: { readonly db: Db; readonly home: string },
  {
    agentIds = [],
    projectIds = [],
  }: { readonly agentIds?: readonly string[]; readonly projectIds?: readonly string[] },
): Promise<void> {
  const goneScopes = new Set<unknown>([...agentIds.map(scopeOf), ...projectIds].map(text));
  for (const row of await db.selectFrom('asked_records').selectAll().where('home', '=', home).execute()) {
    const schedule = scheduleRecordSchema.safeParse((JSON.parse(row.value_json) as { readonly value?: unknown }).value);
    const isOf = row.type === 'schedule' && schedule.success && agentIds.includes(schedule.data.schedule.agentId);
    if (!isOf && !goneScopes.has(row.record_json)) continue;
    await db
      .deleteFrom('asked_records')
      .where('home', '=', home)
      .where('type', '=', row.type)
      .where('record_json', '=', row.record_json)
      .execute();
  }
}

/** A changed record that is not in the log yet. */
export interface Unannounced {
  readonly record: RelayRecord;
  /** The record is in the log under this stamp. Has no effect if it was changed again meanwhile. */
  announced(at: Stamp): Promise<void>;
}

/** A version that a page has. */
interface Asked extends RecordVersion {
  /** For a thread: how many of its messages the page has. */
  readonly messages?: number | undefined;
}

/** A kind of rows that are records. */
export interface RecordSource {
  readonly types: readonly RecordType[];
  /** Whether this change may have left records to announce. */
  hears(event: EventOf<'changed'>): boolean;
  /** What to announce as changed after records were restored. */
  readonly says: readonly Changed[];
  /** One batch, oldest first. */
  unannounced(): Promise<readonly Unannounced[]>;
  statuses(asked: readonly Asked[]): Promise<readonly RecordStatus[]>;
  /**
   * Stores those that are newer than the rows here. Notifies and wakes nobody. The answers are in
   * the same order. Nothing starts to act: whatever would is set aside until the person has
   * consented.
   */
  restore(offered: readonly (RelayRecord & { readonly at: Stamp })[]): Promise<readonly RecordAnswer[]>;
  /** Parts that wait for consent. Left out: these records never act. */
  asked?(): Promise<readonly AskedRecord[]>;
  /** Answers one of them. The answer is valid for exactly what was shown. */
  answer?(answer: AskedAnswer): Promise<AskedOutcome>;
}

export interface Records {
  compare(asked: readonly Asked[]): Promise<readonly RecordStatus[]>;
  /**
   * Offers records to the relay. A version older than the row here changes nothing. One answer per
   * record.
   */
  offer(offered: readonly OfferedRecord[]): Promise<readonly RecordAnswer[]>;
  /** All parts of records that wait for consent. */
  asked(): Promise<readonly AskedRecord[]>;
  /** The outcomes are in the order of the answers. */
  answer(answers: readonly AskedAnswer[]): Promise<readonly AskedOutcome[]>;
  /** Announces changes that an earlier process has not announced. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

interface RecordsDeps {
  readonly log: Pick<EventLog, 'append' | 'subscribe' | 'follow' | 'isAhead'>;
  readonly sources: readonly RecordSource[];
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

const UNKNOWN = 'This relay does not know what it is. Update the relay, and give it back again.';
const MISFIT = 'It does not fit what this relay can keep.';
const AHEAD = 'It is dated ahead of this relay’s clock. Set the clocks right, and give it back again.';

export function createRecords({ log, sources, now, onError }: RecordsDeps): Records {
  const inTurn = createQueue();

  const announce = (source: RecordSource) =>
    inTurn(async () => {
      for (;;) {
        const waiting = await source.unannounced();
        if (waiting.length === 0) return;
        const stored = await log.append(waiting.map(({ record }) => ({ kind: 'record', time: now(), record })));
        for (const [i, { event }] of stored.entries())
          if (event.kind === 'record' && event.at !== undefined) await waiting[i]?.announced(event.at);
      }
    });
  const unsubscribe = log.subscribe(({ event }) => {
    if (event.kind !== 'changed') return;
    for (const source of sources) if (source.hears(event)) announce(source).catch(onError);
  });
  const say = (changes: readonly Changed[]) =>
    log.append(changes.map((what) => ({ kind: 'changed', time: now(), what, agentId: null })));
  const sourceOf = (type: string) => sources.find(({ types }) => types.some((each) => each === type));

  return {
    async compare(keys) {
      const statuses = keys.map((): RecordStatus => 'known');
      for (const source of sources) {
        const own = keys.flatMap((each, i) => (sourceOf(each.type) === source ? [{ each, i }] : []));
        if (own.length === 0) continue;
        const found = await source.statuses(own.map(({ each }) => each));
        own.forEach(({ i }, n) => (statuses[i] = found[n] ?? 'known'));
      }
      return statuses;
    },
    async offer(offered) {
      const answers: RecordAnswer[] = [];
      const good = new Map<
        RecordSource,
        { readonly i: number; readonly record: RelayRecord & { readonly at: Stamp } }[]
      >();
      offered.forEach(({ type, id, at, value }, i) => {
        const source = sourceOf(type);
        const parsed = recordSchema.safeParse({ type, id, value });
        if (!source) answers[i] = { answer: 'refused', why: UNKNOWN };
        else if (!parsed.success) answers[i] = { answer: 'refused', why: MISFIT };
        else if (log.isAhead(at)) answers[i] = { answer: 'refused', why: AHEAD };
        else good.set(source, [...(good.get(source) ?? []), { i, record: { ...parsed.data, at } }]);
      });
      for (const [source, records] of good) {
        // Later changes on this relay get newer stamps than the restored records.
        for (const { record } of records) log.follow(record.at);
        const restored = await source.restore(records.map(({ record }) => record));
        records.forEach(({ i }, n) => (answers[i] = restored[n] ?? { answer: 'refused', why: MISFIT }));
        const changed = [
          ...(restored.some(({ answer }) => answer === 'taken' || answer === 'asked') ? source.says : []),
          ...(restored.some(({ answer }) => answer === 'asked') ? (['asked'] as const) : []),
        ];
        if (changed.length > 0) await say(changed);
      }
      return answers;
    },
    async asked() {
      const all = await Promise.all(sources.map(async (source) => (await source.asked?.()) ?? []));
      return all.flat();
    },
    async answer(answers) {
      const outcomes: AskedOutcome[] = [];
      for (const answer of answers) {
        const source = sourceOf(answer.type);
        const outcome: AskedOutcome = (await source?.answer?.(answer)) ?? { outcome: 'over' };
        outcomes.push(outcome);
        if (source && outcome.outcome === 'done') await say([...source.says, 'asked']);
      }
      return outcomes;
    },
    async recover() {
      for (const source of sources) await announce(source);
    },
    async close() {
      unsubscribe();
      await inTurn(() => Promise.resolve());
    },
  };
}

// HTTP routes with which a page restores records.

/** Only the person restores records. API clients have no access. */
function refusePrograms(context: Context<Env>): void {
  if (context.get('browser') === undefined)
    throw problem(403, 'browsers-only', 'Records are restored only from the household’s page.');
}

export function createRecordRoutes({
  records,
  onRestored,
}: {
  readonly records: Pick<Records, 'compare' | 'offer' | 'asked' | 'answer'>;
  /** Records were restored. */
  readonly onRestored: () => void;
}): readonly Handled[] {
  return answer(recordEndpoints, {
    async compareRecords({ body }, context) {
      refusePrograms(context);
      return { standings: await records.compare(body.records) };
    },
    async offerRecords({ body }, context) {
      refusePrograms(context);
      const answers = await records.offer(body.records);
      onRestored();
      return { answers };
    },
    async recordApprovals(_, context) {
      refusePrograms(context);
      return { asked: await records.asked() };
    },
    async answerRecordApprovals({ body }, context) {
      refusePrograms(context);
      return { outcomes: await records.answer(body.answers) };
    },
  });
}
