/**
 * Reads agent files of Letta (`.af`), in the form of 2025 and 2026 (`agents` and `blocks` in lists)
 * and in the first one (one agent with `core_memory`). Memory blocks become files. The block
 * `persona` is what a new agent could have as its soul.
 */
import { isRecord, parseJson } from '../../../shared/domain/platform/json.ts';
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
import { dateOf, type Fields, listOf, nameOf, recordOf, recordsOf, textOf } from './fields.ts';
import { IMPORTS } from './settings.ts';

export const LETTA = 'Letta';

const isOldAgent = (value: Fields): boolean => Array.isArray(value['core_memory']) && 'agent_type' in value;
export const isLetta = (value: Fields): boolean =>
  (Array.isArray(value['agents']) && Array.isArray(value['blocks'])) || isOldAgent(value);

interface LettaAgent {
  readonly name: string | null;
  readonly persona: string | null;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly conversations: readonly ImportedConversation[];
}

const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : recordsOf(content)
        .map(({ text, reasoning }) => textOf(text) || textOf(reasoning))
        .filter((text) => text !== '')
        .join('\n\n');

/**
 * Words of the person are wrapped as `{"type":"user_message","message":…}`. Null: a system alert.
 */
function personText(text: string): string | null {
  const wrapped = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
  if (!isRecord(wrapped) || typeof wrapped['type'] !== 'string') return text;
  return wrapped['type'] === 'user_message' ? textOf(wrapped['message']) : null;
}

/** Agents of Letta said everything with this tool. */
const SAYING = 'send_message';

function callPieces(call: Fields): Piece[] {
  const { name, arguments: given } = recordOf(call['function'] ?? call);
  const input = typeof given === 'string' ? (parseJson(given) ?? { text: given }) : (given ?? {});
  if (name !== SAYING) return [{ kind: 'call', callId: textOf(call['id']), name: nameOf(name) ?? 'tool', input }];
  const text = textOf(recordOf(input)['message']);
  return text === '' ? [] : [{ kind: 'text', text }];
}

function piecesOf(message: Fields): Piece[] | null {
  const role = textOf(message['role']);
  const text = contentText(message['content'] ?? message['text']);
  if (role === 'user') {
    const words = personText(text);
    return words === null || words.trim() === '' ? null : [{ kind: 'text', text: words }];
  }
  if (role === 'assistant') {
    const calls = recordsOf(message['tool_calls']).flatMap(callPieces);
    // Beside a call, the text is what the agent thought.
    const isThought = calls.length > 0;
    return [...(text === '' ? [] : [{ kind: isThought ? ('thought' as const) : ('text' as const), text }]), ...calls];
  }
  if (role !== 'tool' || text === '') return null;
  const isSaid = message['name'] === SAYING;
  const callId = nameOf(message['tool_call_id']);
  return isSaid ? null : [{ kind: 'result', callId, name: nameOf(message['name']) ?? 'tool', text, isError: false }];
}

/** `key`: tells agents of different files apart where they have the same small id. */
function conversationOf(agent: Fields, name: string, key: string, fallback: number, note: NoteNotTaken) {
  const messagesById = new Map<string, Said>();
  let before: string | null = null;
  for (const [n, message] of recordsOf(agent['messages']).entries()) {
    if (n >= IMPORTS.messages) {
      note(NOT_TAKEN.tooMany, name);
      continue;
    }
    const pieces = piecesOf(message);
    if (pieces === null) note(NOT_TAKEN.system, name);
    else if (pieces.length === 0) note(NOT_TAKEN.empty, name);
    else if (isTooLong(pieces)) note(NOT_TAKEN.tooLong, name);
    else {
      const id = `${nameOf(message['id']) ?? ''}#${n}`;
      messagesById.set(id, {
        ...{ id, parent: before, pieces },
        time: dateOf(message['created_at']),
        author: message['role'] === 'user' ? 'human' : 'agent',
        model: message['role'] === 'assistant' ? nameOf(message['model']) : null,
      });
      before = id;
    }
  }
  const whole = {
    format: LETTA,
    sourceId: key,
    title: name,
    said: messagesById,
    skipped: new Map(),
    current: before,
    fallback,
  };
  return messagesById.size === 0 ? [] : conversationsOf(whole, note);
}

export function lettaAgents(value: Fields, path: string, fallback: number, note: NoteNotTaken): LettaAgent[] {
  const agents = isOldAgent(value) ? [value] : recordsOf(value['agents']);
  const shared = new Map(recordsOf(value['blocks']).map((block) => [block['id'], block]));
  return agents.map((agent, n) => {
    const name = nameOf(agent['name']);
    const blocks = [
      ...recordsOf(agent['core_memory']),
      ...recordsOf(agent['memory_blocks']),
      ...listOf(agent['block_ids']).flatMap((id): readonly Fields[] => [shared.get(id) ?? []].flat()),
    ];
    const folder = `letta/${safeFileName(name ?? 'agent', 'agent')}`;
    const persona = blocks.find(({ label }) => label === 'persona');
    const files = blocks.flatMap((block) => {
      const text = block === persona ? '' : textOf(block['value']);
      const label = safeFileName(textOf(block['label']).replaceAll('/', '-'), 'memory');
      return text.trim() === '' ? [] : [{ path: `${folder}/${label}.md`, text }];
    });
    const created = dateOf(agent['created_at']) ?? dateOf(value['created_at']);
    const firstMessage = recordsOf(agent['messages'])[0];
    const key = JSON.stringify([name, nameOf(agent['id']) ?? n, textOf(firstMessage?.['created_at'])]);
    return {
      name,
      persona: nameOf(textOf(persona?.['value']).trim()),
      files,
      conversations: conversationOf(agent, name ?? path, key, created ?? fallback, note),
    };
  });
}
