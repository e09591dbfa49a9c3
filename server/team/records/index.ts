/**
 * Records: rows that the relay must have at hand to act alone, and that the household must not lose
 * with the relay's home. Each change of one is told in the event log, from which every browser
 * stores it as a document; and a page gives them back to a relay that has lost them. A row that was
 * changed and is not in the log yet has no stamp: it is told when the change is, or, after a crash,
 * when the home is opened again.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import {
  type AskedAnswer,
  type AskedOutcome,
  type AskedRecord,
  type OfferedRecord,
  type RecordAnswer,
  recordSchema,
  type RecordStanding,
  type RecordType,
  type RecordVersion,
  type RelayRecord,
} from '../../../src/shared/protocol/records.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Changed, EventOf } from '../../../src/shared/protocol/events.ts';
import type { Db } from '../../store/index.ts';
import type { EventLog } from '../../contracts/index.ts';

/** Bounds of records that are given back. */
const RECORD_LIMITS = {
  /** Parts of records that wait for the person's yes, of one household. */
  asked: 500,
} as const;

// What of a record waits for the person's yes at this relay: it acts outside of the household, or
// lets agents do so. It came from a copy, another device or another relay, and holds nowhere
// before. A no is remembered, so that the same is not asked again.

type AskedType = AskedRecord['type'];

export interface AskedRow {
  readonly id: string;
  readonly part: string;
  readonly at: Stamp;
  readonly value: unknown;
}

interface AskedRows {
  /** Those that wait. */
  all(): Promise<readonly AskedRow[]>;
  get(id: string, part: string): Promise<AskedRow | null>;
  /** By record: the newest version of it that waits, or was declined. */
  newest(ids: readonly string[]): Promise<ReadonlyMap<string, Stamp>>;
  /**
   * In the place of what waits of this record, in one transaction with what else becomes of it.
   * Throws `NoRoomError`.
   */
  put(within: Db, id: string, at: Stamp, parts: ReadonlyMap<string, unknown>): Promise<void>;
  decline(id: string, part: string): Promise<void>;
  /** `part` left out: all of this record. */
  drop(id: string, part?: string): Promise<void>;
}

/** So much waits already that no person would look at more. */
class NoRoomError extends Error {
  constructor() {
    super('Too much waits for your yes already. Answer that first, and give this back again.');
  }
}

/** The answer to a record of which there is no room for what waits. */
export const orNoRoom = (answer: Promise<RecordAnswer>): Promise<RecordAnswer> =>
  answer.catch((error: unknown) => {
    if (error instanceof NoRoomError) return { answer: 'refused', why: error.message };
    throw error;
  });

/** A yes is to this alone. */
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
      const found = await rows()
        .where('record_json', '=', sql<string>`any(${ids.map(text)}::text[])`)
        .execute();
      const newest = new Map<string, Stamp>();
      for (const { id, at } of found.map(read)) if ((newest.get(id) ?? '') < at) newest.set(id, at);
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
        // Whoever has said no to it is not asked the same once more.
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

/** A record that was changed and is not in the log yet. */
export interface Unannounced {
  readonly record: RelayRecord;
  /** It is in the log under this stamp, unless it was changed once more meanwhile. */
  announced(at: Stamp): Promise<void>;
}

/** What is asked of a version that a page has. */
interface Asked extends RecordVersion {
  /** Of a thread: how many of its messages the page has. */
  readonly messages?: number | undefined;
}

/** Rows that are records. */
export interface RecordSource {
  readonly types: readonly RecordType[];
  /** May there be more to tell after this change? */
  hears(event: EventOf<'changed'>): boolean;
  /** What has changed where records were given back. */
  readonly says: readonly Changed[];
  /** The oldest first, some at a time. */
  unannounced(): Promise<readonly Unannounced[]>;
  standings(asked: readonly Asked[]): Promise<readonly RecordStanding[]>;
  /**
   * Takes those that are newer than what is here, without telling or waking anybody. In the same
   * order. Nothing begins to act by it: what would is kept apart until the person has said yes.
   */
  restore(offered: readonly (RelayRecord & { readonly at: Stamp })[]): Promise<readonly RecordAnswer[]>;
  /** What waits for the person's yes. Left out: nothing of these ever acts. */
  asked?(): Promise<readonly AskedRecord[]>;
  /** What they say to one of those. It holds for exactly what was shown. */
  answer?(answer: AskedAnswer): Promise<AskedOutcome>;
}

export interface Records {
  compare(asked: readonly Asked[]): Promise<readonly RecordStanding[]>;
  /** Says for each what became of it. A version that is older than what is here changes nothing. */
  offer(offered: readonly OfferedRecord[]): Promise<readonly RecordAnswer[]>;
  /** What of all that was offered waits for the person's yes. */
  asked(): Promise<readonly AskedRecord[]>;
  /** In the order of the answers. */
  answer(answers: readonly AskedAnswer[]): Promise<readonly AskedOutcome[]>;
  /** Tells what an earlier process has changed and not told. */
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
    async compare(asked) {
      const standings = asked.map((): RecordStanding => 'known');
      for (const source of sources) {
        const own = asked.flatMap((each, i) => (sourceOf(each.type) === source ? [{ each, i }] : []));
        if (own.length === 0) continue;
        const found = await source.standings(own.map(({ each }) => each));
        own.forEach(({ i }, n) => (standings[i] = found[n] ?? 'known'));
      }
      return standings;
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
        // What is changed here from now on is newer than what was given back.
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
