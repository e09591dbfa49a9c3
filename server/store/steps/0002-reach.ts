/**
 * How agents reach each other: who there is, messages among agents, wakes, limits, threads,
 * credentials, and what requests cost.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const reach: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('agents')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('name_json', 'text', (column) => column.notNull())
      .addColumn('position', 'integer')
      .addColumn('retired', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('agents_pk', ['home', 'agent_json'])
      .execute();

    await schema
      .alterTable('inbox')
      .addColumn('sender_json', 'text', (column) => column.notNull().defaultTo('"human"'))
      .addColumn('priority', 'text', (column) => column.notNull().defaultTo('normal'))
      .addColumn('thread', 'text')
      .addColumn('read_run_json', 'text')
      .execute();
    await schema.createIndex('inbox_by_agent').on('inbox').columns(['home', 'agent_json', 'sequence']).execute();

    await schema
      .createTable('configs')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('config_json', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('configs_pk', ['home', 'scope'])
      .execute();

    await schema
      .createTable('wakes')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('wake', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
      .addColumn('asked_at', 'bigint', (column) => column.notNull())
      .addColumn('target_json', 'text', (column) => column.notNull())
      .addColumn('source_kind', 'text', (column) => column.notNull())
      .addColumn('source_json', 'text', (column) => column.notNull())
      .addColumn('way', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('message_json', 'text')
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('stopped_by', 'text')
      .addColumn('until_at', 'bigint')
      .addColumn('detail_json', 'text', (column) => column.notNull())
      .addColumn('granted_target_json', 'text')
      .addColumn('budget_json', 'text')
      .addPrimaryKeyConstraint('wakes_pk', ['home', 'wake'])
      .execute();
    await schema.createIndex('wakes_feed').on('wakes').columns(['home', 'sequence']).execute();
    await schema.createIndex('wakes_target_feed').on('wakes').columns(['home', 'target_json', 'sequence']).execute();
    // Each question of the gate has one index that fits and no other that nearly does: a store that
    // has never counted its rows, as the embedded one never does by itself, picks the right one all
    // the same.
    await schema
      .createIndex('wakes_granted')
      .on('wakes')
      .columns(['home', 'granted_target_json', 'asked_at'])
      .execute();
    await schema
      .createIndex('wakes_latest')
      .on('wakes')
      .columns(['home', 'asked_at'])
      .where(sql.ref('granted_target_json'), 'is not', null)
      .execute();
    await schema.createIndex('wakes_budget').on('wakes').columns(['home', 'budget_json', 'asked_at']).execute();
    await schema
      .createTable('wake_sessions')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('wake', 'text', (column) => column.notNull())
      .addColumn('target_json', 'text', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('wake_sessions_pk', ['home', 'wake'])
      .execute();
    await schema
      .createIndex('wake_sessions_of_target')
      .on('wake_sessions')
      .columns(['home', 'target_json', 'ended_at'])
      .execute();
    await schema
      .createIndex('wake_sessions_open')
      .on('wake_sessions')
      .columns(['home'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute();

    // A function, because a store that is asked in text plans anew each time, which takes longer
    // than the answer: the plan of a function is kept for as long as the connection.
    await sql`
      create function ${sql.id(SCHEMA, 'wake_facts')} (home_ text, target text, budget text, since bigint, most_wakes integer, flood_since bigint, most_latest integer, day_start bigint)
      returns table (what text, at bigint, seen bigint, ended bigint, note text) language plpgsql stable as $$
      begin
        return query
          (select 'wake', w.asked_at, null::bigint, null::bigint, w.source_json from ${sql.id(SCHEMA, 'wakes')} w
            where w.home = home_ and w.granted_target_json = target and w.asked_at >= since and w.source_kind <> 'person'
            order by w.asked_at desc limit most_wakes)
          union all
          (select 'latest', w.asked_at, null, null, null from ${sql.id(SCHEMA, 'wakes')} w
            where w.home = home_ and w.granted_target_json is not null and w.asked_at > flood_since and w.source_kind <> 'person'
            order by w.asked_at desc limit most_latest)
          union all
          (select 'call', w.asked_at, null, null, null from ${sql.id(SCHEMA, 'wakes')} w where w.home = home_ and w.budget_json = budget)
          union all
          (select 'session', r.opened_at, r.seen_at, r.ended_at, r.wake from ${sql.id(SCHEMA, 'wake_sessions')} r
            where r.home = home_ and r.target_json = target and r.ended_at is null)
          union all
          -- Beside the one above and not in one condition with it, which would read every session there ever was.
          (select 'session', r.opened_at, r.seen_at, r.ended_at, r.wake from ${sql.id(SCHEMA, 'wake_sessions')} r
            where r.home = home_ and r.target_json = target and r.ended_at > day_start);
      end $$`.execute(db);

    await schema
      .createTable('threads')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('title_json', 'text', (column) => column.notNull())
      .addColumn('created_by_json', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addColumn('messages', 'integer', (column) => column.notNull())
      .addColumn('closed_at', 'bigint')
      .addColumn('closed_by_json', 'text')
      .addColumn('summary_json', 'text')
      .addPrimaryKeyConstraint('threads_pk', ['home', 'thread'])
      .execute();
    await schema.createIndex('threads_newest').on('threads').columns(['home', 'last_at']).execute();
    await schema
      .createTable('thread_members')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('added_at', 'bigint', (column) => column.notNull())
      .addColumn('added_by_json', 'text', (column) => column.notNull())
      .addColumn('times', 'integer', (column) => column.notNull())
      .addColumn('removed_at', 'bigint')
      .addColumn('seen_sequence', 'integer', (column) => column.notNull())
      .addColumn('announced', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('thread_members_pk', ['home', 'thread', 'agent_json'])
      .execute();
    await schema.createIndex('thread_members_by_agent').on('thread_members').columns(['home', 'agent_json']).execute();
    await schema
      .createIndex('thread_members_unannounced')
      .on('thread_members')
      .columns(['home'])
      .where(sql<boolean>`not announced`)
      .execute();
    await schema
      .createTable('thread_messages')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('from_json', 'text', (column) => column.notNull())
      .addColumn('text_json', 'text', (column) => column.notNull())
      .addColumn('mentions_json', 'text', (column) => column.notNull())
      .addColumn('sent_at', 'bigint', (column) => column.notNull())
      .addColumn('client_json', 'text')
      .addPrimaryKeyConstraint('thread_messages_pk', ['home', 'thread', 'sequence'])
      .addUniqueConstraint('thread_messages_client', ['home', 'thread', 'client_json'])
      .execute();
    await schema
      .createTable('thread_mentions')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('sequence', 'integer', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('announced', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('thread_mentions_pk', ['home', 'thread', 'sequence', 'agent_json'])
      .execute();
    await schema
      .createIndex('thread_mentions_unannounced')
      .on('thread_mentions')
      .columns(['home'])
      .where(sql<boolean>`not announced`)
      .execute();

    await schema
      .createTable('credentials')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('credential', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('label_json', 'text', (column) => column.notNull())
      .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
      .addColumn('hint', 'text', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .addPrimaryKeyConstraint('credentials_pk', ['home', 'credential'])
      .execute();

    await schema
      .createTable('usage')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('sequence', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
      .addColumn('used_at', 'bigint', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('session_json', 'text')
      .addColumn('message_json', 'text')
      .addColumn('via', 'text', (column) => column.notNull())
      .addColumn('model_json', 'text', (column) => column.notNull())
      .addColumn('input_tokens', 'bigint', (column) => column.notNull())
      .addColumn('output_tokens', 'bigint', (column) => column.notNull())
      .addColumn('cache_read_tokens', 'bigint', (column) => column.notNull())
      .addColumn('cache_write_tokens', 'bigint', (column) => column.notNull())
      .addColumn('cost_micro_usd', 'bigint', (column) => column.notNull())
      .addColumn('estimated', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('usage_pk', ['home', 'sequence'])
      .execute();
    await schema
      .createTable('spending')
      .addColumn('home', 'text', (column) => column.notNull())
      .addColumn('quarter', 'bigint', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('cost_micro_usd', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('spending_pk', ['home', 'quarter', 'agent_json'])
      .execute();
    await schema.createIndex('usage_by_time').on('usage').columns(['home', 'used_at']).execute();
    await schema.createIndex('usage_by_agent').on('usage').columns(['home', 'agent_json', 'used_at']).execute();
    await schema.createIndex('usage_by_message').on('usage').columns(['home', 'message_json']).execute();
  },
};
