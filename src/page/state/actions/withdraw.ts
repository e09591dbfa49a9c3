/**
 * Withdraws unread messages. The relay comes first, since it may be about to deliver them. Loaded
 * on first use.
 */
import { t } from '../../language/t.ts';
import type { MessageDoc, MessageWithdrawnDoc, QueuedMessageDoc } from '../../../shared/protocol/documents.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { createAttachments } from '../attachments.ts';
import type { Withdrawn } from '../outbox/index.ts';
import { queuedWithdrawnId, SCHEMA_VERSION } from '../../../shared/protocol/documents/kinds.ts';
import { attempt, type Parts } from './parts.ts';

type WithdrawDeps = Pick<
  Parts,
  'dataWorker' | 'writer' | 'relay' | 'clock' | 'device' | 'notices' | 'conversations' | 'household'
>;

/** In hexadecimal, of bytes in base64. */
async function sha256Of(data: string): Promise<string> {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** null: it was read already, or the withdrawal failed; a notice says which. */
export async function withdraw(
  { dataWorker, writer, relay, clock, device, notices, conversations, household }: WithdrawDeps,
  message: MessageDoc | QueuedMessageDoc,
): Promise<Withdrawn | null> {
  const { agentId, clientId, attachments: files = [] } = message;
  if (clientId === null) return null;
  const attachments = createAttachments({ dataWorker, writer, household });
  const isQueued = message.type === 'queued-message';
  // The file bytes first: a message whose files cannot be restored is not withdrawn.
  const along = await attachments.toSend(files);
  if (!along.ok) {
    notices.error(t`Could not load this. ${along.reason}`);
    return null;
  }
  if (!isQueued) {
    const taken = await relay.withdrawMessage({ messageId: message.messageId });
    if (!taken.ok) {
      notices.refused(taken.problem);
      return null;
    }
  }
  const doc: MessageWithdrawnDoc = {
    _id: isQueued ? queuedWithdrawnId(clientId) : `message-withdrawn:${clientId}`,
    type: 'message-withdrawn',
    schema: SCHEMA_VERSION,
    at: clock.next(),
    agentId,
    clientId,
    ...(isQueued ? {} : { of: message.at }),
    time: device.now(),
  };
  const kept = await attempt(dataWorker.call('append', [doc]));
  if (!kept.ok) notices.error(t`Could not save this. ${kept.reason}`);
  household.take([doc]);
  conversations.take([doc]);
  return {
    text: isQueued ? message.text : textOf(message.blocks),
    files: await Promise.all(along.attachments.map(async (file) => ({ ...file, sha256: await sha256Of(file.data) }))),
  };
}
