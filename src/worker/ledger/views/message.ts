/** Pure facts about a message. */
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import { isAddressed, isDeed } from '../../../shared/domain/talk.ts';
import type { MessageDoc, MessageReadDoc } from '../../../shared/protocol/documents.ts';
import type { TalkRecord } from './database.ts';
import { newestFirst } from './order.ts';

/** Is it one that waited in an inbox? It stands before its agent where it is read. */
export const isWaiting = (doc: MessageDoc): boolean => doc['waiting'] === true;

/** Nothing of a session, yet. */
export const emptyTalk = (agentId: AgentId, sessionId: SessionId): TalkRecord => ({
  agentId,
  sessionId,
  messages: 0,
  said: 0,
  time: 0,
});

/** What of a session counts as told: a greeting alone does not. */
export const saidIn = (talk: TalkRecord | undefined): number => (talk?.full ? talk.said : 0);

/**
 * An agent's part in a session, with one thing more in it. The same comes out in whatever order
 * they are added.
 */
export function withMessage(talk: TalkRecord, doc: MessageDoc): TalkRecord {
  const counted = { ...talk, messages: talk.messages + 1 };
  return isWaiting(doc) ? counted : grown(counted, doc, isAddressed(doc), isDeed(doc));
}

/** As `withMessage`, for a message that waited and was read in this session. */
export const withRead = (talk: TalkRecord, doc: MessageReadDoc): TalkRecord => grown(talk, doc, true, false);

function grown(
  talk: TalkRecord,
  { at, time }: { readonly at: string; readonly time: number },
  addressed: boolean,
  deed: boolean,
): TalkRecord {
  const age = newestFirst(at);
  const isNewest = !talk.place || age <= talk.place[1];
  const place = [talk.agentId, isNewest ? age : (talk.place?.[1] ?? age)] as const;
  return {
    agentId: talk.agentId,
    sessionId: talk.sessionId,
    messages: talk.messages,
    said: talk.said + 1,
    time: Math.max(talk.time, time),
    place,
    ...(talk.full || addressed || deed ? { full: place } : { quiet: place }),
    ...(talk.addressed || addressed ? { addressed: place } : {}),
  };
}
