/**
 * All that the stores need from outside: the data worker, the relay and the device. `main.tsx`
 * passes the real ones.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { errorMessage } from '../../shared/domain/platform/error-message.ts';
import type {
  WorkerCallName,
  WorkerCalls,
  WorkerNews,
  WorkerProgress,
  RebuildReport,
} from '../../shared/protocol/worker.ts';
import type { ProblemName } from '../../shared/protocol/problems.ts';
import type { PageClient, RelayProblem } from '../../shared/relay-client/index.ts';
import type { Exports } from '../exports/index.ts';
import { retold, t } from '../language/t.ts';

// Exports as the page uses them. Loaded after the page is painted.

const MISSING = t`The part of Roost that packs and unpacks files could not be fetched. Start the relay, reload the page, and try again; nothing was changed.`;

/**
 * Loads the code of exports on first use. Calls reject with an error for people if it cannot be
 * loaded.
 */
export function createExportsPort(load: () => Promise<Exports>): Exports {
  let loading: Promise<Exports> | null = null;
  const exports = () =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw new Error(MISSING, { cause: error });
    }));
  return {
    // A failure is reported when an export is needed.
    warm: () =>
      exports().then(
        (loaded) => loaded.warm(),
        () => undefined,
      ),
    exportHousehold: async (options) => (await exports()).exportHousehold(options),
    openExport: async (...args) => (await exports()).openExport(...args),
    importExport: async (...args) => (await exports()).importExport(...args),
    exportAgent: async (options) => (await exports()).exportAgent(options),
    readAgentZip: async (...args) => (await exports()).readAgentZip(...args),
    readMoveIn: async (...args) => (await exports()).readMoveIn(...args),
    moveIn: async (...args) => (await exports()).moveIn(...args),
  };
}

/** The data worker as one tab sees it. Calls reject with an Error whose message is for people. */
export interface DataWorkerPort {
  call<K extends WorkerCallName>(name: K, ...args: Parameters<WorkerCalls[K]>): Promise<ReturnType<WorkerCalls[K]>>;
  /**
   * All events of the data worker in order; the first is `welcome`. Returns a function that
   * unsubscribes.
   */
  subscribe(listener: (news: WorkerNews) => void): () => void;
}

/** The relay's calls that a page makes. Expected failures are values and never reject. */
export type RelayPort = Omit<PageClient, 'ack'>;

/** Packs and unpacks copies, in a worker of its own. */
export type ExportsPort = Omit<Exports, 'warm'>;

/** Texts by key. `write` returns false where storage is full. */
export interface TextStorage {
  read(key: string): string | null;
  write(key: string, text: string): boolean;
  /** All keys with this prefix. */
  keys(prefix: string): readonly string[];
  /** Another tab has removed a text. Returns a function that unsubscribes. */
  onGone(task: (key: string) => void): () => void;
}

/**
 * Bytes of files in base64: of drafts, or of sent messages whose files are stored nowhere else yet.
 */
interface FileShelf {
  /** False: storage is full or unavailable. */
  put(id: string, data: string): Promise<boolean>;
  /** null: not found. */
  read(id: string): Promise<string | null>;
  remove(ids: readonly string[]): Promise<void>;
}

export interface Device {
  /** ms since the epoch */
  now(): number;
  newId(): string;
  /** Asks the browser for persistent storage. null: the browser does not say. */
  persist(): Promise<boolean | null>;
  /** Storage shared by all tabs of this browser. */
  readonly browser: TextStorage;
  /** Calls `listener` when other tabs of this browser write this key. */
  hear(key: string, listener: (text: string) => void): void;
  /** Attached but unsent files, shared by all tabs of this browser. */
  readonly shelf: FileShelf;
  /** Runs `task` after `ms`. Returns a function that cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** Did the relay refuse for this reason? */
export const isRefusedAs = (problem: RelayProblem, name: ProblemName): boolean =>
  problem.kind === 'refused' && problem.problem.type === `about:roost/${name}`;

/** Is the problem temporary: no answer, or a relay that cannot reach its database? */
export const isPassing = (problem: RelayProblem): boolean =>
  problem.kind !== 'refused' || isRefusedAs(problem, 'database-away');

/** The problem as a sentence for people, with the fields that the relay names. */
export function problemText(problem: RelayProblem): string {
  if (problem.kind !== 'refused') return retold(problem.message);
  const where = (problem.problem.errors ?? [])
    .filter(({ message }) => message !== problem.message)
    .map((field) => `${field.field}: ${field.message}`)
    .join('; ');
  const said = where && !problem.message.includes(where) ? `${problem.message} (${where})` : problem.message;
  return retold(said, problem.problem.type);
}

/** An error of a worker or the browser, as a sentence for people. */
export const errorText = (error: unknown): string => retold(errorMessage(error));

// What the browser stores across reloads: drafts, unsent messages, unseen items.

/** Wraps one of the browser's storages. Full storage is a return value, anything else throws. */
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

/** Listens to what other tabs write to a shared storage. */
export const hearOtherTabs: Device['hear'] = (key, listener) =>
  addEventListener('storage', (event) => {
    if (event.key === key && event.newValue !== null) listener(event.newValue);
  });

// Long work on the ledger: the data worker's progress, whichever tab asked for it, and the outcome
// of this tab's last rebuild.

type RebuildState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly report: RebuildReport }
  | { readonly kind: 'failed'; readonly reason: string };

export interface UpkeepState {
  /** null: no long work is running. */
  readonly progress: WorkerProgress | null;
  readonly rebuild: RebuildState;
}

export const createUpkeep = (): StoreApi<UpkeepState> =>
  createStore<UpkeepState>()(() => ({ progress: null, rebuild: { kind: 'idle' } }));
