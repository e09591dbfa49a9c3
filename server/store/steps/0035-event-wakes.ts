/**
 * Limits count event wakes only: not what was scheduled, and not clearing a sleeping flag. What is
 * scheduled and waits until it can run is an occurrence, too, and says for what it waits.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { SCHEMA } from '../schema.ts';

export const eventWakes: Migration = {
  async up(db: Kysely<unknown>) {
    const schema = db.schema.withSchema(SCHEMA);
    await schema
      .alterTable('wakes')
      .addColumn('clears', 'boolean', (column) => column.notNull().defaultTo(false))
      .execute();
    await schema.alterTable('occurrences').addColumn('notice_json', 'text').execute();
    const [wakes, sessions] = [sql.id(SCHEMA, 'wakes'), sql.id(SCHEMA, 'wake_sessions')];
    await sql`
      create or replace function ${sql.id(SCHEMA, 'wake_facts')} (home_ text, target text, budget text, since bigint, most_wakes integer, flood_since bigint, most_latest integer, day_start bigint)
      returns table (what text, at bigint, seen bigint, ended bigint, note text) language plpgsql stable as $$
      begin
        return query
          (select 'wake', w.asked_at, null::bigint, null::bigint, w.source_json from ${wakes} w
            where w.home = home_ and w.granted_target_json = target and w.asked_at >= since
              and w.source_kind in ('agent', 'api') and not w.clears
            order by w.asked_at desc limit most_wakes)
          union all
          (select 'latest', w.asked_at, null, null, null from ${wakes} w
            where w.home = home_ and w.granted_target_json is not null and w.asked_at > flood_since
              and w.source_kind in ('agent', 'api') and not w.clears
            order by w.asked_at desc limit most_latest)
          union all
          (select 'cleared', w.asked_at, null, null, null from ${wakes} w
            where w.home = home_ and w.granted_target_json is not null and w.asked_at > flood_since and w.clears
            order by w.asked_at desc limit most_latest)
          union all
          (select 'call', w.asked_at, null, null, null from ${wakes} w where w.home = home_ and w.budget_json = budget)
          union all
          (select 'session', r.opened_at, r.seen_at, r.ended_at, r.wake from ${sessions} r
            where r.home = home_ and r.target_json = target and r.ended_at is null)
          union all
          -- Beside the one above and not in one condition with it, which would read every session there ever was.
          (select 'session', r.opened_at, r.seen_at, r.ended_at, r.wake from ${sessions} r
            where r.home = home_ and r.target_json = target and r.ended_at > day_start);
      end $$`.execute(db);
  },
};
