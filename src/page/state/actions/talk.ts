/** What the person does in a conversation with the lead or an agent. */
import type { Attachment } from '../../../shared/domain/attachment.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import type { MessageDoc, QueuedMessageDoc } from '../../../shared/protocol/documents.ts';
import { t } from '../../language/t.ts';
import type { PreparedFile } from '../attachments.ts';
import type { Withdrawn } from '../outbox/index.ts';
import type { Parts } from './parts.ts';

/** Attachments of a message: new files, and those of the message that it replaces. */
export interface Along {
  readonly files?: readonly PreparedFile[];
  readonly attachments?: readonly Attachment[] | undefined;
  /** Left out: a new one. */
  readonly clientId?: string;
}

export interface TalkActions {
  /** `replaces`: the person's last message there, which this one replaces. */
  send(agentId: AgentId, text: string, replaces?: string, along?: Along): Promise<void>;
  /**
   * Withdraws an unread message. null: it was read already, or the withdrawal failed; a notice says
   * which.
   */
  withdraw(message: MessageDoc | QueuedMessageDoc): Promise<Withdrawn | null>;
  /** Requests a new answer to the person's last message. */
  retry(message: MessageDoc): Promise<void>;
  /** Asks the agent to continue an interrupted answer, as a message of the person would. */
  goOn(agentId: AgentId): Promise<void>;
  stop(agentId: AgentId): Promise<void>;
}

const GO_ON = t`Continue.`;

export function createTalkActions(parts: Parts): TalkActions {
  const { notices, outbox, relay } = parts;
  const send: TalkActions['send'] = (agentId, text, replaces, { files = [], attachments = [], clientId } = {}) =>
    outbox.send(
      { to: 'agent', agentId, text, replaces: replaces ?? null, attachments: [...attachments, ...files] },
      clientId,
    );
  return {
    send,
    withdraw: async (message) => (await import('./withdraw.ts')).withdraw(parts, message),
    goOn: (agentId) => send(agentId, GO_ON),
    retry: (message) =>
      send(message.agentId, textOf(message.blocks), message.messageId, { attachments: message.attachments }),
    async stop(agentId) {
      const stopped = await relay.stop({ agentId });
      if (!stopped.ok) notices.refused(stopped.problem);
    },
  };
}
