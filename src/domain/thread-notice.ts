/** What an agent is told that was taken into a thread: the relay says it, and a page knows it by its words. */
import { titled } from './quoting.ts';

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
