/**
 * What of a record waits for the person's yes at this relay: it acts outside of the household, or
 * lets agents do so. It came from a copy, another device or another relay, and holds nowhere
 * before. A no is remembered, so that the same is not asked again.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import type { AskedRecord, RecordAnswer } from '../../../src/shared/protocol/records.ts';
import type { Db } from '../../store/index.ts';
import { RECORD_LIMITS } from './settings.ts';

type AskedType = AskedRecord['type'];

export interface AskedRow {
  readonly id: string;
  readonly part: string;
  readonly at: Stamp;
  readonly value: unknown;
}

export interface AskedRows {
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
