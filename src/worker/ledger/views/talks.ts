/**
 * Each agent's last conversation, by what it amounts to: so that another device can tell whether it
 * has all of it.
 */
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import type { ViewsDatabase } from './database.ts';

/**
 * The last session in which somebody said something to an agent; where nobody ever did, the last it
 * was in.
 */
export interface LastTalk {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  /** Messages of it that show. */
  readonly messages: number;
}

/** Sorts after every stamp and id. */
const AFTER_ALL = '\uffff';

/** Of every agent that ever was in a session. */
export async function readLastTalks(db: ViewsDatabase): Promise<readonly LastTalk[]> {
  const store = db.transaction('talks').objectStore('talks');
  const last = new Map<string, LastTalk>();
  for (const name of ['place', 'addressed'] as const) {
    // The indexes sort by agent, then the newest first: the first of each agent is the one.
    for (let cursor = await store.index(name).openCursor(); cursor;) {
      const { agentId, sessionId, messages } = cursor.value;
      last.set(agentId, { agentId, sessionId, messages });
      cursor = await cursor.continue([agentId, AFTER_ALL]);
    }
  }
  return [...last.values()];
}

/** How many messages of these conversations are here, in the same order. */
export async function countTalks(
  db: ViewsDatabase,
  talks: readonly Pick<LastTalk, 'agentId' | 'sessionId'>[],
): Promise<readonly number[]> {
  const store = db.transaction('talks').objectStore('talks');
  return Promise.all(
    talks.map(async ({ agentId, sessionId }) => (await store.get([agentId, sessionId]))?.messages ?? 0),
  );
}
