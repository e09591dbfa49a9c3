/**
 * Reads sessions of OpenClaw, versions 1 to 3: one file of JSON Lines a session, at
 * `agents/<agent>/sessions/<session>.jsonl`. The first line is the session's. Lines form a tree by
 * `parentId`, and version 1 has none: each line continues the line before it.
 * https://docs.openclaw.ai/reference/session-management-compaction
 */
import { pieceOf, piecesOf, resultText } from './claude.ts';
import {
  conversationsOf,
  firstWords,
  type ImportedConversation,
  isTooLong,
  NOT_TAKEN,
  type NoteNotTaken,
  type Piece,
  type Said,
} from './conversation.ts';
import { dateOf, type Fields, nameOf, recordOf, recordsOf, textOf } from './fields.ts';
import { IMPORTS } from './settings.ts';

export const OPENCLAW = 'OpenClaw';

/** Whether the value is the first line of a session of OpenClaw, or one of its entries. */
export const isOpenClaw = (value: Fields): boolean => {
  const { type, message } = value;
  if (type === 'session') return 'version' in value && 'id' in value;
  return typeof type === 'string' && ('parentId' in value || (type === 'message' && 'role' in recordOf(message)));
};

function blockPiece(block: Fields): Piece | null {
  if (block['type'] !== 'toolCall') return pieceOf(block);
  return {
    kind: 'call',
    callId: textOf(block['id']),
    name: nameOf(block['name']) ?? 'tool',
    input: block['arguments'] ?? {},
  };
}

/** What was said in a message; null: it is an instruction or a mark of OpenClaw. */
function saidIn({ role, content, toolCallId, toolName, isError }: Fields): readonly Piece[] | null {
  switch (role) {
    case 'user':
    case 'assistant':
      return piecesOf(content, blockPiece);
    case 'toolResult':
      return [
        {
          kind: 'result',
          callId: nameOf(toolCallId),
          name: nameOf(toolName) ?? 'tool',
          text: resultText(content),
          isError: isError === true,
        },
      ];
    default:
      return null;
  }
}

/** `values`: the lines of one file, in order. */
export function openClawConversations(
  values: readonly Fields[],
  path: string,
  fallback: number,
  note: NoteNotTaken,
): ImportedConversation[] {
  const messagesById = new Map<string, Said>();
  const skipped = new Map<string, string | null>();
  const header = values.find(({ type }) => type === 'session') ?? {};
  let title = '';
  let last: string | null = null;
  for (const [n, value] of values.entries()) {
    const { type, timestamp, parentId, name } = value;
    if (type === 'session') continue;
    if (type === 'session_info') title = textOf(name);
    const id = nameOf(value['id']) ?? `${n}`;
    const parent: string | null = 'parentId' in value ? nameOf(parentId) : last;
    last = id;
    skipped.set(id, parent);
    if (type !== 'message') continue;
    if (messagesById.size >= IMPORTS.messages) {
      note(NOT_TAKEN.tooMany, path);
      continue;
    }
    const message = recordOf(value['message']);
    const media = recordsOf(message['content']).filter((block) => block['type'] === 'image').length;
    if (media > 0) note(NOT_TAKEN.media, path, media);
    const pieces = saidIn(message);
    if (pieces === null) note(NOT_TAKEN.system, path);
    else if (pieces.length === 0) note(NOT_TAKEN.empty, path);
    else if (isTooLong(pieces)) note(NOT_TAKEN.tooLong, path);
    else
      messagesById.set(id, {
        ...{ id, parent, pieces, time: dateOf(timestamp) },
        author: message['role'] === 'user' ? 'human' : 'agent',
        model: message['role'] === 'assistant' ? nameOf(message['model']) : null,
      });
  }
  return conversationsOf(
    {
      ...{ format: OPENCLAW, sourceId: nameOf(header['id']) ?? path, said: messagesById, skipped, current: last },
      title: title || firstWords(messagesById),
      fallback: dateOf(header['timestamp']) ?? fallback,
    },
    note,
  );
}
