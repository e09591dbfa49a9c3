/** `roost backup FILE` and `roost restore FILE`. */
import { existsSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { StartError } from '../platform/errors.ts';
import { askForCopy, createCopyFolder, isHome, lockHome } from '../startup/home.ts';
import { copyEmbedded, STORE_FILE } from '../store/index.ts';
import { aboutNow, readArchive, writeArchive } from './archive.ts';
import type { Command } from './index.ts';
import { askPassphrase } from './passphrase.ts';

const PG_DUMP =
  'The store is in Postgres and not in this file. Back it up too: pg_dump --schema=roost --file=roost.sql "$DATABASE_URL"';
const PG_RESTORE = 'The store was in Postgres: put it back with psql --file=roost.sql "$DATABASE_URL".';

/** The home's real path. Throws `StartError` where there is none. */
export async function realHome(home: string): Promise<string> {
  const path = await realpath(home).catch(() => null);
  if (path === null || !isHome(path))
    throw new StartError(`There is no home of Roost at ${home}. If yours is elsewhere, name it with --home.`);
  return path;
}

/** A folder for copies. Throws `StartError` where the home cannot be written. */
const folderForCopies = (home: string) =>
  createCopyFolder(home).catch((error: unknown) => {
    throw new StartError(`${home} cannot be written: ${errorMessage(error)}. Nothing was backed up.`, 1, {
      cause: error,
    });
  });

/** A copy of the store. Null: the home has none. */
async function copyStore(home: string, folder: string): Promise<string | null> {
  const store = join(home, 'store');
  if (!existsSync(join(store, STORE_FILE))) return null;
  const file = join(folder, STORE_FILE);
  await copyEmbedded(store, file);
  return file;
}

/**
 * Calls `use` with a copy of the store, made by the relay where one runs. Where none runs, none can
 * start meanwhile.
 */
export async function withStoreCopy<T>(
  home: string,
  use: (copy: string | null, folder: string) => Promise<T>,
): Promise<T> {
  const made = await askForCopy(home);
  const lock = made === null ? await lockHome(home) : null;
  // Nobody else makes a backup here. An earlier one may have been killed.
  if (lock) await rm(join(home, 'copies'), { recursive: true, force: true });
  const folder = made === null ? await folderForCopies(home) : dirname(made);
  try {
    return await use(made ?? (await copyStore(home, folder)), folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await lock?.release();
  }
}

export const backup: Command = async ({ operand, config, version, tell }) => {
  const file = resolve(operand);
  if (existsSync(file)) throw new StartError(`${file} is there already. Name another file.`);
  const home = await realHome(config.home);
  const passphrase = await askPassphrase({ twice: true });
  const write = async (storeCopy: string | null, copies: string) => {
    const kind = config.databaseUrl !== null ? 'postgres' : storeCopy === null ? 'none' : 'sqlite';
    return await writeArchive({
      ...{ home, storeCopy, copies, file, passphrase },
      about: aboutNow(version, kind, Date.now()),
    });
  };
  const inPostgres = config.databaseUrl !== null;
  const { bytes, leftOut } = inPostgres
    ? await withCopyFolder(home, (folder) => write(null, folder))
    : await withStoreCopy(home, write);
  tell(`Backed up ${home} to ${file}, ${(bytes / 1_000_000).toFixed(1)} MB. Without the passphrase nobody opens it.`);
  if (inPostgres) tell(PG_DUMP);
  if (leftOut.length > 0) tell(`Left out, because they cannot be read: ${leftOut.join(', ')}`);
  return 0;
};

async function withCopyFolder<T>(home: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await folderForCopies(home);
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const restore: Command = async ({ operand, config, tell }) => {
  const file = resolve(operand);
  const about = await readArchive(file, () => askPassphrase({ twice: false }), config.home);
  tell(`Restored ${config.home} from ${file}, made on ${new Date(about.at).toISOString()} by Roost ${about.version}.`);
  if (about.store === 'postgres') tell(PG_RESTORE);
  tell('Start Roost. Nothing that is due runs here until you bring it here, under Schedule on the page.');
  return 0;
};
