/** Shared parts of the thread modules. */
import { createListeners, type Listeners } from '../../../src/shared/domain/platform/events.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { mentionedIn } from '../../../src/shared/domain/mentions.ts';
import { isApplicationId } from '../../../src/shared/domain/applications.ts';
import { eachOnce, PERSON, type Named } from '../../../src/shared/domain/threads.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { Thread } from '../../../src/shared/protocol/threads.ts';
import type { Directory, ThreadHooks } from '../../contracts/index.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { Db } from '../../store/index.ts';
import type { Answer, Refusal } from './types.ts';

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

export interface ThreadsDeps {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
  readonly directory: Directory;
  /** Announces that threads have changed. */
  readonly tell: (event: RoostEvent) => void;
  /** In ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  /** Why agents may store nothing more now, as a sentence. Null, or left out: they may. */
  readonly refuseForRoom?: () => Promise<string | null>;
  readonly hooks: ThreadHooks;
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
      : refuse('no-thread', 'This application began no such thread.');
  return refuse(
    'not-in-it',
    `You are not in the thread ${titled(thread.title)}. Only those who are in it read it and write in it.`,
  );
}

/** Null: the thread is open. */
export function refuseClosed({ closed, title }: Thread): Refusal | null {
  if (closed === null) return null;
  return refuse(
    'closed',
    `The thread ${titled(title)} is closed and takes nothing more${closed.summary === '' ? '.' : `. Its summary: ${titled(closed.summary)}`}`,
  );
}
