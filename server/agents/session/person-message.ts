/** The person's words and attachments, in the log's form and in the mind's. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';
import { messageIdOf } from '../../../src/shared/domain/message-id.ts';
import type { Block } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';
import { type Attachment, attachmentLine } from '../../../src/shared/domain/attachment.ts';
import type { SessionContext } from './context.ts';

/** The person's words as blocks. */
export const wordsOf = (text: string): Block[] => (text === '' ? [] : [{ kind: 'text', text }]);
/** An attachment without its bytes, which only the ledger has. */
const withoutBytes = ({
  attachmentId,
  name,
  mediaType,
  bytes,
  width,
  height,
}: NonNullable<PostMessage['attachments']>[number]) => ({ attachmentId, name, mediaType, bytes, width, height });
/**
 * The words and the names of the attachments. The names serve minds that cannot see, and remain
 * after a restart.
 */
export const textWith = (text: string, attachments: readonly Attachment[]): string =>
  [...(text === '' ? [] : [text]), ...attachments.map(attachmentLine)].join('\n\n');

/**
 * The person's message as an event. Its id is derived from the client's, so that a repeat is the
 * same message.
 */
export function personMessage(
  { now, sessionId }: Pick<SessionContext, 'now' | 'sessionId'>,
  message: PostMessage,
  agentId: AgentId,
  blocks: Block[],
  waiting: boolean,
): EventOf<'message'> {
  const { clientId, replaces = null, attachments = [] } = message;
  return {
    kind: 'message',
    time: now(),
    messageId: messageIdOf(clientId),
    sessionId,
    agentId,
    author: 'human',
    role: 'user',
    blocks,
    ...(attachments.length > 0 ? { attachments: attachments.map(withoutBytes) } : {}),
    status: 'complete',
    error: null,
    usage: null,
    clientId,
    replaces,
    waiting,
  };
}
