/** How what happens between agents wakes one of them. */
import type { MessagePriority, SleepEvent, TeamEvent, WakeReason } from '../../src/domain/guardrails.ts';
import type { WakeDecision } from '../../src/protocol/wakes.ts';
import type { WakeRequest } from './gate.ts';
import type { ToolOutcome } from './tools.ts';

/**
 * What happens in threads that others must hear of. Called after it is on disk, in order, one at a time: nothing further
 * is written in any thread until it has resolved, so it must not wait for what it sets off. What `added` and
 * `mentioned` resolve with is a sentence for whoever did it, about the wake that was asked for; null: none was. Both may
 * be called again for the same happening, after a crash.
 */
export interface ThreadHooks {
  added(change: {
    readonly threadId: string;
    readonly title: string;
    readonly agentId: string;
    readonly by: string;
    /** How often it has been added to this thread, this time included. */ readonly times: number;
  }): Promise<string | null>;
  mentioned(change: {
    readonly threadId: string;
    readonly title: string;
    readonly agentId: string;
    readonly by: string;
    readonly messageId: string;
    readonly text: string;
  }): Promise<string | null>;
  /** Messages that mention it were put before it in the thread itself: they need not be put before it once more. */
  mentionsRead(change: {
    readonly threadId: string;
    readonly agentId: string;
    readonly messageIds: readonly string[];
    readonly run: string;
  }): Promise<void>;
  /** It is in no open thread any more: it was removed, or the last one was closed. */
  leftLast(change: {
    readonly agentId: string;
    readonly event: Extract<SleepEvent, 'removed_from_last_thread' | 'last_thread_closed'>;
  }): Promise<void>;
}

/** What the relay's other parts ask of whoever wakes agents. The only road to the gate. */
export interface Reach {
  /** Puts a message into the inbox, and asks for a wake where the priority does. */
  message(
    caller: { readonly agentId: string; readonly sessionId: string | null },
    message: { readonly to: string; readonly text: string; readonly priority: MessagePriority },
  ): Promise<ToolOutcome>;
  wake(
    caller: { readonly agentId: string; readonly sessionId: string | null; readonly runId?: string },
    message: { readonly to: string; readonly text: string; readonly reason: WakeReason },
  ): Promise<ToolOutcome>;
  /** Asks the gate and, where it lets it pass, wakes. */
  ask(request: Omit<WakeRequest, 'state'>): Promise<{ readonly decision: WakeDecision; readonly left: number | null }>;
  /** One happening, by every name it has: it may wake an agent or put it to sleep, by the agent's own lists. */
  happened(
    agentId: string,
    events: readonly TeamEvent[],
    about: { readonly by: string; readonly messageId: string | null },
  ): Promise<void>;
}
