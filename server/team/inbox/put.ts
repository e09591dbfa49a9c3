/** Puts messages into the inbox of an agent, as far as there is room. */
import { sql } from 'kysely';
import { lockNamed } from '../../store/dialect.ts';
import type { Db } from '../../store/index.ts';
import { refuseMessage, type Waiting } from '../../platform/quotas.ts';
import type { SentAttachment } from '../../../src/shared/domain/attachment.ts';
import type { MessagePriority, MessageType } from '../../../src/shared/domain/guardrails.ts';
import type { MessageId, ThreadId } from '../../../src/shared/domain/ids.ts';

export interface NewInboxMessage {
  readonly messageId: MessageId;
  readonly to: string;
  /** "human", "relay" or an agent's id. */
  readonly from: string;
  readonly text: string;
  readonly time: number;
  readonly priority: MessagePriority;
  readonly type?: MessageType;
  readonly threadId: ThreadId | null;
  /**
   * The person's attachments are held in memory until they are claimed. The text names them for an
   * agent that reads it after a restart. The relay's attachments are stored with the message, as
   * far as there is room.
   */
  readonly attachments?: readonly SentAttachment[];
}

/**
 * Senders whose messages do not count towards a limit: the person, and the relay when it reports
 * what the person did.
 */
const UNCOUNTED: readonly string[] = ['human', 'relay'];
export const isCounted = (from: string) => !UNCOUNTED.includes(from);

/** False: the message is there already. */
export async function insertMessage(
  trx: Db,
  home: string,
  { messageId, to, from, text, time, priority, type, threadId }: NewInboxMessage,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('inbox')
    .values({
      home,
      message_json: JSON.stringify(messageId),
      agent_json: JSON.stringify(to),
      text_json: JSON.stringify(text),
      sent_at: time,
      sender_json: JSON.stringify(from),
      priority,
      message_type: type ?? null,
      thread: threadId,
      read_session_json: null,
      read_run_json: null,
      read_at: null,
    })
    .onConflict((conflict) => conflict.columns(['home', 'message_json']).doNothing())
    .executeTakeFirst();
  return Number(numInsertedOrUpdatedRows) > 0;
}

/** Unread messages of agents to this one: those of this sender, and all. */
async function used(trx: Db, home: string, to: string, from: string): Promise<readonly [Waiting, Waiting]> {
  const sender = JSON.stringify(from);
  const row = await trx
    .selectFrom('inbox')
    .select([
      sql<string>`count(*)`.as('messages'),
      sql<string>`coalesce(sum(octet_length(text_json)), 0)`.as('bytes'),
      sql<string>`count(*) filter (where sender_json = ${sender})`.as('own_messages'),
      sql<string>`coalesce(sum(octet_length(text_json)) filter (where sender_json = ${sender}), 0)`.as('own_bytes'),
    ])
    .where('home', '=', home)
    .where('agent_json', '=', JSON.stringify(to))
    .where('read_at', 'is', null)
    .where(
      'sender_json',
      'not in',
      UNCOUNTED.map((id) => JSON.stringify(id)),
    )
    .executeTakeFirstOrThrow();
  return [
    { messages: Number(row.own_messages), bytes: Number(row.own_bytes) },
    { messages: Number(row.messages), bytes: Number(row.bytes) },
  ];
}

/**
 * An advisory lock per recipient serialises the count and the insert, also across processes.
 * Otherwise two concurrent messages could both find the last room.
 */
export const putWithin = (
  db: Db,
  home: string,
  message: NewInboxMessage,
  name: string,
): Promise<{ readonly isNew: boolean; readonly refusal: string | null }> =>
  db.transaction().execute(async (trx) => {
    await lockNamed(trx, `inbox ${home} ${message.to}`);
    const refusal = refuseMessage(
      name,
      Buffer.byteLength(JSON.stringify(message.text)),
      ...(await used(trx, home, message.to, message.from)),
    );
    if (refusal === null) return { isNew: await insertMessage(trx, home, message), refusal };
    const there = await trx
      .selectFrom('inbox')
      .select('sequence')
      .where('home', '=', home)
      .where('message_json', '=', JSON.stringify(message.messageId))
      .executeTakeFirst();
    return { isNew: false, refusal: there ? null : refusal };
  });
