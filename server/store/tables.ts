/**
 * The tables of the relay's store, all in the schema `roost`. Times are ms since the epoch. Columns
 * whose name ends in `_json` hold JSON text and not `jsonb`: JSON text writes NUL and lone
 * surrogates as escapes, and Postgres' own text and jsonb refuse both.
 */
import type { Generated } from 'kysely';

/**
 * Calls of tools. `state`: as `CallState`; `input_json`: whole while it waits, then its beginning.
 * `told_at`: its agent was told what became of it, where that is not the answer of the call itself.
 * `allowed_by`: null: nobody has let it. `leave_hash`: of a yes that nobody has used yet, the
 * SHA-256 of what it lets. `pin`, `content_json`: of one that waits, what a yes is to;
 * `before_json`: what lay there when it was asked, where that is something else. `question_json`:
 * what an MCP server asks the person while the call of `tool` is under way; null: it is a call
 * itself.
 */
interface ToolCallRow {
  home: string;
  call: string;
  sequence: Generated<number>;
  agent_json: string;
  session: string | null;
  run: string | null;
  place: string;
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
 * Tables of what is due without anybody there. How texts and times stand in them: see tables.ts.
 */
interface NightTables {
  /**
   * What is due without anybody there. `value_json`: as its record has it. `judged_at`: up to here
   * every moment of it has a row among the occurrences. `due_at`: its next moment; null: none.
   * `stamp`: as in `configs`. `version`: how often it was changed. `paused_why`: it failed too
   * often in a row, and why; null: it goes on. `given_offset`: minutes, of an interval without its
   * own. `elsewhere`: the home at which it is due now; null: here. `wanted`: that one is asked for
   * it. `since`: up to here it is in the account of the home that let go of it last. `turn`: how
   * often it changed its home. `agreed`: what of it the person has said yes to at this relay; null:
   * nothing. `created_at`, `updated_at`: when somebody set it, and changed it last; null: not
   * known.
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
   * Every moment at which one was due, with what became of it. `token`: of the claim that holds;
   * whoever has another may not end it. `lease_until`: whoever claimed it is dead after this.
   * `detail_json`: how it went. `kind` and `name_json` are there where nothing was scheduled: a run
   * that somebody's wake began. `group_json`: the processes of a script that runs without a
   * sandbox. `notice_json`: it is no moment, and its agent is to hear that its script failed. What
   * is `due` and has a `reason` waits for that to pass.
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
   * Routines that agents have asked for. Nothing of one runs before the person has said yes.
   * `answer`: null: none yet.
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
   * A home's clock. `seen_at`: it went then. `stopped_at`: the person ended it then, and it has not
   * gone since. `place`: where the home's folder lies. `site`: under which name other relays know
   * what is due here; null: the home's. `copied_from`: the site of the home that this one is a copy
   * of.
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

export interface Tables extends NightTables {
  /** One row per home. `log` is its event log. */
  logs: { home: string; log: string; head: number; acked: number; made_at: number };
  events: { log: string; id: number; kind: string; event_json: string; stored_at: number };
  /** Client ids that were taken, with the first event they became. */
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
    /** What it is for, as an agent said. */
    message_type: string | null;
    thread: string | null;
    read_run_json: string | null;
  };
  /** Pictures that come with a message of the relay's, as long as that is there. */
  inbox_attachments: { home: string; message_json: string; sequence: Generated<number>; attachments_json: string };
  /** One-time codes, by the SHA-256 of the code in hex. */
  codes: { relay: string; code_hash: string; made_at: number };
  /** Browsers that are signed in, by the SHA-256 of their cookie's token in hex. */
  browsers: {
    relay: string;
    token_hash: string;
    made_at: number;
    seen_at: number;
    /** SHA-256 of the page key; null: let in before there were any. */
    key_hash: string | null;
    /** The home that it belongs to; null: none yet. */
    home: string | null;
    /** It came by a device's code, and may only join, until then; null: it is let in for good. */
    guest_until: number | null;
    /**
     * The sign-in by a link, beside which this one was given, or one that was; null: it came by a
     * link or a code itself.
     */
    family: string | null;
  };
  /**
   * Codes that a page shows for another device, by SHA-256. `host`, `guest`: sign-ins, who shows it
   * and who came by it.
   */
  device_codes: {
    relay: string;
    id: string;
    code_hash: string;
    host: string;
    guest: string | null;
    /** It was not let in before: with its code it goes. */
    guest_is_new: Generated<boolean>;
    offer: string | null;
    made_at: number;
    ended_at: number | null;
  };
  /**
   * The relay's side of each household. Every table about a team names its `home`; those of
   * sign-ins and of synchronisation name the whole `relay`. `begun_at`: somebody lives there.
   * `household`: as synchronisation knows it; null: not known.
   */
  homes: { relay: string; home: string; made_at: number; begun_at: number | null; household: string | null };
  /** Everybody the household has, as the page said last. */
  agents: { home: string; agent_json: string; name_json: string; position: number | null; retired: boolean };
  /**
   * What the person has set. `scope`: "household", "prices", or `agent ` and the agent's id as JSON
   * text. `stamp`: of its event in the log; null: not told yet; empty: nothing was set, and the row
   * is there to be counted on. `version`: how often it was set; 0: never. `decisions`: in the
   * household's row, the count that decisions of the gate are made against. Each decision counts it
   * on, and the store itself does with every change of settings.
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
    /** A source as its schema has it; the key by which pairs are counted. */
    source_json: string;
    way: string;
    reason: string | null;
    message_json: string | null;
    /** Of the call of the team by which it was asked. */
    call_id: string | null;
    outcome: string;
    stopped_by: string | null;
    until_at: number | null;
    detail_json: string;
    /** The target, where it was granted. */
    granted_target_json: string | null;
    /** Whose budget of which session it used, where it used one. */
    budget_json: string | null;
    /** It clears a sleeping flag, and counts as no event wake. */
    clears: Generated<boolean>;
  };
  /**
   * The sessions that granted wakes have opened, under the wake’s name. `seen_at`: the last sign of
   * life of the process that runs it.
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
    /** How often it was changed, apart from what is said in it. */
    version: Generated<number>;
  };
  /**
   * Whoever was removed stays as a row: that it was here is known by `times`, how often it was
   * added. `seen_place`: up to where it was given what was said. `announced`: it, and whoever wakes
   * it, has heard that it was added.
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
    /** It is in the event log as a record. */
    announced: Generated<boolean>;
    /** A page gave it back. */
    restored: Generated<boolean>;
  };
  /** Who is mentioned where. `announced`: it, and whoever wakes it, has heard of it. */
  thread_mentions: { home: string; thread: string; sequence: number; agent_json: string; announced: boolean };
  /** Secrets of agents that join from elsewhere, by their SHA-256 in hex. */
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
    /** It may read its agent's soul and last conversation. */
    reads_soul: boolean;
    /** What an application may do, as a list; null for an agent. */
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
    /** What was held for it, as `reserves` had it. */
    reserve: string | null;
  };
  /**
   * Requests under way. On the embedded store the newest are in a journal: see `costs/reserves.ts`.
   */
  reserves: { home: string; reserve: string; reserve_json: string };
  /**
   * Sessions of MCP clients that are open, where several processes share the store; times are the
   * store's.
   */
  mcp_sessions: { home: string; credential: string; session: string; used_at: number; seen_at: number };
  /**
   * The money of `usage` summed by agent and quarter of an hour, so that a day's is read without
   * its requests. Every zone's days begin with a quarter.
   */
  spending: { home: string; quarter: number; agent_json: string; cost_micro_usd: number };
  /**
   * Households of devices. `auth_key`: an Ed25519 public key, which registrations of `epoch` are
   * checked with. `bytes`: of all its entries. `recovery` names the box to whoever has the phrase;
   * `recovery_epoch`: the newest key that lies in it.
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
  /** One that was removed stays as a row, so that it is refused. */
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
   * Rotations of the household key. `boxes_json`: the keys, sealed to each device that stayed;
   * those of the newest rotation alone are kept.
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
   * Offers to join. One that has ended is kept for a while, so that it is not made again.
   * `browser`: the sign-in that made it.
   */
  offers: { relay: string; offer: string; made_at: number; ended_at: number | null; browser: Generated<string> };
  /** What two devices say to each other over an offer. Each is written once. */
  offer_slots: { relay: string; offer: string; slot: string; data: string };
  /** Sealed entries of a household, each in its place in the log of one writer. */
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
   * Commands that are let for always, by SHA-256. `agreed_json`: what lay in the folder when they
   * were, and how far they went.
   */
  command_contents: { home: string; agent_json: string; command_hash: string; agreed_json: string; agreed_at: number };
  /**
   * Texts of scheduled scripts. `state`: `accepted`, one of a schedule, with its `text`; or
   * `declined`, which is not asked about again.
   */
  script_texts: {
    home: string;
    schedule: string;
    sha256: string;
    state: string;
    text: Uint8Array | null;
    answered_at: number;
  };
  /**
   * What an agent needs to be at work without a browser, sealed with a key that lies in the relay's
   * folder. `version`: as the page named it.
   */
  /** Sealed, with its key. */
  agent_programs: { home: string; program: string; sealed: Uint8Array; made_at: number };
  /**
   * Sealed: which session of a program, and what an agent must be again for it to go on with that.
   */
  program_sessions: { home: string; agent_json: string; sealed: Uint8Array; ended_at: number };
  model_connections: { home: string; connection: string; sealed: Uint8Array; made_at: number };
  standing_copies: { home: string; agent_json: string; sealed: Uint8Array; version: string; left_at: number };
  /**
   * MCP servers that the person has attached. `sealed`: how it is reached; `value_json`: what of it
   * agents may use. `stamp`: as in `configs`.
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
    /** How often it was changed. */
    version: Generated<number>;
  };
  /**
   * What of a record waits for the person's yes at this relay. `part_json`: of limits and prices,
   * which field; else empty. `stamp`: of the version that brought it. `declined`: they have said no
   * to it.
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
   * Which devices the person is told on. `choice_json`: of what, and when not; `sealed`: its push
   * subscription.
   */
  notification_devices: {
    home: string;
    browser: string;
    device: string;
    choice_json: string;
    sealed: Uint8Array | null;
    used_at: number;
    /** Status with which its push service refused the last push; null: it took it. */
    refused: number | null;
  };
  /** A mail address by which push services reach whoever runs the relay. */
  push_contacts: { home: string; mail: string };
  /** `raised_at`: nobody knows of it before; `next_at`: when the next device is told. */
  notifications: {
    home: string;
    key: string;
    value_json: string;
    raised_at: number;
    closed_at: Generated<number | null>;
    next_at: number | null;
  };
  /**
   * `state`: `waits` to be pushed, was `sent`, has `failed` for good, is `closing`: the device is
   * to hear that it is over.
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

// What each table is. What people or agents said, decided or set is in the ledger, in the
// household's browsers; what the relay holds besides is leases, counters, quotas and what waits. So
// the relay can lose its home and the household loses nothing: records are rows that a page gives
// back.

/**
 * `record`: said, decided or set; a page has it too, and gives it back. `lease`: somebody may do
 * something until it is revoked, and is let in anew. `counter`: how far, or how much. `quota`: what
 * was decided and used, by which the next is decided. `waiting`: until a browser or an agent has
 * it.
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
