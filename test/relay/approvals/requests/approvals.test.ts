/**
 * What an agent may do, what waits for the person, and what became of it: through a whole relay,
 * killed where it hurts.
 */
import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import pg from 'pg';
import { z } from 'zod';
import { SCHEMA } from '../../../../server/store/tables.ts';
import { PRESETS } from '../../../../src/shared/domain/toolsets.ts';
import type { Answer } from '../../../../src/shared/protocol/approvals.ts';
import { calls, startHands, type Hands } from '../../../support/hands.ts';
import { eventsOf, textsOf } from '../../../support/homes.ts';
import { databaseOf } from '../../../support/relay.ts';
import { SNAPSHOT } from '../../../support/schedules.ts';
import { openSessionBench, payload, type Bench } from '../../../support/session.ts';
import { teamScript, type Script } from '../../../support/scripted-model.ts';

const problem = z.looseObject({ detail: z.string() });
/** A picture, by its head. */
const PNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03', 'latin1'),
  Buffer.alloc(40),
]);
const write = (content: string, path = 'plan.md') => calls('write_file', { path, content });

describe('a tool that asks, in a run that nobody watches', () => {
  let hands: Hands;
  beforeAll(async () => {
    hands = await startHands([], { store: 'sqlite' });
  });
  afterEach(async () => {
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    await hands.grant({});
  });
  afterAll(() => hands.close());

  const asks = { toolsets: { files: 'ask' } };
  const only = async () => {
    const [one, ...more] = await hands.waiting();
    if (!one || more.length > 0) throw new Error(`Not one question waits: ${more.length}`);
    return one;
  };
  const told = () => hands.model.requests.map(({ first }) => first).join('\n---\n');

  it('waits as a question with its whole input; the run goes on without; a yes runs it once and begins a run with the result', async () => {
    await hands.grant(asks);
    const [waits] = await hands.works(write('# Lisbon'));
    expect(waits).toContain('This waits for the human, who is away: it has not run yet.');
    // What is written of the call says so by a field: no page reads it out of the words.
    const written = textsOf(await eventsOf(hands.relay())).find((message) => message.includes('"write_file"')) ?? '{}';
    expect(JSON.parse(written)).toMatchObject({ blocks: [{ name: 'write_file', asks: true }, {}] });
    const question = await only();
    expect(question).toMatchObject({ agentId: 'a1', tool: 'write_file', state: 'asked', where: 'run', later: false });
    expect(JSON.parse(question.input)).toEqual({ path: 'plan.md', content: '# Lisbon' });
    expect(await hands.file('plan.md')).toBeNull();
    const before = hands.model.requests.length;
    expect((await hands.answer(question.callId, 'once')).status).toBe(200);
    await expect.poll(() => hands.file('plan.md')).toBe('# Lisbon');
    await expect.poll(() => hands.model.requests.length).toBe(before + 1);
    const text = hands.model.requests.at(-1)?.first ?? '';
    expect(text).toContain('The human said yes, and it has run once.');
    expect(text).toContain('> > plan.md is written: 8 characters.');
    expect((await hands.answered())[0]).toMatchObject({ callId: question.callId, state: 'done', allowedBy: 'once' });
    // The gate has it in its account, as the person's own word.
    expect(await (await hands.call('GET', '/api/wakes?agent=a1')).json()).toMatchObject({
      wakes: [{ way: 'answer', source: { kind: 'person' }, outcome: 'granted' }, { way: 'schedule' }],
    });
    const again = await hands.answer(question.callId, 'once');
    expect([again.status, problem.parse(await again.json()).detail]).toEqual([409, 'You already answered yes.']);
    expect(await hands.waiting()).toEqual([]);
  });

  it('shows a picture with the result, as the model sees it', async () => {
    await hands.put('a.png', PNG);
    await hands.grant({ tools: { view_image: 'ask' } });
    await hands.works(calls('view_image', { path: 'a.png' }));
    const before = hands.model.requests.length;
    await hands.answer((await only()).callId, 'once');
    await expect.poll(() => hands.model.requests.length).toBe(before + 1);
    const request = hands.model.requests.at(-1);
    expect(request?.first).toContain('a.png is a picture of 2 × 3 pixels');
    expect(request?.first).toContain('[The picture comes with this message.');
    expect(request?.body.messages.map(({ content }) => content).flat<unknown[]>()).toContainEqual(
      expect.objectContaining({
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') },
      }),
    );
  });

  it('loses nothing of what came of it where the relay is killed before its agent has read that: no picture, and no end of a text', async () => {
    await hands.put('b.png', PNG);
    await hands.put('long.txt', `${'long '.repeat(3_000)}its very end`);
    await hands.grant(asks);
    await hands.works(calls('view_image', { path: 'b.png' }), calls('read_file', { path: 'long.txt' }));
    // It cannot be woken to read it: that waits.
    expect((await hands.call('DELETE', '/api/agent-snapshots/a1')).status).toBe(204);
    for (const { callId } of await hands.waiting()) expect((await hands.answer(callId, 'once')).status).toBe(200);
    await expect
      .poll(async () => (await hands.answered()).slice(0, 2).map(({ state }) => state))
      .toEqual(['done', 'done']);
    await hands.restart();
    await hands.runs('Work.', true);
    const request = hands.model.requests.find(({ first }) => first.includes('b.png is a picture'));
    expect(request?.first).toContain('its very end');
    expect(request?.body.messages.map(({ content }) => content).flat<unknown[]>()).toContainEqual(
      expect.objectContaining({ type: 'image', source: expect.objectContaining({ data: PNG.toString('base64') }) }),
    );
  });

  it('asks once however often the tool is called, and limits waiting questions', async () => {
    await hands.grant(asks);
    await hands.works(write('same'), write('same'), write('same'));
    expect(await hands.waiting()).toHaveLength(1);
    const many = await hands.works(...Array.from({ length: 9 }, (_, n) => write(`${n}`)));
    expect(many.every((each) => each.includes('it has not run'))).toBe(true);
    await hands.works(...Array.from({ length: 9 }, (_, n) => write(`${n + 9}`)));
    const [, refused] = await hands.works(write('18'), write('19'));
    expect(refused).toContain('20 questions of yours wait');
    const [long] = await hands.works(write('x'.repeat(200_001)));
    expect(long).toContain('The human was not asked');
    expect(await hands.waiting()).toHaveLength(20);
  });

  it('delivers a refusal in the person’s words with the next message', async () => {
    await hands.grant(asks);
    await hands.works(write('no'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'no', 'Not in that folder, please.')).status).toBe(200);
    await hands.works(calls('list_team', {}));
    expect(told()).toContain('The human said no, so it has not run. They say:\n> > Not in that folder, please.');
    expect((await hands.answer(callId, 'once')).status).toBe(409);
    expect((await hands.account()).find((each) => each.callId === callId)).toMatchObject({ state: 'declined' });
  });

  it('asks no more once the person has said always, and is not there at all once it is off', async () => {
    await hands.grant(asks);
    await hands.works(write('first', 'always.md'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'always-command')).status).toBe(400);
    expect((await hands.answer(callId, 'always-tool')).status).toBe(200);
    await expect.poll(() => hands.file('always.md')).toBe('first');
    const [done, other] = await hands.works(write('second', 'always.md'), calls('read_file', { path: 'always.md' }));
    expect(done).toBe('always.md is replaced: 6 characters.');
    expect(other).toContain('it has not run');
    await hands.grant({ toolsets: { files: 'off' } });
    const [off] = await hands.works(write('third', 'always.md'));
    expect(off).toContain('There is no tool “write_file” here.');
    const waits = await only();
    const late = await hands.answer(waits.callId, 'once');
    expect([late.status, problem.parse(await late.json()).detail]).toEqual([
      409,
      'The question was withdrawn, and the tool has not run. The tool is now switched off for this agent.',
    ]);
  });

  it('keeps a postponed question and its answer when the relay is killed', async () => {
    await hands.grant(asks);
    await hands.works(write('kept', 'kept.md'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'later')).status).toBe(200);
    await hands.restart();
    expect(await only()).toMatchObject({ callId, later: true });
    expect((await hands.answer(callId, 'once')).status).toBe(200);
    await hands.restart();
    const { state } = (await hands.account()).find((each) => each.callId === callId) ?? {};
    expect(['done', 'unknown']).toContain(state);
    await hands.works(calls('list_team', {}));
    expect(told()).toMatch(state === 'done' ? /it has run once/ : /Nobody knows how far it got/);
  });

  it('says to a second device what was answered, or why it was withdrawn, before and after the relay was killed', async () => {
    await hands.grant(asks);
    const detailOf = async (answer: Response) => problem.parse(await answer.json()).detail;
    await hands.works(write('late', 'late.md'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'no', 'Not that.')).status).toBe(200);
    await hands.restart();
    const late = await hands.answer(callId, 'once');
    expect([late.status, await detailOf(late)]).toEqual([409, 'You already answered no.']);
    expect(await hands.file('late.md')).toBeNull();
    // Of a session that is over, the same before and after.
    await hands.call('PUT', '/v1/config', { coordination: asks });
    expect(await hands.talks(write('gone', 'gone.md'))).toMatchObject([/^This waits for the human: it has not run/]);
    await expect.poll(() => hands.waiting()).toEqual([]);
    const withdrawn = (await hands.answered())[0]?.callId ?? '';
    for (const kills of [false, true]) {
      if (kills) await hands.restart();
      const over = await hands.answer(withdrawn, 'once');
      expect([over.status, await detailOf(over)]).toEqual([
        409,
        'The question was withdrawn, and the tool has not run. The session ended before you answered.',
      ]);
    }
    await hands.call('PUT', '/v1/config', { whole: true });
  });

  it('stands in the account with whoever let it, as every call does', async () => {
    await hands.works(write('counted', 'counted.md'), calls('read_file', { path: 'counted.md' }));
    await expect
      .poll(async () => (await hands.account()).slice(0, 2).map(({ tool, state }) => [tool, state]))
      .toEqual([
        ['read_file', 'done'],
        ['write_file', 'done'],
      ]);
    const [read, wrote] = await hands.account();
    expect(wrote).toMatchObject({ agentId: 'a1', allowedBy: 'grant', where: 'run', isError: false, bytes: 36 });
    expect(read?.outcome).toContain('counted');
    const page = await (await hands.call('GET', `/api/calls?agent=a1&limit=1&before=${read?.callId}`)).json();
    expect(page).toMatchObject({ calls: [{ callId: wrote?.callId }], more: true });
  });

  it('takes the answer only from the person, and not from a credential', async () => {
    await hands.grant(asks);
    await hands.works(write('mine'));
    const { callId } = await only();
    const made = await hands.call('POST', '/api/credentials', { agentId: 'a1', label: 'a program' });
    const { secret } = z.looseObject({ secret: z.string() }).parse(await made.json());
    for (const headers of [{}, { authorization: `Bearer ${secret}` }])
      for (const [method, path] of [
        ['GET', '/api/approvals'],
        ['GET', '/api/calls'],
        ['POST', `/api/approvals/${callId}/answer`],
      ] as const) {
        const answer = await fetch(`${hands.relay().url}${path}`, {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          ...(method === 'POST' ? { body: JSON.stringify({ answer: 'once' }) } : {}),
        });
        expect([401, 403]).toContain(answer.status);
      }
    expect(await only()).toMatchObject({ callId, state: 'asked' });
  });
});

/** Statements on the database in which this relay keeps its rows. */
async function onDatabaseOf<Value>(
  home: string,
  does: (query: (text: string) => Promise<pg.QueryResult>) => Promise<Value>,
) {
  const client = new pg.Client({ connectionString: databaseOf(home) });
  await client.connect();
  try {
    return await does((text) => client.query(text));
  } finally {
    await client.end();
  }
}

it('What is let for always holds for later ones or is asked for again, where the relay is killed between the two', async () => {
  const hands = await startHands([], { store: 'postgres' });
  const { home } = hands.relay();
  try {
    await hands.grant({ toolsets: { files: 'ask' } });
    await hands.works(write('once', 'always.md'));
    const [question] = await hands.waiting();
    const callId = question?.callId ?? '';
    // Writing what is set takes long from now on: there the relay is killed.
    await onDatabaseOf(home, (query) =>
      query(`
        create function ${SCHEMA}.held() returns trigger as $$ begin perform pg_sleep(600); return new; end $$ language plpgsql;
        create trigger held before insert or update on ${SCHEMA}.configs for each row execute function ${SCHEMA}.held();`),
    );
    const answered = hands.answer(callId, 'always-tool').catch(() => null);
    await onDatabaseOf(home, async (query) => {
      const held = "from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
      await expect.poll(async () => (await query(`select pid ${held}`)).rowCount).toBe(1);
      await hands.relay().kill('SIGKILL');
      await answered;
      await query(`select pg_terminate_backend(pid) ${held}`);
      await query(`drop function ${SCHEMA}.held() cascade`);
    });
    await hands.restart();
    expect((await hands.waiting()).map((each) => each.callId)).toEqual([callId]);
    expect(await hands.file('always.md')).toBeNull();
    expect((await hands.answer(callId, 'always-tool')).status).toBe(200);
    await expect.poll(() => hands.file('always.md')).toBe('once');
    expect(await hands.works(write('twice', 'always.md'))).toEqual([expect.stringContaining('always.md is replaced')]);
  } finally {
    await hands.close();
  }
});

it('A tool that asks is asked about once, and only so many wait, also where a program calls many at once', async () => {
  const hands = await startHands([], { store: 'postgres' });
  try {
    await hands.grant({ toolsets: { files: 'ask' } });
    const made = await hands.call('POST', '/api/credentials', { agentId: 'a1', label: 'Many' });
    const { secret } = z.looseObject({ secret: z.string() }).parse(await made.json());
    const client = new Client({ name: 'many', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${secret}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${hands.relay().url}/mcp`), { requestInit }));
    const call = (content: string) =>
      client.callTool({ name: 'write_file', arguments: { path: 'plan.md', content } }).then(JSON.stringify);
    await Promise.all(Array.from({ length: 12 }, () => call('same')));
    expect(await hands.waiting()).toHaveLength(1);
    const all = await Promise.all(Array.from({ length: 40 }, (_, n) => call(`${n}`)));
    expect(all.filter((each) => each.includes('questions of yours wait'))).toHaveLength(21);
    expect(await hands.waiting()).toHaveLength(20);
    await client.close();
  } finally {
    await hands.close();
  }
});

describe('commands in the sandbox, through a whole relay', () => {
  /** Moments at which the relay is killed; more of them by name: ROOST_APPROVAL_KILLS=50. */
  const KILLS = Number(process.env['ROOST_APPROVAL_KILLS'] ?? 3);
  let hands: Hands;
  beforeAll(async () => {
    hands = await startHands(['--scripts'], { store: 'sqlite' });
  });
  afterAll(() => hands.close());
  const command = (text: string, more: object = {}) => calls('run_command', { command: text, ...more });
  const shell = (grant: string, more: object = {}) => hands.grant({ toolsets: { shell: grant }, ...more });

  it('offers commands after the person allows them, with the folder and without a key of the relay', async () => {
    const [off] = await hands.works(command('ls'));
    expect(off).toContain(
      'There is no tool “run_command” here. It is switched off. The human can allow it under Settings',
    );
    await shell('allow');
    await hands.put('in.txt', 'three\none\ntwo\n');
    const [sorted, wrong, env, cut] = await hands.works(
      command('sort in.txt > out.txt; cat out.txt'),
      command('echo oops >&2; exit 3'),
      command(`env; cat ${hands.relay().home}/sealing.key; exec 9<>/dev/tcp/127.0.0.1/${hands.relay().port}`),
      command('seq 20000'),
    );
    expect(sorted).toMatch(/^\[Exit status 0 after [\d.]+ s\.\]\n> one\n> three\n> two\n> $/);
    expect(wrong).toMatch(/^\[Exit status 3 after [\d.]+ s\.\]\n> oops\n> $/);
    expect(env).toContain('No such file');
    expect(env).toContain('Connection refused');
    expect(env).not.toContain('key-of-a-test');
    expect(cut?.length).toBeLessThan(50_000);
    expect(cut).toMatch(/\[\d+ more characters\. Call read_output with id c4 and from 30000\.\]$/);
    expect(await hands.file('out.txt')).toBe('one\nthree\ntwo\n');
  });

  it('reach of the network what the person has granted to their agent, by name, and nothing else', async () => {
    const { port } = hands.relay();
    const asks = `curl -sS http://other.test/ http://127.0.0.1:${port}/`;
    await shell('allow');
    expect(await hands.works(command(asks))).toMatchObject([/Could not resolve host: other\.test/]);
    await shell('allow', { network: ['named.test'] });
    const [named] = await hands.works(command(asks));
    expect(named).toContain('> other.test:80 is not among the hosts that the human allows for this agent.');
    expect(named).toContain(`> 127.0.0.1:${port} is not among the hosts`);
    await shell('allow', { network: 'all' });
    expect(await hands.works(command(asks))).toMatchObject([/> 127\.0\.0\.1 is not an address that may be reached/]);
    const refused = async (path: string, coordination: object) => {
      const answer = await hands.call('PUT', path, { coordination });
      return [answer.status, await answer.text()];
    };
    for (const network of [['http://named.test'], ['a b'], ['*'], 'some', ['x.test:'], ['']])
      expect(await refused('/v1/agents/a1/config', { network })).toEqual([
        400,
        expect.stringMatching(
          /"field":"coordination\.network(?:\.0)?","message":"(?:none, all, or a list|a host: example)/,
        ),
      ]);
    // Of everybody it is not said: whom one would not let, another would have let.
    expect(await refused('/v1/config', { shell_without_sandbox: true })).toEqual([
      400,
      expect.stringContaining('"field":"coordination.shell_without_sandbox"'),
    ]);
    // It is shown only where there is none.
    expect(await (await hands.call('GET', '/api/approvals')).json()).toMatchObject({ sandbox: { insist: false } });
  });

  it('refuses a command with impossible input without asking anybody', async () => {
    await shell('ask');
    expect(await hands.works(command('echo a\0b'))).toEqual([expect.stringContaining('command: must not contain')]);
    expect(await hands.waiting()).toEqual([]);
  });

  it('limits a command by the time and room set when it begins', async () => {
    await shell('allow', { command_seconds: 1, workspace_megabytes: 1 });
    const [late, full] = await hands.works(command('sleep 50'), write('x'.repeat(1_100_000), 'much.txt'));
    expect(late).toContain('Timed out after 1 s. The command and all its processes were killed.');
    expect(full).toMatch(/The folder is full: it holds [\d.]+ of 1\.0 MB, and this is 1\.1 MB more/);
    const used = async () => await (await hands.call('GET', '/api/workspaces/a1')).json();
    expect(await used()).toMatchObject({ used: { most: 1_000_000 } });
    // An agent's own stands over the household's.
    await hands.call('PUT', '/v1/config', { coordination: { command_seconds: 2, workspace_megabytes: 3 } });
    await shell('allow', { workspace_megabytes: 2 });
    const after = await hands.works(command('sleep 50'), write('x'.repeat(1_100_000), 'much.txt'));
    expect(after).toMatchObject([/after 2 s, which is the most/, /much\.txt is written/]);
    expect(await used()).toMatchObject({ used: { most: 2_000_000 } });
    await hands.call('PUT', '/v1/config', { whole: true });
    for (const [name, least, most] of [
      ['command_seconds', 1, 1_800],
      ['workspace_megabytes', 1, 1_000_000],
    ] as const)
      for (const value of [least - 1, most + 1, 1.5])
        expect((await hands.call('PUT', '/v1/agents/a1/config', { coordination: { [name]: value } })).status).toBe(400);
    expect((await hands.call('DELETE', '/api/workspaces/a1/file?path=much.txt')).status).toBe(204);
  });

  it('fill a folder, and their agent empties it again by itself, also where they took the rights to it', async () => {
    await shell('allow', { workspace_megabytes: 1 });
    const fills =
      'mkdir -p junk/in; for n in 1 2 3 4; do head -c 400000 /dev/zero > junk/in/$n; done; chmod 000 junk/in';
    const [, refused, list, full, moved, deleted, ran] = await hands.works(
      command(fills),
      command('true'),
      calls('list_files', { deep: true }),
      write('x'.repeat(10), 'new.md'),
      calls('move_file', { from: 'junk', to: 'made/for/it' }),
      calls('delete_file', { path: 'made', recursive: true }),
      command('echo again'),
    );
    expect(refused).toContain(
      'The command has not run: your folder is full. delete_file takes away what is not needed',
    );
    expect(list).toContain('junk/in/');
    expect(full).toContain('delete_file takes away what is not needed');
    expect(moved).toBe('junk is made/for/it now.');
    expect(deleted).toBe('made is deleted, with 4 files and 3 folders in it.');
    expect(ran).toContain('> again');
  });

  it('run on in the background, are read and ended', async () => {
    await shell('allow');
    const [begun = '', read, ended] = await hands.works(
      command('echo begun; sleep 60', { background: true }),
      calls('read_output', { id: 'c12' }),
      calls('stop_command', { id: 'c12' }),
    );
    expect(begun).toContain('Command c12 is running.');
    expect(read).toContain('Command c12 is still running.');
    expect(ended).toContain('Stopped after');
  });

  it('applies each choice of the page to commands and files: off, ask, allowed', async () => {
    const seen: Record<string, readonly string[]> = {};
    for (const { id, toolsets } of PRESETS) {
      await hands.grant({ toolsets });
      const answers = await hands.works(write(id, 'choice.md'), command(`echo ${id} >> choice.md`));
      seen[id] = answers.map(
        (each) =>
          ['There is no tool', 'it has not run', 'choice.md is ', 'Exit status 0'].find((words) =>
            each.includes(words),
          ) ?? each,
      );
    }
    const [none, waits, done] = ['There is no tool', 'it has not run', 'choice.md is '];
    expect(seen).toEqual({
      talks: [none, none],
      folder: [done, none],
      asks: [done, waits],
      sandbox: [done, 'Exit status 0'],
    });
    expect(await hands.file('choice.md')).toBe('sandboxsandbox\n');
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
  });

  it('end when what they may do is taken back while they run, and go on where only more is let', async () => {
    await shell('allow', { network: ['a.test'] });
    const change = async (more: object) => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await shell('allow', more);
    };
    const [, after] = await Promise.all([
      change({ network: ['a.test', 'b.test'] }).then(() => change({ network: 'none' })),
      hands.works(command('sleep 50')),
    ]);
    expect(after[0]).toContain('Killed: the human withdrew the permission.');
  });

  it('run without a question where exactly this one was let for always, and only then', async () => {
    await shell('ask', { allowed_commands: [] });
    await hands.works(command('echo same >> always.txt'));
    const [question] = await hands.waiting();
    expect((await hands.answer(question?.callId ?? '', 'always-command')).status).toBe(200);
    await expect.poll(() => hands.file('always.txt')).toBe('same\n');
    const [same, other] = await hands.works(command('echo same >> always.txt'), command('echo same  >> always.txt'));
    expect(same).toContain('Exit status 0');
    expect(other).toContain('it has not run');
    expect((await hands.account()).find(({ allowedBy }) => allowedBy === 'command')).toBeDefined();
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
  });

  it(
    'run once at most, and no question is lost, whenever the relay is killed',
    async () => {
      await shell('ask');
      for (let kill = 0; kill < KILLS; kill++) {
        const mark = `mark-${kill}`;
        await hands.works(command(`echo ${mark} >> ran.txt; sleep 0.2`));
        const { callId } = (await hands.waiting()).find(({ input }) => input.includes(mark)) ?? { callId: '' };
        const yes = hands.answer(callId, 'once').catch(() => null);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
        await hands.restart();
        await yes;
        const stateOf = async () => (await hands.account()).find((each) => each.callId === callId)?.state;
        // The yes may have been lost on its way: then the question stands.
        if ((await stateOf()) === 'asked') expect((await hands.answer(callId, 'once')).status).toBe(200);
        await expect.poll(stateOf, { timeout: 10_000 }).toMatch(/^(?:done|unknown)$/);
        const state = await stateOf();
        const times = ((await hands.file('ran.txt')) ?? '').split(`${mark}\n`).length - 1;
        expect(times).toBeLessThanOrEqual(1);
        if (state === 'done') expect(times).toBe(1);
        expect((await hands.answer(callId, 'once')).status).toBe(409);
      }
    },
    KILLS * 20_000,
  );

  it('end with an agent who is forgotten, whose folder goes and whose account is empty, whatever they write meanwhile', async () => {
    await shell('allow');
    const [begun] = await hands.works(
      command('sleep 87.25 & while :; do mkdir -p sub; date > sub/$RANDOM; echo on > $RANDOM; done', {
        background: true,
      }),
    );
    expect(begun).toMatch(/Command c\d+ is running/);
    const running = () => spawnSync('pgrep', ['-f', 'sleep 87.25']).stdout.toString();
    expect(running()).not.toBe('');
    const agents = [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }];
    expect((await hands.call('PUT', '/api/team', { agents: [], forgotten: ['a1'] })).status).toBe(204);
    const [household = ''] = await readdir(join(hands.relay().home, 'workspaces'));
    expect(await readdir(join(hands.relay().home, 'workspaces', household))).toEqual([]);
    expect(await hands.account()).toEqual([]);
    expect(running()).toBe('');
    expect((await hands.call('PUT', '/api/team', { agents })).status).toBe(204);
    expect((await hands.call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT })).status).toBe(
      204,
    );
  });

  it('keep a script of the night in the same sandbox', async () => {
    const { home } = hands.relay();
    // What its agent's commands reach is not what a script reaches.
    await shell('ask', { network: ['other.test'] });
    await hands.put(
      'look.sh',
      `{ curl -sS http://other.test/; pwd; env | grep -c ANTHROPIC; cat ${home}/sealing.key; } > saw 2>&1; exit 0`,
    );
    const timing = { kind: 'weekly', days: [1], time: '07:30' };
    const script = { kind: 'script', agentId: 'a1', name: 'Look', script: 'look.sh', timing, hosts: ['named.test'] };
    const added = await hands.call('POST', '/v1/pulse-routines', script);
    const { scheduleId } = z.looseObject({ scheduleId: z.string() }).parse(await added.json());
    await hands.call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    await expect.poll(() => hands.file('saw'), { timeout: 10_000 }).toContain('No such file');
    expect(await hands.file('saw')).toMatch(/^other\.test:80 is not among the hosts .*\n\/workspace\n0\n/);
  });
});

/**
 * Whoever is asked who is here looks, says this once it has an answer, and hears what became of it.
 */
function asking(meanwhile: string): Script {
  const usual = teamScript();
  return (request) => {
    const { seat, last, results } = request;
    if (seat === null) return usual(request);
    if (results.length > 0) return [{ say: meanwhile }];
    if (last.includes('Who is here?')) return [{ call: 'list_team', input: {} }];
    return last.includes('The human said yes') ? [{ say: 'Now I know.' }] : usual(request);
  };
}

describe('a tool that asks, in a session', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('leaves its agent free to talk, and comes back as a turn of its own', async () => {
    const house = await bench.open({
      script: asking('I have asked. Meanwhile: hello.'),
    });
    await house.team.configs.setAgent('agent-0', { coordination: { tools: { list_team: 'ask' } } });
    await house.start();
    await house.wake([payload(0)]);
    await house.untilQuiet();
    expect(await house.post({ text: 'Who is here?', to: 'agent-0' })).toMatchObject({ ok: true });
    await house.until(() => /I have asked|I wait/.test(JSON.stringify(house.events)));
    const [question] = await house.team.approvals.open();
    expect(question).toMatchObject({ tool: 'list_team', where: 'session' });
    expect(JSON.stringify(house.events)).toContain('I have asked. Meanwhile: hello.');
    // Of several devices that answer at the same moment one is heard, and the others are told so.
    const given = await Promise.all(
      ['once', 'once', 'always-tool', 'once'].map((each) =>
        house.team.approvals.answer(question?.callId ?? '', each as Answer, ''),
      ),
    );
    expect(given.filter(({ ok }) => ok)).toHaveLength(1);
    expect(given.flatMap((each) => (each.ok ? [] : [each.detail]))).toEqual(
      Array.from({ length: 3 }, () => 'You already answered yes.'),
    );
    await house.until(() => JSON.stringify(house.events).includes('Now I know.'));
    await house.close();
  });

  it('withdraws the question with its session, and says so to a later answer', async () => {
    const house = await bench.open({ script: asking('I wait.') });
    await house.team.configs.setAgent('agent-0', { coordination: { tools: { list_team: 'ask' } } });
    await house.start();
    await house.wake([payload(0)]);
    await house.untilQuiet();
    expect(await house.post({ text: 'Who is here?', to: 'agent-0' })).toMatchObject({ ok: true });
    await house.until(() => /I have asked|I wait/.test(JSON.stringify(house.events)));
    const [question] = await house.team.approvals.open();
    await house.host.end('ended');
    await expect.poll(() => house.team.approvals.open()).toEqual([]);
    expect(await house.team.approvals.answer(question?.callId ?? '', 'once', '')).toEqual({
      ok: false,
      reason: 'over',
      detail: 'The question was withdrawn, and the tool has not run. The session ended before you answered.',
    });
    await house.close();
  });
});
