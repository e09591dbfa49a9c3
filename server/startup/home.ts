/** The home: the folder with everything that a relay keeps. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, lstat, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { codeOf } from '../platform/error-code.ts';
import { PID_FILE } from './home-lock.ts';
import { StartError } from '../platform/start-error.ts';
import { unfinished, writeWhole } from '../platform/whole-file.ts';

/**
 * The form of the home that this version writes. The store has its own steps, see store/index.ts.
 */
const FORMAT = 1;
const MARK = 'roost.json';
/** The key to what is left here for the time without a browser. */
const SEALING_KEY = 'sealing.key';
/** The pair with which pushes are signed. */
const PUSH_KEYS = 'push.key';

const markSchema = z.object({ format: z.number().int().min(1), relay: z.string().min(1) });

export interface Home {
  /** Without symbolic links: one home has one path. */
  readonly path: string;
  /** Names this home wherever homes share a store. */
  readonly relay: string;
  /**
   * Of the file that names it: a copy of the folder has another, one that was renamed has the same.
   */
  readonly place: string;
  readonly storeFolder: string;
  readonly logFolder: string;
  readonly sealingKeyFile: string;
  readonly pushKeysFile: string;
  /** Holds a folder for each agent. */
  readonly workspacesFolder: string;
  /** Says which programs run beside the relay. */
  readonly processesFolder: string;
}

/**
 * What nobody but the owner may read or write; Windows has no such bits, and keeps what is in a
 * person's folder to that person.
 */
const PRIVATE = { folder: 0o700, file: 0o600, others: 0o077 } as const;

/**
 * What Roost keeps in its home. Whatever else lies there is somebody's own, and only the folder is
 * closed around it.
 */
const KEPT: ReadonlySet<string> = new Set([
  MARK,
  unfinished(MARK),
  'store',
  'logs',
  'workspaces',
  'processes',
  SEALING_KEY,
  unfinished(SEALING_KEY),
  PUSH_KEYS,
  unfinished(PUSH_KEYS),
  PID_FILE,
]);

/**
 * Takes from everybody else what an earlier time, a copy or another program has granted them.
 * Throws `StartError` where it belongs to somebody else, or cannot be had so.
 */
async function keepPrivate(path: string): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const look = async (at: string): Promise<void> => {
    const found = await lstat(at);
    // What a link leads to is none of ours: the home is what lies in it.
    if (found.isSymbolicLink()) return;
    if (found.uid !== uid)
      throw new StartError(
        `${at} belongs to another user of this machine, who could read and change what Roost keeps. Make it yours (chown), or choose another home with --home.`,
      );
    const isFolder = found.isDirectory();
    if ((found.mode & PRIVATE.others) !== 0 && !found.isSocket()) {
      await chmod(at, isFolder ? PRIVATE.folder : PRIVATE.file);
      // Some file systems take it and do nothing.
      if (((await lstat(at)).mode & PRIVATE.others) !== 0)
        throw new StartError(
          `Others on this machine may read or change ${at}, and the file system does not let Roost forbid it. Choose a home on another disk with --home.`,
        );
    }
    if (isFolder)
      for (const name of await readdir(at))
        if (at !== path || KEPT.has(name))
          await look(join(at, name)).catch((error: unknown) => {
            // A relay that ends just now tidies up.
            if (codeOf(error) !== 'ENOENT') throw error;
          });
  };
  await look(path);
}

/** The folder, made where it is missing, for its owner only. Throws `StartError`. */
export async function openHomeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    const path = await realpath(folder);
    await keepPrivate(path);
    await mkdir(join(path, 'logs'), { recursive: true, mode: 0o700 });
    return path;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `The home ${folder} cannot be written (${errorMessage(error)}). Choose another with --home.`,
      1,
      {
        cause: error,
      },
    );
  }
}

async function readMark(file: string): Promise<string> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new StartError(
      `${file} cannot be read (${errorMessage(error)}). Put it back from a copy, or choose another home with --home.`,
      1,
      { cause: error },
    );
  }
  const format = z.object({ format: z.number() }).safeParse(value);
  if (format.success && format.data.format > FORMAT)
    throw new StartError(
      `The home of ${file} was last used by a newer Roost. Update Roost, or choose another with --home.`,
    );
  const mark = markSchema.safeParse(value);
  if (!mark.success)
    throw new StartError(
      `${file} is not what Roost has written. Put it back from a copy, or choose another home with --home.`,
    );
  return mark.data.relay;
}

/**
 * What is in a home that is locked: see home-lock.ts. Throws `StartError` where a newer Roost has
 * used it.
 */
export async function readHome(path: string): Promise<Home> {
  const file = join(path, MARK);
  let relay: string;
  if (existsSync(file)) relay = await readMark(file);
  else {
    relay = randomUUID();
    try {
      await writeWhole(file, `${JSON.stringify({ format: FORMAT, relay })}\n`);
    } catch (error) {
      throw new StartError(
        `The home ${path} cannot be written (${errorMessage(error)}). Choose another with --home.`,
        1,
        {
          cause: error,
        },
      );
    }
  }
  const { ino, birthtimeNs } = await stat(file, { bigint: true });
  return {
    path,
    relay,
    place: `${ino} ${birthtimeNs}`,
    storeFolder: join(path, 'store'),
    logFolder: join(path, 'logs'),
    sealingKeyFile: join(path, SEALING_KEY),
    pushKeysFile: join(path, PUSH_KEYS),
    workspacesFolder: join(path, 'workspaces'),
    processesFolder: join(path, 'processes'),
  };
}
