/**
 * Every table of the store, as SQL. `tables.ts` says what they hold. A change in this version or a
 * later one is a separate step: a released step is never edited.
 */
import { sql, type Kysely, type Migration } from 'kysely';

const STATEMENTS: readonly string[] = [
  `
    create table roost.logs (
      home text primary key,
      log text not null unique,
      head bigint not null,
      acked bigint not null,
      made_at bigint not null
    )
  `,
  `
    create table roost.events (
      log text not null,
      id bigint not null,
      kind text not null,
      event_json text not null,
      stored_at bigint not null,
      constraint events_pk primary key (log, id)
    )
  `,
  // The fold at start, and the part that pruning must keep, begin at a session's start or end.
  `create index events_boundaries on roost.events (log, id) where (kind in ('session-started', 'session-ended'))`,
  // They also begin at a running run.
  `create index events_runs on roost.events (log, kind, id) where (kind in ('run-started', 'run-ended'))`,
  `
    create table roost.taken (
      log text not null,
      client_json text not null,
      event_id bigint not null,
      constraint taken_pk primary key (log, client_json)
    )
  `,
  `
    create table roost.inbox (
      home text not null,
      message_json text not null,
      agent_json text not null,
      text_json text not null,
      sent_at bigint not null,
      sequence bigint not null generated always as identity,
      read_session_json text,
      read_at bigint,
      sender_json text not null default '"human"',
      priority text not null default 'normal',
      thread text,
      read_run_json text,
      message_type text,
      constraint inbox_pk primary key (home, message_json)
    )
  `,
  `create index inbox_by_agent on roost.inbox (home, agent_json, sequence)`,
  `create index inbox_waiting on roost.inbox (home, agent_json, sent_at, sequence) where (read_at is null)`,
  `
    create table roost.inbox_attachments (
      home text not null,
      message_json text not null,
      sequence bigint not null generated always as identity,
      attachments_json text not null,
      constraint inbox_attachments_pk primary key (home, message_json),
      constraint inbox_attachments_of foreign key (home, message_json) references roost.inbox(home, message_json) on delete cascade
    )
  `,
  `
    create table roost.codes (
      relay text not null,
      code_hash text primary key,
      made_at bigint not null
    )
  `,
  `
    create table roost.browsers (
      relay text not null,
      token_hash text primary key,
      made_at bigint not null,
      seen_at bigint not null,
      home text,
      key_hash text,
      guest_until bigint,
      family text
    )
  `,
  `
    create table roost.device_codes (
      relay text not null,
      id text not null,
      code_hash text not null,
      host text not null,
      guest text,
      guest_is_new boolean not null default false,
      offer text,
      made_at bigint not null,
      ended_at bigint,
      constraint device_codes_pk primary key (relay, id)
    )
  `,
  `
    create table roost.homes (
      relay text not null,
      home text primary key,
      made_at bigint not null,
      begun_at bigint,
      household text,
      constraint homes_household unique (relay, household)
    )
  `,
  `
    create table roost.agents (
      home text not null,
      agent_json text not null,
      name_json text not null,
      "position" integer,
      retired boolean not null,
      constraint agents_pk primary key (home, agent_json)
    )
  `,
  `
    create table roost.configs (
      home text not null,
      scope text not null,
      config_json text not null,
      stamp text,
      version bigint not null default 0,
      constraint configs_pk primary key (home, scope)
    )
  `,
  `
    create table roost.wakes (
      home text not null,
      wake text not null,
      sequence bigint not null generated always as identity,
      asked_at bigint not null,
      target_json text not null,
      source_kind text not null,
      source_json text not null,
      way text not null,
      reason text,
      message_json text,
      outcome text not null,
      stopped_by text,
      until_at bigint,
      detail_json text not null,
      granted_target_json text,
      budget_json text,
      call_id text,
      clears boolean not null default false,
      constraint wakes_pk primary key (home, wake)
    )
  `,
  `create index wakes_budget on roost.wakes (home, budget_json, asked_at)`,
  `create index wakes_feed on roost.wakes (home, sequence)`,
  // Each query of the gate has one index that fits, and no other that nearly does. So a store
  // without statistics, as the embedded one is by itself, still picks the right one.
  `create index wakes_granted on roost.wakes (home, granted_target_json, asked_at)`,
  `create index wakes_latest on roost.wakes (home, asked_at) where (granted_target_json is not null)`,
  `create index wakes_target_feed on roost.wakes (home, target_json, sequence)`,
  `
    create table roost.wake_sessions (
      home text not null,
      wake text not null,
      target_json text not null,
      opened_at bigint not null,
      seen_at bigint not null,
      ended_at bigint,
      constraint wake_sessions_pk primary key (home, wake)
    )
  `,
  `create index wake_sessions_of_target on roost.wake_sessions (home, target_json, ended_at)`,
  `create index wake_sessions_open on roost.wake_sessions (home) where (ended_at is null)`,
  `
    create table roost.threads (
      home text not null,
      thread text not null,
      title_json text not null,
      created_by_json text not null,
      created_at bigint not null,
      last_at bigint not null,
      messages integer not null,
      closed_at bigint,
      closed_by_json text,
      summary_json text,
      stamp text,
      changes integer not null default 0,
      constraint threads_pk primary key (home, thread)
    )
  `,
  `create index threads_by_creator on roost.threads (home, created_by_json, created_at)`,
  `create index threads_newest on roost.threads (home, last_at)`,
  `create index threads_open on roost.threads (home, created_by_json) where (closed_at is null)`,
  `create index threads_unannounced on roost.threads (home) where (stamp is null)`,
  `
    create table roost.thread_members (
      home text not null,
      thread text not null,
      agent_json text not null,
      added_at bigint not null,
      added_by_json text not null,
      times integer not null,
      removed_at bigint,
      seen_sequence integer not null,
      announced boolean not null,
      constraint thread_members_pk primary key (home, thread, agent_json)
    )
  `,
  `create index thread_members_by_agent on roost.thread_members (home, agent_json)`,
  `create index thread_members_unannounced on roost.thread_members (home) where (not announced)`,
  `
    create table roost.thread_messages (
      home text not null,
      thread text not null,
      sequence integer not null,
      message text not null,
      from_json text not null,
      text_json text not null,
      mentions_json text not null,
      sent_at bigint not null,
      client_json text,
      announced boolean not null default false,
      restored boolean not null default false,
      constraint thread_messages_client unique (home, thread, client_json),
      constraint thread_messages_pk primary key (home, thread, sequence)
    )
  `,
  `create index thread_messages_by_id on roost.thread_messages (home, thread, message)`,
  `create index thread_messages_by_sender on roost.thread_messages (home, from_json, sent_at)`,
  `create index thread_messages_unannounced on roost.thread_messages (home) where (not announced)`,
  `
    create table roost.thread_mentions (
      home text not null,
      thread text not null,
      sequence integer not null,
      agent_json text not null,
      announced boolean not null,
      constraint thread_mentions_pk primary key (home, thread, sequence, agent_json)
    )
  `,
  `create index thread_mentions_unannounced on roost.thread_mentions (home) where (not announced)`,
  `
    create table roost.credentials (
      home text not null,
      credential text not null,
      agent_json text not null,
      label_json text not null,
      secret_hash text not null unique,
      hint text not null,
      made_at bigint not null,
      used_at bigint,
      revoked_at bigint,
      reads_soul boolean not null default false,
      scopes_json text,
      constraint credentials_pk primary key (home, credential)
    )
  `,
  `
    create table roost.usage (
      home text not null,
      sequence bigint not null generated always as identity,
      used_at bigint not null,
      agent_json text not null,
      session_json text,
      message_json text,
      via text not null,
      model_json text not null,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cache_read_tokens bigint not null,
      cache_write_tokens bigint not null,
      cost_micro_usd bigint not null,
      estimated boolean not null,
      reserve text,
      constraint usage_pk primary key (home, sequence)
    )
  `,
  `create index usage_by_agent on roost.usage (home, agent_json, used_at)`,
  `create index usage_by_message on roost.usage (home, message_json)`,
  `create index usage_by_time on roost.usage (home, used_at)`,
  `
    create table roost.reserves (
      home text not null,
      reserve text not null,
      reserve_json text not null,
      constraint reserves_pk primary key (home, reserve)
    )
  `,
  `
    create table roost.mcp_sessions (
      home text not null,
      credential text not null,
      session text not null,
      used_at bigint not null,
      seen_at bigint not null,
      constraint mcp_sessions_pk primary key (home, credential, session)
    )
  `,
  `
    create table roost.spending (
      home text not null,
      quarter bigint not null,
      agent_json text not null,
      cost_micro_usd bigint not null,
      constraint spending_pk primary key (home, quarter, agent_json)
    )
  `,
  `
    create table roost.households (
      relay text not null,
      household text not null,
      epoch integer not null,
      auth_key text not null,
      made_at bigint not null,
      bytes bigint not null,
      recovery text,
      recovery_box text,
      recovery_epoch integer,
      constraint households_pk primary key (relay, household)
    )
  `,
  `create unique index households_recovery on roost.households (relay, recovery)`,
  `
    create table roost.devices (
      relay text not null,
      household text not null,
      device text not null,
      added_at bigint not null,
      seen_at bigint not null,
      removed_at bigint,
      constraint devices_pk primary key (relay, household, device)
    )
  `,
  `
    create table roost.device_browsers (
      relay text not null,
      household text not null,
      device text not null,
      browser text not null,
      constraint device_browsers_pk primary key (relay, household, device, browser)
    )
  `,
  `create index device_browsers_by_browser on roost.device_browsers (relay, browser)`,
  `
    create table roost.rotations (
      relay text not null,
      household text not null,
      epoch integer not null,
      auth_key text not null,
      rotated_at bigint not null,
      boxes_json text not null,
      constraint rotations_pk primary key (relay, household, epoch)
    )
  `,
  `
    create table roost.offers (
      relay text not null,
      offer text not null,
      made_at bigint not null,
      ended_at bigint,
      browser text not null default '',
      constraint offers_pk primary key (relay, offer)
    )
  `,
  `
    create table roost.offer_slots (
      relay text not null,
      offer text not null,
      slot text not null,
      data text not null,
      constraint offer_slots_pk primary key (relay, offer, slot)
    )
  `,
  `
    create table roost.entries (
      relay text not null,
      household text not null,
      writer text not null,
      counter bigint not null,
      sealed bytea not null,
      arrived_at bigint not null,
      constraint entries_pk primary key (relay, household, writer, counter)
    )
  `,
  `
    create table roost.tool_calls (
      home text not null,
      call text not null,
      sequence bigint not null generated always as identity,
      agent_json text not null,
      session text,
      run text,
      place text not null,
      tool text not null,
      input_json text not null,
      state text not null,
      allowed_by text,
      asked_at bigint not null,
      answered_at bigint,
      ended_at bigint,
      told_at bigint,
      words_json text,
      outcome_json text,
      is_error boolean not null default false,
      bytes bigint,
      later boolean not null default false,
      leave_hash text,
      pin text,
      content_json text,
      before_json text,
      question_json text,
      constraint tool_calls_pk primary key (home, call)
    )
  `,
  `create index tool_calls_open on roost.tool_calls (home, sequence) where (state in ('asked', 'running'))`,
  `create index tool_calls_order on roost.tool_calls (home, sequence)`,
  `
    create table roost.command_contents (
      home text not null,
      agent_json text not null,
      command_hash text not null,
      agreed_json text not null,
      agreed_at bigint not null,
      constraint command_contents_pk primary key (home, agent_json, command_hash)
    )
  `,
  `
    create table roost.script_texts (
      home text not null,
      schedule text not null,
      sha256 text not null,
      state text not null,
      text bytea,
      answered_at bigint not null,
      constraint script_texts_pk primary key (home, schedule, sha256)
    )
  `,
  `
    create table roost.agent_programs (
      home text not null,
      program text not null,
      sealed bytea not null,
      made_at bigint not null,
      constraint agent_programs_pk primary key (home, program)
    )
  `,
  `
    create table roost.program_sessions (
      home text not null,
      agent_json text not null,
      sealed bytea not null,
      ended_at bigint not null,
      constraint program_sessions_pk primary key (home, agent_json)
    )
  `,
  `
    create table roost.model_connections (
      home text not null,
      connection text not null,
      sealed bytea not null,
      made_at bigint not null,
      constraint model_connections_pk primary key (home, connection)
    )
  `,
  `
    create table roost.standing_copies (
      home text not null,
      agent_json text not null,
      sealed bytea not null,
      version text not null,
      left_at bigint not null,
      constraint standing_copies_pk primary key (home, agent_json)
    )
  `,
  `
    create table roost.attached (
      home text not null,
      server text not null,
      name text not null,
      sealed bytea not null,
      value_json text not null,
      made_at bigint not null,
      stamp text,
      removed boolean not null default false,
      constraint attached_names unique (home, name),
      constraint attached_pk primary key (home, server)
    )
  `,
  `
    create table roost.asked_records (
      home text not null,
      type text not null,
      record_json text not null,
      part_json text not null,
      stamp text not null,
      value_json text not null,
      declined boolean not null default false,
      constraint asked_records_pk primary key (home, type, record_json, part_json)
    )
  `,
  `
    create table roost.notification_devices (
      home text not null,
      browser text not null,
      device text not null,
      choice_json text not null,
      sealed bytea,
      used_at bigint not null,
      refused integer,
      constraint notification_devices_pk primary key (home, browser)
    )
  `,
  `
    create table roost.push_contacts (
      home text primary key,
      mail text not null
    )
  `,
  `
    create table roost.notifications (
      home text not null,
      key text not null,
      value_json text not null,
      raised_at bigint not null,
      closed_at bigint,
      next_at bigint,
      constraint notifications_pk primary key (home, key)
    )
  `,
  `
    create table roost.notification_sends (
      home text not null,
      key text not null,
      browser text not null,
      state text not null,
      due_at bigint not null,
      tries integer not null,
      constraint notification_sends_pk primary key (home, key, browser)
    )
  `,
  `
    create table roost.schedules (
      home text not null,
      schedule text not null,
      agent_json text not null,
      name_json text not null,
      value_json text not null,
      stamp text,
      changes integer not null default 0,
      "position" integer not null,
      removed boolean not null default false,
      judged_at bigint not null,
      due_at bigint,
      paused_why text,
      given_offset integer,
      elsewhere text,
      wanted boolean not null default false,
      since bigint,
      turn integer not null default 0,
      agreed text,
      created_at bigint,
      updated_at bigint,
      constraint schedules_pk primary key (home, schedule)
    )
  `,
  `create index schedules_due on roost.schedules (home, due_at) where (due_at is not null)`,
  `create unique index schedules_named on roost.schedules (home, agent_json, name_json) where (not removed)`,
  `create index schedules_untold on roost.schedules (home) where (stamp is null)`,
  `
    create table roost.occurrences (
      home text not null,
      schedule text not null,
      due_at bigint not null,
      agent_json text not null,
      state text not null,
      reason text,
      late boolean not null default false,
      not_before bigint not null,
      token text,
      lease_until bigint,
      run text,
      started_at bigint,
      ended_at bigint,
      detail_json text,
      kind text not null default '',
      name_json text,
      group_json text,
      notice_json text,
      constraint occurrences_pk primary key (home, schedule, due_at)
    )
  `,
  `create index occurrences_begun on roost.occurrences (home, started_at) where (started_at is not null)`,
  `create index occurrences_ended on roost.occurrences (home, ended_at) where (ended_at is not null)`,
  `create index occurrences_open on roost.occurrences (home, not_before) where (ended_at is null)`,
  `
    create table roost.proposals (
      home text not null,
      proposal text not null,
      agent_json text not null,
      value_json text not null,
      why_json text not null,
      made_at bigint not null,
      answer text,
      answered_at bigint,
      constraint proposals_pk primary key (home, proposal)
    )
  `,
  `create index proposals_open on roost.proposals (home, made_at) where (answer is null)`,
  `
    create table roost.clocks (
      home text primary key,
      seen_at bigint not null,
      stopped_at bigint,
      place text,
      site text,
      copied_from text
    )
  `,
  // Every change of settings increments the counter in the household's row. Decisions of the gate
  // are checked against it.
  `
    create function roost.config_counted() returns trigger language plpgsql as $$
    begin
      if new.scope = 'household' then
        new.version := new.version + 1;
      else
        insert into roost.configs as held (home, scope, config_json, stamp) values (new.home, 'household', '{}', '')
          on conflict (home, scope) do update set version = held.version + 1;
      end if;
      return new;
    end $$
  `,
  `
    create trigger config_counted before insert or update of config_json on roost.configs
      for each row execute function roost.config_counted()
  `,
  // A function, because plain SQL text is planned anew each time, which takes longer than the
  // query. A function's plan lives as long as the connection.
  `
    create function roost.wake_facts(
      home_ text, target text, budget text, since bigint, most_wakes integer, flood_since bigint, most_latest integer,
      day_start bigint
    ) returns table(what text, at bigint, seen bigint, ended bigint, note text) language plpgsql stable as $$
    begin
      return query
        (select 'wake', w.asked_at, null::bigint, null::bigint, w.source_json from roost.wakes w
          where w.home = home_ and w.granted_target_json = target and w.asked_at >= since
            and w.source_kind in ('agent', 'api') and not w.clears
          order by w.asked_at desc limit most_wakes)
        union all
        (select 'latest', w.asked_at, null, null, null from roost.wakes w
          where w.home = home_ and w.granted_target_json is not null and w.asked_at > flood_since
            and w.source_kind in ('agent', 'api') and not w.clears
          order by w.asked_at desc limit most_latest)
        union all
        (select 'cleared', w.asked_at, null, null, null from roost.wakes w
          where w.home = home_ and w.granted_target_json is not null and w.asked_at > flood_since and w.clears
          order by w.asked_at desc limit most_latest)
        union all
        (select 'call', w.asked_at, null, null, null from roost.wakes w where w.home = home_ and w.budget_json = budget)
        union all
        (select 'session', r.opened_at, r.seen_at, r.ended_at, r.wake from roost.wake_sessions r
          where r.home = home_ and r.target_json = target and r.ended_at is null)
        union all
        -- Beside the one above and not in one condition with it, which would read every session there ever was.
        (select 'session', r.opened_at, r.seen_at, r.ended_at, r.wake from roost.wake_sessions r
          where r.home = home_ and r.target_json = target and r.ended_at > day_start);
    end $$
  `,
];

export const schema: Migration = {
  async up(db: Kysely<unknown>) {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
