/**
 * One sentence is planted wherever an agent can leave words. After the agent is forgotten, or the
 * project removed, it is looked for in every row and every file of the relay's home.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FORGETTING } from '../../server/store/forgetting.ts';
import { type Db, openStore } from '../../server/store/index.ts';
import { SCHEMA } from '../../server/store/tables.ts';
import { seatColor } from '../../src/shared/domain/seat.ts';
import { writeWake } from '../../src/shared/domain/wake-payload.ts';
import { toolCallSchema } from '../../src/shared/protocol/approvals.ts';
import { programSchema } from '../../src/shared/protocol/programs.ts';
import { projectSchema, taskSchema } from '../../src/shared/protocol/projects.ts';
import { eventsOf, talk } from '../support/homes.ts';
import { openScheduleRelay, type ScheduleRelay } from '../support/schedule-relay.ts';
import { type Found, searchFor } from '../support/planted-words.ts';
import { entriesBelow } from '../support/files-below.ts';
import { programOf } from '../support/relay-build.ts';
import { databaseOf } from '../support/relay.ts';
import { SNAPSHOT } from '../support/schedules.ts';
import { STORES } from '../support/stores.ts';
import type { Reply, ScriptedRequest } from '../support/scripted-model.ts';

const run = promisify(execFile);
const GONE = 'The heron counts violet ladders at noon';
/** What rightly stays of the agent: see docs/privacy.md. */
const STAYS = 'A walrus lends its umbrella to the choir';
const OF_PROJECT = 'Nine copper snails rehearse the harvest';

const waitingSchema = z.object({ waiting: z.array(toolCallSchema) });
const AGENT = await programOf('test/support/acp-agent.mjs');
describe.each(STORES)('on %s', (kind) => {
  let scheduleRelay: ScheduleRelay;
  let script: (request: ScriptedRequest) => Reply = () => [{ say: 'Done.' }];
  /** Outside of the home. */
  let scratch = '';
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'roost-forgotten-'));
    scheduleRelay = await openScheduleRelay(['a1', 'a2'], (request) => script(request), {
      store: kind,
      args: ['--scripts'],
    });
  });
  afterAll(async () => {
    await scheduleRelay.close();
    await rm(scratch, { recursive: true, force: true });
  });

  const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);
  const done = async (agentId: string, name: string, input: object): Promise<void> => {
    const said = await scheduleRelay.tool(agentId, name, input);
    expect(said, name).not.toContain('"isError":true');
  };
  const put = async (path: string, body: string) => {
    const headers = { 'content-type': 'application/octet-stream' };
    const { ok } = await scheduleRelay.raw('PUT', `/api/workspaces/a1/file?path=${path}`, { body, headers });
    expect(ok, path).toBe(true);
  };
  const newProject = async (fields: object) => projectSchema.parse(await good('POST', '/v1/projects', fields));
  async function newTask(projectId: string, fields: object = {}) {
    const given = { title: 'Ferry', columnId: 'ready', criteria: [{ text: 'It is booked' }], ...fields };
    return taskSchema.parse(await good('POST', `/v1/projects/${projectId}/tasks`, given));
  }

  /** Calls `use` with the store as it is now: a server's, or a copy of the built-in one's files. */
  async function inStore<Result>(use: (db: Db) => Promise<Result>): Promise<Result> {
    const { home } = scheduleRelay.relay;
    const copy = await mkdtemp(join(tmpdir(), 'roost-forgotten-'));
    const folder = join(copy, 'store');
    const databaseUrl = databaseOf(home) ?? null;
    if (databaseUrl === null) await cp(join(home, 'store'), folder, { recursive: true });
    const store = await openStore({ folder, databaseUrl });
    try {
      return await use(store.db);
    } finally {
      await store.close();
      await rm(copy, { recursive: true, force: true });
    }
  }

  /** In every row of the store, file of the home, and object of the relay's repositories. */
  async function found(words: string): Promise<readonly Found[]> {
    const search = searchFor([words]);
    const { home } = scheduleRelay.relay;
    const places: Found[] = [...(await inStore((db) => search.inDatabase(db))), ...(await search.inFolder(home))];
    for (const { parentPath, name } of await entriesBelow(home)) {
      const gitDir = join(parentPath, name);
      if (!existsSync(join(gitDir, 'HEAD')) || !existsSync(join(gitDir, 'objects'))) continue;
      const { stdout } = await run('git', [`--git-dir=${gitDir}`, 'cat-file', '--batch-all-objects', '--batch']);
      places.push(...search.inBytes(Buffer.from(stdout), gitDir));
    }
    places.push(...search.inBytes(Buffer.from(JSON.stringify(await eventsOf(scheduleRelay.browser))), 'the events'));
    return places;
  }
  /** Tables with rows of this agent that are to be deleted, sealed ones too. */
  const tablesOf = (agentId: string) =>
    inStore(async (db) => {
      const own: string[] = [];
      for (const [table, { agent }] of Object.entries(FORGETTING)) {
        if (agent.rows !== 'deleted') continue;
        const { rows } = await sql`select 1 as one from ${sql.table(`${SCHEMA}.${table}`)}
        where ${sql.ref(agent.by)} = ${JSON.stringify(agentId)} limit 1`.execute(db);
        if (rows.length > 0) own.push(table);
      }
      return own;
    });
  const placesOf = async (words: string) => (await found(words)).map(({ where, form }) => `${where} (${form})`);

  it('leaves nothing of a forgotten agent but what it gave to others', async () => {
    const asked = {
      may_propose_routines: true,
      toolsets: { shell: 'allow' },
      tools: { list_team: 'ask' },
      allowed_commands: [`echo ${GONE}`],
    };
    await good('PUT', '/v1/agents/a1/config', { coordination: asked });
    await good('PUT', '/api/agent-snapshots/a1', {
      version: 'v2',
      snapshot: { ...SNAPSHOT, soul: GONE, transcript: GONE },
    });
    // What is set for it, and what it did alone.
    const timing = { kind: 'weekly', days: [1], time: '07:30' };
    const routine = { kind: 'routine', agentId: 'a1', name: 'Routine', instructions: GONE, timing };
    const { scheduleId } = (await good('POST', '/v1/pulse-routines', routine)) as { scheduleId: string };
    const reminder = { kind: 'reminder', agentId: 'a1', name: 'Reminder', message: GONE };
    await good('POST', '/v1/pulse-routines', { ...reminder, timing: { kind: 'once', at: scheduleRelay.now() + 9e9 } });
    script = () => [{ say: GONE }];
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect.poll(async () => JSON.stringify(await scheduleRelay.history('a1'))).toContain(GONE);
    script = () => [{ say: 'Done.' }];
    await good('POST', '/api/sessions', {
      human: { name: 'Noa' },
      lead: { name: 'Sol', soul: 'I am.', transcript: null },
    });
    // Its project, with a task that it works on, and one that it has finished with.
    const { projectId } = await newProject({ name: 'Trip', agents: ['a1', 'a2'], reviewer: 'a1' });
    const task = await newTask(projectId);
    const ids = { projectId, taskId: task.taskId };
    const left = await newTask(projectId);
    await done('a1', 'claim_task', { projectId, taskId: left.taskId });
    await put('free.md', GONE);
    await put('free.md', `${GONE}, again`);
    await done('a1', 'release_task', { projectId, taskId: left.taskId, note: GONE });
    await done('a1', 'claim_task', ids);
    const { attempts } = (await good('GET', `/v1/projects/${projectId}/tasks/${task.taskId}/attempts`)) as {
      attempts: { folder: string }[];
    };
    await done('a1', 'write_file', { path: `${attempts[0]?.folder ?? ''}/ferry.md`, content: GONE });
    await done('a1', 'run_command', { command: `echo ${GONE}` });
    await done('a1', 'meet_criterion', { ...ids, criterion: 1, evidence: GONE });
    await done('a1', 'comment_on_task', { ...ids, text: GONE });
    await done('a1', 'create_task', { projectId, title: STAYS, description: STAYS });
    // A branch with its work, of a task that nobody has accepted.
    await done('a1', 'transition_task', { ...ids, status: 'blocked', note: GONE });
    await done('a1', 'claim_task', { projectId, taskId: left.taskId });
    // Words for others, for the person, and of the person.
    await done('a1', 'create_thread', { title: STAYS, participants: ['a2'] });
    const { threads } = (await good('GET', '/api/threads')) as { threads: { threadId: string; title: string }[] };
    const threadId = threads.find(({ title }) => title === STAYS)?.threadId ?? '';
    await done('a1', 'send_message_to_thread', { threadId, message: GONE });
    await done('a1', 'message_agent', { to: 'a2', message: STAYS });
    await done('a1', 'message_human', { message: GONE });
    await done('a1', 'propose_routine', { name: 'Proposed', why: GONE, instructions: GONE, every_minutes: 60 });
    await good('POST', '/api/messages', { to: 'a1', text: GONE, clientId: 'c1' });
    await good('POST', `/v1/projects/${projectId}/agents/a1/routines`, { routineId: scheduleId });
    await good('POST', '/api/webhooks', { name: GONE, target: { kind: 'routine', scheduleId } });
    await good('POST', '/api/credentials', { agentId: 'a1', label: GONE });
    // A script, and a command that is let for always: both keep what lay in its folder.
    await put('night.sh', `echo ${GONE}`);
    await good('POST', '/v1/pulse-routines', {
      kind: 'script',
      agentId: 'a1',
      name: 'Script',
      script: 'night.sh',
      timing,
    });
    await good('PUT', '/v1/agents/a1/config', { coordination: { ...asked, toolsets: { shell: 'ask' } } });
    const command = `bash night.sh # ${GONE}`;
    void scheduleRelay.tool('a1', 'run_command', { command }).catch(() => undefined);
    const asking = async () => waitingSchema.parse(await good('GET', '/api/approvals')).waiting.at(0) ?? null;
    await expect.poll(asking).not.toBeNull();
    const card = await asking();
    const seen = card?.content?.pin;
    await good('POST', `/api/approvals/${card?.callId ?? ''}/answer`, {
      answer: 'always-command',
      ...(seen === undefined ? {} : { seen }),
    });
    // The conversation of a program that is its mind, which sleeps and could be resumed.
    const log = join(scratch, 'log');
    const program = { name: 'Mind', command: process.execPath, args: [AGENT, log, 'resumes'] };
    const { programId } = programSchema.parse(await good('POST', '/api/agent-programs', program));
    await good('PUT', '/v1/agents/a1/config', { coordination: { ...asked, mind: programId } });
    const own = { id: 'a1', name: 'Name of a1', position: 0 as const, ...seatColor(0), soul: GONE, transcript: null };
    await good('POST', '/api/messages', { text: writeWake([own]), clientId: randomUUID() });
    await expect.poll(() => readFile(log, 'utf8').catch(() => '')).toContain('"prompt"');
    // A call that waits for the person.
    void scheduleRelay.tool('a1', 'list_team', {}).catch(() => undefined);
    await expect.poll(async () => JSON.stringify(await good('GET', '/api/approvals'))).toContain('list_team');
    await talk(scheduleRelay.browser, `What did Name of a1 mean? ${STAYS}`);
    await good('DELETE', '/api/sessions/current');
    const tables = ['attempts', 'configs', 'credentials', 'events', 'hooks', 'inbox', 'occurrences'];
    tables.push('proposals', 'schedules', 'script_texts', 'tasks', 'thread_messages', 'tool_calls');
    const sealed = ['program_sessions', 'standing_copies', 'command_contents'];
    await expect.poll(() => tablesOf('a1')).toEqual(expect.arrayContaining(sealed));
    const before = (await placesOf(GONE)).join('\n');
    for (const place of [...tables.map((table) => `roost.${table},`), '/workspaces/', '/history/', '.git'])
      expect(before, place).toContain(place);

    await good('PUT', '/api/team', {
      agents: [
        { agentId: 'lead', name: 'Julian', position: 4, retired: false },
        { agentId: 'a2', name: 'Name of a2', position: 1, retired: false },
      ],
      forgotten: ['a1'],
    });
    await expect.poll(() => placesOf(GONE)).toEqual([]);
    expect(await tablesOf('a1')).toEqual([]);
    // The person's words, a message to another, a thread's title and a task that others go on with.
    const text = JSON.stringify([
      await good('GET', `/v1/projects/${projectId}/tasks`),
      await good('GET', '/api/threads'),
      await good('GET', '/api/agents/a2/inbox'),
      await eventsOf(scheduleRelay.browser),
    ]);
    for (const where of ['"title":"A walrus', '"description":"A walrus', 'What did Name of a1 mean? A walrus'])
      expect(text.replaceAll('\\"', '"')).toContain(where);
    expect(projectSchema.parse(await good('GET', `/v1/projects/${projectId}`))).toMatchObject({
      agents: ['a2'],
      reviewer: null,
    });
    const at = `/v1/projects/${projectId}/tasks/${left.taskId}`;
    expect(taskSchema.parse(await good('GET', at))).toMatchObject({ claim: null, columnId: 'ready' });
    // Also after what only the next start would write.
    await scheduleRelay.restart();
    expect(await placesOf(GONE)).toEqual([]);
  });

  it('a removed task takes the comments on it along, and leaves those on others', async () => {
    const said = 'Comment of a removed task, Xylophane';
    const { projectId } = await newProject({ name: 'Talks', agents: ['a2'] });
    const comment = async (text: string) => {
      const { taskId } = await newTask(projectId, { title: 'Talk' });
      const at = `/v1/projects/${projectId}/tasks/${taskId}`;
      await good('POST', `${at}/comments`, { text, clientId: `c-${taskId}` });
      return at;
    };
    const [gone, stays] = [await comment(said), await comment('Another one, Xylem')];
    expect((await placesOf(said)).length).toBeGreaterThan(0);
    await good('DELETE', gone);
    await expect.poll(async () => (await placesOf(said)).filter((where) => !/\/store\//.test(where))).toEqual([]);
    expect(JSON.stringify(await good('GET', `${stays}/comments`))).toContain('Xylem');
  });

  it('a removed project leaves no word at the relay, and its deletion reaches every device', async () => {
    const { projectId } = await newProject({
      ...{ name: OF_PROJECT, instructions: OF_PROJECT, agents: ['a2'], checks: [`echo ${OF_PROJECT}`] },
    });
    const task = await newTask(projectId, { title: OF_PROJECT, description: OF_PROJECT });
    const ids = { projectId, taskId: task.taskId };
    await scheduleRelay.raw('PUT', `/v1/projects/${projectId}/file?path=a.md`, {
      body: OF_PROJECT,
      headers: { 'content-type': 'application/octet-stream' },
    });
    await good('POST', `/v1/projects/${projectId}/tasks/${task.taskId}/comments`, { text: OF_PROJECT, clientId: 'c2' });
    await good('POST', '/api/webhooks', {
      name: 'Webhook',
      target: { kind: 'project', projectId, column: 'backlog', githubLabel: null },
    });
    await done('a2', 'claim_task', ids);
    expect((await placesOf(OF_PROJECT)).length).toBeGreaterThan(5);
    await good('DELETE', `/v1/projects/${projectId}?lose=true`);
    // The agent's own account of what it did stays for 90 days.
    const isOwn = (where: string) => /tool_calls|inbox|\/store\//.test(where);
    await expect.poll(async () => (await placesOf(OF_PROJECT)).filter((where) => !isOwn(where))).toEqual([]);
    const events = JSON.stringify(await eventsOf(scheduleRelay.browser));
    expect(events).toContain(projectId);
  });
});
