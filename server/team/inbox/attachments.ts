/** Pictures and files that wait with messages, until these are read. */
import { sql } from 'kysely';
import type { SentAttachment } from '../../../src/shared/domain/attachment.ts';
import { sentAttachmentSchema } from '../../../src/shared/protocol/http.ts';
import type { NewInboxMessage } from '../../contracts/index.ts';
import { parseText, type Db } from '../../store/index.ts';

/**
 * Characters of base64, in memory and in the store: beyond it the oldest is let go, and is there by
 * name alone.
 */
export const HELD_CHARACTERS = 120_000_000;

/** What the person sent along: in memory alone, so that nothing of it lies in the relay's store. */
export function createHeld(most: number) {
  const held = new Map<string, NonNullable<NewInboxMessage['attachments']>>();
  const size = () =>
    [...held.values()].reduce((sum, list) => sum + list.reduce((inner, { data }) => inner + data.length, 0), 0);
  return {
    put({ messageId, attachments = [] }: NewInboxMessage): void {
      if (attachments.length === 0) return;
      held.set(messageId, attachments);
      for (const id of held.keys()) {
        if (size() <= most) return;
        held.delete(id);
      }
    },
    take(messageId: string): readonly SentAttachment[] | undefined {
      const attachments = held.get(messageId);
      held.delete(messageId);
      return attachments;
    },
  };
}

/**
 * What the relay sends along, as what a tool gave back: nobody else has it, so it lies in the store
 * with its message.
 */
export function createKept(db: Db, home: string, most: number) {
  return {
    /** Within the transaction that writes its message. */
    async put(within: Db, { messageId, attachments = [] }: NewInboxMessage): Promise<void> {
      if (attachments.length === 0) return;
      const row = { home, message_json: JSON.stringify(messageId), attachments_json: JSON.stringify(attachments) };
      await within.insertInto('inbox_attachments').values(row).execute();
      const upTo = sql<number>`sum(octet_length(attachments_json)) over (order by sequence desc)`.as('up_to');
      const summed = within.selectFrom('inbox_attachments').select(['sequence', upTo]).where('home', '=', home);
      const beyond = within.selectFrom(summed.as('summed')).select('sequence').where('up_to', '>', most);
      await within.deleteFrom('inbox_attachments').where('home', '=', home).where('sequence', 'in', beyond).execute();
    },
    /** By message. It stays: a claim may be undone. */
    async of(messageIds: readonly string[]): Promise<ReadonlyMap<string, readonly SentAttachment[]>> {
      if (messageIds.length === 0) return new Map();
      const ids = messageIds.map((id) => JSON.stringify(id));
      const rows = await db
        .selectFrom('inbox_attachments')
        .select(['message_json', 'attachments_json'])
        .where('home', '=', home)
        .where('message_json', '=', sql<string>`any(${ids}::text[])`)
        .execute();
      return new Map(
        rows.map((row) => [
          parseText(row.message_json),
          sentAttachmentSchema.array().parse(JSON.parse(row.attachments_json)),
        ]),
      );
    },
  };
}
