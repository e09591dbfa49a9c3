/**
 * Finds out that a model's server reads less than it is sent. Some servers drop what is too long
 * without an error. Ollama drops the oldest messages, cuts the prompt where that is not enough, and
 * counts what is left (`server/prompt.go`, `llm/llama_server.go`).
 *
 * One of three signs is enough:
 * - The request has more characters than so many tokens can have.
 * - The conversation grew, and the count is the same.
 * - The conversation grew, and the count grew less than any text would make it grow.
 *
 * Some servers count only the tokens that are new to them. Such a count is no sign.
 */
import type { Usage } from '../../../src/shared/protocol/documents.ts';
import { describedTools, type MindMessage, type MindRequest, sizeOfTools } from '../minds/index.ts';
import { READ_LESS } from './settings.ts';

export interface ReadLess {
  /** Both in tokens. `sent` is an estimate. */
  readonly read: number;
  readonly sent: number;
}
interface How {
  /** The model was offered no tools. */
  readonly toolless: boolean;
  /** The model searches for deferred tools itself. */
  readonly searching: boolean;
}

/** Watches one conversation. Null: the server read everything, or that is not known. */
export type WatchReading = (
  request: Pick<MindRequest, 'model' | 'system' | 'messages' | 'tools'>,
  how: How,
  usage: Usage,
) => ReadLess | null;

// Thoughts have no text here. A server may leave out earlier ones, as their model wants it.
const textOf = ({ blocks }: MindMessage) =>
  blocks.reduce((sum, block) => sum + ('text' in block ? block.text.length : 0), 0);

export function createWatchReading(): WatchReading {
  let before: { readonly model: string; readonly characters: number; readonly read: number } | null = null;

  return ({ model, system, messages, tools }, { toolless, searching }, usage) => {
    const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const newest = messages.at(-1);
    const ofTools = toolless ? 0 : sizeOfTools(describedTools(tools, searching)).characters;
    const characters = system.length + ofTools + messages.reduce((sum, message) => sum + textOf(message), 0);
    const last = before?.model === model ? before : null;
    before = { model, characters, read };
    if (read < READ_LESS.fromTokens || characters < READ_LESS.fromCharacters) return null;
    const grew = characters - (last?.characters ?? characters);
    const isLess =
      isTooDense(characters, newest ? textOf(newest) : 0, read) || (last !== null && isStuck(grew, last.read, read));
    return isLess ? { read, sent: Math.round(characters / READ_LESS.charactersPerToken) } : null;
  };
}

function isTooDense(characters: number, ofNewest: number, read: number): boolean {
  const { charactersPerToken, mostCharactersPerToken, slack } = READ_LESS;
  if (characters / read <= mostCharactersPerToken) return false;
  return ofNewest / read > mostCharactersPerToken || read > ofNewest / charactersPerToken + slack;
}

/** `grew`: characters that came since the request before, which had this count. */
function isStuck(grew: number, readBefore: number, read: number): boolean {
  if (read === readBefore) return grew >= READ_LESS.grewFrom;
  // A count of new tokens alone is no larger than what is new.
  const isWhole = read > grew + READ_LESS.slack;
  return isWhole && grew >= READ_LESS.grewMuch && read - readBefore < grew / READ_LESS.mostCharactersPerToken;
}
