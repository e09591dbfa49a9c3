/**
 * Every table of the store, as SQL. `tables.ts` says what they hold. A change in a released version
 * or a later one is a separate step: a released step is never edited.
 *
 * The text is the same for Postgres and SQLite, but for three things: the name of the schema, which
 * a file of SQLite does not have, columns that count by themselves, and triggers. The conditions of
 * indexes are written as queries write them, because SQLite compares their texts.
 */
import { sql, type Kysely, type Migration } from 'kysely';
import { isEmbedded } from '../dialect.ts';
import { SCHEMA, type Tables } from '../tables.ts';
import { POSTGRES_TRIGGERS, SQLITE_TRIGGERS } from './0001-triggers.ts';

/** The type of a column that numbers its rows. A table has at most one. */
const SEQUENCE = {
  postgres: 'bigint generated always as identity primary key',
  sqlite: 'integer primary key autoincrement',
} as const;

const statementsWith = (sequence: string): readonly string[] => [
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
  `create index events_boundaries on roost.events (log, id) where (kind = 'session-started' or kind = 'session-ended')`,
  // They also begin at a running run.
  `create index events_runs on roost.events (log, kind, id) where (kind = 'run-started' or kind = 'run-ended')`,
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
      sequence ${sequence},
      read_session_json text,
      read_at bigint,
      sender_json text not null default '"human"',
      priority text not null default 'normal',
      thread text,
      read_run_json text,
      message_type text,
      constraint inbox_named unique (home, message_json)
    )
  `,
  `create index inbox_by_agent on roost.inbox (home, agent_json, sequence)`,
  `create index inbox_waiting on roost.inbox (home, agent_json, sent_at, sequence) where (read_at is null)`,
  `
    create table roost.inbox_attachments (
      home text not null,
      message_json text not null,
      sequence ${sequence},
      attachments_json text not null,
      constraint inbox_attachments_named unique (home, message_json),
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
      decisions bigint not null default 0,
      constraint configs_pk primary key (home, scope)
    )
  `,
  `
    create table roost.wakes (
      home text not null,
      wake text not null,
      sequence ${sequence},
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
      constraint wakes_named unique (home, wake)
    )
  `,
  `create index wakes_budget on roost.wakes (home, budget_json, asked_at)`,
  `create index wakes_feed on roost.wakes (home, sequence)`,
  // Each query of the gate has one index that fits, and no other that nearly does. So a store
  // without statistics, as the embedded one is, still picks the right one.
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
      version integer not null default 0,
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
  `create index thread_members_unannounced on roost.thread_members (home) where (announced = false)`,
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
  `create index thread_messages_unannounced on roost.thread_messages (home) where (announced = false)`,
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
  `create index thread_mentions_unannounced on roost.thread_mentions (home) where (announced = false)`,
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
      sequence ${sequence},
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
      reserve text
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
      sequence ${sequence},
      agent_json text not null,
      session text,
      run text,
      place text not null,
      folder_json text,
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
      constraint tool_calls_named unique (home, call)
    )
  `,
  `create index tool_calls_open on roost.tool_calls (home, sequence) where (state = 'asked' or state = 'running')`,
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
      version bigint not null default 0,
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
      version integer not null default 0,
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
  `create unique index schedules_named on roost.schedules (home, agent_json, name_json) where (removed = false)`,
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
  `
    create table roost.projects (
      home text not null,
      project text not null,
      value_json text not null,
      version bigint not null default 0,
      stamp text,
      created_at bigint not null,
      removed boolean not null default false,
      constraint projects_pk primary key (home, project)
    )
  `,
  `create index projects_unannounced on roost.projects (home) where (stamp is null)`,
  `
    create table roost.tasks (
      home text not null,
      task text not null,
      project text not null,
      number integer not null,
      column_json text not null,
      assignee_json text,
      priority text not null,
      blocked_json text not null,
      created_by_json text not null,
      created_at bigint not null,
      value_json text not null,
      version bigint not null default 0,
      stamp text,
      removed boolean not null default false,
      holder_json text,
      run text,
      claimed_at bigint,
      claimed_from_json text,
      claim_token bigint not null default 0,
      lease_until bigint,
      changed_at bigint not null default 0,
      asked boolean not null default false,
      constraint tasks_pk primary key (home, task)
    )
  `,
  `create index tasks_in_order on roost.tasks (home, project, number) where (removed = false)`,
  `create index tasks_claimed on roost.tasks (home, lease_until) where (holder_json is not null)`,
  `create index tasks_by_creator on roost.tasks (home, created_by_json, created_at)`,
  `create index tasks_unannounced on roost.tasks (home) where (stamp is null)`,
  `create index tasks_asked on roost.tasks (home, project) where (asked = true)`,
  `
    create table roost.attempts (
      home text not null,
      attempt text not null,
      project text not null,
      task text not null,
      claim_token bigint not null,
      agent_json text not null,
      run text,
      is_open boolean not null,
      started_at bigint not null,
      value_json text not null,
      commands_json text not null default '[]',
      draft_json text,
      spent_json text,
      version bigint not null default 0,
      stamp text,
      constraint attempts_pk primary key (home, attempt)
    )
  `,
  `
    create table roost.project_tokens (
      home text not null,
      project text not null,
      forge text,
      sealed bytea not null,
      constraint project_tokens_pk primary key (home, project)
    )
  `,
  `create index attempts_of_task on roost.attempts (home, task, started_at)`,
  `create index attempts_open on roost.attempts (home) where (is_open = true)`,
  `create index attempts_unannounced on roost.attempts (home) where (stamp is null)`,
  `
    create table roost.routine_mappings (
      home text not null,
      mapping text not null,
      project text not null,
      schedule text not null,
      agent_json text not null,
      value_json text not null,
      agreed boolean not null,
      version bigint not null default 0,
      stamp text,
      created_at bigint not null,
      removed boolean not null default false,
      constraint routine_mappings_pk primary key (home, mapping)
    )
  `,
  `create index routine_mappings_of_schedule on roost.routine_mappings (home, schedule) where (removed = false)`,
  `create index routine_mappings_of_project on roost.routine_mappings (home, project) where (removed = false)`,
  `create index routine_mappings_unannounced on roost.routine_mappings (home) where (stamp is null)`,
  `
    create table roost.hooks (
      home text not null,
      hook text not null,
      name_json text not null,
      target_json text not null,
      secret_hash text not null unique,
      hint text not null,
      sealed_signing bytea,
      created_at bigint not null,
      used_at bigint,
      constraint hooks_pk primary key (home, hook)
    )
  `,
  `
    create table roost.hook_deliveries (
      home text not null,
      hook text not null,
      delivery_hash text not null,
      taken_at bigint not null,
      task text not null,
      done boolean not null default false,
      constraint hook_deliveries_pk primary key (home, hook, delivery_hash),
      constraint hook_deliveries_of foreign key (home, hook) references roost.hooks(home, hook) on delete cascade
    )
  `,
  `create index hook_deliveries_lately on roost.hook_deliveries (home, hook, taken_at)`,
  `create index tasks_changed on roost.tasks (home, project, changed_at)`,
];

/** The same statement without the name of the schema. */
const withoutSchema = (statement: string) => statement.replaceAll(`${SCHEMA}.`, '');

export const schema: Migration = {
  async up(db: Kysely<Tables>) {
    const statements = isEmbedded(db)
      ? [...statementsWith(SEQUENCE.sqlite).map(withoutSchema), ...SQLITE_TRIGGERS]
      : [...statementsWith(SEQUENCE.postgres), ...POSTGRES_TRIGGERS];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
