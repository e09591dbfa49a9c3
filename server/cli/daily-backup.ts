/**
 * A backup a day into a folder, while the relay runs. Another process makes it, so that encrypting
 * takes neither the relay's memory nor its time.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import { startProgram } from '../platform/processes/index.ts';

const DAY_MS = 86_400_000;
/** ms between two looks whether one is due. A failed one is tried again then. */
const CHECK_MS = 3_600_000;
/** Our own files. Others in the folder are never removed. */
const OURS = /^roost-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.age$/;

const nameAt = (now: number) => `roost-${new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')}Z.age`;
function timeOf(name: string): number {
  const [, day, hour, minute, second] = OURS.exec(name) ?? [];
  return Date.parse(`${day}T${hour}:${minute}:${second}Z`);
}

interface DailyBackupDeps {
  readonly folder: string;
  /** Files that stay. */
  readonly keep: number;
  /** Writes a backup to this file. Rejects with a sentence. */
  readonly write: (file: string) => Promise<void>;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly timers: Timers;
  readonly tell: (line: string) => void;
}

/** Makes one now if the last is older than a day, and removes all but the newest. */
export async function backUpIfDue({ folder, keep, write, now }: DailyBackupDeps): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ours = async () => (await readdir(folder)).filter((name) => OURS.test(name)).sort();
  const newest = (await ours()).at(-1);
  // One from the future was made before the clock was set back.
  const age = newest === undefined ? DAY_MS : Math.abs(now() - timeOf(newest));
  if (age >= DAY_MS) await write(join(folder, nameAt(now())));
  for (const name of (await ours()).slice(0, -keep)) await rm(join(folder, name));
}

/** Returns the function that ends it. */
export function startDailyBackup(deps: DailyBackupDeps): () => void {
  let cancel: () => void = () => undefined;
  let ended = false;
  const check = () =>
    void backUpIfDue(deps)
      .catch((error: unknown) => deps.tell(`The daily backup failed: ${errorMessage(error)}`))
      .finally(() => {
        if (!ended) cancel = deps.timers.after(CHECK_MS, check);
      });
  check();
  return () => {
    ended = true;
    cancel();
  };
}

/** Runs `roost backup` of this home. `main`: the file that this process runs. */
export const backupBeside =
  (main: string, home: string) =>
  (file: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const options = [...process.execArgv, main, 'backup', file, '--home', home];
      const child = startProgram({ program: process.execPath, options }, { stdio: ['ignore', 'ignore', 'pipe'] });
      let said = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
      child.once('error', reject);
      child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(said.trim()))));
    });
