/**
 * Reads conversations of ChatGPT, as in its exports from 2023 to August 2026. One file has a list
 * of them (`conversations.json`, or `conversations-000.json` and so on).
 *
 * A conversation is a tree in `mapping`. `children` can be missing, so `parent` counts first. The
 * root has no message, and messages of the person may have no `metadata`.
 */
import { sentence } from '../../../shared/domain/names.ts';
import {
  conversationsOf,
  type ImportedConversation,
  isTooLong,
  NOT_TAKEN,
  type NoteNotTaken,
  type Piece,
  type Said,
} from './conversation.ts';
import { type Fields, listOf, nameOf, recordOf, recordsOf, secondsOf, textOf } from './fields.ts';
import { IMPORTS } from './settings.ts';

export const CHATGPT = 'ChatGPT';

/** Empty conversations have no `mapping`. */
export const isChatGpt = (value: Fields): boolean => 'mapping' in value || 'current_node' in value;

const joinedLines = (parts: readonly unknown[]) => parts.filter((part) => textOf(part) !== '').join('\n\n');

/** Texts of `parts`: a plain text, or the transcript of a recording. */
const partText = (part: unknown): string => {
  if (typeof part === 'string') return part;
  const { content_type: type, text } = recordOf(part);
  return type === 'audio_transcription' ? textOf(text) : '';
};
const isMedia = (part: unknown): boolean => /pointer/.test(textOf(recordOf(part)['content_type']));

/** What a message of a tool shows. Pages that were read have no `parts`. */
function resultText(content: Fields): string {
  const { parts, text, result, title, url, summary } = content;
  return joinedLines([
    ...[title, url, summary].map(textOf),
    ...listOf(parts).map(partText),
    textOf(text),
    textOf(result),
  ]);
}

function thoughtsOf(content: Fields): string {
  const thoughts = recordsOf(content['thoughts']).map(({ summary, content: text }) => joinedLines([summary, text]));
  return joinedLines([...thoughts, textOf(content['content'])]);
}

/** Marks of ChatGPT around its sources, such as ` cite turn0search1 `. */
const MARKS = /\ue200[^\ue200\ue201]*\ue201/g;

function piecesOf(id: string, message: Fields): Piece[] {
  const content = recordOf(message['content']);
  const type = textOf(content['content_type']);
  const author = recordOf(message['author']);
  const role = textOf(author['role']);
  const recipient = nameOf(message['recipient']) ?? 'all';
  if (role === 'tool') {
    const text = resultText(content);
    const name = nameOf(author['name']) ?? 'tool';
    return text === '' ? [] : [{ kind: 'result', callId: null, name, text, isError: type === 'system_error' }];
  }
  if (type === 'thoughts' || type === 'reasoning_recap') {
    const text = thoughtsOf(content);
    return text === '' ? [] : [{ kind: 'thought', text }];
  }
  const text = joinedLines([...listOf(content['parts']).map(partText), textOf(content['text'])]).replace(MARKS, '');
  if (text === '') return [];
  if (role === 'assistant' && recipient !== 'all')
    return [{ kind: 'call', callId: id, name: recipient, input: { text } }];
  return [{ kind: 'text', text }];
}

const isHidden = ({ metadata, author }: Fields): boolean => {
  const role = textOf(recordOf(author)['role']);
  return role === 'system' || recordOf(metadata)['is_visually_hidden_from_conversation'] === true;
};
const UNKNOWN_ROLE = sentence`messages of an unknown author`;

/** A conversation, and its branches as conversations of their own. */
export function chatGptConversations(value: Fields, fallback: number, note: NoteNotTaken): ImportedConversation[] {
  const title = textOf(value['title']);
  const sourceId = nameOf(value['conversation_id']) ?? nameOf(value['id']);
  const nodes = Object.entries(recordOf(value['mapping']));
  const started = secondsOf(value['create_time']) ?? secondsOf(value['update_time']) ?? fallback;
  const modelHere = nameOf(value['default_model_slug']);
  const messagesById = new Map<string, Said>();
  const skipped = new Map<string, string | null>();
  const byChild = new Map<unknown, string>();
  for (const [id, node] of nodes) for (const child of listOf(recordOf(node)['children'])) byChild.set(child, id);
  let count = 0;
  for (const [id, node] of nodes) {
    const parent = nameOf(recordOf(node)['parent']) ?? byChild.get(id) ?? null;
    skipped.set(id, parent);
    const message = recordOf(node)['message'];
    // Roots have no message.
    if (typeof message !== 'object' || message === null) continue;
    count += 1;
    if (count > IMPORTS.messages) {
      note(NOT_TAKEN.tooMany, title);
      continue;
    }
    const fields = recordOf(message);
    const { author, content, metadata } = fields;
    const media = listOf(recordOf(content)['parts']).filter(isMedia).length;
    if (media > 0) note(NOT_TAKEN.media, title, media);
    const role = textOf(recordOf(author)['role']);
    if (isHidden(fields)) note(NOT_TAKEN.system, title);
    else if (!['user', 'assistant', 'tool'].includes(role)) note(UNKNOWN_ROLE, title);
    else {
      const pieces = piecesOf(id, fields);
      if (pieces.length === 0) note(NOT_TAKEN.empty, title);
      else if (isTooLong(pieces)) note(NOT_TAKEN.tooLong, title);
      else
        messagesById.set(id, {
          ...{ id, parent, pieces },
          time: secondsOf(fields['create_time']),
          author: role === 'user' ? 'human' : 'agent',
          model: role === 'assistant' ? (nameOf(recordOf(metadata)['model_slug']) ?? modelHere) : null,
        });
    }
  }
  const id = sourceId ?? nodes[0]?.[0] ?? '';
  const current = nameOf(value['current_node']);
  return conversationsOf(
    { format: CHATGPT, sourceId: id, title, said: messagesById, skipped, current, fallback: started },
    note,
  );
}
