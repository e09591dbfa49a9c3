/**
 * What is held for requests under way, on disk before they are sent. A process that is killed
 * cannot tell what its requests took: the next one finds them here, and charges each at the most
 * that it may have cost.
 *
 * On the embedded store, which is one process's alone, a reserve goes into a journal, which costs
 * one flush of one file; the table is written where the journal is full. On a Postgres server it is
 * a row. Reserves that begin or end together are written together. The next process counts on being
 * the only one of its home, as the event log does.
 */
import { z } from 'zod';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { RequestSize } from '../../../src/shared/domain/request-cost.ts';
import { createCommits } from '../events/commits.ts';
import { repeated, type Db, type Journal, type OpenJournal } from '../../store/index.ts';
import { idOf } from '../../../src/shared/protocol/ids.ts';

const whole = z.number().int().nonnegative();
const sizeSchema: z.ZodType<RequestSize> = z.object({
  model: z.string(),
  bytes: whole,
  pictures: whole,
  openEnded: z.boolean(),
  searches: z.number(),
  maxOutputTokens: whole.nullable(),
  cached: z.enum(['not', 'minutes', 'hour']),
  terms: z.object({ fast: z.boolean(), priority: z.boolean(), resident: z.boolean() }),
});
const reserveSchema = z.object({
  reserve: z.string(),
  takenAt: z.number(),
  agentId: idOf<AgentId>(z.string()),
  sessionId: idOf<SessionId>(z.string()).nullable(),
  messageId: idOf<MessageId>(z.string()).nullable(),
  via: z.enum(['session', 'proxy']),
  size: sizeSchema,
});
type Reserve = Readonly<z.infer<typeof reserveSchema>>;

const changesSchema = z.object({ taken: z.array(reserveSchema), over: z.array(z.string()) });
type Changes = z.infer<typeof changesSchema>;

export interface Reserves {
  /**
   * What earlier processes left; empty the second time. `charge` writes it, and then it is
   * forgotten.
   */
  recover(charge: (left: readonly Reserve[]) => Promise<void>): Promise<void>;
  /** Resolves when it is on disk. Not before `recover`. */
  take(reserve: Reserve): Promise<void>;
  /** It is counted, or was never sent. Written soon, or with what is written next. */
  over(reserve: string): void;
  /** Resolves when everything so far was written, or has failed. */
  settled(): Promise<void>;
}

export interface ReservesDeps {
  readonly db: Db;
  readonly home: string;
  /** Null on a Postgres server. */
  readonly openJournal: OpenJournal | null;
  readonly elapsed: () => number;
}

export function createReserves({ db, home, openJournal, elapsed }: ReservesDeps): Reserves {
  let journal: Journal | null = null;
  /** As the disk has them. */
  const open = new Map<string, Reserve>();
  /** Over, and not yet written as such. */
  const ended = new Set<string>();

  const rowOf = (reserve: Reserve) => ({ home, reserve: reserve.reserve, reserve_json: JSON.stringify(reserve) });

  async function writeRows({ taken, over }: Changes): Promise<void> {
    if (over.length > 0)
      await repeated(() => db.deleteFrom('reserves').where('home', '=', home).where('reserve', 'in', over).execute());
    if (taken.length > 0)
      await repeated(() =>
        db
          .insertInto('reserves')
          .values(taken.map(rowOf))
          .onConflict((conflict) => conflict.doNothing())
          .execute(),
      );
  }

  /** The table has exactly these, and the journal nothing. */
  async function keepInTable(reserves: readonly Reserve[], into: Journal): Promise<void> {
    await db.transaction().execute(async (tx) => {
      await tx.deleteFrom('reserves').where('home', '=', home).execute();
      if (reserves.length > 0) await tx.insertInto('reserves').values(reserves.map(rowOf)).execute();
    });
    into.beginAnew();
  }

  async function write(changes: Changes): Promise<void> {
    if (!journal) return await writeRows(changes);
    if (await journal.write(Buffer.from(JSON.stringify(changes)))) return;
    const over = new Set(changes.over);
    await keepInTable([...[...open.values()].filter(({ reserve }) => !over.has(reserve)), ...changes.taken], journal);
  }

  /** Null: something ended. */
  const commits = createCommits<Reserve | null, true>({
    windowMs: 0,
    elapsed,
    async commit(writes) {
      const over = [...ended];
      const taken = writes.flatMap((each) => each ?? []);
      if (over.length > 0 || taken.length > 0) await write({ taken, over });
      for (const reserve of over) {
        ended.delete(reserve);
        open.delete(reserve);
      }
      for (const reserve of taken) open.set(reserve.reserve, reserve);
      return writes.map(() => true);
    },
  });

  function over(reserve: string): void {
    ended.add(reserve);
    // What cannot be written goes with what is written next. After a kill it would be charged,
    // which is too much and never too little.
    commits.add(null, false).catch(() => undefined);
  }

  return {
    async recover(charge) {
      journal = (await openJournal?.(`reserves-${home}`)) ?? null;
      const rows = await db.selectFrom('reserves').select('reserve_json').where('home', '=', home).execute();
      const left = new Map<string, Reserve>();
      const note = (reserve: Reserve) => left.set(reserve.reserve, reserve);
      for (const { reserve_json: text } of rows) note(reserveSchema.parse(JSON.parse(text)));
      for (const record of journal?.found ?? []) {
        const { taken, over } = changesSchema.parse(JSON.parse(record.toString('utf8')));
        // One that ended with the write that began it stands in both.
        taken.forEach(note);
        for (const reserve of over) left.delete(reserve);
      }
      if (left.size > 0) await charge([...left.values()]);
      if (journal) await keepInTable([], journal);
      else await writeRows({ taken: [], over: [...left.keys()] });
    },
    async take(reserve) {
      try {
        await commits.add(reserve, false);
      } catch (error) {
        // It may be on disk all the same.
        over(reserve.reserve);
        throw error;
      }
    },
    over,
    settled: () => commits.flush(),
  };
}
