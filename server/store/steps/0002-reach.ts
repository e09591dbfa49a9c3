/** How agents reach each other: who there is, mail among agents, wakes, limits, threads, credentials, and what requests cost. */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const reach: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .createTable('agents')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('name_json', 'text', (column) => column.notNull())
      .addColumn('position', 'integer')
      .addColumn('retired', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('agents_pk', ['relay', 'agent_json'])
      .execute();

    await schema
      .alterTable('inbox')
      .addColumn('sender_json', 'text', (column) => column.notNull().defaultTo('"human"'))
      .addColumn('priority', 'text', (column) => column.notNull().defaultTo('normal'))
      .addColumn('thread', 'text')
      .addColumn('read_run_json', 'text')
      .execute();
    await schema.createIndex('inbox_by_agent').on('inbox').columns(['relay', 'agent_json', 'place']).execute();

    await schema
      .createTable('configs')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('scope', 'text', (column) => column.notNull())
      .addColumn('config_json', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('configs_pk', ['relay', 'scope'])
      .execute();

    await schema
      .createTable('wakes')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('wake', 'text', (column) => column.notNull())
      .addColumn('place', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
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
      .addPrimaryKeyConstraint('wakes_pk', ['relay', 'wake'])
      .execute();
    await schema.createIndex('wakes_feed').on('wakes').columns(['relay', 'place']).execute();
    await schema.createIndex('wakes_target_feed').on('wakes').columns(['relay', 'target_json', 'place']).execute();
    // Each question of the gate has one index that fits and no other that nearly does: a store that has never
    // counted its rows, as the embedded one never does by itself, picks the right one all the same.
    await schema
      .createIndex('wakes_granted')
      .on('wakes')
      .columns(['relay', 'granted_target_json', 'asked_at'])
      .execute();
    await schema
      .createIndex('wakes_latest')
      .on('wakes')
      .columns(['relay', 'asked_at'])
      .where(sql.ref('granted_target_json'), 'is not', null)
      .execute();
    await schema.createIndex('wakes_budget').on('wakes').columns(['relay', 'budget_json', 'asked_at']).execute();
    await schema
      .createTable('runs')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('wake', 'text', (column) => column.notNull())
      .addColumn('target_json', 'text', (column) => column.notNull())
      .addColumn('opened_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addPrimaryKeyConstraint('runs_pk', ['relay', 'wake'])
      .execute();
    await schema.createIndex('runs_of_target').on('runs').columns(['relay', 'target_json', 'ended_at']).execute();
    await schema
      .createIndex('runs_open')
      .on('runs')
      .columns(['relay'])
      .where(sql.ref('ended_at'), 'is', null)
      .execute();

    // A function, because a store that is asked in text plans anew each time, which takes longer than the answer: the
    // plan of a function is kept for as long as the connection.
    await sql`
      create function ${sql.id(SCHEMA, 'wake_facts')} (relay_ text, target text, budget text, since bigint, most_wakes integer, flood_since bigint, most_latest integer, day_start bigint)
      returns table (what text, at bigint, seen bigint, ended bigint, note text) language plpgsql stable as $$
      begin
        return query
          (select 'wake', w.asked_at, null::bigint, null::bigint, w.source_json from ${sql.id(SCHEMA, 'wakes')} w
            where w.relay = relay_ and w.granted_target_json = target and w.asked_at >= since and w.source_kind <> 'person'
            order by w.asked_at desc limit most_wakes)
          union all
          (select 'latest', w.asked_at, null, null, null from ${sql.id(SCHEMA, 'wakes')} w
            where w.relay = relay_ and w.granted_target_json is not null and w.asked_at > flood_since and w.source_kind <> 'person'
            order by w.asked_at desc limit most_latest)
          union all
          (select 'call', w.asked_at, null, null, null from ${sql.id(SCHEMA, 'wakes')} w where w.relay = relay_ and w.budget_json = budget)
          union all
          (select 'run', r.opened_at, r.seen_at, r.ended_at, r.wake from ${sql.id(SCHEMA, 'runs')} r
            where r.relay = relay_ and r.target_json = target and r.ended_at is null)
          union all
          -- Beside the one above and not in one condition with it, which would read every session there ever was.
          (select 'run', r.opened_at, r.seen_at, r.ended_at, r.wake from ${sql.id(SCHEMA, 'runs')} r
            where r.relay = relay_ and r.target_json = target and r.ended_at > day_start);
      end $$`.execute(db);

    await schema
      .createTable('threads')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('title_json', 'text', (column) => column.notNull())
      .addColumn('created_by_json', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .addColumn('messages', 'integer', (column) => column.notNull())
      .addColumn('closed_at', 'bigint')
      .addColumn('closed_by_json', 'text')
      .addColumn('summary_json', 'text')
      .addPrimaryKeyConstraint('threads_pk', ['relay', 'thread'])
      .execute();
    await schema.createIndex('threads_newest').on('threads').columns(['relay', 'last_at']).execute();
    await schema
      .createTable('thread_members')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('added_at', 'bigint', (column) => column.notNull())
      .addColumn('added_by_json', 'text', (column) => column.notNull())
      .addColumn('times', 'integer', (column) => column.notNull())
      .addColumn('removed_at', 'bigint')
      .addColumn('seen_place', 'integer', (column) => column.notNull())
      .addColumn('announced', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('thread_members_pk', ['relay', 'thread', 'agent_json'])
      .execute();
    await schema.createIndex('thread_members_by_agent').on('thread_members').columns(['relay', 'agent_json']).execute();
    await schema
      .createIndex('thread_members_unannounced')
      .on('thread_members')
      .columns(['relay'])
      .where(sql<boolean>`not announced`)
      .execute();
    await schema
      .createTable('thread_messages')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('place', 'integer', (column) => column.notNull())
      .addColumn('message', 'text', (column) => column.notNull())
      .addColumn('from_json', 'text', (column) => column.notNull())
      .addColumn('text_json', 'text', (column) => column.notNull())
      .addColumn('mentions_json', 'text', (column) => column.notNull())
      .addColumn('sent_at', 'bigint', (column) => column.notNull())
      .addColumn('client_json', 'text')
      .addPrimaryKeyConstraint('thread_messages_pk', ['relay', 'thread', 'place'])
      .addUniqueConstraint('thread_messages_client', ['relay', 'thread', 'client_json'])
      .execute();
    await schema
      .createTable('thread_mentions')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('thread', 'text', (column) => column.notNull())
      .addColumn('place', 'integer', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('announced', 'boolean', (column) => column.notNull())
      .addPrimaryKeyConstraint('thread_mentions_pk', ['relay', 'thread', 'place', 'agent_json'])
      .execute();
    await schema
      .createIndex('thread_mentions_unannounced')
      .on('thread_mentions')
      .columns(['relay'])
      .where(sql<boolean>`not announced`)
      .execute();

    await schema
      .createTable('credentials')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('credential', 'text', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('label_json', 'text', (column) => column.notNull())
      .addColumn('secret_hash', 'text', (column) => column.notNull().unique())
      .addColumn('hint', 'text', (column) => column.notNull())
      .addColumn('made_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .addPrimaryKeyConstraint('credentials_pk', ['relay', 'credential'])
      .execute();

    await schema
      .createTable('usage')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('place', 'bigint', (column) => column.notNull().generatedAlwaysAsIdentity())
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
      .addPrimaryKeyConstraint('usage_pk', ['relay', 'place'])
      .execute();
    await schema
      .createTable('spending')
      .addColumn('relay', 'text', (column) => column.notNull())
      .addColumn('quarter', 'bigint', (column) => column.notNull())
      .addColumn('agent_json', 'text', (column) => column.notNull())
      .addColumn('cost_micro_usd', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('spending_pk', ['relay', 'quarter', 'agent_json'])
      .execute();
    await schema.createIndex('usage_by_time').on('usage').columns(['relay', 'used_at']).execute();
    await schema.createIndex('usage_by_agent').on('usage').columns(['relay', 'agent_json', 'used_at']).execute();
    await schema.createIndex('usage_by_message').on('usage').columns(['relay', 'message_json']).execute();
  },
};
