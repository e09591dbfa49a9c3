/**
 * Read marks: how far the person has read in each conversation and thread, and so which messages
 * are new.
 *
 * Each mark is its own `setting` document. Marks are merged by their value and not by when they
 * were written. All devices therefore reach the same result in any order.
 */
import type { AgentId, ThreadId } from './ids.ts';
import { parseStamp, type Stamp } from './stamp.ts';

/**
 * Key of the setting from which on messages are new in conversations without their own mark. The
 * earliest of several wins.
 */
const SINCE = 'read-since';
/**
 * Key prefix, followed by the agent's id: the conversation is read up to this stamp. The latest of
 * several wins.
 */
const CONVERSATION = 'read:';
/**
 * Key prefix, followed by the thread's id: the thread is read up to this sequence number. The
 * highest of several wins.
 */
const THREAD = 'read-thread:';

/** Unread messages are counted up to this number. */
export const UNREAD_MOST = 99;

export type ReadMark =
  | { readonly kind: 'since'; readonly at: Stamp }
  | { readonly kind: 'conversation'; readonly agentId: AgentId; readonly at: Stamp }
  | { readonly kind: 'thread'; readonly threadId: ThreadId; readonly sequence: number };

export interface ReadMarks {
  readonly since: Stamp | null;
  readonly byAgent: ReadonlyMap<string, Stamp>;
  /** By thread: the sequence number of the last message that is read. */
  readonly byThread: ReadonlyMap<string, number>;
}

interface SettingLike {
  readonly key: string;
  readonly value: unknown;
}

/** A mark as a setting. */
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
/** The key without `prefix`. '' if the key does not begin with it. */
const after = (key: string, prefix: string): string => (key.startsWith(prefix) ? key.slice(prefix.length) : '');

/** Reads a mark from a setting. Null: the setting is another one, or its value cannot be a mark. */
export function readMarkOf({ key, value }: SettingLike): ReadMark | null {
  if (key === SINCE) return isStamp(value) ? { kind: 'since', at: value } : null;
  const [agentId, threadId] = [after(key, CONVERSATION), after(key, THREAD)];
  if (agentId !== '' && isStamp(value)) return { kind: 'conversation', agentId, at: value };
  if (threadId !== '' && isSequence(value)) return { kind: 'thread', threadId, sequence: value };
  return null;
}

/** Whether `mark` replaces `before`, a mark of the same thing. Null: they are equal. */
export function reachesFurther(mark: ReadMark, before: ReadMark): boolean | null {
  if (mark.kind === 'thread' && before.kind === 'thread')
    return mark.sequence === before.sequence ? null : mark.sequence > before.sequence;
  if (mark.kind === 'thread' || before.kind === 'thread' || mark.at === before.at) return null;
  return mark.kind === 'since' ? mark.at < before.at : mark.at > before.at;
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

/** The stamp up to which a conversation is read. Null: unknown, and nothing in it is new. */
export const readUpTo = ({ since, byAgent }: ReadMarks, agentId: AgentId): Stamp | null =>
  byAgent.get(agentId) ?? since;

/**
 * How many messages of a thread are new. `messages` is their total number, `lastTime` the time of
 * the last one in ms since the epoch.
 *
 * In a thread without a mark whose last message is older than `since`, nothing is new.
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
 * The stamp up to which a reader has read once the whole message is read. An answer is placed where
 * it began, and may be completed after later messages were read.
 */
export const wholeAt = ({
  at,
  completedAt = at,
}: {
  readonly at: Stamp;
  readonly completedAt?: Stamp | undefined;
}): Stamp => (completedAt > at ? completedAt : at);

/** The fields that decide whether a message is new to the person. */
interface Said {
  readonly role: string;
  readonly author: string;
  readonly error: string | null;
  readonly unasked?: true | undefined;
}

/**
 * Whether an agent said this to the person. Unprompted work is not news unless it failed, because
 * then the person may have to act.
 */
export const isNews = ({ role, author, error, unasked = undefined }: Said): boolean =>
  role === 'assistant' && author !== 'human' && (unasked === undefined || error !== null);
