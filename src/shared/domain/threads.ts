/** The rules of threads. */
import type { AgentId } from './ids.ts';
import { isApplicationId } from './applications.ts';
import { titled } from './quoting.ts';

/** The person, among those who speak in a thread. Agents are named by their ids. */
export const PERSON = 'human';

/** Agents write by their ids; of the others none takes part, and none has an inbox. */
export const isOutside = (speaker: string): boolean => speaker === PERSON || isApplicationId(speaker);

export interface Named {
  readonly agentId: AgentId;
  readonly name: string;
}

/**
 * Why these cannot be mentioned by `from`: a sentence that names the first who cannot; null where
 * all can.
 */
export function refuseMentions({
  from,
  participants,
  mentions,
}: {
  readonly from: string;
  readonly participants: readonly string[];
  readonly mentions: readonly Named[];
}): string | null {
  for (const { agentId, name } of mentions) {
    if (agentId === from) return `${name} is you. Mention somebody else, or nobody.`;
    if (!participants.includes(agentId))
      return `${name} is not in this thread, and would not read it. Add ${name} first.`;
  }
  return null;
}

/** Each once, in the order in which they were first named. */
export function eachOnce<Item extends Named>(agents: readonly Item[]): readonly Item[] {
  return [...new Map(agents.map((agent) => [agent.agentId, agent])).values()];
}

/**
 * How much of `messages` is given to a reader at once: from the first on, while they fit into
 * `characters`, and at least one.
 */
export function fitting<Message extends { readonly text: string }>(
  messages: readonly Message[],
  characters: number,
): readonly Message[] {
  let left = characters;
  const end = messages.findIndex((message, i) => (left -= message.text.length) < 0 && i > 0);
  return end === -1 ? messages : messages.slice(0, end);
}

/**
 * What an agent is told that was taken into a thread: the relay says it, and a page knows it by its
 * words.
 */
export interface AddedToThread {
  readonly threadId: string;
  readonly title: string;
  readonly byHuman: boolean;
}

export const addedText = ({ threadId, title, byHuman }: AddedToThread): string =>
  `You were added to the thread ${titled(title)}${byHuman ? ' by the human' : ''} (id ${threadId}). read_thread shows what was said.`;

const ADDED =
  /^You were added to the thread “(?<title>[^”]*)”(?<human> by the human)? \(id (?<id>[^\s()]+)\)\. read_thread shows what was said\.$/;

/** What `addedText` made this of, its title as it was shown; null: it is something else. */
export function addedOf(text: string): AddedToThread | null {
  const { title, human, id } = ADDED.exec(text)?.groups ?? {};
  return title === undefined || id === undefined ? null : { threadId: id, title, byHuman: human !== undefined };
}
