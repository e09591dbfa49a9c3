/**
 * Takes back what waits to be read: first at the relay, which may be about to put it before its
 * agent. Fetched for that.
 */
import { t } from '../../language/t.ts';
import type { MessageDoc, MessageWithdrawnDoc, QueuedMessageDoc } from '../../../shared/protocol/documents.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import type { Attachments, PreparedFile } from '../attachments.ts';
import { queuedWithdrawnId, SCHEMA_VERSION } from '../../../shared/protocol/documents/kinds.ts';
import { attempt, type Parts } from './parts.ts';

/** It goes back into the field. */
export interface TakenBack {
  readonly text: string;
  readonly files: readonly PreparedFile[];
}

type WithdrawDeps = Pick<Parts, 'owner' | 'relay' | 'clock' | 'device' | 'notices' | 'conversations' | 'household'> & {
  readonly attachments: Attachments;
};

/** In hexadecimal, of bytes in base64. */
async function sha256Of(data: string): Promise<string> {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Null: it was read, or could not be taken back, and that was said. */
export async function withdraw(
  { owner, relay, clock, device, notices, attachments, conversations, household }: WithdrawDeps,
  message: MessageDoc | QueuedMessageDoc,
): Promise<TakenBack | null> {
  const { agentId, clientId, attachments: files = [] } = message;
  if (clientId === null) return null;
  const isQueued = message.type === 'queued-message';
  // Its bytes first: what cannot be given back is not taken.
  const along = await attachments.toSend(files);
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
  const kept = await attempt(owner.call('append', [doc]));
  if (!kept.ok) notices.error(t`This could not be saved: ${kept.reason}`);
  household.take([doc]);
  conversations.take([doc]);
  return {
    text: isQueued ? message.text : textOf(message.blocks),
    files: await Promise.all(along.attachments.map(async (file) => ({ ...file, sha256: await sha256Of(file.data) }))),
  };
}
