/** How much room the relay's home takes. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Room } from '../src/protocol/http.ts';
import type { Routes } from './route.ts';
import { SCHEMA } from './store/schema.ts';
import type { Db } from './store/index.ts';

export const ROOM_DEFAULTS = {
  /** ms for which one look answers everybody: it asks for the length of some thousand files. */
  keptMs: 10_000,
} as const;

const isGone = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Bytes of the files below `folder`; what goes away meanwhile takes no room. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    try {
      bytes += (await stat(join(entry.parentPath, entry.name))).size;
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  return bytes;
}

/** Of our tables in a Postgres server, with their indexes. */
async function bytesOfTables(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(pg_total_relation_size(class.oid)), 0)::bigint as bytes
    from pg_class as class join pg_namespace as space on space.oid = class.relnamespace
    where space.nspname = ${SCHEMA} and class.relkind = 'r'`.execute(db);
  return rows[0]?.bytes ?? 0;
}

export interface RoomDeps {
  readonly folder: string;
  /** A store that lies outside of the folder; null: it is inside. */
  readonly elsewhere: Db | null;
  /** ms, only ever forward. */
  readonly elapsed: () => number;
  readonly keptMs?: number;
}

export function createRoomRoutes({ folder, elsewhere, elapsed, keptMs = ROOM_DEFAULTS.keptMs }: RoomDeps): Routes {
  let last: { readonly at: number; readonly room: Promise<Room> } | null = null;

  async function look(): Promise<Room> {
    const [files, tables] = await Promise.all([bytesBelow(folder), elsewhere ? bytesOfTables(elsewhere) : 0]);
    return { bytes: files + tables };
  }
  function room(): Promise<Room> {
    if (last && elapsed() - last.at < keptMs) return last.room;
    const looking = { at: elapsed(), room: look() };
    last = looking;
    // A look that failed is no answer for the next one who asks.
    looking.room.catch(() => last === looking && (last = null));
    return looking.room;
  }
  return (route) => route('/api/room', { GET: async (context) => context.json(await room()) });
}
