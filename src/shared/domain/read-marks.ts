/**
 * How far the person has read in each conversation and thread, and so what is new to them. Each
 * mark is a `setting` document of its own, and marks are folded by what they say, not by when they
 * were written: whatever the order in which devices hear of them, all come to the same result.
 */
import type { AgentId, ThreadId } from './ids.ts';
import { parseStamp, type Stamp } from './stamp.ts';

/**
 * The setting from which on, in conversations without a mark of their own, messages are new. Of
 * several the earliest holds.
 */
const SINCE = 'read-since';
/**
 * Followed by whose conversation it is: everything up to the stamp is read. Of several the furthest
 * holds.
 */
const CONVERSATION = 'read:';
/**
 * Followed by the thread: everything up to that place in it is read. Of several the furthest holds.
 */
const THREAD = 'read-thread:';

/** More than this are not counted. */
export const UNREAD_MOST = 99;

export type ReadMark =
  | { readonly kind: 'since'; readonly at: Stamp }
  | { readonly kind: 'conversation'; readonly agentId: AgentId; readonly at: Stamp }
  | { readonly kind: 'thread'; readonly threadId: ThreadId; readonly sequence: number };

export interface ReadMarks {
  readonly since: Stamp | null;
  readonly byAgent: ReadonlyMap<string, Stamp>;
  /** The place of the last message that is read, by thread. */
  readonly byThread: ReadonlyMap<string, number>;
}

interface SettingLike {
  readonly key: string;
  readonly value: unknown;
}

/** The setting that such a mark is. */
export function readMarkSetting(mark: ReadMark): { readonly key: string; readonly value: Stamp | number } {
  switch (mark.kind) {
    case 'since':
      return { key: SINCE, value: mark.at };
    case 'conversation':
      return { key: `${CONVERSATION}${mark.agentId}`, value: mark.at };
    case 'thread':
      return { key: `${THREAD}${mark.threadId}`, value: mark.sequence };
  }
}

const isStamp = (value: unknown): value is Stamp => typeof value === 'string' && parseStamp(value) !== null;
const isSequence = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
/** What follows `prefix`; '' where it is another key. */
const after = (key: string, prefix: string): string => (key.startsWith(prefix) ? key.slice(prefix.length) : '');

/** The mark that a setting is; null where it is another one, or says nothing that can be a mark. */
export function readMarkOf({ key, value }: SettingLike): ReadMark | null {
  if (key === SINCE) return isStamp(value) ? { kind: 'since', at: value } : null;
  const [agentId, threadId] = [after(key, CONVERSATION), after(key, THREAD)];
  if (agentId !== '' && isStamp(value)) return { kind: 'conversation', agentId, at: value };
  if (threadId !== '' && isSequence(value)) return { kind: 'thread', threadId, sequence: value };
  return null;
}

/** Does `mark` hold where `held`, of the same thing, held until now? Null: they say the same. */
export function reachesFurther(mark: ReadMark, held: ReadMark): boolean | null {
  if (mark.kind === 'thread' && held.kind === 'thread')
    return mark.sequence === held.sequence ? null : mark.sequence > held.sequence;
  if (mark.kind === 'thread' || held.kind === 'thread' || mark.at === held.at) return null;
  return mark.kind === 'since' ? mark.at < held.at : mark.at > held.at;
}

export function foldReadMarks(settings: Iterable<SettingLike>): ReadMarks {
  let since: Stamp | null = null;
  const byAgent = new Map<string, Stamp>();
  const byThread = new Map<string, number>();
  for (const setting of settings) {
    const mark = readMarkOf(setting);
    if (mark?.kind === 'since' && (since === null || mark.at < since)) since = mark.at;
    else if (mark?.kind === 'conversation' && mark.at > (byAgent.get(mark.agentId) ?? ''))
      byAgent.set(mark.agentId, mark.at);
    else if (mark?.kind === 'thread' && mark.sequence > (byThread.get(mark.threadId) ?? 0))
      byThread.set(mark.threadId, mark.sequence);
  }
  return { since, byAgent, byThread };
}

/** Up to where a conversation is read; null: nothing is known, and nothing in it is new. */
export const readUpTo = ({ since, byAgent }: ReadMarks, agentId: AgentId): Stamp | null =>
  byAgent.get(agentId) ?? since;

/**
 * How many messages of a thread are new. `messages`: how many there are; `lastTime`: ms since the
 * epoch, of the last. One without a mark that was quiet before messages began to be new is history.
 */
export function newInThread(
  { since, byThread }: Pick<ReadMarks, 'since' | 'byThread'>,
  {
    threadId,
    messages,
    lastTime,
  }: { readonly threadId: ThreadId; readonly messages: number; readonly lastTime: number },
): number {
  const sequence = byThread.get(threadId);
  if (sequence !== undefined) return Math.max(0, messages - sequence);
  const from = since === null ? null : parseStamp(since);
  return from === null || lastTime <= from.time ? 0 : messages;
}

/**
 * The stamp up to which somebody has read who has read all of this. An answer stands where it
 * began, and may go on after what was written meanwhile was read.
 */
export const wholeAt = ({
  at,
  completedAt = at,
}: {
  readonly at: Stamp;
  readonly completedAt?: Stamp | undefined;
}): Stamp => (completedAt > at ? completedAt : at);

/** What decides whether a message is new to the person. */
interface Said {
  readonly role: string;
  readonly author: string;
  readonly error: string | null;
  readonly unasked?: true | undefined;
}

/**
 * Did somebody else say this to the person? What nobody asked for is not, unless it failed: then
 * the person may have to act.
 */
export const isNews = ({ role, author, error, unasked = undefined }: Said): boolean =>
  role === 'assistant' && author !== 'human' && (unasked === undefined || error !== null);
