/**
 * What threads can do. `by` and `reader` are "human", who may do everything everywhere, an agent's
 * id, or an application's, which may do everything in the threads that it began.
 */
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import type { Thread, ThreadMessage } from '../../../src/shared/protocol/threads.ts';

/** `detail` is a sentence for whoever asked. */
export interface Refusal {
  readonly ok: false;
  readonly reason: 'no-thread' | 'not-in-it' | 'closed' | 'unknown-agent' | 'bad-mention' | 'nobody' | 'too-many';
  readonly detail: string;
}
/** The change names another version than that of the thread, which is given as it is now. */
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
  /** Reading: earlier ones are there. Waiting: later ones are there, unread. */
  readonly more: boolean;
  /**
   * Where the person reads: by who takes part, the place up to which it was given what others said.
   */
  readonly read?: Readonly<Record<string, number>>;
}

/**
 * What a wait is for: anything that others say, what mentions the reader, or what somebody says.
 */
export type WaitFor =
  | { readonly kind: 'message' }
  | { readonly kind: 'mention' }
  | { readonly kind: 'from'; readonly who: string; readonly name: string };

/** `late`: nothing came in time. `aborted`: whoever waits has gone. */
type WaitAnswer = Answer<
  { readonly came: true; readonly page: Page } | { readonly came: false; readonly why: 'late' | 'aborted' }
>;

/**
 * Agents are named by id, name or seat wherever a name below ends in `Ref`. `notes` are what became
 * of the wakes that were asked for.
 */
export interface Threads {
  /** An agent that creates a thread is in it. */
  create(
    by: string,
    thread: { readonly title: string; readonly participantRefs: readonly string[] },
  ): Promise<Answer<{ readonly thread: Thread; readonly notes: readonly string[] }>>;
  /**
   * A new participant may read everything that was said. Adding one who is there already changes
   * nothing.
   */
  add(
    by: string,
    threadId: ThreadId,
    agentRef: string,
    version?: number,
  ): Promise<Changed<{ readonly thread: Thread; readonly notes: readonly string[] }>>;
  remove(by: string, threadId: ThreadId, agentRef: string): Promise<Changed<{ readonly thread: Thread }>>;
  /**
   * A repeat with the same `clientId` is one message, also when the thread was closed in between.
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
  /** Newest first: those that the reader is in; the person's: all. `before` is a thread id. */
  list(
    reader: string,
    page: { readonly before: string | null; readonly limit: number; readonly closedToo: boolean },
  ): Promise<{ readonly threads: readonly Thread[]; readonly more: boolean }>;
  /**
   * The newest messages before the place `before`. With `run`, those are marked as given to the
   * agent in this run.
   */
  read(
    reader: string,
    threadId: ThreadId,
    page: { readonly before: number | null; readonly limit: number; readonly run: string | null },
  ): Promise<Answer<Page>>;
  /**
   * Waits until one of the reader's threads, or this one, has something that it was not given yet
   * and that it waits for; it may be there already. Gives all of that thread that the reader was
   * not given yet, its own words apart, and marks it as given.
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
  /** Whether others have written something in its threads since then that it was not given yet. */
  hasNews(agentId: AgentId, since: number): Promise<boolean>;
  /**
   * Tells again what an earlier process of this relay has written and not told. Once, before
   * anything else.
   */
  recover(): Promise<void>;
}
