/** Changes in threads that may wake an agent. */
import type { SleepEvent } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, ThreadId } from '../../../src/shared/domain/ids.ts';

/**
 * Called for changes in threads that other parts must know. Each call comes after the change is on
 * disk, in order, one at a time. No thread is written until the call resolves, so it must not wait
 * for work that it starts. `added` and `mentioned` resolve with a sentence about the requested wake
 * for the author of the change, or null if no wake was requested. After a crash both may be
 * called again for the same change.
 */
export interface ThreadHooks {
  added(change: {
    readonly threadId: ThreadId;
    readonly title: string;
    readonly agentId: AgentId;
    readonly by: string;
    /** How often it has been added to this thread, this time included. */ readonly times: number;
  }): Promise<string | null>;
  mentioned(change: {
    readonly threadId: ThreadId;
    readonly title: string;
    readonly agentId: AgentId;
    readonly by: string;
    readonly messageId: MessageId;
    readonly text: string;
  }): Promise<string | null>;
  /**
   * The agent has read messages that mention it in the thread. They need not be delivered again.
   */
  mentionsRead(change: {
    readonly threadId: ThreadId;
    readonly agentId: AgentId;
    readonly messageIds: readonly MessageId[];
    readonly run: string;
  }): Promise<void>;
  /** The agent is in no open thread any more: it was removed, or the last thread was closed. */
  leftLast(change: {
    readonly agentId: AgentId;
    readonly event: Extract<SleepEvent, 'removed_from_last_thread' | 'last_thread_closed'>;
  }): Promise<void>;
}
