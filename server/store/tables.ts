/**
 * The tables of the relay's store, all in the schema `roost`. Times are ms since the epoch. Columns
 * whose name ends in `_json` hold JSON text and not `jsonb`: JSON text writes NUL and lone
 * surrogates as escapes, and Postgres' own text and jsonb refuse both.
 */
import type { Generated } from 'kysely';
import type { MemoryTables } from './memory-tables.ts';

/** The schema of every table of Roost. */
export const SCHEMA = 'roost';

/**
 * Tool calls.
 *
 * - `state`: as `CallState`.
 * - `input_json`: the whole input while the call waits, then its beginning.
 * - `told_at`: when its agent was told the outcome, if the call's own answer is not it.
 * - `allowed_by`: null: nobody has allowed it.
 * - `leave_hash`: SHA-256 of the permission of an unused yes.
 * - `pin`, `content_json`: for a waiting call, the content that a yes covers.
 * - `before_json`: the content when the person was asked, where it has changed.
 * - `question_json`: a question that an MCP server asks the person during a call of `tool`. Null:
 *   the row is a call itself.
 */
interface ToolCallRow {
  home: string;
  call: string;
  sequence: Generated<number>;
  agent_json: string;
  session: string | null;
  run: string | null;
  place: string;
  folder_json: string | null;
  tool: string;
  input_json: string;
  state: string;
  allowed_by: string | null;
  asked_at: number;
  answered_at: number | null;
  ended_at: number | null;
  told_at: number | null;
  words_json: string | null;
  outcome_json: string | null;
  is_error: Generated<boolean>;
  bytes: number | null;
  later: Generated<boolean>;
  leave_hash: string | null;
  pin: string | null;
  content_json: string | null;
  before_json: string | null;
  question_json: string | null;
}

/**
 * Tables of schedules, which run without anybody present. The head of this file tells the form of
 * texts and times.
 */
interface NightTables {
  /**
   * Schedules. They run without a page.
   *
   * - `value_json`: the schedule as in its record.
   * - `judged_at`: every moment up to this time has a row among the occurrences.
   * - `due_at`: its next moment. Null: none.
   * - `stamp`: as in `configs`.
   * - `version`: number of changes.
   * - `paused_why`: why it does not run: it failed too often in a row, runs at another relay, or
   *   waits for the person's approval. Null: it runs.
   * - `given_offset`: minutes, for an interval without an offset of its own.
   * - `elsewhere`: the home that runs it now. Null: this one.
   * - `wanted`: this home has requested it from that one.
   * - `since`: when the last home released it. Occurrences up to this time are in that home's
   *   record.
   * - `turn`: number of moves between homes.
   * - `agreed`: what the person has approved of it at this relay. Null: nothing.
   * - `created_at`, `updated_at`: when it was set, and last changed. Null: unknown.
   */
  schedules: {
    home: string;
    schedule: string;
    agent_json: string;
    name_json: string;
    value_json: string;
    stamp: string | null;
    version: Generated<number>;
    position: number;
    removed: Generated<boolean>;
    judged_at: number;
    due_at: number | null;
    paused_why: string | null;
    given_offset: Generated<number | null>;
    elsewhere: Generated<string | null>;
    wanted: Generated<boolean>;
    since: Generated<number | null>;
    turn: Generated<number>;
    agreed: Generated<string | null>;
    created_at: Generated<number | null>;
    updated_at: Generated<number | null>;
  };
  /**
   * Every due moment, with its outcome.
   *
   * - `token`: of the current claim. Another claimant may not end it.
   * - `lease_until`: the claimant counts as dead after this.
   * - `detail_json`: how it went.
   * - `kind`, `name_json`: set for a run that a wake began without a schedule.
   * - `group_json`: the processes of a script that runs without a sandbox.
   * - `notice_json`: the row is not a moment but a notice to its agent that its script failed.
   *
   * A `due` row with a `reason` waits for that reason to pass.
   */
  occurrences: {
    home: string;
    schedule: string;
    due_at: number;
    agent_json: string;
    state: string;
    reason: string | null;
    late: Generated<boolean>;
    not_before: number;
    token: string | null;
    lease_until: number | null;
    run: string | null;
    started_at: number | null;
    ended_at: number | null;
    detail_json: string | null;
    kind: Generated<string>;
    name_json: Generated<string | null>;
    group_json: Generated<string | null>;
    notice_json: Generated<string | null>;
  };
  /**
   * Routines that agents have proposed. None runs before the person has approved it. `answer`:
   * null: none yet.
   */
  proposals: {
    home: string;
    proposal: string;
    agent_json: string;
    value_json: string;
    why_json: string;
    made_at: number;
    answer: Generated<string | null>;
    answered_at: Generated<number | null>;
  };
  /**
   * A home's clock.
   *
   * - `seen_at`: when it last ran.
   * - `stopped_at`: when the person stopped the relay. It has not run since.
   * - `place`: identity of the home's folder.
   * - `site`: the name by which other relays know this home's schedules. Null: the home's.
   * - `copied_from`: the site of the home that this one is a copy of.
   */
  clocks: {
    home: string;
    seen_at: number;
    stopped_at: number | null;
    place: Generated<string | null>;
    site: Generated<string | null>;
    copied_from: Generated<string | null>;
  };
}

export interface Tables extends NightTables, MemoryTables {
  /** One row per home. `log` is its event log. */
  logs: { home: string; log: string; head: number; acked: number; made_at: number };
  events: { log: string; id: number; kind: string; event_json: string; stored_at: number };
  /** Client ids in use, with the first event of each. */
  taken: { log: string; client_json: string; event_id: number };
  inbox: {
    home: string;
    message_json: string;
    agent_json: string;
    text_json: string;
    sent_at: number;
    sequence: Generated<number>;
    read_session_json: string | null;
    read_at: number | null;
    sender_json: Generated<string>;
    priority: Generated<string>;
    /** Its purpose, as its sender stated. */
    message_type: string | null;
    thread: string | null;
    read_run_json: string | null;
  };
  /** Pictures of a message of the relay, stored as long as the message. */
  inbox_attachments: { home: string; message_json: string; sequence: Generated<number>; attachments_json: string };
  /** One-time codes, by the SHA-256 of the code in hex. */
  codes: { relay: string; code_hash: string; made_at: number };
  /** Signed-in browsers, by the SHA-256 of their cookie's token in hex. */
  browsers: {
    relay: string;
    token_hash: string;
    made_at: number;
    seen_at: number;
    /** SHA-256 of the page key. Null: the sign-in is older than page keys. */
    key_hash: string | null;
    /** The home of the sign-in. Null: none yet. */
    home: string | null;
    /**
     * End of the guest status. The browser signed in with a device's code, and may only join until
     * then. Null: signed in permanently.
     */
    guest_until: number | null;
    /**
     * The original sign-in by a link, present or past, to which this one was added. Null: this one
     * used a link or a code itself.
     */
    family: string | null;
  };
  /**
   * Codes that a page shows for another device, by SHA-256. `host`: the sign-in that shows the
   * code. `guest`: the sign-in that used it.
   */
  device_codes: {
    relay: string;
    id: string;
    code_hash: string;
    host: string;
    guest: string | null;
    /** The guest was not signed in before, so its sign-in ends with the code. */
    guest_is_new: Generated<boolean>;
    offer: string | null;
    made_at: number;
    ended_at: number | null;
  };
  /**
   * The relay's side of each household. Every table about a team names its `home`. Tables of
   * sign-ins and of synchronisation name the whole `relay`. `begun_at`: when the household began.
   * `household`: its id in synchronisation. Null: unknown.
   */
  homes: { relay: string; home: string; made_at: number; begun_at: number | null; household: string | null };
  /** All members of the household, as the page last announced them. */
  agents: { home: string; agent_json: string; name_json: string; position: number | null; retired: boolean };
  /**
   * The person's settings.
   *
   * - `scope`: "household", "prices", or `agent ` and the agent's id as JSON text.
   * - `stamp`: of its event in the log. Null: not announced yet. Empty: nothing was set, and the
   *   row exists only for its counter.
   * - `version`: number of changes. 0: never set.
   * - `decisions`: in the household's row, the counter against which the gate makes its decisions.
   *   Each decision increments it, and the store does so with every change of settings.
   */
  configs: {
    home: string;
    scope: string;
    config_json: string;
    stamp: string | null;
    version: Generated<number>;
    decisions: Generated<number>;
  };
  /** Every decision of the gate. Written once, never changed. */
  wakes: {
    home: string;
    wake: string;
    sequence: Generated<number>;
    asked_at: number;
    target_json: string;
    source_kind: string;
    /** A source in the form of its schema. Pairs are counted by it. */
    source_json: string;
    way: string;
    reason: string | null;
    message_json: string | null;
    /** The call of the team that requested it. */
    call_id: string | null;
    outcome: string;
    stopped_by: string | null;
    until_at: number | null;
    detail_json: string;
    /** The target, if the wake was granted. */
    granted_target_json: string | null;
    /** The agent and session whose budget it used, if any. */
    budget_json: string | null;
    /** It clears a sleeping flag, and does not count as an event wake. */
    clears: Generated<boolean>;
  };
  /**
   * Sessions that granted wakes have opened, under the wake's name. `seen_at`: the last refresh by
   * the process that runs it.
   */
  wake_sessions: {
    home: string;
    wake: string;
    target_json: string;
    opened_at: number;
    seen_at: number;
    ended_at: number | null;
  };
  threads: {
    home: string;
    thread: string;
    title_json: string;
    created_by_json: string;
    created_at: number;
    last_at: number;
    messages: number;
    closed_at: number | null;
    closed_by_json: string | null;
    summary_json: string | null;
    /** As in `configs`. */
    stamp: string | null;
    /** Number of changes, messages not counted. */
    version: Generated<number>;
  };
  /**
   * A removed member stays as a row. `times`: how often it was added. `announced`: it, and the
   * wakes, were notified that it was added.
   */
  thread_members: {
    home: string;
    thread: string;
    agent_json: string;
    added_at: number;
    added_by_json: string;
    times: number;
    removed_at: number | null;
    seen_sequence: number;
    announced: boolean;
  };
  thread_messages: {
    home: string;
    thread: string;
    sequence: number;
    message: string;
    from_json: string;
    text_json: string;
    mentions_json: string;
    sent_at: number;
    client_json: string | null;
    /** The event log has it as a record. */
    announced: Generated<boolean>;
    /** A page restored it. */
    restored: Generated<boolean>;
  };
  /** Mentions of agents. `announced`: the agent, and the wakes, were notified of it. */
  thread_mentions: { home: string; thread: string; sequence: number; agent_json: string; announced: boolean };
  /**
   * Projects. A deleted one stays as a row, so that its deletion reaches every device.
   *
   * - `value_json`: the project as in its record.
   * - `version`, `stamp`: as in `threads`.
   */
  projects: {
    home: string;
    project: string;
    value_json: string;
    version: Generated<number>;
    stamp: string | null;
    created_at: number;
    removed: Generated<boolean>;
  };
  /**
   * Tasks. `value_json` is the task as in its record; some of its fields are columns too, for
   * queries. A deleted task stays as a row.
   *
   * A claim is one lease:
   *
   * - `holder_json`: the agent that works on it. Null: none.
   * - `run`: its run, or its credential after `credential `. The claim ends with the run.
   * - `claimed_from_json`: the column to which the task returns.
   * - `claim_token`: number of claims so far. A renewal, or the end of a claim, names the token.
   * - `lease_until`: the claim is over after this, unless it is renewed.
   *
   * `changed_at`: when it was changed last, by the clock of the store. A trigger sets it.
   */
  tasks: {
    home: string;
    task: string;
    project: string;
    number: number;
    column_json: string;
    assignee_json: string | null;
    priority: string;
    blocked_json: string;
    created_by_json: string;
    created_at: number;
    value_json: string;
    version: Generated<number>;
    stamp: string | null;
    removed: Generated<boolean>;
    holder_json: string | null;
    run: string | null;
    claimed_at: number | null;
    claimed_from_json: string | null;
    claim_token: Generated<number>;
    lease_until: number | null;
    changed_at: Generated<number>;
    asked: Generated<boolean>;
  };
  /**
   * Attempts at tasks. `value_json` is the attempt as in its record.
   *
   * - `claim_token`: the claim of its task with which it began.
   * - `run`: its run, or its credential after `credential `.
   * - `commands_json`: the agent's commands so far. The receipt has them at the end.
   * - `draft_json`: what was found out about a commit before the attempt ends, such as its checks.
   */
  attempts: {
    home: string;
    attempt: string;
    project: string;
    task: string;
    claim_token: number;
    agent_json: string;
    run: string | null;
    is_open: boolean;
    started_at: number;
    value_json: string;
    commands_json: Generated<string>;
    draft_json: string | null;
    spent_json: string | null;
    version: Generated<number>;
    stamp: string | null;
  };
  /** Tokens for repositories and their forges. No other device has them. */
  project_tokens: { home: string; project: string; forge: string | null; sealed: Uint8Array };
  /**
   * Webhooks of projects and routines.
   *
   * - `secret_hash`: SHA-256 of the secret in its address, in hex.
   * - `sealed_signing`: the secret of its signatures. Null: calls need none.
   */
  hooks: {
    home: string;
    hook: string;
    name_json: string;
    target_json: string;
    secret_hash: string;
    hint: string;
    sealed_signing: Uint8Array | null;
    created_at: number;
    used_at: number | null;
  };
  /**
   * Deliveries that webhooks have taken, by the SHA-256 of their ids.
   *
   * - `task`: id of the task that the delivery creates.
   * - `done`: the task is created, or the routine triggered.
   */
  hook_deliveries: {
    home: string;
    hook: string;
    delivery_hash: string;
    taken_at: number;
    task: string;
    done: Generated<boolean>;
  };
  /**
   * Mappings of routines to projects. A removed one stays as a row.
   *
   * - `mapping`: follows from project and schedule, so there is one of both.
   * - `value_json`: the mapping as in its record.
   * - `agreed`: the person has set it at this relay. Otherwise no run uses it.
   */
  routine_mappings: {
    home: string;
    mapping: string;
    project: string;
    schedule: string;
    agent_json: string;
    value_json: string;
    agreed: boolean;
    version: Generated<number>;
    stamp: string | null;
    created_at: number;
    removed: Generated<boolean>;
  };
  /** Secrets of API clients, by their SHA-256 in hex. */
  credentials: {
    home: string;
    credential: string;
    agent_json: string;
    label_json: string;
    secret_hash: string;
    hint: string;
    made_at: number;
    used_at: number | null;
    revoked_at: number | null;
    /** The client may read its agent's soul and last conversation. */
    reads_soul: boolean;
    /** The scopes of an application, as a list. Null for an agent. */
    scopes_json: string | null;
  };
  /**
   * One row per request to a model. Money in millionths of a US dollar, by the prices of that
   * moment.
   */
  usage: {
    home: string;
    sequence: Generated<number>;
    used_at: number;
    agent_json: string;
    session_json: string | null;
    message_json: string | null;
    via: string;
    model_json: string;
    input_tokens: number;
    output_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    cost_micro_usd: number;
    estimated: boolean;
    /** Its reservation, as in `reserves`. */
    reserve: string | null;
  };
  /**
   * Running requests. On the embedded store the newest are in a journal: see `costs/budgets.ts`.
   */
  reserves: { home: string; reserve: string; reserve_json: string };
  /**
   * Open sessions of MCP clients, where several processes share the store. Times are the store's.
   */
  mcp_sessions: { home: string; credential: string; session: string; used_at: number; seen_at: number };
  /**
   * The money of `usage` summed by agent and quarter of an hour, so that a day is read without its
   * requests. In every time zone days begin with a quarter.
   */
  spending: { home: string; quarter: number; agent_json: string; cost_micro_usd: number };
  /**
   * Households of devices. `auth_key`: an Ed25519 public key that verifies registrations of
   * `epoch`. `bytes`: of all its entries. `recovery`: id of the recovery box, for the holder of the
   * phrase. `recovery_epoch`: the newest key in it.
   */
  households: {
    relay: string;
    household: string;
    epoch: number;
    auth_key: string;
    made_at: number;
    bytes: number;
    recovery: string | null;
    recovery_box: string | null;
    recovery_epoch: number | null;
  };
  /** A removed device stays as a row, so that it is refused. */
  devices: {
    relay: string;
    household: string;
    device: string;
    added_at: number;
    seen_at: number;
    removed_at: number | null;
  };
  /** The sign-ins that a device has used, as `browsers` has them. */
  device_browsers: { relay: string; household: string; device: string; browser: string };
  /**
   * Rotations of the household key. `boxes_json`: the keys, sealed to each device that stayed. Only
   * those of the newest rotation are stored.
   */
  rotations: {
    relay: string;
    household: string;
    epoch: number;
    auth_key: string;
    rotated_at: number;
    boxes_json: string;
  };
  /**
   * Offers to join. An ended one is stored for a while, so that it is not made again. `browser`:
   * the sign-in that made it.
   */
  offers: { relay: string; offer: string; made_at: number; ended_at: number | null; browser: Generated<string> };
  /** Messages between two devices over an offer. Each is written once. */
  offer_slots: { relay: string; offer: string; slot: string; data: string };
  /** Sealed entries of a household, each at its position in the log of one writer. */
  entries: {
    relay: string;
    household: string;
    writer: string;
    counter: number;
    sealed: Uint8Array;
    arrived_at: number;
  };
  tool_calls: ToolCallRow;
  /**
   * Commands that the person has allowed permanently, by SHA-256. `agreed_json`: the content of the
   * folder at that time, and the reach of the command.
   */
  command_contents: { home: string; agent_json: string; command_hash: string; agreed_json: string; agreed_at: number };
  /**
   * Texts of scheduled scripts.
   *
   * - `state`: `accepted`: the text of a schedule, with its `text`. `declined`: the person is not
   *   asked about it again.
   */
  script_texts: {
    home: string;
    schedule: string;
    sha256: string;
    state: string;
    text: Uint8Array | null;
    answered_at: number;
  };
  /** An ACP agent, sealed together with its key. */
  agent_programs: { home: string; program: string; sealed: Uint8Array; made_at: number };
  /**
   * Sealed: the session of an ACP agent, and the state that the agent must have for the session to
   * be resumed.
   */
  program_sessions: { home: string; agent_json: string; sealed: Uint8Array; ended_at: number };
  model_connections: { home: string; connection: string; sealed: Uint8Array; made_at: number };
  /**
   * Agent snapshots: what an agent needs to work without a browser. They are sealed with a key in
   * the relay's folder. `version`: the page's version of the snapshot.
   */
  standing_copies: { home: string; agent_json: string; sealed: Uint8Array; version: string; left_at: number };
  /**
   * MCP servers that the person has added. `sealed`: how each is reached. `value_json`: what agents
   * may use of it. `stamp`: as in `configs`.
   */
  attached: {
    home: string;
    server: string;
    name: string;
    sealed: Uint8Array;
    value_json: string;
    made_at: number;
    stamp: string | null;
    removed: Generated<boolean>;
    /** Number of changes. */
    version: Generated<number>;
  };
  /**
   * Parts of records that need the person's approval at this relay. `part_json`: the field, for
   * limits and prices; otherwise empty. `stamp`: of the version that has the part. `declined`: the
   * person has refused it.
   */
  asked_records: {
    home: string;
    type: string;
    record_json: string;
    part_json: string;
    stamp: string;
    value_json: string;
    declined: Generated<boolean>;
  };
  /**
   * Devices that the person is notified on. `choice_json`: the kinds, and the quiet hours.
   * `sealed`: its push subscription.
   */
  notification_devices: {
    home: string;
    browser: string;
    device: string;
    choice_json: string;
    sealed: Uint8Array | null;
    used_at: number;
    /** Status with which its push service refused the last push. Null: the push was accepted. */
    refused: number | null;
  };
  /** A mail address by which push services reach the relay's operator. */
  push_contacts: { home: string; mail: string };
  /** `raised_at`: nobody is notified before. `next_at`: when the next device is notified. */
  notifications: {
    home: string;
    key: string;
    value_json: string;
    raised_at: number;
    closed_at: Generated<number | null>;
    next_at: number | null;
  };
  /**
   * `state`: `waits` to be pushed, was `sent`, has `failed` for good, or is `closing`: the device
   * must be told that it is over.
   */
  notification_sends: {
    home: string;
    key: string;
    browser: string;
    state: string;
    due_at: number;
    tries: number;
  };
}

// The role of each table. What people or agents said, decided or set is in the ledger, in the
// household's browsers. Besides that, the relay stores leases, counters, quotas and waiting items.
// So the relay can lose its home and the household loses nothing: a page restores the records.

/**
 * - `record`: said, decided or set. A page has it too, and restores it.
 * - `lease`: a permission until it is revoked. The holder is admitted again.
 * - `counter`: a position or an amount.
 * - `quota`: past decisions and uses, on which the next decision depends.
 * - `waiting`: stored until a browser or an agent has it.
 */
type Holding = 'record' | 'lease' | 'counter' | 'quota' | 'waiting';

export const HOLDINGS: Readonly<Record<keyof Tables, Holding>> = {
  logs: 'counter',
  events: 'waiting',
  taken: 'counter',
  inbox: 'waiting',
  inbox_attachments: 'waiting',
  codes: 'lease',
  device_codes: 'lease',
  browsers: 'lease',
  homes: 'lease',
  agents: 'record',
  configs: 'record',
  wakes: 'quota',
  wake_sessions: 'lease',
  threads: 'record',
  thread_members: 'record',
  thread_messages: 'record',
  thread_mentions: 'waiting',
  projects: 'record',
  tasks: 'record',
  attempts: 'record',
  project_tokens: 'lease',
  hooks: 'lease',
  hook_deliveries: 'quota',
  routine_mappings: 'record',
  memories: 'record',
  dreams: 'waiting',
  exams: 'record',
  forgets: 'record',
  credentials: 'lease',
  usage: 'counter',
  spending: 'counter',
  reserves: 'counter',
  mcp_sessions: 'lease',
  households: 'lease',
  devices: 'lease',
  device_browsers: 'lease',
  rotations: 'lease',
  offers: 'waiting',
  offer_slots: 'waiting',
  entries: 'waiting',
  schedules: 'record',
  occurrences: 'quota',
  standing_copies: 'lease',
  model_connections: 'lease',
  agent_programs: 'lease',
  program_sessions: 'lease',
  clocks: 'counter',
  proposals: 'waiting',
  tool_calls: 'quota',
  command_contents: 'lease',
  script_texts: 'lease',
  attached: 'record',
  asked_records: 'waiting',
  notification_devices: 'lease',
  notifications: 'waiting',
  notification_sends: 'waiting',
  push_contacts: 'lease',
};
