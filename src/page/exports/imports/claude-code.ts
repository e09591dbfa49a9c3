/**
 * Reads sessions of Claude Code, versions 1 and 2: one file of JSON Lines a session. Lines form a
 * tree by `parentUuid`. Tasks of subagents are sidechains, in the same file or in `agent-*.jsonl`.
 * Lines of type `summary` have titles.
 *
 * Claude Code writes parents that are in no file, most often after a compaction. Such a line
 * continues the line before it.
 */
import { piecesOf } from './claude.ts';
import {
  conversationsOf,
  firstWords,
  type ImportedConversation,
  isTooLong,
  NOT_TAKEN,
  type NoteNotTaken,
  type Said,
} from './conversation.ts';
import { dateOf, type Fields, nameOf, recordOf, recordsOf, textOf } from './fields.ts';
import { IMPORTS } from './settings.ts';

export const CLAUDE_CODE = 'Claude Code';

/** Every line of a session has one of these. */
export const isClaudeCode = (value: Fields): boolean =>
  typeof value['type'] === 'string' &&
  ('leafUuid' in value || 'sessionId' in value || value['type'] === 'file-history-snapshot');

/** The stored title of a sidechain. */
const SIDE_TASK = (title: string) => `Side task: ${title}`;

interface Line {
  readonly id: string;
  readonly parent: string | null;
  readonly value: Fields;
}

const isMedia = ({ type }: Fields) => type === 'image' || type === 'document';

/** Lines without words between a call and its result, at most. */
const MOST_BETWEEN = 100;

/** The line that a result answers. */
function callerOf(
  parent: string | null,
  said: ReadonlyMap<string, Said>,
  skipped: ReadonlyMap<string, string | null>,
): Said | undefined {
  let id = parent;
  for (let steps = 0; id !== null && steps < MOST_BETWEEN; steps += 1) {
    const found = said.get(id);
    if (found) return found.author === 'agent' ? found : undefined;
    id = skipped.get(id) ?? null;
  }
  return undefined;
}

/** `values`: the lines of one file, in order. */
export function claudeCodeConversations(
  values: readonly Fields[],
  path: string,
  fallback: number,
  note: NoteNotTaken,
): ImportedConversation[] {
  const titles = new Map<unknown, string>();
  const chains: Record<'main' | 'side', Line[]> = { main: [], side: [] };
  let named = '';
  const uuids = new Set(values.flatMap(({ uuid }) => (typeof uuid === 'string' ? [uuid] : [])));
  const last: Record<'main' | 'side', string | null> = { main: null, side: null };
  for (const value of values) {
    const { type, uuid, parentUuid, logicalParentUuid, isSidechain } = value;
    if (type === 'summary') titles.set(value['leafUuid'], textOf(value['summary']));
    if (type === 'custom-title' || type === 'ai-title') named = textOf(value['customTitle'] ?? value['aiTitle']);
    const id = nameOf(uuid);
    if (id === null) continue;
    const chain = isSidechain === true ? 'side' : 'main';
    const given = nameOf(parentUuid) ?? nameOf(logicalParentUuid);
    // The first line of a sidechain may name a line of the main chain, or none.
    const parent = given !== null && uuids.has(given) ? given : given === null && chain === 'side' ? null : last[chain];
    chains[chain].push({ id, parent, value });
    last[chain] = id;
  }
  const sessionId = textOf(values.find(({ sessionId: each }) => nameOf(each) !== null)?.['sessionId']);
  const agentId = nameOf(values.find(({ agentId: each }) => nameOf(each) !== null)?.['agentId']);
  const sourceId = agentId === null ? sessionId || path : `${sessionId}/${agentId}`;

  const read = (chain: 'main' | 'side') => {
    const messagesById = new Map<string, Said>();
    const skipped = new Map<string, string | null>();
    let title = named;
    for (const { id, parent, value } of chains[chain]) {
      title ||= titles.get(id) ?? '';
      skipped.set(id, parent);
      const { type, message, timestamp, isMeta, isApiErrorMessage } = value;
      if (type !== 'user' && type !== 'assistant') continue;
      if (messagesById.size >= IMPORTS.messages) {
        note(NOT_TAKEN.tooMany, path);
        continue;
      }
      const { content, model } = recordOf(message);
      const pieces = piecesOf(content);
      const media = recordsOf(content).filter(isMedia).length;
      if (media > 0) note(NOT_TAKEN.media, path, media);
      if (isMeta === true || isApiErrorMessage === true) note(NOT_TAKEN.system, path);
      else if (pieces.length === 0) note(NOT_TAKEN.empty, path);
      else if (isTooLong(pieces)) note(NOT_TAKEN.tooLong, path);
      else {
        const onlyResults = pieces.every(({ kind }) => kind === 'result');
        // Results of parallel calls hang beside the next call. They belong to the call, and are no
        // branch.
        const caller = onlyResults ? callerOf(parent, messagesById, skipped) : undefined;
        if (caller) {
          messagesById.set(caller.id, { ...caller, pieces: [...caller.pieces, ...pieces] });
          continue;
        }
        const author = type === 'user' && !onlyResults ? 'human' : 'agent';
        const by = author === 'agent' ? nameOf(model) : null;
        messagesById.set(id, { id, parent, author, pieces, model: by, time: dateOf(timestamp) });
      }
    }
    return { said: messagesById, skipped, title: title || firstWords(messagesById) };
  };

  const conversations: ImportedConversation[] = [];
  const main = read('main');
  const current = last.main;
  const base = { format: CLAUDE_CODE, fallback };
  if (main.said.size > 0) conversations.push(...conversationsOf({ ...base, ...main, sourceId, current }, note));
  const side = read('side');
  if (side.said.size > 0) {
    const title = SIDE_TASK(side.title);
    conversations.push(
      ...conversationsOf({ ...base, ...side, title, sourceId: `${sourceId}/side`, current: last.side }, note),
    );
  }
  if (conversations.length === 0) note(NOT_TAKEN.noMessages, path);
  return conversations;
}
