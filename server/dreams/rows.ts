/** The rows of dreams. Each change of a state is one statement. A kill leaves one or the other. */
import { z } from 'zod';
import {
  DREAM_LIMITS,
  DREAM_STATES,
  type DreamState,
  isDreamOver,
  statesBefore,
} from '../../src/shared/domain/dreams.ts';
import type { AgentId, DreamId } from '../../src/shared/domain/ids.ts';
import { type Dream, dreamSchema, type DreamValue, dreamValueSchema } from '../../src/shared/protocol/dreams.ts';
import { isOneOf } from '../store/dialect.ts';
import { memorySchema } from '../../src/shared/protocol/memories.ts';
import { type Db, type HomeStore, parseText } from '../store/index.ts';
import type { SetAside } from '../platform/set-aside.ts';

/** A request that is left with a model server. */
const batchSchema = z.object({
  batchId: z.string(),
  model: z.string(),
  /** The most that it can cost. */
  mostMicroUsd: z.number().int().nonnegative(),
  /** The files of the memory when it was sent. */
  base: z.array(memorySchema),
  /** The person wants it no more. */
  isCancelled: z.boolean(),
});
export type DreamBatch = z.infer<typeof batchSchema>;

export interface DreamRows {
  /** Null: the agent has one of this night. */
  add(dream: Pick<Dream, 'dreamId' | 'agentId' | 'night'>): Promise<Dream | null>;
  get(dreamId: DreamId): Promise<Dream | null>;
  /** Newest first. */
  of(agentId: AgentId, most: number): Promise<readonly Dream[]>;
  /** Dreams of all agents in these states, newest first. */
  inState(...states: readonly DreamState[]): Promise<readonly Dream[]>;
  /**
   * Brings the dream to this state, with what has changed of its value. Null: it was in no state
   * from which it may come to it.
   */
  become(dreamId: DreamId, state: DreamState, more?: Partial<DreamValue>, within?: Db): Promise<Dream | null>;
  /** Brings the dream to `submitted`, or changes its batch there. Null: as in `become`. */
  submit(dreamId: DreamId, batch: DreamBatch): Promise<Dream | null>;
  /** Null: it is not left with a server. */
  batchOf(dreamId: DreamId): Promise<DreamBatch | null>;
}

interface DreamRowsDeps extends HomeStore {
  /** ms since the epoch */
  readonly now: () => number;
  readonly setAside: SetAside;
}

const NOTHING_YET: DreamValue = {
  ...{ runId: null, changes: [], bytesBefore: 0, bytesAfter: 0, said: null, detail: null },
  ...{ tokens: null, costMicroUsd: 0, estimated: false },
};

export function createDreamRows({ db, home, now, setAside }: DreamRowsDeps): DreamRows {
  const all = (within: Db = db) => within.selectFrom('dreams').selectAll().where('home', '=', home);
  type Row = Awaited<ReturnType<ReturnType<typeof all>['execute']>>[number];
  const dreamOf = (row: Row): Dream =>
    dreamSchema.parse({
      dreamId: row.dream,
      agentId: parseText(row.agent_json),
      night: row.night,
      state: row.state,
      madeAt: row.made_at,
      changedAt: row.changed_at,
      ...dreamValueSchema.parse(JSON.parse(row.value_json)),
    });
  /** `batch`: left with a server. */
  async function become(
    dreamId: DreamId,
    state: DreamState,
    more: Partial<DreamValue>,
    within: Db,
    batch: DreamBatch | null,
  ): Promise<Dream | null> {
    const before = await get(dreamId, within);
    if (!before) return null;
    const value = dreamValueSchema.strip().parse({ ...before, ...more });
    // A change of the batch is not the beginning of a state.
    const changedAt = before.state === state ? before.changedAt : now();
    const { numUpdatedRows } = await within
      .updateTable('dreams')
      .set({
        ...{ state, value_json: JSON.stringify(value), changed_at: changedAt },
        batch_json: batch && JSON.stringify(batch),
      })
      .where('home', '=', home)
      .where('dream', '=', dreamId)
      .where(isOneOf('state', statesBefore(state)))
      .executeTakeFirst();
    return numUpdatedRows > 0n ? { ...before, ...value, state, changedAt } : null;
  }
  const readable = (rows: readonly Row[]) => setAside.read('dreams', rows, ({ dream }) => dream, dreamOf);

  async function get(dreamId: DreamId, within: Db = db): Promise<Dream | null> {
    const row = await all(within).where('dream', '=', dreamId).executeTakeFirst();
    return row ? dreamOf(row) : null;
  }
  const of = async (agentId: AgentId, most: number) =>
    readable(
      await all()
        .where('agent_json', '=', JSON.stringify(agentId))
        .orderBy('made_at', 'desc')
        .orderBy('dream', 'desc')
        .limit(most)
        .execute(),
    );

  return {
    get: (dreamId) => get(dreamId),
    of,
    async add({ dreamId, agentId, night }) {
      const time = now();
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('dreams')
        .values({
          ...{ home, dream: dreamId, agent_json: JSON.stringify(agentId), night, state: 'due' },
          ...{ value_json: JSON.stringify(NOTHING_YET), made_at: time, changed_at: time, batch_json: null },
        })
        .onConflict((conflict) => conflict.columns(['home', 'agent_json', 'night']).doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return null;
      const oldest = (await of(agentId, DREAM_LIMITS.stored)).at(-1);
      if (oldest)
        await db
          .deleteFrom('dreams')
          .where('home', '=', home)
          .where('agent_json', '=', JSON.stringify(agentId))
          .where('made_at', '<', oldest.madeAt)
          .where(isOneOf('state', DREAM_STATES.filter(isDreamOver)))
          .execute();
      return { ...NOTHING_YET, dreamId, agentId, night, state: 'due', madeAt: time, changedAt: time };
    },
    async inState(...states) {
      return readable(await all().where(isOneOf('state', states)).orderBy('made_at', 'desc').execute());
    },
    become: (dreamId, state, more = {}, within = db) => become(dreamId, state, more, within, null),
    submit: (dreamId, batch) => become(dreamId, 'submitted', {}, db, batch),
    async batchOf(dreamId) {
      const row = await all().where('dream', '=', dreamId).where('state', '=', 'submitted').executeTakeFirst();
      return row?.batch_json ? batchSchema.parse(JSON.parse(row.batch_json)) : null;
    },
  };
}
