/**
 * The documents of an imported conversation: a session in an agent's past, with its messages. All
 * ids derive from the ids in the source, so the same conversation has the same documents each time.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { AgentId, MessageId, SessionId } from '../../../shared/domain/ids.ts';
import { formatStamp } from '../../../shared/domain/stamp.ts';
import { IMPORTED_SESSION } from '../../../shared/domain/transcript.ts';
import type { MessageDoc, SessionDoc } from '../../../shared/protocol/documents.ts';
import { SCHEMA_VERSION } from '../../../shared/protocol/documents/kinds.ts';
import type { ImportedConversation, ImportedMessage } from './conversation.ts';

/** Characters of a hash in an id: 128 bits. */
const HASH_CHARS = 32;
const hashOf = (...parts: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts)))).slice(0, HASH_CHARS);

/** The session that a conversation becomes. It is the same for every agent. */
export const importedSessionId = ({ format, sourceId }: Pick<ImportedConversation, 'format' | 'sourceId'>): SessionId =>
  `${IMPORTED_SESSION}${hashOf(format, sourceId)}`;

/** Stamps of conversations that began in the same ms are spread over these ms. */
const SPREAD_MS = 60_000;
/**
 * Whether the branch begins with this message. A question before it is repeated from the chosen
 * path.
 */
const isFirstOwn = ({ sourceId }: ImportedConversation, message: ImportedMessage) =>
  sourceId.endsWith(`/${message.sourceId}`);

/** The one place that writes imported conversations. */
export function importedDocuments(
  conversation: ImportedConversation,
  agentId: AgentId,
): readonly (SessionDoc | MessageDoc)[] {
  const { format, title, branchOf, messages } = conversation;
  const sessionId = importedSessionId(conversation);
  // No two messages of an agent share a stamp, so its node names the conversation. All messages
  // have the time at which the conversation began in their stamps. In an agent's past,
  // conversations that were held at the same time thus follow each other. `time` is when a message
  // was said.
  const node = `import.${hashOf(sessionId, agentId)}`;
  const began = messages.find((one) => branchOf !== null && isFirstOwn(conversation, one)) ?? messages[0];
  const stampTime = (began?.time ?? 0) + (Number.parseInt(hashOf(sessionId).slice(0, 8), 16) % SPREAD_MS);
  const stampOf = (counter: number) => formatStamp({ time: stampTime, counter, node });
  const first = messages[0]?.time ?? 0;
  const model = messages.find((one) => one.model !== null)?.model ?? '';
  const base = { type: 'session', schema: SCHEMA_VERSION, sessionId } as const;
  const sessionNode = `import.${hashOf(sessionId)}`;
  const start: SessionDoc = {
    ...base,
    _id: `session:${sessionId}:start`,
    at: formatStamp({ time: first, counter: 0, node: sessionNode }),
    phase: {
      ...{ kind: 'start', startedAt: first, mind: 'import', model },
      imported: {
        from: format,
        title,
        ...(branchOf === null ? {} : { branchOf: importedSessionId({ format, sourceId: branchOf }) }),
      },
    },
  };
  const docs = messages.map(({ sourceId, author, blocks, time, model: by }, n): MessageDoc => {
    const messageId: MessageId = `i-${hashOf(sessionId, sourceId, agentId)}`;
    return {
      ...{ _id: `message:${messageId}`, type: 'message', schema: SCHEMA_VERSION, at: stampOf(n) },
      ...{ messageId, sessionId, agentId, author: author === 'human' ? 'human' : agentId },
      role: author === 'human' ? 'user' : 'assistant',
      blocks: [...blocks],
      status: 'complete',
      ...{ error: null, usage: null, time, clientId: null, replaces: null },
      ...(by === null ? {} : { model: by }),
    };
  });
  const endedAt = messages.reduce((latest, { time }) => Math.max(latest, time), 0);
  const end: SessionDoc = {
    ...base,
    _id: `session:${sessionId}:end`,
    at: formatStamp({ time: endedAt, counter: 1, node: sessionNode }),
    phase: { kind: 'end', endedAt, reason: 'ended' },
  };
  return [start, ...docs, end];
}
