/** The rules of threads. */
import type { AgentId, TaskId, ThreadId } from './ids.ts';
import { isApplicationId } from './applications.ts';
import { titled } from './quoting.ts';

/** The person as a speaker of a thread. Agents are named by their ids. */
export const PERSON = 'human';

/** The person and applications write in threads, but are not participants and have no inbox. */
export const isOutside = (speaker: string): boolean => speaker === PERSON || isApplicationId(speaker);

/** The relay as the creator of a thread. */
export const RELAY = 'relay';

/** The thread with the comments of a task. It begins with the first comment. */
export const commentsThread = (taskId: TaskId): ThreadId => `comments-${taskId}`;
export const isCommentsThread = (threadId: ThreadId): boolean => threadId.startsWith(commentsThread(''));

export interface Named {
  readonly agentId: AgentId;
  readonly name: string;
}

/**
 * Why `from` cannot mention these agents: a sentence about the first one that is refused. Null: all
 * are allowed.
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

/** Each agent once, in the order of first occurrence. */
export function eachOnce<Item extends Named>(agents: readonly Item[]): readonly Item[] {
  return [...new Map(agents.map((agent) => [agent.agentId, agent])).values()];
}

/**
 * The messages that a reader receives at once: from the first on, as many as fit into `characters`,
 * and at least one.
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
 * The relay's message to an agent that was added to a thread. The page recognises it by its text.
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

/** Parses a text of `addedText`, with the title as shown. Null: it is another text. */
export function addedOf(text: string): AddedToThread | null {
  const { title, human, id } = ADDED.exec(text)?.groups ?? {};
  return title === undefined || id === undefined ? null : { threadId: id, title, byHuman: human !== undefined };
}
