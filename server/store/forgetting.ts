/**
 * What happens to the rows of each table when an agent is forgotten, a project is removed, or a
 * household is removed. A table that does not say it is an error of types.
 *
 * Main types: `FORGETTING`, `Rewrites`. `forgetRows` and `forgetHousehold` walk over the tables.
 *
 * It does not know files, caches or queues: see server/households/forgetting.ts.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { emptyLog } from './dialect.ts';
import type { Db } from './index.ts';
import type { Tables } from './tables.ts';

type Table = keyof Tables;
type Column<Name extends Table> = keyof Tables[Name] & string;

/** Rows are deleted whose column names what is forgotten. A column `…_json` has the id as JSON. */
interface Deleted<Name extends Table> {
  readonly rows: 'deleted';
  readonly by: Column<Name>;
}
/** Rows are deleted that belong to a deleted row of another table. */
interface DeletedWith<Name extends Table> {
  readonly rows: 'deleted-with';
  readonly of: Table;
  /** The column here, and the column there. */
  readonly on: readonly [own: Column<Name>, theirs: string];
}
/** The part that owns the table takes out what names the forgotten, and leaves the rest. */
interface Rewritten {
  readonly rows: 'rewritten';
  readonly as: string;
}
interface Stays {
  readonly rows: 'stay';
  readonly because: string;
}
type Rule<Name extends Table> = Deleted<Name> | DeletedWith<Name> | Rewritten | Stays;
interface Fate<Name extends Table> {
  readonly agent: Rule<Name>;
  readonly project: Rule<Name>;
  /** Forgets by the home’s id, its event log’s, or the household’s in synchronisation. */
  readonly household: Deleted<Name> | DeletedWith<Name> | Stays;
}

const stay = <const Why extends string>(because: Why) => ({ rows: 'stay', because }) as const;
const rewritten = <const Name extends string>(as: Name) => ({ rows: 'rewritten', as }) as const;
const ofHome = { rows: 'deleted', by: 'home' } as const;
const ofLog = { rows: 'deleted', by: 'log' } as const;
const ofHousehold = { rows: 'deleted', by: 'household' } as const;
const ofAgent = { rows: 'deleted', by: 'agent_json' } as const;

const NAMES_NEITHER = stay('It names no agent and no project.');
const NO_AGENT = stay('It names no agent.');
const NO_PROJECT = stay('It names no project.');
const OF_RELAY = stay('It belongs to the relay, or to sign-ins, and not to what agents do.');
const SEALED = stay('It is sealed, or about devices. The relay cannot tell what is in it.');
const COUNTED = stay('It has amounts and ids, and no words. What was spent stays counted.');

/** What forgetting does to the rows of each table. */
export const FORGETTING = {
  logs: { agent: NAMES_NEITHER, project: NAMES_NEITHER, household: ofHome },
  events: { agent: rewritten('events'), project: rewritten('events'), household: ofLog },
  taken: { agent: NAMES_NEITHER, project: NAMES_NEITHER, household: ofLog },
  inbox: { agent: ofAgent, project: stay('What an agent was told is the agent’s.'), household: ofHome },
  inbox_attachments: {
    agent: { rows: 'deleted-with', of: 'inbox', on: ['message_json', 'message_json'] },
    project: NO_PROJECT,
    household: ofHome,
  },
  codes: { agent: OF_RELAY, project: OF_RELAY, household: stay('A code is for no household before it is used.') },
  browsers: { agent: OF_RELAY, project: OF_RELAY, household: ofHome },
  device_codes: {
    agent: OF_RELAY,
    project: OF_RELAY,
    household: { rows: 'deleted-with', of: 'browsers', on: ['host', 'token_hash'] },
  },
  homes: { agent: OF_RELAY, project: OF_RELAY, household: ofHome },
  agents: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  configs: { agent: rewritten('configs'), project: NO_PROJECT, household: ofHome },
  wakes: { agent: { rows: 'deleted', by: 'target_json' }, project: NO_PROJECT, household: ofHome },
  wake_sessions: { agent: { rows: 'deleted', by: 'target_json' }, project: NO_PROJECT, household: ofHome },
  threads: { agent: rewritten('threads'), project: rewritten('threads'), household: ofHome },
  thread_members: { agent: rewritten('threads'), project: rewritten('threads'), household: ofHome },
  thread_messages: { agent: rewritten('threads'), project: rewritten('threads'), household: ofHome },
  thread_mentions: { agent: ofAgent, project: rewritten('threads'), household: ofHome },
  projects: { agent: rewritten('projects'), project: rewritten('projects'), household: ofHome },
  tasks: { agent: rewritten('projects'), project: rewritten('projects'), household: ofHome },
  attempts: { agent: rewritten('attempts'), project: rewritten('attempts'), household: ofHome },
  project_tokens: { agent: NO_AGENT, project: { rows: 'deleted', by: 'project' }, household: ofHome },
  hooks: { agent: rewritten('webhooks'), project: rewritten('webhooks'), household: ofHome },
  hook_deliveries: { agent: rewritten('webhooks'), project: rewritten('webhooks'), household: ofHome },
  routine_mappings: {
    agent: ofAgent,
    project: stay('It has ids only. It is marked as removed, so that every device hears of that.'),
    household: ofHome,
  },
  memories: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  dreams: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  exams: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  forgets: {
    agent: stay('It has ids and times, and keeps out what was forgotten.'),
    project: NO_PROJECT,
    household: ofHome,
  },
  credentials: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  usage: { agent: COUNTED, project: COUNTED, household: ofHome },
  reserves: { agent: COUNTED, project: COUNTED, household: ofHome },
  mcp_sessions: {
    agent: { rows: 'deleted-with', of: 'credentials', on: ['credential', 'credential'] },
    project: NO_PROJECT,
    household: ofHome,
  },
  spending: { agent: COUNTED, project: COUNTED, household: ofHome },
  households: { agent: SEALED, project: SEALED, household: ofHousehold },
  devices: { agent: SEALED, project: SEALED, household: ofHousehold },
  device_browsers: { agent: SEALED, project: SEALED, household: ofHousehold },
  rotations: { agent: SEALED, project: SEALED, household: ofHousehold },
  offers: {
    agent: SEALED,
    project: SEALED,
    household: { rows: 'deleted-with', of: 'browsers', on: ['browser', 'token_hash'] },
  },
  offer_slots: {
    agent: SEALED,
    project: SEALED,
    household: { rows: 'deleted-with', of: 'offers', on: ['offer', 'offer'] },
  },
  entries: { agent: SEALED, project: SEALED, household: ofHousehold },
  tool_calls: { agent: ofAgent, project: stay('What an agent did is the agent’s.'), household: ofHome },
  command_contents: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  script_texts: {
    agent: { rows: 'deleted-with', of: 'schedules', on: ['schedule', 'schedule'] },
    project: NO_PROJECT,
    household: ofHome,
  },
  agent_programs: { agent: NO_AGENT, project: NO_PROJECT, household: ofHome },
  program_sessions: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  model_connections: { agent: NO_AGENT, project: NO_PROJECT, household: ofHome },
  standing_copies: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  attached: { agent: NO_AGENT, project: NO_PROJECT, household: ofHome },
  asked_records: { agent: rewritten('asked'), project: rewritten('asked'), household: ofHome },
  notification_devices: { agent: OF_RELAY, project: OF_RELAY, household: ofHome },
  notifications: { agent: rewritten('notifications'), project: NO_PROJECT, household: ofHome },
  notification_sends: { agent: rewritten('notifications'), project: NO_PROJECT, household: ofHome },
  push_contacts: { agent: OF_RELAY, project: OF_RELAY, household: ofHome },
  schedules: { agent: ofAgent, project: stay('A routine goes on without the project.'), household: ofHome },
  occurrences: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  proposals: { agent: ofAgent, project: NO_PROJECT, household: ofHome },
  clocks: { agent: NAMES_NEITHER, project: NAMES_NEITHER, household: ofHome },
} as const satisfies { readonly [Name in Table]: Fate<Name> };

type Subject = 'agent' | 'project';
type NameOf<Each> = Each extends { readonly rows: 'rewritten'; readonly as: infer As extends string } ? As : never;
/** Takes what names these out of the tables of one part. Doing it again changes nothing. */
type Rewrite = (ids: readonly string[]) => Promise<void>;
/**
 * What each part that is named in `FORGETTING` does to its own tables. They run in the order of
 * this object, after rows were deleted.
 */
export type Rewrites<Of extends Subject> = Readonly<Record<NameOf<(typeof FORGETTING)[Table][Of]>, Rewrite>>;

/** The tables by name, without the types of their columns: the declaration has checked those. */
type AnyDb = Kysely<Record<string, Record<string, string>>>;
type AnyRule = Rewritten | Stays | { readonly rows: 'deleted'; readonly by: string } | DeletedWithAny;
interface DeletedWithAny {
  readonly rows: 'deleted-with';
  readonly of: string;
  readonly on: readonly [own: string, theirs: string];
}
type Of = keyof Fate<Table>;
const RULES: Readonly<Record<string, Readonly<Record<Of, AnyRule>>>> = FORGETTING;

type Condition = RawBuilder<boolean>;
const isOneOf = (column: string, values: readonly string[]): Condition =>
  values.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`${sql.ref(column)} in (${sql.join(values)})`;

/** The rows of a table that go. Null: the rule deletes none. `own`: those that a column names. */
function rowsThatGo(db: AnyDb, of: Of, table: string, own: (column: string) => Condition): Condition | null {
  const rule = RULES[table]?.[of];
  if (rule?.rows === 'deleted') return own(rule.by);
  if (rule?.rows !== 'deleted-with') return null;
  const [here, theirs] = rule.on;
  const there = rowsThatGo(db, of, rule.of, own);
  return there && sql<boolean>`${sql.ref(here)} in ${db.selectFrom(rule.of).select(theirs).where(there)}`;
}

/** Deletes the rows of a table for which the rule says so, after the rows that belong to them. */
async function deleteRows(db: AnyDb, of: Of, table: string, own: (column: string) => Condition): Promise<void> {
  for (const [other, { [of]: rule }] of Object.entries(RULES))
    if (rule.rows === 'deleted-with' && rule.of === table) await deleteRows(db, of, other, own);
  const among = rowsThatGo(db, of, table, own);
  if (among) await db.deleteFrom(table).where(among).execute();
}

const roots = (of: Of) => Object.keys(RULES).filter((table) => RULES[table]?.[of].rows === 'deleted');

/**
 * Takes these agents, or these projects, out of every table of a home. Each rule by itself, so that
 * it can be done again where one failed.
 */
export async function forgetRows<On extends Subject>(
  given: Db,
  home: string,
  of: On,
  ids: readonly string[],
  rewrites: Rewrites<On>,
): Promise<void> {
  if (ids.length === 0) return;
  const db = given as unknown as AnyDb;
  const own = (column: string): Condition => {
    const values = column.endsWith('_json') ? ids.map((id) => JSON.stringify(id)) : [...ids];
    return sql<boolean>`home = ${home} and ${isOneOf(column, values)}`;
  };
  for (const table of roots(of)) await deleteRows(db, of, table, own);
  for (const rewrite of Object.values<Rewrite>(rewrites)) await rewrite(ids);
  await emptyLog(given);
}

/** Deletes every row of a home, and of its household in synchronisation. All at once. */
export async function forgetHousehold(given: Db, relay: string, home: string): Promise<void> {
  const logs = await given.selectFrom('logs').select('log').where('home', '=', home).execute();
  const homes = await given.selectFrom('homes').select('household').where('home', '=', home).execute();
  const households = homes.flatMap(({ household }) => household ?? []);
  const own = (column: string): Condition => {
    if (column === 'home') return sql<boolean>`home = ${home}`;
    if (column === 'log')
      return isOneOf(
        column,
        logs.map(({ log }) => log),
      );
    return sql<boolean>`relay = ${relay} and ${isOneOf(column, households)}`;
  };
  await given.transaction().execute(async (trx) => {
    const db = trx as unknown as AnyDb;
    for (const table of roots('household')) await deleteRows(db, 'household', table, own);
  });
  await emptyLog(given);
}

/** Rows of a home that have a text, by table. Sealed columns are not read. */
export async function rowsWith(
  given: Db,
  home: string,
  hasText: (row: Readonly<Record<string, unknown>>) => boolean,
): Promise<ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>> {
  const logs = await given.selectFrom('logs').select('log').where('home', '=', home).execute();
  const own = (column: string): Condition => {
    if (column === 'home') return sql<boolean>`home = ${home}`;
    if (column !== 'log') return sql<boolean>`1 = 0`;
    return isOneOf(
      column,
      logs.map(({ log }) => log),
    );
  };
  const db = given as unknown as AnyDb;
  const found = new Map<string, readonly Readonly<Record<string, unknown>>[]>();
  for (const table of Object.keys(RULES)) {
    const among = rowsThatGo(db, 'household', table, own);
    const rows = among ? await db.selectFrom(table).selectAll().where(among).execute() : [];
    const having = rows.filter(hasText);
    if (having.length > 0) found.set(table, having);
  }
  return found;
}
