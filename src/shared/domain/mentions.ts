/** Mentions in a text: `@` and a name, as people read it. Pure. */
import type { AgentId } from './ids.ts';

interface Mentionable {
  readonly agentId: AgentId;
  /** The name as shown: with the colour if two agents share it. */
  readonly name: string;
}

export interface Typing {
  /** Index of the `@`. */
  readonly start: number;
  /** Text between the `@` and the caret. */
  readonly query: string;
}

/** How many characters after an `@` may still belong to a name that is being typed. */
const LONGEST_QUERY = 60;
const isWordly = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
/** People who type in a hurry ignore case and accents, so matching does too. */
const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/**
 * The mention being typed at the caret, or null. An `@` inside a word, as in an email address, does
 * not count.
 */
export function typingAt(text: string, caret: number): Typing | null {
  const from = Math.max(0, caret - LONGEST_QUERY);
  const start = text.lastIndexOf('@', caret - 1);
  if (start < from || isWordly(text[start - 1])) return null;
  const query = text.slice(start + 1, caret);
  return /[\n@]/.test(query) ? null : { start, query };
}

/**
 * Candidates whose name, or a word of it, begins with the query. An `@` alone matches everybody.
 */
export function meant<One extends Mentionable>(query: string, among: readonly One[]): readonly One[] {
  const sought = plain(query.trimStart());
  if (query !== '' && sought === '') return [];
  const begins = among.filter(({ name }) => plain(name).startsWith(sought));
  const within = among.filter(
    (one) =>
      !begins.includes(one) &&
      plain(one.name)
        .split(/[\s(]+/)
        .some((word) => word.startsWith(sought)),
  );
  return [...begins, ...within];
}

/** The text with the mention inserted, and the new position of the caret. */
export function complete(
  text: string,
  caret: number,
  { start }: Typing,
  { name }: Mentionable,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(caret);
  const put = `@${name}${/^\s/.test(rest) ? '' : ' '}`;
  return { text: text.slice(0, start) + put + rest, caret: start + put.length + (/^\s/.test(rest) ? 1 : 0) };
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'mention'; readonly agentId: AgentId; readonly text: string };

/** Splits a text into plain text and mentions. The longest name that matches wins. */
export function piecesOf(text: string, among: readonly Mentionable[]): readonly Piece[] {
  const longestFirst = [...among].sort((a, b) => b.name.length - a.name.length);
  const pieces: Piece[] = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at < from || isWordly(text[at - 1])) continue;
    const mentioned = longestFirst.find(({ name }) => {
      const end = at + 1 + name.length;
      return plain(text.slice(at + 1, end)) === plain(name) && !isWordly(text[end]);
    });
    if (!mentioned) continue;
    const end = at + 1 + mentioned.name.length;
    if (at > from) pieces.push({ kind: 'text', text: text.slice(from, at) });
    pieces.push({ kind: 'mention', agentId: mentioned.agentId, text: text.slice(at, end) });
    from = end;
  }
  if (from < text.length) pieces.push({ kind: 'text', text: text.slice(from) });
  return pieces;
}

const isAlone = ({ name, agentId }: Mentionable, _at: number, all: readonly Mentionable[]) =>
  name !== '' && !all.some((other) => other.agentId !== agentId && plain(other.name) === plain(name));

/** Code, and quoted lines: a name in them is not a mention. */
const NOT_SAID = /^ {0,3}(`{3,}|~{3,})[^\n]*(?:\n(?! {0,3}\1)[^\n]*)*|(`+)(?!`)[^\n]*?(?<!`)\2(?!`)|^ {0,3}>[^\n]*/gm;
const withoutMentions = (text: string): string => text.replaceAll(NOT_SAID, (part) => ' '.repeat(part.length));

/**
 * Ids of the agents that this text mentions, each once. A name that two agents share mentions
 * neither.
 */
export function mentionedIn(text: string, among: readonly Mentionable[]): readonly AgentId[] {
  return [
    ...new Set(
      piecesOf(withoutMentions(text), among.filter(isAlone)).flatMap((piece) =>
        piece.kind === 'mention' ? [piece.agentId] : [],
      ),
    ),
  ];
}

/** The inbox message by which an agent learns that this message of a thread mentions it. */
export const mentionId = (messageId: string, agentId: string): string => `${messageId}-${agentId}`;
