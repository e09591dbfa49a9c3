/**
 * The documents of an imported conversation: a session in an agent's past, with its messages. All
 * ids derive from the ids in the source, so the same conversation has the same documents each time.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { AgentId, MessageId, SessionId } from '../../../shared/domain/ids.ts';
import { formatStamp } from '../../../shared/domain/stamp.ts';
import type { MessageDoc, SessionDoc } from '../../../shared/protocol/documents.ts';
import { SCHEMA_VERSION } from '../../../shared/protocol/documents/kinds.ts';
import type { ImportedConversation } from './conversation.ts';

/** Characters of a hash in an id: 128 bits. */
const HASH_CHARS = 32;
const hashOf = (...parts: readonly string[]): string =>
  bytesToHex(sha256(utf8ToBytes(JSON.stringify(parts)))).slice(0, HASH_CHARS);

/** The session that a conversation becomes. It is the same for every agent. */
export const importedSessionId = ({ format, sourceId }: Pick<ImportedConversation, 'format' | 'sourceId'>): SessionId =>
  `import-${hashOf(format, sourceId)}`;

/** The one place that writes imported conversations. */
export function importedDocuments(
  conversation: ImportedConversation,
  agentId: AgentId,
): readonly (SessionDoc | MessageDoc)[] {
  const { format, title, branchOf, messages } = conversation;
  const sessionId = importedSessionId(conversation);
  // Stamps of different conversations differ, because no two messages of an agent may share one.
  const node = `import.${hashOf(sessionId, agentId)}`;
  let last = 0;
  let counter = 0;
  const next = (time: number) => {
    counter = time > last ? 0 : counter + 1;
    last = Math.max(time, last);
    return formatStamp({ time: last, counter, node });
  };
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
  const said = messages.map(({ sourceId, author, blocks, time, model: by }): MessageDoc => {
    const messageId: MessageId = `i-${hashOf(sessionId, sourceId, agentId)}`;
    return {
      ...{ _id: `message:${messageId}`, type: 'message', schema: SCHEMA_VERSION, at: next(time) },
      ...{ messageId, sessionId, agentId, author: author === 'human' ? 'human' : agentId },
      role: author === 'human' ? 'user' : 'assistant',
      blocks: [...blocks],
      status: 'complete',
      ...{ error: null, usage: null, time, clientId: null, replaces: null },
      ...(by === null ? {} : { model: by }),
    };
  });
  const endedAt = last;
  const end: SessionDoc = {
    ...base,
    _id: `session:${sessionId}:end`,
    at: formatStamp({ time: endedAt, counter: 1, node: sessionNode }),
    phase: { kind: 'end', endedAt, reason: 'ended' },
  };
  return [start, ...said, end];
}
