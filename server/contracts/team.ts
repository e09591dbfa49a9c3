/** Who there is, and what waits for them. */
import type { SentAttachment } from '../../src/shared/domain/attachment.ts';
import type { MessagePriority, MessageType } from '../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, RunId, SessionId, ThreadId } from '../../src/shared/domain/ids.ts';
import type { InboxMessage } from '../../src/shared/protocol/inbox.ts';
import type { Team, TeamMember } from '../../src/shared/protocol/team.ts';

/** Everybody the household has, as the page said last. Names change; ids do not. */
export interface Directory {
  set(team: Team): Promise<void>;
  all(): Promise<readonly TeamMember[]>;
  /** Has a page said who lives here? */
  isAnnounced(): Promise<boolean>;
  /**
   * By id, by name (as people write it, case aside), or by seat ("3", "seat 3"). The reason is a
   * sentence for whoever asked.
   */
  find(
    reference: string,
  ): Promise<{ readonly ok: true; readonly agent: TeamMember } | { readonly ok: false; readonly reason: string }>;
}

export interface NewInboxMessage {
  readonly messageId: MessageId;
  readonly to: string;
  /** "human", "relay" or an agent's id. */
  readonly from: string;
  readonly text: string;
  readonly time: number;
  readonly priority: MessagePriority;
  readonly type?: MessageType;
  readonly threadId: ThreadId | null;
  /**
   * Of the person's held in memory until they are claimed: the text names them, for whoever reads
   * it after a restart. Of the relay's kept with the message, as far as there is room.
   */
  readonly attachments?: readonly SentAttachment[];
}

/** As it is put before its agent. */
export interface TakenMessage extends InboxMessage {
  readonly attachments?: readonly SentAttachment[];
}

/**
 * Messages that wait for an agent. They outlive sessions and restarts, and each is put before its
 * agent once.
 */
export interface Inbox {
  /**
   * A repeat with the same message id changes nothing. Null: it is there. Otherwise why it is not,
   * as a sentence for its sender: an agent's message for which there is no place. `name`: the
   * receiver's, for that sentence.
   */
  put(message: NewInboxMessage, name?: string): Promise<string | null>;
  /**
   * What waits for this agent, oldest first: what the person wrote before all else, then of the
   * others `limit` at most.
   */
  waiting(agentId: AgentId, limit?: number): Promise<readonly InboxMessage[]>;
  /** How much waits for this agent. */
  count(agentId: AgentId): Promise<number>;
  /** `null`: there is no such message, or it was read long ago. */
  standing(messageId: MessageId): Promise<'waits' | 'read' | null>;
  /** Takes back a message that an agent left for itself. False where it does not wait any more. */
  withdraw(messageId: MessageId): Promise<boolean>;
  /**
   * Takes messages to put them before their agent, in this run: an answer's id, or a call's.
   * `readIn`: the session, of a run in none that run; null: by a client, beside both. Gives back
   * those that nobody had taken yet, oldest first, on disk as read.
   */
  claim(
    messageIds: readonly MessageId[],
    read: { readonly readIn: SessionId | RunId | null; readonly run: string; readonly time: number },
  ): Promise<readonly TakenMessage[]>;
  /** Newest first. `before` is a message id. */
  list(
    agentId: AgentId,
    page: { readonly before: string | null; readonly limit: number },
  ): Promise<{ readonly messages: readonly InboxMessage[]; readonly more: boolean }>;
  unread(): Promise<ReadonlyMap<string, number>>;
  /** What was claimed in this session, or in this run of none, by answers of the relay. */
  takenIn(readIn: SessionId | RunId): Promise<readonly InboxMessage[]>;
  /** The person takes back what they wrote. False where it does not wait here any more. */
  takeBack(messageId: MessageId): Promise<boolean>;
  /** Undoes a claim whose message was not put before anybody. */
  giveBack(messageIds: readonly MessageId[]): Promise<void>;
}
