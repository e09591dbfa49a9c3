/** Each agent's last conversation, by what it amounts to: so that another device can tell whether it has all of it. */
import type { ViewsDatabase } from './database.ts';

/** The last session in which an agent said something. */
export interface LastTalk {
  readonly agentId: string;
  readonly sessionId: string;
  /** Messages of it that show. */
  readonly messages: number;
}

/** Sorts after every stamp and id. */
const AFTER_ALL = '\uffff';

/** Of every agent that ever said something. */
export async function readLastTalks(db: ViewsDatabase): Promise<readonly LastTalk[]> {
  const index = db.transaction('talks').objectStore('talks').index('spoken');
  const last: LastTalk[] = [];
  // The index sorts by agent, then the newest first: the first of each agent is the one.
  for (let cursor = await index.openCursor(); cursor; ) {
    const { agentId, sessionId, messages } = cursor.value;
    last.push({ agentId, sessionId, messages });
    cursor = await cursor.continue([agentId, AFTER_ALL]);
  }
  return last;
}

/** How many messages of these conversations are here, in the same order. */
export async function countTalks(db: ViewsDatabase, talks: readonly Pick<LastTalk, 'agentId' | 'sessionId'>[]): Promise<readonly number[]> {
  const store = db.transaction('talks').objectStore('talks');
  return Promise.all(talks.map(async ({ agentId, sessionId }) => (await store.get([agentId, sessionId]))?.messages ?? 0));
}
