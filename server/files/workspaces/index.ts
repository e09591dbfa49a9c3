/**
 * Workspaces: one folder for each agent, on the relay's machine and nowhere else.
 *
 * `open-folder.ts` holds folders open, `folder.ts` reads and writes in one, `entries.ts` lists what
 * is below, and `tools.ts` is the toolset `files`.
 *
 * Main types: `Workspaces`, `Workspace`.
 *
 * Invariants:
 * - No step follows a link out of the folder, whatever another program swaps meanwhile.
 * - A write is complete or absent.
 * - The folder has a quota, and so has each file that is read.
 * - Names and contents are untrusted text, so a model receives them quoted.
 *
 * It does not know commands or the sandbox.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NUMBERS } from '../../../src/shared/domain/setting-table.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { codeOf } from '../../platform/errors.ts';
import { WorkspaceError } from './open-folder.ts';
import { createFolder, type Folder } from './folder.ts';
import { readWhole } from './entries.ts';
import { WORKSPACE_LIMITS, type WorkspaceLimits } from './settings.ts';

export {
  WorkspaceError,
  itself,
  NO_LINKS,
  type OpenFolder,
  openThere,
  placeOf,
  stepToEmpty,
  withRights,
} from './open-folder.ts';
export {
  type Entry,
  type EntryBelow,
  type Passed,
  contentMark,
  hashOfFile,
  readWhole,
  type Lies,
  unfinished,
} from './entries.ts';
export type { OpenItself, Removed } from './folder.ts';
export { WORKSPACE_LIMITS } from './settings.ts';

/** The room that is left, counted now. 0 or less: nothing may be written. */
export interface Room {
  /** Room on the disk. Short files take more there than their length. */
  readonly bytes: number;
  /**
   * Files and folders. Less than 0: there is more than can be counted, by number or by depth, or
   * something that cannot be opened.
   */
  readonly entries: number;
}

/** Current use and quota. */
export interface Used {
  /** Bytes of its files. */
  readonly bytes: number;
  readonly entries: number;
  /** Bytes of the history of its files, which count too. Left out: none. */
  readonly history?: number;
  /** The quota in bytes. */
  readonly most: number;
  /** There is more than was counted. Left out: everything was counted. */
  readonly whole?: false;
}

/**
 * One agent's folder. All methods throw `WorkspaceError` for expected failures. `path` is relative,
 * with `/` between names.
 */
export interface Workspace extends Folder {
  /** As in `Folder`. Its use and its room stay those of the agent's whole folder. */
  within(path: string): Workspace;
  used(): Promise<Used>;
  room(): Promise<Room>;
  /** Bytes of all files below this folder, according to the last count. */
  below(path: string): Promise<number>;
  /** The content of a file of at most `most` bytes. */
  bytesOf(path: string, most: number): Promise<Buffer>;
}

export interface Workspaces {
  /** Path of an agent's folder. */
  folderOf(agentId: AgentId): string;
  of(agentId: AgentId): Workspace;
  /** Removes the folder and its content. Does nothing where there is none. */
  forget(agentId: AgentId): Promise<void>;
  /** For an agent that was never born: removes its folder if it is empty. */
  removeEmpty(agentId: AgentId): Promise<void>;
  /** Another program may have changed an agent's files. */
  changed(agentId: AgentId): void;
  /**
   * Registers a listener for the agent whose files changed. Called after each change that was made
   * here.
   */
  subscribe(listener: (agentId: AgentId) => void): void;
}

/**
 * The folder name of an agent. An agent's id may hold any character, a folder name may not. The
 * name for one id is never the id of another, also on a case-insensitive disk. `kept`: folder names
 * from the time when ids with capitals were used directly.
 */
export const folderName = (agentId: AgentId, kept: ReadonlySet<string> = new Set()): string =>
  /^[a-z\d_-]{1,64}$/.test(agentId) || (/^[\w-]{1,64}$/.test(agentId) && kept.has(agentId))
    ? agentId
    : `.${createHash('sha256').update(agentId).digest('hex').slice(0, 32)}`;

const usual = () => Promise.resolve(NUMBERS.workspace_megabytes.otherwise * 1_000_000);

interface Counted {
  bytes: number;
  /** Bytes on the disk, at least its length per file. */
  held: number;
  entries: number;
  /** Everything was counted. */
  whole: boolean;
  /** Bytes of all files below each folder, by its path. */
  readonly below: Map<string, number>;
  /** ms of `elapsed`. */
  readonly at: number;
}

const namesIn = (path: string) => path.split('/').filter((name) => name !== '' && name !== '.');
const plain = (path: string) => namesIn(path).join('/');

/** Adds to the total, and to each folder above the file. */
function add(sum: Counted, path: string, bytes: number): void {
  sum.bytes += bytes;
  const names = namesIn(path);
  for (let depth = names.length - 1; bytes !== 0 && depth > 0; depth--) {
    const folder = names.slice(0, depth).join('/');
    sum.below.set(folder, (sum.below.get(folder) ?? 0) + bytes);
  }
}

export interface WorkspacesDeps {
  /** Contains a folder for each agent. */
  readonly folder: string;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  /** The person's quota for an agent's folder in bytes. Left out: the default. */
  readonly most?: (agentId: AgentId) => Promise<number>;
  /** Bytes that the history of an agent's files takes. Left out: there is none. */
  readonly history?: (agentId: AgentId) => Promise<number>;
  readonly limits?: WorkspaceLimits;
}

/** Advice for a full folder, for the agent that writes. */
export const MAKE_ROOM =
  'delete_file takes away what is not needed, and something shorter can be written over a file that is there; the human can take files away on their page.';

export function createWorkspaces({
  folder,
  elapsed,
  most: mostOf = usual,
  history: historyOf = () => Promise.resolve(0),
  limits = WORKSPACE_LIMITS,
}: WorkspacesDeps): Workspaces {
  const opened = new Map<string, Workspace>();
  const listeners: ((agentId: AgentId) => void)[] = [];

  function open(path: string, agentId: AgentId): Workspace {
    const whole = createFolder(path);
    const changed = () => listeners.forEach((tell) => tell(agentId));
    let counted: Promise<Counted> | null = null;
    async function count(): Promise<Counted> {
      const sum: Counted = { bytes: 0, held: 0, entries: 0, whole: true, below: new Map(), at: elapsed() };
      sum.whole = await whole.countAll(limits.entries, ({ path: where, bytes, held }) => {
        add(sum, where, bytes);
        sum.held += held;
        sum.entries += 1;
      });
      return sum;
    }
    async function used(): Promise<Counted> {
      const known = await counted?.catch(() => null);
      if (known && elapsed() - known.at < limits.countedForMs) return known;
      counted = count();
      return await counted;
    }
    /** `top`: where `files` are in the whole folder. */
    const view = (files: Folder, top: string): Workspace => ({
      ...files,
      within: (where) => view(files.within(where), `${top}${where}/`),
      async used() {
        const { bytes, entries, whole } = await used();
        const history = await historyOf(agentId);
        const most = await mostOf(agentId);
        return { bytes, entries, most, ...(history > 0 ? { history } : {}), ...(whole ? {} : { whole: false }) };
      },
      async room() {
        counted = null;
        const { held, entries, whole } = await used();
        const most = (await mostOf(agentId)) - (await historyOf(agentId));
        return { bytes: most - held, entries: whole ? limits.entries - entries : -1 };
      },
      below: async (where) => (await used()).below.get(plain(top + where)) ?? 0,
      async write(where, bytes, expects) {
        const most = (await mostOf(agentId)) - (await historyOf(agentId));
        const sum = await used();
        const why =
          sum.bytes + bytes.length > most
            ? `The folder is full: it holds ${mb(sum.bytes)} of ${mb(most)} MB, and this is ${mb(bytes.length)} MB more.`
            : !sum.whole || sum.entries >= limits.entries
              ? `The folder holds ${limits.entries} files, which is the most, or folders in each other without end.`
              : null;
        // A file that is not longer than the one it replaces may be written in a full folder. Its
        // agent has no other way to make room.
        const isLess = () =>
          files.read(where, (_file, size) => Promise.resolve(bytes.length <= size)).catch(() => false);
        if (why !== null && !(await isLess()))
          throw new WorkspaceError('full', `${why} Nothing was written. ${MAKE_ROOM}`);
        // Added before the write, so that concurrent writes do not use the same room twice.
        const at = top + where;
        add(sum, at, bytes.length);
        sum.entries += 1;
        try {
          const written = await files.write(where, bytes, expects);
          add(sum, at, -(written.replaced ?? 0));
          if (written.replaced !== null) sum.entries -= 1;
          changed();
          return written;
        } catch (error) {
          add(sum, at, -bytes.length);
          sum.entries -= 1;
          throw error;
        }
      },
      async remove(where, options) {
        try {
          return await files.remove(where, options);
        } finally {
          // Reset also after a failure half-way.
          counted = null;
          changed();
        }
      },
      async move(from, to, options) {
        const sum = await used();
        // A move takes no room itself, but the folders that it creates are entries.
        const makes = options.makes && sum.whole && sum.entries < limits.entries;
        try {
          return await files.move(from, to, { ...options, makes });
        } finally {
          counted = null;
          changed();
        }
      },
      bytesOf: (where, most) =>
        files.read(where, async (file, size) => {
          if (size > most) throw tooLarge(where, size, most);
          return await readWhole(file, size);
        }),
    });
    return view(whole, '');
  }

  const existing = new Set(existsSync(folder) ? readdirSync(folder) : []);
  const folderOf = (agentId: AgentId) => join(folder, folderName(agentId, existing));
  return {
    folderOf,
    async forget(agentId) {
      const path = folderOf(agentId);
      opened.delete(path);
      await removeFolder(path);
    },
    async removeEmpty(agentId) {
      await rmdir(folderOf(agentId)).catch((error: unknown) => {
        if (!EMPTY_NO_MORE.includes(codeOf(error) ?? '')) throw error;
      });
    },
    changed: (agentId) => listeners.forEach((tell) => tell(agentId)),
    subscribe: (listener) => void listeners.push(listener),
    of(agentId) {
      const path = folderOf(agentId);
      const workspace = opened.get(path) ?? open(path, agentId);
      opened.set(path, workspace);
      return workspace;
    },
  };
}

/** Removes a folder with its content. The targets of links stay. */
export async function removeFolder(path: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  await remove().catch(async (error: unknown) => {
    if (codeOf(error) !== 'EACCES') throw error;
    // A command has removed the permissions of a folder.
    await createFolder(path).clear();
    await remove();
  });
}

/** The folder is not empty, or does not exist. */
const EMPTY_NO_MORE = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'];

const mb = (bytes: number) => (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);

const tooLarge = (where: string, size: number, most: number) =>
  new WorkspaceError('too-large', `${where} is ${mb(size)} MB long; at most ${mb(most)} MB are read here.`);
