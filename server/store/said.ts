/**
 * What happens to the rows of each table when what was said with an agent in a span of time is
 * forgotten. A table that does not say it is an error of types.
 */
import { type Kysely, type Selectable, sql } from 'kysely';
import type { Db } from './index.ts';
import type { Tables } from './tables.ts';

type Table = keyof Tables;
/**
 * - `deleted`: rows of the agent, by a time of theirs. `at` null: whenever they were written.
 * - `own`: the part that owns the table removes what came from it. See households/forgetting.ts.
 * - `no-words`: the rows have names, ids, amounts and settings, or are sealed to devices.
 * - `stays`: others wrote it too, and it is deleted where it is shown.
 */
type Rule<Name extends Table> =
  | {
      readonly deleted: keyof Tables[Name] & string;
      readonly at: (keyof Tables[Name] & string) | null;
      /** Later rows too, as they quote what was said before them. */
      readonly onwards?: true;
    }
  | 'own'
  | 'no-words'
  | 'stays';

const SAID = {
  logs: 'no-words',
  events: 'own',
  taken: 'no-words',
  inbox: { deleted: 'agent_json', at: 'sent_at' },
  inbox_attachments: 'own',
  codes: 'no-words',
  browsers: 'no-words',
  device_codes: 'no-words',
  homes: 'no-words',
  agents: 'no-words',
  configs: 'no-words',
  wakes: 'own',
  wake_sessions: 'no-words',
  threads: 'stays',
  thread_members: 'no-words',
  thread_messages: 'stays',
  thread_mentions: 'no-words',
  projects: 'stays',
  tasks: 'stays',
  attempts: 'stays',
  project_tokens: 'no-words',
  hooks: 'no-words',
  hook_deliveries: 'no-words',
  routine_mappings: 'no-words',
  memories: 'own',
  dreams: { deleted: 'agent_json', at: null },
  exams: { deleted: 'agent_json', at: 'changed_at', onwards: true },
  forgets: 'no-words',
  credentials: 'no-words',
  usage: 'no-words',
  reserves: 'no-words',
  mcp_sessions: 'no-words',
  spending: 'no-words',
  households: 'no-words',
  devices: 'no-words',
  device_browsers: 'no-words',
  rotations: 'no-words',
  offers: 'no-words',
  offer_slots: 'no-words',
  entries: 'no-words',
  tool_calls: { deleted: 'agent_json', at: 'asked_at' },
  command_contents: 'stays',
  script_texts: 'stays',
  agent_programs: 'no-words',
  program_sessions: { deleted: 'agent_json', at: null },
  model_connections: 'no-words',
  standing_copies: 'own',
  attached: 'no-words',
  asked_records: 'stays',
  notification_devices: 'no-words',
  notifications: 'own',
  notification_sends: 'no-words',
  push_contacts: 'no-words',
  schedules: 'stays',
  occurrences: 'own',
  proposals: { deleted: 'agent_json', at: 'made_at' },
  clocks: 'no-words',
} as const satisfies { readonly [Name in Table]: Rule<Name> };

/** What was said from `from` until before `to`, in ms since the epoch, with these agents. */
export interface Said {
  readonly agentIds: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Deletes the rows of a home that say so. Doing it again changes nothing. */
export async function forgetSaid(given: Db, home: string, { agentIds, from, to }: Said): Promise<void> {
  if (agentIds.length === 0) return;
  const agents = agentIds.map((id) => JSON.stringify(id));
  const db = given as unknown as Kysely<Record<string, Record<string, string>>>;
  for (const [table, rule] of Object.entries(SAID)) {
    if (typeof rule === 'string') continue;
    const within =
      rule.at === null
        ? sql<boolean>`1 = 1`
        : sql<boolean>`${sql.ref(rule.at)} >= ${from} and ${sql.ref(rule.at)} < ${'onwards' in rule ? Number.MAX_SAFE_INTEGER : to}`;
    await db
      .deleteFrom(table)
      .where(sql<boolean>`home = ${home} and ${sql.ref(rule.deleted)} in (${sql.join(agents)}) and ${within}`)
      .execute();
  }
  await given
    .deleteFrom('inbox_attachments')
    .where('home', '=', home)
    .where('message_json', 'not in', given.selectFrom('inbox').select('message_json').where('home', '=', home))
    .execute();
  await given
    .deleteFrom('standing_copies')
    .where('home', '=', home)
    .where('agent_json', 'in', agents)
    .where('version', '<>', '')
    .execute();
  await given
    .updateTable('wakes')
    .set({ reason: null })
    .where('home', '=', home)
    .where('target_json', 'in', agents)
    .where('asked_at', '>=', from)
    .where('asked_at', '<', to)
    .execute();
  await forgetOutcomes(given, home, { agentIds, from, to });
}

/** Amounts stay in the outcomes of routines. Sentences go. */
async function forgetOutcomes(db: Db, home: string, { agentIds, from, to }: Said): Promise<void> {
  const rows = await db
    .selectFrom('occurrences')
    .select(['schedule', 'due_at', 'detail_json'])
    .where('home', '=', home)
    .where(
      'agent_json',
      'in',
      agentIds.map((id) => JSON.stringify(id)),
    )
    .where('detail_json', 'is not', null)
    .where('ended_at', '>=', from)
    .where('ended_at', '<', to)
    .execute();
  for (const row of rows) await withoutWords(db, home, row);
}

async function withoutWords(
  db: Db,
  home: string,
  { schedule, due_at, detail_json }: Pick<Selectable<Tables['occurrences']>, 'schedule' | 'due_at' | 'detail_json'>,
): Promise<void> {
  const detail = JSON.parse(detail_json ?? '{}') as Record<string, unknown>;
  await db
    .updateTable('occurrences')
    .set({ detail_json: JSON.stringify({ ...detail, said: null, detail: null }) })
    .where('home', '=', home)
    .where('schedule', '=', schedule)
    .where('due_at', '=', due_at)
    .execute();
}

/** The id of a row by which a request to forget names it. Null: rows of this table have none. */
export function rowId(table: string, row: Readonly<Record<string, unknown>>): string | null {
  switch (table) {
    case 'inbox':
      return `message:${String(JSON.parse(String(row['message_json'])))}`;
    case 'tool_calls':
      return `call:${String(row['call'])}`;
    case 'exams':
      return `exam:${String(row['exam'])}`;
    case 'occurrences':
      return `occurrence:${String(row['schedule'])}:${String(row['due_at'])}`;
    default:
      return null;
  }
}

/** Removes rows by their ids, and what agents would go on from. Doing it again changes nothing. */
export async function forgetItems(db: Db, home: string, isNamed: (id: string) => boolean): Promise<void> {
  const named = (table: string) => (row: Readonly<Record<string, unknown>>) => isNamed(rowId(table, row) ?? '');
  const inbox = await db.selectFrom('inbox').select('message_json').where('home', '=', home).execute();
  for (const { message_json } of inbox.filter(named('inbox')))
    for (const table of ['inbox', 'inbox_attachments'] as const)
      await db.deleteFrom(table).where('home', '=', home).where('message_json', '=', message_json).execute();
  const calls = await db.selectFrom('tool_calls').select('call').where('home', '=', home).execute();
  for (const { call } of calls.filter(named('tool_calls')))
    await db.deleteFrom('tool_calls').where('home', '=', home).where('call', '=', call).execute();
  const exams = await db.selectFrom('exams').select('exam').where('home', '=', home).execute();
  for (const { exam } of exams.filter(named('exams')))
    await db.deleteFrom('exams').where('home', '=', home).where('exam', '=', exam).execute();
  const ended = await db
    .selectFrom('occurrences')
    .select(['schedule', 'due_at', 'detail_json'])
    .where('home', '=', home)
    .where('detail_json', 'is not', null)
    .execute();
  for (const row of ended.filter(named('occurrences'))) await withoutWords(db, home, row);
  // Pages leave new snapshots, and programs begin new sessions.
  await db.deleteFrom('standing_copies').where('home', '=', home).where('version', '<>', '').execute();
  await db.deleteFrom('program_sessions').where('home', '=', home).execute();
}
