/** The inbox on the store. See `Inbox` in contracts.ts. Ids and texts are kept as JSON text, see store/tables.ts. */
import { sql } from 'kysely';
import { z } from 'zod';
import type { Inbox } from '../contracts.ts';
import type { Db } from '../store/index.ts';

const parseText = (json: string) => z.string().parse(JSON.parse(json));

export interface InboxDeps {
  readonly db: Db;
  /** Names the home: homes that share a store do not share an inbox. */
  readonly relay: string;
  /** ms that a message is kept after it was read. */
  readonly retentionMs: number;
}

export function createInbox({ db, relay, retentionMs }: InboxDeps): Inbox {
  return {
    async put({ messageId, agentId, text, time }) {
      await db
        .insertInto('inbox')
        .values({
          relay,
          message_json: JSON.stringify(messageId),
          agent_json: JSON.stringify(agentId),
          text_json: JSON.stringify(text),
          sent_at: time,
          read_session_json: null,
          read_at: null,
        })
        .onConflict((conflict) => conflict.columns(['relay', 'message_json']).doNothing())
        .execute();
    },
    async waiting(agentId) {
      const rows = await db
        .selectFrom('inbox')
        .select(['message_json', 'text_json', 'sent_at'])
        .where('relay', '=', relay)
        .where('agent_json', '=', JSON.stringify(agentId))
        .where('read_at', 'is', null)
        .orderBy('sent_at')
        .orderBy('place')
        .execute();
      return rows.map((row) => ({ messageId: parseText(row.message_json), text: parseText(row.text_json), time: row.sent_at }));
    },
    async markRead(messageIds, sessionId, time) {
      await db
        .updateTable('inbox')
        .set({ read_session_json: JSON.stringify(sessionId), read_at: time })
        .where('relay', '=', relay)
        .where('message_json', '=', sql<string>`any(${messageIds.map((id) => JSON.stringify(id))}::text[])`)
        .where('read_at', 'is', null)
        .execute();
      await db.deleteFrom('inbox').where('relay', '=', relay).where('read_at', '<', time - retentionMs).execute();
    },
  };
}
