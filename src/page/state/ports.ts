/**
 * What the stores need from outside, and nothing more: the ledger's owner, the relay, and the
 * device. `main.tsx` gives the real ones.
 */
import { errorMessage } from '../../shared/domain/platform/error-message.ts';
import type { OwnerCallName, OwnerCalls } from '../../shared/protocol/owner-rpc.ts';
import type { ProblemName } from '../../shared/protocol/problems.ts';
import type { OwnerNews } from '../../shared/protocol/worker.ts';
import type { Archive } from '../archive/index.ts';
import { retold } from '../language/retold.ts';
import type { PageClient, RelayProblem, StreamItem } from '../../shared/relay-client/index.ts';

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
export interface FileShelf {
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
