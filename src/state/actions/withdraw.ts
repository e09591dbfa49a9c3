/** Takes back what waits to be read: first at the relay, which may be about to put it before its agent. */
import { t } from '../../language/t.ts';
import type { MessageDoc, QueuedMessageDoc } from '../../protocol/documents.ts';
import { textOf } from '../answers.ts';
import type { Attachments, PreparedFile } from '../attachments.ts';
import { attempt, type Parts } from './parts.ts';

/** It goes back into the field. */
export interface TakenBack {
  readonly text: string;
  readonly files: readonly PreparedFile[];
}

type WithdrawDeps = Pick<Parts, 'owner' | 'relay' | 'writer' | 'notices' | 'conversations' | 'household'> & {
  readonly attachments: Attachments;
};

/** Null: it was read, or could not be taken back, and that was said. */
export async function withdraw(
  { owner, relay, writer, notices, attachments, conversations, household }: WithdrawDeps,
  message: MessageDoc | QueuedMessageDoc,
): Promise<TakenBack | null> {
  const { agentId, clientId, attachments: files = [] } = message;
  if (clientId === null) return null;
  const isQueued = message.type === 'queued-message';
  // Its bytes first: what cannot be given back is not taken.
  const along = await attachments.prepared(files);
  if (!along.ok) {
    notices.error(t`What is attached could not be read: ${along.reason}`);
    return null;
  }
  if (!isQueued) {
    const taken = await relay.takeBack({ messageId: message.messageId });
    if (!taken.ok) {
      notices.refused(taken.problem);
      return null;
    }
  }
  const doc = writer.withdrawn({ agentId, clientId, of: isQueued ? null : message.at });
  const kept = await attempt(owner.call('append', [doc]));
  if (!kept.ok) notices.error(t`This could not be saved: ${kept.reason}`);
  household.take([doc]);
  conversations.take([doc]);
  return { text: isQueued ? message.text : textOf(message.blocks), files: along.attachments };
}
