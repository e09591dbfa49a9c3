/** What a relay makes at its start of what one before it left, when it was killed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA } from '../../../server/store/tables.ts';
import { attemptsSchema } from '../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema } from '../../../src/shared/protocol/projects.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { calls, type Hands, startHands } from '../../support/hands.ts';
import { eventsOf, teamOfLead, textsOf } from '../../support/homes.ts';
import { clockAhead } from '../../support/moved-clock.ts';
import { browserOf } from '../../support/open-relay.ts';
import { createRepository } from '../../support/person-repository.ts';
import { databaseOf } from '../../support/relay.ts';

const HOUR = 3_600_000;
/** A cookie is named by its relay’s port. */
const cookieAt = (cookie: string, port: number) => cookie.replace(/_\d+=/, `_${port}=`);

describe('a relay that was killed', () => {
  let hands: Hands;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'roost-recovery-'));
    hands = await startHands([], { store: 'sqlite' });
    await hands.grant({ toolsets: { shell: 'allow' } });
  });
  afterAll(async () => {
    await hands.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const good = async (method: string, path: string, json?: unknown): Promise<unknown> => {
    const answer = await hands.call(method, path, json);
    const text = await answer.text();
    expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
    return text === '' ? null : JSON.parse(text);
  };

  it.each([
    ['at once', {}],
    ['an hour later', clockAhead(HOUR)],
  ])(
    'starts %s, and ends the attempt of a run that had claimed a task as lost, with its receipt',
    async (when, clock) => {
      const repository = createRepository(join(folder, when), { 'bread.txt': 'rye\n' });
      const { projectId } = projectSchema.parse(
        await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'], kind: 'git', repository }),
      );
      const made = { title: 'Add a price', columnId: 'ready' };
      const { taskId } = taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, made));
      const turns = [
        calls('claim_task', { projectId, taskId }),
        calls('run_command', {
          command:
            'cd "$(dirname "$(ls -t projects/*/*/bread.txt | head -1)")" && echo price >> bread.txt && git commit -qam Price',
        }),
      ];
      hands.model.follow(({ body }) => turns[(body.messages.length - 1) / 2] ?? 'silent');
      const routine = { kind: 'routine', agentId: 'a1', name: `Work ${when}`, instructions: 'Work.' };
      const timing = { kind: 'weekly', days: [1], time: '07:30' };
      const added = scheduledSchema.parse(await good('POST', '/v1/pulse-routines', { ...routine, timing }));
      const before = hands.model.requests.length;
      await good('POST', `/v1/pulse-routines/${added.scheduleId}/trigger`);
      await expect
        .poll(() => hands.model.requests.slice(before).at(-1)?.results.join(), { timeout: 30_000 })
        .toContain('Exit status 0');

      hands.model.follow(() => [{ say: 'Done.' }]);
      await hands.restart(clock);
      const attempts = async () =>
        attemptsSchema.parse(await good('GET', `/v1/projects/${projectId}/tasks/${taskId}/attempts`)).attempts;
      await expect
        .poll(attempts, { timeout: 20_000 })
        .toMatchObject([
          { outcome: 'lost', receipt: { commits: [{ subject: 'Price' }], files: [{ path: 'bread.txt' }] } },
        ]);
      expect(taskSchema.parse(await good('GET', `/v1/projects/${projectId}/tasks/${taskId}`))).toMatchObject({
        ...{ columnId: 'ready', claim: null },
      });
    },
  );
});

/** What breaks a row of each table that a start reads, beside texts that are no JSON. */
const BROKEN_ROWS: Readonly<Record<string, object>> = {
  agents: {},
  asked_records: {},
  agent_programs: {},
  attached: {},
  attempts: { is_open: true },
  configs: { scope: 'agent:"gone"' },
  hooks: {},
  inbox: {},
  model_connections: {},
  notification_devices: {},
  notifications: { next_at: 0 },
  occurrences: { state: 'running', token: 'x' },
  project_tokens: {},
  projects: {},
  reserves: {},
  routine_mappings: {},
  schedules: { due_at: 0 },
  standing_copies: {},
  tasks: { holder_json: '{', lease_until: 0 },
  thread_members: {},
  thread_mentions: {},
  thread_messages: {},
  threads: {},
  tool_calls: { state: 'done', answered_at: 0 },
  wakes: { asked_at: Date.now(), message_json: '{', outcome: 'granted' },
};
/** Lists that a page reads when it is opened. */
const LISTS = [
  ...['team', 'approvals', 'calls', 'threads', 'inbox', 'wakes', 'mcp-servers', 'agent-programs', 'models', 'webhooks'],
  ...['costs', 'notifications', 'credentials', 'records/approvals', 'agent-snapshots', 'room', 'home', 'health'],
].map((name) => `/api/${name}`);
const NEWER_LISTS = ['projects', 'pulse-routines', 'routine-proposals', 'runs', 'attempts?hours=1', 'config'].map(
  (name) => `/v1/${name}`,
);

/** Adds one row that nobody can read. */
async function plant(client: pg.Client, home: string, table: string, fields: object): Promise<void> {
  const { rows } = await client.query<{ name: string; type: string; needed: boolean }>(
    `select column_name as name, data_type as type, is_nullable = 'NO' and column_default is null as needed
     from information_schema.columns where table_schema = $1 and table_name = $2 and is_identity = 'NO'`,
    [SCHEMA, table],
  );
  const broken = (name: string, type: string) => {
    if (name.endsWith('_json')) return '{';
    if (type === 'text') return 'broken';
    if (type === 'bytea') return Buffer.from('broken');
    return type === 'boolean' ? false : 0;
  };
  const values: Record<string, unknown> = Object.fromEntries(
    rows.flatMap(({ name, type, needed }) => (needed ? [[name, broken(name, type)]] : [])),
  );
  Object.assign(values, { home }, fields);
  const names = Object.keys(values);
  await client.query(
    `insert into ${SCHEMA}.${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(values),
  );
}

it('starts with a row that cannot be read in every table that it reads, says so, and serves the rest', async () => {
  const hands = await startHands([], { store: 'postgres' });
  try {
    const { home } = hands.relay();
    const client = new pg.Client({ connectionString: databaseOf(home) });
    await client.connect();
    const { rows } = await client.query<{ home: string }>(`select home from ${SCHEMA}.homes`);
    await hands.relay().kill('SIGKILL');
    for (const [table, fields] of Object.entries(BROKEN_ROWS))
      await plant(client, rows[0]?.home ?? '', table, fields).catch((error: unknown) => {
        throw new Error(table, { cause: error });
      });
    await client.end();
    await hands.restart();
    const broken: unknown[] = [];
    for (const path of [...LISTS, ...NEWER_LISTS]) {
      const answer = await hands.call('GET', path);
      if (answer.status !== 200) broken.push([path, answer.status, await answer.text()]);
    }
    expect(broken).toEqual([]);
    const said = textsOf(await eventsOf(browserOf(hands.relay().url, await hands.relay().signIn()))).join('\n');
    expect(said).toContain('can no longer be read');
  } finally {
    await hands.close();
  }
});

it('runs agents beside rows that cannot be read, and announces the others', async () => {
  const hands = await startHands([], { store: 'postgres' });
  const { home } = hands.relay();
  const client = new pg.Client({ connectionString: databaseOf(home) });
  await client.connect();
  try {
    const good = async (method: string, path: string, json?: unknown): Promise<unknown> => {
      const answer = await hands.call(method, path, json);
      const text = await answer.text();
      expect(answer.status, `${method} ${path}: ${text}`).toBeLessThan(300);
      return text === '' ? null : JSON.parse(text);
    };
    const { projectId } = projectSchema.parse(await good('POST', '/v1/projects', { name: 'Bakery', agents: ['a1'] }));
    const path = `/v1/projects/${projectId}`;
    const { taskId } = taskSchema.parse(await good('POST', `${path}/tasks`, { title: 'Bake', columnId: 'ready' }));
    const { scheduleId } = scheduledSchema.parse(
      await good('POST', '/v1/pulse-routines', {
        ...{ kind: 'routine', agentId: 'a1', name: 'Work', instructions: 'Work.', when: 'something_waits' },
        timing: { kind: 'weekly', days: [1], time: '07:30' },
      }),
    );
    await good('POST', `${path}/agents/a1/routines`, { routineId: scheduleId });
    const { rows } = await client.query<{ home: string; value_json: string }>(
      `select home, value_json from ${SCHEMA}.projects`,
    );
    await hands.relay().kill('SIGKILL');
    const newer = JSON.stringify({ ...(JSON.parse(rows[0]?.value_json ?? '') as object), later: true });
    const broken: readonly (readonly [string, object])[] = [
      ['projects', {}],
      ['projects', { project: 'newer', value_json: newer }],
      ['tasks', { project: projectId, column_json: '"ready"', blocked_json: '[]', created_by_json: '"human"' }],
      ['tasks', { project: projectId, task: 'newer' }],
      ['attempts', { project: projectId, task: taskId, agent_json: '"a1"', is_open: true }],
      ['routine_mappings', { schedule: scheduleId, project: 'other', agent_json: '"a1"', agreed: true }],
      ['inbox', { agent_json: '"a1"', sender_json: '"a2"' }],
    ];
    for (const [table, fields] of broken) await plant(client, rows[0]?.home ?? '', table, fields);
    await hands.restart();
    for (const each of ['', '/tasks', '/board', '/search?q=bake', '/obstacles', `/agents/a1/routines`])
      await good('GET', `${path}${each}`);
    await good('GET', '/api/records/approvals');

    const results: string[] = [];
    hands.model.follow(({ body, results: said }) => {
      results.push(...said);
      return body.messages.length === 1 ? calls('claim_task', { projectId, taskId }) : [{ say: 'Done.' }];
    });
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    const run = async () => JSON.stringify(await good('GET', '/v1/runs'));
    await expect.poll(run, { timeout: 20_000 }).toContain('"state":"done"');
    expect(results.join()).toContain('The task is yours');
    // It is not woken for a message that nobody can read.
    await good('POST', `${path}/tasks/${taskId}/move`, { columnId: 'backlog' });
    const asked = hands.model.requests.length;
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect
      .poll(async () => JSON.stringify(await good('GET', '/v1/agents/a1/schedule')), { timeout: 20_000 })
      .toContain('"reason":"nothing-waits"');
    expect(hands.model.requests.length).toBe(asked);
    await good('PUT', path, { name: 'Bakery and café' });
    const records = async () =>
      JSON.stringify(await eventsOf(browserOf(hands.relay().url, await hands.relay().signIn())));
    await expect.poll(records, { timeout: 20_000 }).toContain('Bakery and café');
    const log = readFileSync(join(home, 'logs', 'relay.log'), 'utf8').split('\n');
    const aside = log.filter((line) => line.includes('A row cannot be read'));
    expect(aside.filter((line) => line.includes('"newer"'))).toHaveLength(2);
    expect(aside.every((line) => line.includes('"stack"'))).toBe(true);
    expect(log.filter((line) => / error /.test(line) && !line.includes('cannot be read'))).toEqual([]);
  } finally {
    await client.end();
    await hands.close();
  }
});

it('serves the other households where one cannot be opened, and tells its people what to do', async () => {
  const hands = await startHands([], { store: 'postgres' });
  const client = new pg.Client({ connectionString: databaseOf(hands.relay().home) });
  await client.connect();
  try {
    const first = await client.query<{ home: string }>(`select home from ${SCHEMA}.homes`);
    const begun = await hands.call('POST', '/api/home', { beside: true, anew: true });
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const { key } = await hands.relay().signIn();
    const other = () => browserOf(hands.relay().url, { cookie: cookieAt(cookie, hands.relay().port), key });
    await other().fetch('/api/home', { method: 'POST', json: { beside: true, anew: false } });
    expect((await other().fetch('/api/team', { method: 'PUT', json: teamOfLead('Sol') })).status).toBe(204);
    await client.query(`
      create function ${SCHEMA}.broken() returns trigger as $$
      begin if new.home = '${first.rows[0]?.home ?? ''}' then raise 'It is broken.'; end if; return new; end $$ language plpgsql;
      create trigger broken before insert on ${SCHEMA}.logs for each row execute function ${SCHEMA}.broken();`);
    await hands.restart();
    const refused = await hands.call('GET', '/api/team');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(problemSchema.parse(await refused.json())).toMatchObject({
      type: 'about:roost/household-closed',
      detail: expect.stringContaining('ask whoever runs the relay') as string,
    });
    const team = await other().fetch('/api/team');
    expect([team.status, await team.text()]).toEqual([200, expect.stringContaining('Sol')]);
    await client.query(`drop function ${SCHEMA}.broken() cascade`);
    await hands.restart();
    expect((await hands.call('GET', '/api/team')).status).toBe(200);
  } finally {
    await client.end();
    await hands.close();
  }
});
