/**
 * The operations on threads. `by` and `reader` are "human", who may do everything, an agent's id,
 * or an API client's id, which may do everything in the threads that it created.
 */
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import type { Thread, ThreadMessage } from '../../../src/shared/protocol/threads.ts';

/** `detail`: a sentence for the caller. */
export interface Refusal {
  readonly ok: false;
  readonly reason: 'no-thread' | 'not-in-it' | 'closed' | 'unknown-agent' | 'bad-mention' | 'nobody' | 'too-many';
  readonly detail: string;
}
/** The change names another version than the current one. `thread`: the thread as it is now. */
export interface ChangedElsewhere {
  readonly ok: false;
  readonly reason: 'changed-elsewhere';
  readonly detail: string;
  readonly thread: Thread;
}
export type Answer<Value> = ({ readonly ok: true } & Value) | Refusal;
export type Changed<Value> = Answer<Value> | ChangedElsewhere;

export interface Page {
  readonly thread: Thread;
  /** Oldest first. */
  readonly messages: readonly ThreadMessage[];
  /** Reading: there are earlier messages. Waiting: there are later unread ones. */
  readonly more: boolean;
  /**
   * When the person or an API client reads: by participant, the number up to which it was given the
   * messages of others.
   */
  readonly read?: Readonly<Record<string, number>>;
}

/**
 * What a wait is for: any message of others, one that mentions the reader, or one of a given
 * author.
 */
export type WaitFor =
  | { readonly kind: 'message' }
  | { readonly kind: 'mention' }
  | { readonly kind: 'from'; readonly who: string; readonly name: string };

/** `late`: nothing came in time. `aborted`: the caller has gone. */
type WaitAnswer = Answer<
  { readonly came: true; readonly page: Page } | { readonly came: false; readonly why: 'late' | 'aborted' }
>;

/**
 * A name that ends in `Ref` is an agent's id, name or seat. `notes`: the results of the requested
 * wakes.
 */
export interface Threads {
  /** An agent that creates a thread takes part in it. */
  create(
    by: string,
    thread: { readonly title: string; readonly participantRefs: readonly string[] },
  ): Promise<Answer<{ readonly thread: Thread; readonly notes: readonly string[] }>>;
  /**
   * A new participant may read all earlier messages. Adding a participant again changes nothing.
   */
  add(
    by: string,
    threadId: ThreadId,
    agentRef: string,
    version?: number,
  ): Promise<Changed<{ readonly thread: Thread; readonly notes: readonly string[] }>>;
  remove(by: string, threadId: ThreadId, agentRef: string): Promise<Changed<{ readonly thread: Thread }>>;
  /**
   * Repeated calls with the same `clientId` send one message, even if the thread was closed in
   * between.
   */
  send(
    by: string,
    threadId: ThreadId,
    message: { readonly text: string; readonly mentionRefs: readonly string[]; readonly clientId: string | null },
  ): Promise<Answer<{ readonly message: ThreadMessage; readonly notes: readonly string[] }>>;
  close(
    by: string,
    threadId: ThreadId,
    summary: string,
    version?: number,
  ): Promise<Changed<{ readonly thread: Thread }>>;
  /** Threads of the reader, newest first. The person sees all. `before`: a thread id. */
  list(
    reader: string,
    page: { readonly before: string | null; readonly limit: number; readonly closedToo: boolean },
  ): Promise<{ readonly threads: readonly Thread[]; readonly more: boolean }>;
  /**
   * The newest messages before number `before`. With `run`, they are marked as given to the agent
   * in this run.
   */
  read(
    reader: string,
    threadId: ThreadId,
    page: { readonly before: number | null; readonly limit: number; readonly run: string | null },
  ): Promise<Answer<Page>>;
  /**
   * Waits until the reader's threads, or this one, have an unread message that matches. It may be
   * there already. Resolves with all unread messages of others in that thread, up to a page, and
   * marks them as given.
   */
  wait(
    reader: string,
    options: {
      readonly until: WaitFor;
      readonly threadId: ThreadId | null;
      readonly limitMs: number;
      readonly signal: AbortSignal;
      readonly run: string;
    },
  ): Promise<WaitAnswer>;
  /**
   * Whether others have written something in the agent's threads since then that it was not given
   * yet.
   */
  hasNews(agentId: AgentId, since: number): Promise<boolean>;
  /**
   * Announces again what an earlier process has written and not announced. Called once, before
   * anything else.
   */
  recover(): Promise<void>;
}
