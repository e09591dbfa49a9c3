/**
 * The inbox on the store. Ids and texts are stored as JSON text, see store/tables.ts.
 */
import { type Expression, type ExpressionBuilder, type Selectable, sql, type SqlBool } from 'kysely';
import { z } from 'zod';
import type { SentAttachment } from '../../../src/shared/domain/attachment.ts';
import { sentAttachmentSchema } from '../../../src/shared/protocol/http.ts';
import { MESSAGE_PRIORITIES, MESSAGE_TYPES } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import { inboxEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { InboxMessage } from '../../../src/shared/protocol/threads.ts';
import type { NewInboxMessage } from './put.ts';
import { isOneOf } from '../../store/dialect.ts';
import { type Db, type HomeStore, parseText, repeated, writeOnce } from '../../store/index.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import type { Tables } from '../../store/tables.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
import { insertMessage, isCounted, putWithin } from './put.ts';
import type { RunId, SessionId } from '../../../src/shared/domain/ids.ts';

/** A message as its agent receives it. */
export interface TakenMessage extends InboxMessage {
  readonly attachments?: readonly SentAttachment[];
}

/** Messages that wait for an agent. They survive sessions and restarts. Each is delivered once. */
export interface Inbox {
  /**
   * Stores a message. A repeated message id changes nothing. Null: the message is stored. Otherwise
   * a sentence for the sender: the inbox has no room for an agent's message. `name`: the receiver's
   * name, for that sentence.
   */
  put(message: NewInboxMessage, name?: string): Promise<string | null>;
  /**
   * Messages that wait for this agent, oldest first. The person's messages come first, then at most
   * `limit` others.
   */
  waiting(agentId: AgentId, limit?: number): Promise<readonly InboxMessage[]>;
  /** How many messages wait for this agent. */
  count(agentId: AgentId): Promise<number>;
  /** Null: the message does not exist, or was read long ago. */
  statusOf(messageId: MessageId): Promise<'waits' | 'read' | null>;
  /** Withdraws a message that an agent left for itself. False if it no longer waits. */
  withdraw(messageId: MessageId): Promise<boolean>;
  /**
   * Claims messages for delivery in this run: the id of an answer, or of a call. `readIn`: the
   * session, or the run where there is no session; null: a client outside both. Resolves with the
   * messages that nobody had claimed before, oldest first. They are on disk as read.
   */
  claim(
    messageIds: readonly MessageId[],
    read: { readonly readIn: SessionId | RunId | null; readonly run: string; readonly time: number },
  ): Promise<readonly TakenMessage[]>;
  /** Newest first. `before` is a message id. */
  list(
    agentId: AgentId,
    page: { readonly before: string | null; readonly limit: number },
  ): Promise<{ readonly messages: readonly InboxMessage[]; readonly more: boolean }>;
  unread(): Promise<ReadonlyMap<string, number>>;
  /**
   * Messages that answers of the relay claimed in this session, or in this run without a session.
   */
  takenIn(readIn: SessionId | RunId): Promise<readonly InboxMessage[]>;
  /** The person withdraws their message. False if it no longer waits here. */
  withdrawForPerson(messageId: MessageId): Promise<boolean>;
  /** Undoes a claim whose message was never delivered. */
  release(messageIds: readonly MessageId[]): Promise<void>;
}

// Attachments of messages that have not been read yet.

/**
 * Most base64 characters of attachments, in memory and in the store separately. Beyond that the
 * oldest are dropped, and the message keeps only their names.
 */
const HELD_CHARACTERS = 120_000_000;

/**
 * Attachments of the person's messages. They are in memory only, so that none of them is in the
 * relay's store.
 */
function createHeld(most: number) {
  const attachmentsById = new Map<string, NonNullable<NewInboxMessage['attachments']>>();
  const size = () =>
    [...attachmentsById.values()].reduce(
      (sum, list) => sum + list.reduce((inner, { data }) => inner + data.length, 0),
      0,
    );
  return {
    put({ messageId, attachments = [] }: NewInboxMessage): void {
      if (attachments.length === 0) return;
      attachmentsById.set(messageId, attachments);
      for (const id of attachmentsById.keys()) {
        if (size() <= most) return;
        attachmentsById.delete(id);
      }
    },
    take(messageId: string): readonly SentAttachment[] | undefined {
      const attachments = attachmentsById.get(messageId);
      attachmentsById.delete(messageId);
      return attachments;
    },
  };
}

/**
 * Attachments of the relay's messages, such as results of tools. No one else has them, so they are
 * stored with their message.
 */
function createKept(db: Db, home: string, most: number) {
  return {
    /** Runs in the transaction that writes the message. */
    async put(within: Db, { messageId, attachments = [] }: NewInboxMessage): Promise<void> {
      if (attachments.length === 0) return;
      const row = { home, message_json: JSON.stringify(messageId), attachments_json: JSON.stringify(attachments) };
      await within.insertInto('inbox_attachments').values(row).execute();
      const upTo = sql<number>`sum(octet_length(attachments_json)) over (order by sequence desc)`.as('up_to');
      const summed = within.selectFrom('inbox_attachments').select(['sequence', upTo]).where('home', '=', home);
      const beyond = within.selectFrom(summed.as('summed')).select('sequence').where('up_to', '>', most);
      await within.deleteFrom('inbox_attachments').where('home', '=', home).where('sequence', 'in', beyond).execute();
    },
    /** Attachments by message. They stay in the store, because a claim may be undone. */
    async of(messageIds: readonly string[]): Promise<ReadonlyMap<string, readonly SentAttachment[]>> {
      if (messageIds.length === 0) return new Map();
      const ids = messageIds.map((id) => JSON.stringify(id));
      const rows = await db
        .selectFrom('inbox_attachments')
        .select(['message_json', 'attachments_json'])
        .where('home', '=', home)
        .where(isOneOf('message_json', ids))
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

// HTTP routes with which a page reads inboxes.

export function createInboxRoutes({ inbox }: { readonly inbox: Inbox }): readonly Handled[] {
  return answer(inboxEndpoints, {
    unread: async () => ({ unread: Object.fromEntries(await inbox.unread()) }),
    async inbox({ agentId, before, limit }) {
      const { messages, more } = await inbox.list(agentId, { before, limit });
      return { messages: [...messages], more };
    },
  });
}

const typeSchema = z.enum(MESSAGE_TYPES);
const prioritySchema = z.enum(MESSAGE_PRIORITIES);

interface InboxDeps extends HomeStore {
  /** ms that a message is stored after it was read. */
  readonly retentionMs: number;
  /** Announces that an inbox has changed. */
  readonly tell: (event: RoostEvent) => void;
  /** Why agents may store nothing more now, as a sentence. Null, or left out: they may. */
  readonly refuseForRoom?: () => Promise<string | null>;
  /** Most base64 characters of attachments. Left out: `HELD_CHARACTERS`. */
  readonly heldCharacters?: number;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  /** In ms since the epoch. */
  readonly now: () => number;
}

function messageOf(row: Selectable<Tables['inbox']>): InboxMessage {
  return {
    messageId: parseText(row.message_json),
    to: parseText(row.agent_json),
    from: parseText(row.sender_json),
    text: parseText(row.text_json),
    time: row.sent_at,
    priority: prioritySchema.parse(row.priority),
    ...(row.message_type === null ? {} : { type: typeSchema.parse(row.message_type) }),
    threadId: row.thread,
    read:
      row.read_at === null
        ? null
        : { time: row.read_at, run: parseText(row.read_run_json ?? row.read_session_json ?? '""') },
  };
}

interface OpenInbox extends Inbox {
  /** Puts a message of the relay, which is never refused. `also` runs in the same transaction. */
  tell(message: NewInboxMessage & { readonly from: 'relay' }, also: (within: Db) => Promise<void>): Promise<void>;
}

/** In the order of arrival, whatever the clock said. */
const oldestFirst = (a: Selectable<Tables['inbox']>, b: Selectable<Tables['inbox']>) => a.sequence - b.sequence;

/** Removes an unread message of this sender. Resolves with its recipient. Null: there is none. */
async function removeUnread(
  db: Db,
  home: string,
  messageId: MessageId,
  isSender: (builder: ExpressionBuilder<Tables, 'inbox'>) => Expression<SqlBool>,
): Promise<AgentId | null> {
  const row = await db
    .deleteFrom('inbox')
    .where('home', '=', home)
    .where('message_json', '=', JSON.stringify(messageId))
    .where(isSender)
    .where('read_at', 'is', null)
    .returning('agent_json')
    .executeTakeFirst();
  return row ? parseText(row.agent_json) : null;
}

export function createInbox({
  db,
  home,
  retentionMs,
  tell,
  refuseForRoom = () => Promise.resolve(null),
  heldCharacters = HELD_CHARACTERS,
  setAside = SETS_NOTHING_ASIDE,
  now,
}: InboxDeps): OpenInbox {
  const heldAttachments = createHeld(heldCharacters);
  const kept = createKept(db, home, heldCharacters);
  const changed = (agentId: AgentId) => tell({ kind: 'changed', time: now(), what: 'inbox', agentId });
  const messagesOf = (rows: readonly Selectable<Tables['inbox']>[]): InboxMessage[] =>
    setAside.read('inbox', rows, ({ message_json }) => message_json, messageOf);
  const isMessage = (ids: readonly string[]) =>
    isOneOf(
      'message_json',
      ids.map((id) => JSON.stringify(id)),
    );

  const unreadOf = (agentId: AgentId) =>
    db
      .selectFrom('inbox')
      .where('home', '=', home)
      .where('agent_json', '=', JSON.stringify(agentId))
      .where('read_at', 'is', null);

  return {
    async tell(message, also) {
      const isNew = await repeated(() =>
        db.transaction().execute(async (trx) => {
          const inserted = await insertMessage(trx, home, message);
          if (inserted) await kept.put(trx, message);
          await also(trx);
          return inserted;
        }),
      );
      if (isNew) changed(message.to);
    },
    async put(message, name = message.to) {
      const noRoom = isCounted(message.from) ? await refuseForRoom() : null;
      if (noRoom !== null) return noRoom;
      const { isNew, refusal } = await repeated(async () =>
        isCounted(message.from)
          ? await putWithin(db, home, message, name)
          : { isNew: await insertMessage(db, home, message), refusal: null },
      );
      if (isNew) heldAttachments.put(message);
      if (isNew) changed(message.to);
      return refusal;
    },
    async waiting(agentId, limit) {
      const person = JSON.stringify('human');
      const rows = unreadOf(agentId).selectAll().orderBy('sequence');
      if (limit === undefined) return messagesOf(await rows.execute());
      // Nearly always, nothing waits.
      const all = await rows.limit(limit).execute();
      if (all.length < limit) return messagesOf(all);
      const said = await rows.where('sender_json', '=', person).execute();
      const others = rows.where('sender_json', '<>', person);
      const first = await others.limit(limit).execute();
      // Rows that cannot be read take no place from the others.
      const messages = messagesOf(first).length < first.length ? await others.execute() : first;
      const readable = messages.filter((row) => messagesOf([row]).length > 0).slice(0, limit);
      return messagesOf([...said, ...readable].sort(oldestFirst));
    },
    async count(agentId) {
      // A message that nobody can read would be something to do at each due moment, for ever.
      return messagesOf(await unreadOf(agentId).selectAll().execute()).length;
    },
    async claim(messageIds, { readIn, run, time }) {
      if (messageIds.length === 0) return [];
      // All other queries run before the claim. If one failed after it, the messages would count as
      // read without anybody having read them.
      await db
        .deleteFrom('inbox')
        .where('home', '=', home)
        .where('read_at', '<', time - retentionMs)
        .execute();
      const ofRelay = await kept.of(messageIds);
      const some = <Row>(rows: Row[]) => (rows.length > 0 ? rows : null);
      const rows = await writeOnce({
        write: async () =>
          some(
            await db
              .updateTable('inbox')
              .set({
                read_session_json: readIn === null ? null : JSON.stringify(readIn),
                read_run_json: JSON.stringify(run),
                read_at: time,
              })
              .where('home', '=', home)
              .where(isMessage(messageIds))
              .where('read_at', 'is', null)
              .returningAll()
              .execute(),
          ),
        check: async () =>
          some(
            await db
              .selectFrom('inbox')
              .selectAll()
              .where('home', '=', home)
              .where(isMessage(messageIds))
              .where('read_run_json', '=', JSON.stringify(run))
              .where('read_at', '=', time)
              .execute(),
          ),
      });
      const read = messagesOf((rows ?? []).sort(oldestFirst));
      const taken = read.map((message): TakenMessage => {
        const attachments = ofRelay.get(message.messageId) ?? heldAttachments.take(message.messageId);
        return attachments ? { ...message, attachments } : message;
      });
      for (const agentId of new Set(taken.map((message) => message.to))) changed(agentId);
      return taken;
    },
    async withdrawForPerson(messageId) {
      const agentId = await removeUnread(db, home, messageId, ({ eb }) =>
        eb('sender_json', '=', JSON.stringify('human')),
      );
      if (agentId === null) return false;
      heldAttachments.take(messageId);
      changed(agentId);
      return true;
    },
    async statusOf(messageId) {
      const row = await db
        .selectFrom('inbox')
        .select('read_at')
        .where('home', '=', home)
        .where('message_json', '=', JSON.stringify(messageId))
        .executeTakeFirst();
      return row ? (row.read_at === null ? 'waits' : 'read') : null;
    },
    async withdraw(messageId) {
      const agentId = await removeUnread(db, home, messageId, ({ eb, ref }) =>
        eb('sender_json', '=', ref('agent_json')),
      );
      if (agentId === null) return false;
      changed(agentId);
      return true;
    },
    async list(agentId, { before, limit }) {
      const mine = db.selectFrom('inbox').where('home', '=', home).where('agent_json', '=', JSON.stringify(agentId));
      const from =
        before === null
          ? undefined
          : await mine.select('sequence').where('message_json', '=', JSON.stringify(before)).executeTakeFirst();
      if (before !== null && !from) return { messages: [], more: false };
      const page = mine
        .selectAll()
        .orderBy('sequence', 'desc')
        .limit(limit + 1);
      const rows = await (from ? page.where('sequence', '<', from.sequence) : page).execute();
      return { messages: messagesOf(rows.slice(0, limit)), more: rows.length > limit };
    },
    async takenIn(readIn) {
      const rows = await db
        .selectFrom('inbox')
        .selectAll()
        .where('home', '=', home)
        .where('read_session_json', '=', JSON.stringify(readIn))
        .execute();
      return messagesOf(rows);
    },
    async release(messageIds) {
      if (messageIds.length === 0) return;
      await db
        .updateTable('inbox')
        .set({ read_session_json: null, read_run_json: null, read_at: null })
        .where('home', '=', home)
        .where(isMessage(messageIds))
        .execute();
    },
    async unread() {
      const rows = await db
        .selectFrom('inbox')
        .select(['agent_json', (eb) => eb.fn.countAll<string>().as('waiting')])
        .where('home', '=', home)
        .where('read_at', 'is', null)
        .groupBy('agent_json')
        .execute();
      return new Map(
        setAside.read(
          'messages',
          rows,
          (row) => row.agent_json,
          (row) => [parseText(row.agent_json), Number(row.waiting)] as const,
        ),
      );
    },
  };
}

/** What an agent is told when it was not given all waiting messages. */
export const moreWait = (count: number): string =>
  `${count} more ${count === 1 ? 'message waits' : 'messages wait'} for you; read_inbox gives the next`;
