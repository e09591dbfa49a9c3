/**
 * The rows of a home's memories. A version of a file is one row, so a change reads and writes
 * within `change`.
 */
import type { Selectable } from 'kysely';
import type { AgentId, MemoryId } from '../../../src/shared/domain/ids.ts';
import { type Memory, memoryValueSchema, type MemoryValue } from '../../../src/shared/protocol/memories.ts';
import { isOneOf, lockNamed } from '../../store/dialect.ts';
import type { Db } from '../../store/index.ts';
import type { Tables } from '../../store/tables.ts';
import type { SetAside } from '../../platform/set-aside.ts';

/** Whose memory it is. Null: the team's. */
export type MemoryOwner = AgentId | null;
export type MemoryRow = Selectable<Tables['memories']>;

/** `removed` is a column of its own. */
const storedSchema = memoryValueSchema.omit({ removed: true });
type StoredMemory = Omit<MemoryValue, 'removed'>;

const json = (value: unknown): string => JSON.stringify(value);

export const valueOf = (row: MemoryRow): StoredMemory => storedSchema.parse(JSON.parse(row.value_json));
const memoryOf = (row: MemoryRow): Memory => ({ ...valueOf(row), memoryId: row.memory, version: row.version });
export const columnsOf = (value: StoredMemory) => ({
  agent_json: json(value.agentId),
  path_json: json(value.path),
  value_json: json(value),
  bytes: Buffer.byteLength(value.text),
});

export type MemoryRows = ReturnType<typeof createMemoryRows>;

/** Unreadable rows are set aside, and left out of every list. */
export function createMemoryRows(db: Db, home: string, setAside: SetAside) {
  const all = (within: Db = db) => within.selectFrom('memories').selectAll().where('home', '=', home);
  const present = (within: Db = db) => all(within).where('removed', '=', false);
  const readable = <Value>(rows: readonly MemoryRow[], read: (row: MemoryRow) => Value) =>
    setAside.read('memories', rows, ({ memory }) => memory, read);
  const sorted = (rows: readonly MemoryRow[]): readonly Memory[] =>
    readable(rows, memoryOf).sort((a, b) => (a.path < b.path ? -1 : 1));
  const first = (row: MemoryRow | undefined) => (row ? memoryOf(row) : null);
  return {
    all,
    readable,
    /** In the order of their paths. */
    filesOf: async (owner: MemoryOwner, within: Db = db) =>
      sorted(await present(within).where('agent_json', '=', json(owner)).execute()),
    /** The agent's own and the team's. */
    readBy: async (agentId: AgentId) =>
      sorted(
        await present()
          .where(isOneOf('agent_json', [json(agentId), json(null)]))
          .execute(),
      ),
    get: async (memoryId: MemoryId, within: Db = db) =>
      first(await present(within).where('memory', '=', memoryId).executeTakeFirst()),
    find: async (owner: MemoryOwner, path: string) =>
      first(
        await present().where('agent_json', '=', json(owner)).where('path_json', '=', json(path)).executeTakeFirst(),
      ),
    /** One change at a time. */
    change: <Value>(work: (trx: Db) => Promise<Value>): Promise<Value> =>
      db.transaction().execute(async (trx) => {
        await lockNamed(trx, `memories ${home}`);
        return await work(trx);
      }),
    async add(trx: Db, memory: MemoryId, value: StoredMemory): Promise<void> {
      await trx
        .insertInto('memories')
        .values({ home, memory, ...columnsOf(value), stamp: null })
        .execute();
    },
    /** Writes the next version, which is not announced yet. */
    async update(trx: Db, memory: MemoryId, { removed, ...value }: MemoryValue): Promise<void> {
      await trx
        .updateTable('memories')
        .set((eb) => ({ ...columnsOf(value), removed, stamp: null, version: eb('version', '+', 1) }))
        .where('home', '=', home)
        .where('memory', '=', memory)
        .execute();
    },
  };
}
