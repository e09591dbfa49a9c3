/**
 * Making an embedded store takes seconds; tests that are about something else start from a copy of
 * one that was made before, in this run or an earlier one. Named by all that decides what is in it.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openStore } from '../../server/store/index.ts';
import { CACHE } from './made-once.ts';

const { resolve } = createRequire(import.meta.url);
const STORE = new URL('../../server/store/', import.meta.url);
/** All that says how an empty store looks: the folder and its steps. */
const sources = ['', 'steps/'].flatMap((folder) =>
  readdirSync(new URL(folder === '' ? '.' : folder, STORE))
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${folder}${name}`),
);
const hash = sources.reduce((sum, file) => sum.update(readFileSync(new URL(file, STORE))), createHash('sha256'));
const made = hash.update(resolve('@electric-sql/pglite')).digest('hex').slice(0, 16);

/** The folder of an empty, migrated embedded store. */
export async function storeTemplate(): Promise<string> {
  const folder = join(CACHE, `store-template-${made}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  const store = await openStore({ folder: join(making, 'store'), databaseUrl: null });
  await store.close();
  try {
    await rename(join(making, 'store'), folder);
  } catch (error) {
    // Another test process was first.
    if (!existsSync(folder)) throw error;
  }
  await rm(making, { recursive: true, force: true });
  return folder;
}

/**
 * Puts an empty, migrated embedded store at `folder`. By the system's own command: five hundred
 * files, one by one from here, take half a second.
 */
export async function copyStoreTemplate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await promisify(execFile)('cp', ['-R', `${await storeTemplate()}/.`, folder]);
}
