/**
 * Reads exports of Claude, as of August 2026: `conversations.json`, `projects.json` and
 * `memories.json`. Conversations name neither their model nor their project. What the person pasted
 * is in `attachments[].extracted_content`. A message that was edited begins a branch:
 * `parent_message_uuid` leads to its parent, and exports before 2026 have none.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { safeFileName } from '../methods.ts';
import {
  conversationsOf,
  type ImportedConversation,
  isTooLong,
  NOT_TAKEN,
  type NoteNotTaken,
  type Piece,
  type Said,
} from './conversation.ts';
import { dateOf, type Fields, nameOf, recordOf, recordsOf, textOf } from './fields.ts';
import { IMPORTS } from './settings.ts';

export const CLAUDE = 'Claude';

export const isClaude = (value: Fields): boolean => Array.isArray(value['chat_messages']);
export const isClaudeProject = (value: Fields): boolean => Array.isArray(value['docs']) && 'prompt_template' in value;
export const isClaudeMemory = (value: Fields): boolean => 'conversations_memory' in value;

/** What an export has in place of an artifact, as a block of code. */
const PLACEHOLDER = /\n*```\n?This block is not supported on your current device yet\.\n?```\n*/g;
const ARTIFACTS = sentence`artifacts: the export has a placeholder in their place`;

export function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  return recordsOf(content)
    .map(({ text, title, url }) => [text, title, url].map(textOf).find((each) => each !== '') ?? '')
    .filter((text) => text !== '')
    .join('\n\n');
}

/**
 * A block of the Messages API's form, as Claude and Claude Code store it. Null: it has no words.
 */
export function pieceOf(block: Fields): Piece | null {
  const text = textOf(block['text']);
  switch (block['type']) {
    case 'text':
    case 'voice_note':
      return text.trim() === '' ? null : { kind: 'text', text };
    case 'thinking': {
      const thought = textOf(block['thinking']);
      return thought === '' ? null : { kind: 'thought', text: thought };
    }
    case 'tool_use':
      return {
        kind: 'call',
        callId: textOf(block['id']),
        name: nameOf(block['name']) ?? 'tool',
        input: block['input'] ?? {},
      };
    case 'tool_result':
      return {
        kind: 'result',
        callId: nameOf(block['tool_use_id']),
        name: nameOf(block['name']) ?? 'tool',
        text: resultText(block['content']),
        isError: block['is_error'] === true,
      };
    default:
      return null;
  }
}

/** What is in the content of a message: one text, or blocks. */
export function piecesOf(content: unknown, ofBlock: (block: Fields) => Piece | null = pieceOf): readonly Piece[] {
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ kind: 'text', text: content }];
  return recordsOf(content).flatMap((block) => ofBlock(block) ?? []);
}

export function claudeConversations(value: Fields, fallback: number, note: NoteNotTaken): ImportedConversation[] {
  const title = textOf(value['name']);
  const messages = recordsOf(value['chat_messages']);
  const hasParents = messages.some(({ parent_message_uuid: parent }) => typeof parent === 'string');
  const messagesById = new Map<string, Said>();
  const skipped = new Map<string, string | null>();
  let before: string | null = null;
  for (const [n, message] of messages.entries()) {
    const id = nameOf(message['uuid']) ?? `${n}`;
    const parent = hasParents ? nameOf(message['parent_message_uuid']) : before;
    before = id;
    skipped.set(id, parent);
    if (n >= IMPORTS.messages) {
      note(NOT_TAKEN.tooMany, title);
      continue;
    }
    const blocks = recordsOf(message['content']).flatMap((block) => pieceOf(block) ?? []);
    const text = textOf(message['text']);
    const pieces: Piece[] = blocks.length > 0 || text.trim() === '' ? blocks : [{ kind: 'text', text }];
    for (const { file_name: name, extracted_content: content } of recordsOf(message['attachments'])) {
      const pasted = textOf(content);
      if (pasted === '') note(NOT_TAKEN.media, nameOf(name) ?? title);
      else pieces.push({ kind: 'text', text: `${nameOf(name) ?? ''}\n\n${pasted}`.trim() });
    }
    for (const file of recordsOf(message['files'])) note(NOT_TAKEN.media, nameOf(file['file_name']) ?? title);
    const whole = pieces.flatMap((piece): Piece[] => {
      if (piece.kind !== 'text') return [piece];
      const found = piece.text.match(PLACEHOLDER)?.length ?? 0;
      if (found > 0) note(ARTIFACTS, title, found);
      const words = found > 0 ? piece.text.replace(PLACEHOLDER, '\n\n').trim() : piece.text;
      return words === '' ? [] : [{ kind: 'text', text: words }];
    });
    if (whole.length === 0) note(NOT_TAKEN.empty, title);
    else if (isTooLong(whole)) note(NOT_TAKEN.tooLong, title);
    else
      messagesById.set(id, {
        ...{ id, parent, pieces: whole, model: null },
        time: dateOf(message['created_at']),
        author: message['sender'] === 'human' ? 'human' : 'agent',
      });
  }
  const sourceId = nameOf(value['uuid']) ?? before ?? '';
  const current = nameOf(value['current_leaf_message_uuid']);
  const started = dateOf(value['created_at']) ?? fallback;
  return conversationsOf(
    { format: CLAUDE, sourceId, title, said: messagesById, skipped, current, fallback: started },
    note,
  );
}

interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** The instructions and documents of a project. */
export function claudeProjectFiles(value: Fields): TextFile[] {
  const folder = `claude/${safeFileName(textOf(value['name']), 'project')}`;
  const instructions = textOf(value['prompt_template']);
  return [
    ...(instructions.trim() === '' ? [] : [{ path: `${folder}/instructions.md`, text: instructions }]),
    ...recordsOf(value['docs']).map(({ filename, content }) => {
      const name = safeFileName(textOf(filename), 'document');
      return { path: `${folder}/${/\.(md|txt)$/i.test(name) ? name : `${name}.txt`}`, text: textOf(content) };
    }),
  ];
}

/** What Claude kept of its conversations. */
export function claudeMemoryFiles(value: Fields): TextFile[] {
  const whole = textOf(value['conversations_memory']);
  const projects = Object.entries(recordOf(value['project_memories']));
  return [
    ...(whole.trim() === '' ? [] : [{ path: 'claude/memory.md', text: whole }]),
    ...projects.map(([id, text]) => ({ path: `claude/project-${safeFileName(id, 'project')}.md`, text: textOf(text) })),
  ].filter(({ text }) => text.trim() !== '');
}
