/**
 * How far the person has read in each conversation, and so what is new to them. Each mark is a `setting` document of its
 * own, and marks are folded by what they say, not by when they were written: whatever the order in which devices hear of
 * them, all come to the same result.
 */
import { parseStamp, type Stamp } from './stamp.ts';

/** The setting from which on, in conversations without a mark of their own, messages are new. Of several the earliest holds. */
const SINCE = 'read-since';
/** Followed by whose conversation it is: everything up to the stamp is read. Of several the furthest holds. */
const CONVERSATION = 'read:';

/** More than this are not counted. */
export const UNREAD_MOST = 99;

export type ReadMark = { readonly kind: 'since'; readonly at: Stamp } | { readonly kind: 'conversation'; readonly agentId: string; readonly at: Stamp };

export interface ReadMarks {
  readonly since: Stamp | null;
  readonly byAgent: ReadonlyMap<string, Stamp>;
}

interface SettingLike {
  readonly key: string;
  readonly value: unknown;
}

export const readMarkKey = (mark: ReadMark): string => (mark.kind === 'since' ? SINCE : `${CONVERSATION}${mark.agentId}`);

/** The mark that a setting is; null where it is another one, or says nothing that can be a mark. */
export function readMarkOf({ key, value }: SettingLike): ReadMark | null {
  if (typeof value !== 'string' || parseStamp(value) === null) return null;
  if (key === SINCE) return { kind: 'since', at: value };
  const agentId = key.startsWith(CONVERSATION) ? key.slice(CONVERSATION.length) : '';
  return agentId === '' ? null : { kind: 'conversation', agentId, at: value };
}

/** Does `mark` hold where `held`, of the same thing, held until now? */
export const reachesFurther = (mark: ReadMark, held: ReadMark): boolean => (mark.kind === 'since' ? mark.at < held.at : mark.at > held.at);

export function foldReadMarks(settings: Iterable<SettingLike>): ReadMarks {
  let since: Stamp | null = null;
  const byAgent = new Map<string, Stamp>();
  for (const setting of settings) {
    const mark = readMarkOf(setting);
    if (mark?.kind === 'since' && (since === null || mark.at < since)) since = mark.at;
    else if (mark?.kind === 'conversation' && mark.at > (byAgent.get(mark.agentId) ?? '')) byAgent.set(mark.agentId, mark.at);
  }
  return { since, byAgent };
}

/** Up to where a conversation is read; null: nothing is known, and nothing in it is new. */
export const readUpTo = ({ since, byAgent }: ReadMarks, agentId: string): Stamp | null => byAgent.get(agentId) ?? since;

/** Is this something that somebody else has said to the person? */
export const isNews = ({ role, author }: { readonly role: string; readonly author: string }): boolean => role === 'assistant' && author !== 'human';
