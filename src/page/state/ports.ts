/**
 * What the stores need from outside, and nothing more: the ledger's owner, the relay, and the
 * device. `main.tsx` gives the real ones.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { errorMessage } from '../../shared/domain/platform/error-message.ts';
import type { OwnerCallName, OwnerCalls } from '../../shared/protocol/owner-rpc.ts';
import type { ProblemName } from '../../shared/protocol/problems.ts';
import type { OwnerNews, OwnerProgress, RebuildReport } from '../../shared/protocol/worker.ts';
import type { PageClient, RelayProblem, StreamItem } from '../../shared/relay-client/index.ts';
import type { Archive } from '../archive/index.ts';
import { retold, t } from '../language/t.ts';

// The archive as the page holds it: fetched after the page is painted, not with it.

const MISSING = t`The part of Roost that packs and unpacks files could not be fetched. Start the relay, reload the page, and try again; nothing was changed.`;

/**
 * Fetches the archive when it is first asked for anything. Calls reject with a sentence where it
 * did not come.
 */
export function createArchivePort(load: () => Promise<Archive>): Archive {
  let loading: Promise<Archive> | null = null;
  const archive = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw new Error(MISSING, { cause: error });
    }));
  return {
    // What did not come is said when it is needed.
    warm: () =>
      archive().then(
        (loaded) => loaded.warm(),
        () => undefined,
      ),
    exportHousehold: async (options) => (await archive()).exportHousehold(options),
    openArchive: async (...args) => (await archive()).openArchive(...args),
    importArchive: async (...args) => (await archive()).importArchive(...args),
    exportAgent: async (options) => (await archive()).exportAgent(options),
    readAgentZip: async (...args) => (await archive()).readAgentZip(...args),
  };
}

/**
 * The ledger's owner, as one tab sees it. Calls reject with an Error whose message people can read.
 */
export interface OwnerPort {
  call<K extends OwnerCallName>(name: K, ...args: Parameters<OwnerCalls[K]>): Promise<ReturnType<OwnerCalls[K]>>;
  /**
   * Everything the owner says from now on, in order; the first is `welcome`. Returns the way to
   * stop.
   */
  subscribe(listener: (news: OwnerNews) => void): () => void;
}

/**
 * The relay's calls that a page makes. An expected failure is a value; nothing here rejects for
 * one.
 */
export type RelayPort = Omit<PageClient, 'ack'> & {
  /** What is said in the one household of others from now on. Returns the way to stop. */
  look(listener: (item: StreamItem) => void): () => void;
};

/** Packs and unpacks copies, in a worker of its own. */
export type ArchivePort = Omit<Archive, 'warm'>;

/** Texts by key. Writing answers false where there is no room. */
export interface TextStorage {
  read(key: string): string | null;
  write(key: string, text: string): boolean;
  /** Of all that begin so. */
  keys(prefix: string): readonly string[];
  /** Another tab has taken a text away. Returns the way to stop. */
  onGone(task: (key: string) => void): () => void;
}

/**
 * Bytes of files, in base64, that belong to a draft or to what was sent and is kept nowhere else
 * yet.
 */
interface FileShelf {
  /** False: there is no room for it, or this browser keeps nothing. */
  put(id: string, data: string): Promise<boolean>;
  /** Null: it is not there. */
  read(id: string): Promise<string | null>;
  remove(ids: readonly string[]): Promise<void>;
}

export interface Device {
  /** ms since the epoch */
  now(): number;
  newId(): string;
  /** Asks the browser to keep what is stored. null: the browser does not say. */
  persist(): Promise<boolean | null>;
  /** What every tab of this browser remembers. */
  readonly browser: TextStorage;
  /** Hears what other tabs of this browser write under this key from now on. */
  hear(key: string, listener: (text: string) => void): void;
  /** What every tab of this browser has of files that are attached and not sent. */
  readonly shelf: FileShelf;
  /** Runs `task` after `ms`; returns the way to call it off. */
  after(ms: number, task: () => void): () => void;
}

/** Did the relay say no, and for this reason? */
export const isRefusedAs = (problem: RelayProblem, name: ProblemName): boolean =>
  problem.kind === 'refused' && problem.problem.type === `about:roost/${name}`;

/** Is it over by itself: nobody has answered, or the relay cannot reach its database? */
export const isPassing = (problem: RelayProblem): boolean =>
  problem.kind !== 'refused' || isRefusedAs(problem, 'database-away');

/** What went wrong, in a sentence for people; with the fields where the relay names them. */
export function problemText(problem: RelayProblem): string {
  if (problem.kind !== 'refused') return retold(problem.message);
  const where = (problem.problem.errors ?? []).map((field) => `${field.field}: ${field.message}`).join('; ');
  const said = where && !problem.message.includes(where) ? `${problem.message} (${where})` : problem.message;
  return retold(said, problem.problem.type);
}

/** What went wrong in a worker or the browser, in the same way. */
export const errorText = (error: unknown): string => retold(errorMessage(error));

// What the browser remembers over a reload: drafts, what is on its way, what has not been looked
// at.

/** Over one of the browser's storages. A full storage is an answer, anything else an error. */
export function createTextStorage(storage: Storage): TextStorage {
  return {
    read: (key) => storage.getItem(key),
    write(key, text) {
      try {
        if (text === '') storage.removeItem(key);
        else storage.setItem(key, text);
        return true;
      } catch (error) {
        if (error instanceof DOMException) return false;
        throw error;
      }
    },
    keys: (prefix) => Object.keys(storage).filter((key) => key.startsWith(prefix)),
    onGone(task) {
      const onStorage = ({ key, newValue }: StorageEvent) => {
        if (key !== null && newValue === null) task(key);
      };
      addEventListener('storage', onStorage);
      return () => removeEventListener('storage', onStorage);
    },
  };
}

/** What other tabs write there, of those that one storage is shared by. */
export const hearOtherTabs: Device['hear'] = (key, listener) =>
  addEventListener('storage', (event) => {
    if (event.key === key && event.newValue !== null) listener(event.newValue);
  });

// Long work on the ledger: how far its owner is, whichever tab asked for it, and how the last
// rebuild of this tab ended.

type RebuildState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly report: RebuildReport }
  | { readonly kind: 'failed'; readonly reason: string };

export interface UpkeepState {
  /** null: no long work is under way. */
  readonly progress: OwnerProgress | null;
  readonly rebuild: RebuildState;
}

export const createUpkeep = (): StoreApi<UpkeepState> =>
  createStore<UpkeepState>()(() => ({ progress: null, rebuild: { kind: 'idle' } }));
