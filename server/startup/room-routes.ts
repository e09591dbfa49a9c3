/**
 * How much room the relay's home takes and is left: for the page, and for whoever asks whether
 * agents may store more.
 */
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { keepLoaded } from '../../src/shared/domain/platform/single-flight.ts';
import { roomEndpoints } from '../../src/shared/protocol/endpoints/team.ts';
import type { Room } from '../../src/shared/protocol/http.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { codeOf } from '../platform/error-code.ts';
import { SCHEMA } from '../store/schema.ts';
import type { Db } from '../store/index.ts';

const ROOM_DEFAULTS = {
  /** ms for which one look answers everybody: it asks for the length of some thousand files. */
  keptMs: 10_000,
  /** The same for the one question that every message asks: what is free. */
  freeKeptMs: 1_000,
} as const;

/** Bytes of the files below `folder`; what goes away meanwhile takes no room. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    try {
      bytes += (await stat(join(entry.parentPath, entry.name))).size;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
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
  /** Bytes of its disk that agents leave free. */
  readonly keepFree: number;
  /** What this sign-in's household keeps of sealed entries, and may; null where it keeps none. */
  readonly partOf: (browser: string) => Promise<Room['part']>;
  /** ms, only ever forward. */
  readonly elapsed: () => number;
  readonly keptMs?: number;
}

export interface HomeRoom {
  readonly endpoints: readonly Handled[];
  /** Why agents may store no more just now, as a sentence; null: they may. */
  readonly refuseForRoom: () => Promise<string | null>;
}

export function createHomeRoom({
  folder,
  elsewhere,
  keepFree,
  partOf,
  elapsed,
  keptMs = ROOM_DEFAULTS.keptMs,
}: RoomDeps): HomeRoom {
  const taken = keepLoaded(
    async () => {
      const [files, tables] = await Promise.all([bytesBelow(folder), elsewhere ? bytesOfTables(elsewhere) : 0]);
      return files + tables;
    },
    { forMs: keptMs, elapsed },
  );
  const free = keepLoaded(
    async () => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
    { forMs: ROOM_DEFAULTS.freeKeptMs, elapsed },
  );
  return {
    endpoints: answer(roomEndpoints, {
      async room(_, context) {
        const browser = context.get('browser');
        return {
          bytes: await taken.get(),
          free: await free.get(),
          keepFree,
          part: browser === undefined ? null : await partOf(browser),
        };
      },
    }),
    async refuseForRoom() {
      const left = await free.get();
      return left >= keepFree
        ? null
        : `Not stored: the disk that this household lives on has ${Math.floor(left / 1_000_000)} MB left, and agents leave ${Math.ceil(keepFree / 1_000_000)} MB of it to the human. Tell the human when you next speak with them; what they write is kept all the same.`;
    },
  };
}
