/** Shared parts of the thread modules. */
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import type { Thread, ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import { createListeners, type Listeners } from '../../../src/shared/domain/platform/events.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { mentionedIn } from '../../../src/shared/domain/mentions.ts';
import { isApplicationId } from '../../../src/shared/domain/applications.ts';
import { eachOnce, type Named, PERSON } from '../../../src/shared/domain/threads.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { Directory } from '../directory/index.ts';
import type { ThreadHooks } from './hooks.ts';
import type { HomeStore } from '../../store/index.ts';
import type { SetAside } from '../../platform/set-aside.ts';

// The operations on threads. `by` and `reader` are "human", who may do everything, an agent's id,
// or an API client's id, which may do everything in the threads that it created.

/** `detail`: a sentence for the caller. */
export interface Refusal {
  readonly ok: false;
  readonly reason:
    | 'no-thread'
    | 'not-in-it'
    | 'closed'
    | 'unknown-agent'
    | 'bad-mention'
    | 'nobody'
    | 'too-many'
    | 'projects-full';
  readonly detail: string;
}
/** The change names another version than the current one. `thread`: the thread as it is now. */
interface ChangedElsewhere {
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
   * Opens a thread of the relay's own, such as the comments of a task, with these agents in it. One
   * that is there already gets those that it lacks, and is opened again if it was closed. Nobody is
   * notified.
   */
  attach(thread: {
    readonly threadId: ThreadId;
    readonly title: string;
    readonly agentIds: readonly AgentId[];
  }): Promise<void>;
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

/** Agents that wait for messages in their threads, and the notifier that makes them look again. */
interface Listener {
  /**
   * `rung`: something has happened since the last call, so the caller looks again. The others end
   * the wait.
   */
  next(): Promise<'rung' | 'late' | 'aborted'>;
  stop(): void;
}

interface Notifier {
  /** Listens from now on, so that nothing between a look and `next` is missed. */
  listen(agentId: AgentId, limits: { readonly limitMs: number; readonly signal: AbortSignal }): Listener;
  notify(agentIds: readonly AgentId[]): void;
}

function createNotifier(timers: Timers): Notifier {
  const listeners = new Map<string, Listeners>();
  return {
    listen(agentId, { limitMs, signal }) {
      let notified = false;
      let over: 'late' | 'aborted' | null = signal.aborted ? 'aborted' : limitMs <= 0 ? 'late' : null;
      let wake: () => void = () => undefined;
      const onNotice = () => {
        notified = true;
        wake();
      };
      const end = (how: 'late' | 'aborted') => {
        over ??= how;
        wake();
      };
      const onAbort = () => end('aborted');
      const cancel = over === null ? timers.after(limitMs, () => end('late')) : () => undefined;
      signal.addEventListener('abort', onAbort);
      const mine = listeners.get(agentId) ?? createListeners();
      listeners.set(agentId, mine);
      const unsubscribe = mine.subscribe(onNotice);
      return {
        async next() {
          if (!notified && over === null) await new Promise<void>((resolve) => (wake = resolve));
          if (over === 'aborted') return over;
          if (notified) {
            notified = false;
            return 'rung';
          }
          return over ?? 'late';
        },
        stop() {
          cancel();
          signal.removeEventListener('abort', onAbort);
          unsubscribe();
          if (mine.count() === 0 && listeners.get(agentId) === mine) listeners.delete(agentId);
        },
      };
    },
    notify(agentIds) {
      for (const agentId of agentIds) listeners.get(agentId)?.tell();
    },
  };
}

export interface ThreadRoom {
  /** Called before a transaction that takes room. */
  ready(): Promise<void>;
  /** Why a message of `bytes` may not be stored, as a sentence. Null: it may. */
  takeMessage(threadId: ThreadId, bytes: number): string | null;
}

export interface ThreadsDeps extends HomeStore {
  readonly directory: Directory;
  /** Announces that threads have changed. */
  readonly tell: (event: RoostEvent) => void;
  /** In ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  /** Why agents may store nothing more now, as a sentence. Null, or left out: they may. */
  readonly refuseForRoom?: () => Promise<string | null>;
  /** What comments on tasks may take in the store. Left out: they are not limited. */
  readonly room?: ThreadRoom;
  readonly hooks: ThreadHooks;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

export interface ThreadsContext extends ThreadsDeps {
  /** Serialises writes and their notices. */
  readonly inTurn: ReturnType<typeof createQueue>;
  readonly notifier: Notifier;
  /** Called after a change is on disk: pages fetch again, and waiting agents look again. */
  changed(agentIds: readonly AgentId[]): void;
  /**
   * Agents by id, name or seat, without duplicates. The refusal names the first that is not found.
   */
  findAgents(
    references: readonly string[],
  ): Promise<{ readonly ok: true; readonly agents: readonly Named[] } | Refusal>;
  /** Agents that a text mentions with `@`, without retired ones. */
  namedIn(text: string): Promise<readonly Named[]>;
}

export function createThreadsContext(deps: ThreadsDeps): ThreadsContext {
  const { tell, now, directory, timers } = deps;
  const notifier = createNotifier(timers);
  return {
    ...deps,
    inTurn: createQueue(),
    notifier,
    changed(agentIds) {
      tell({ kind: 'changed', time: now(), what: 'threads', agentId: null });
      notifier.notify(agentIds);
    },
    async findAgents(references) {
      const agents: Named[] = [];
      for (const reference of references) {
        const found = await directory.find(reference);
        if (!found.ok) return refuse('unknown-agent', found.reason);
        agents.push(found.agent);
      }
      return { ok: true, agents: eachOnce(agents) };
    },
    async namedIn(text) {
      if (!text.includes('@')) return [];
      const there = (await directory.all()).filter(({ retired }) => !retired);
      const ids = mentionedIn(text, there);
      return there.filter(({ agentId }) => ids.includes(agentId));
    },
  };
}

export const refuse = (reason: Refusal['reason'], detail: string): Refusal => ({ ok: false, reason, detail });

/** The thread, if `who` may read it and write in it. */
export function admit(thread: Thread | null, who: string): Answer<{ readonly thread: Thread }> {
  if (thread === null) return refuse('no-thread', 'There is no such thread.');
  if (who === PERSON || thread.participants.includes(who)) return { ok: true, thread };
  // An API client sees only threads that it created.
  if (isApplicationId(who))
    return thread.createdBy === who
      ? { ok: true, thread }
      : refuse('no-thread', 'This application did not open that thread.');
  return refuse(
    'not-in-it',
    `You are not in the thread ${titled(thread.title)}. Only participants can read it and write in it.`,
  );
}

/** Null: the thread is open. */
export function refuseClosed({ closed, title }: Thread): Refusal | null {
  if (closed === null) return null;
  return refuse(
    'closed',
    `The thread ${titled(title)} is closed, and accepts no messages${closed.summary === '' ? '.' : `. Its summary: ${titled(closed.summary)}`}`,
  );
}
