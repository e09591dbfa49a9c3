/** Agents whose mind is a program of its own, through a whole relay: a real process that speaks the protocol with its own library. */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SEAT_ORDER, seatColor } from '../../src/domain/seat.ts';
import { writeWake } from '../../src/domain/wake-payload.ts';
import { costsSchema } from '../../src/protocol/costs.ts';
import { programSchema, programsSchema, type Program } from '../../src/protocol/programs.ts';
import { createProcesses } from '../../server/processes/index.ts';
import { PROGRAM_LIMITS } from '../../server/programs/settings.ts';
import { createStarts } from '../../server/programs/starts.ts';
import { tryProgram } from '../../server/programs/trial.ts';
import { startHands, type Hands } from '../support/hands.ts';
import { createHome } from '../support/relay.ts';
import { openEventSource, type OpenStream } from '../support/event-source.ts';

const AGENT = fileURLToPath(new URL('../support/acp-agent.mjs', import.meta.url));
const noteSchema = z.object({ what: z.string(), value: z.unknown(), at: z.number() });

let hands: Hands;
let folder: string;
let nth = 0;
let log: string;
let events: OpenStream;
let mark = 0;

const call: Hands['call'] = (...asked) => hands.call(...asked);
async function ok(response: Promise<Response>): Promise<unknown> {
  const answer = await response;
  expect(answer.ok, await answer.clone().text()).toBe(true);
  return answer.status === 204 || answer.status === 202 ? null : await answer.json();
}
async function allNotes(): Promise<z.infer<typeof noteSchema>[]> {
  const text = await readFile(log, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => noteSchema.parse(JSON.parse(line)));
}
const notes = async (what: string): Promise<unknown[]> =>
  (await allNotes()).flatMap((note) => (note.what === what ? [note.value] : []));
const noted = (what: string, count = 1) =>
  expect.poll(async () => (await notes(what)).length, { timeout: 15_000 }).toBeGreaterThanOrEqual(count);
function isAlive(pid: unknown): boolean {
  try {
    process.kill(z.number().parse(pid), 0);
    return true;
  } catch {
    return false;
  }
}
/** Adds a program that behaves so at its start. */
async function add(way = 'good', more: object = {}): Promise<Program> {
  const body = { name: `Agent ${nth}`, command: process.execPath, args: [AGENT, log, way], ...more };
  return programSchema.parse(await ok(call('POST', '/api/agent-programs', body)));
}
const shown = async () => programsSchema.parse(await ok(call('GET', '/api/agent-programs')));
async function choose(programId: string, more: object = {}): Promise<void> {
  await hands.grant({ mind: programId, ...more });
}
const begin = () =>
  ok(
    call('POST', '/api/sessions', {
      human: { name: 'Ada' },
      lead: { name: 'Julian', soul: null, transcript: null },
    }),
  );
const end = () => ok(call('DELETE', '/api/sessions/current'));
const post = (text: string, to?: string) =>
  ok(call('POST', '/api/messages', { text, clientId: randomUUID(), ...(to === undefined ? {} : { to }) }));
const NAMES = ['Lyra', 'Dara', 'Orin', 'Vela', 'Nilo', 'Suri', 'Tavi', 'Wren'];
/** The first so many of the team; the first of them is `a1`. */
const members = (count: number) =>
  SEAT_ORDER.slice(0, count).map((position, i) => ({ id: `a${i + 1}`, name: NAMES[i] ?? '', position }));
const wake = (count = 1) =>
  post(
    writeWake(
      members(count).map((each) => ({
        ...each,
        ...seatColor(each.position),
        soul: 'I love herons.',
        transcript: null,
      })),
    ),
  );
const tell = (...steps: object[]) => post(`DO ${JSON.stringify(steps)}`, 'a1');

async function awake(way = 'good', more: object = {}, program: object = {}): Promise<Program> {
  const added = await add(way, program);
  await choose(added.programId, more);
  await begin();
  await wake();
  await noted('prompt');
  return added;
}

beforeAll(async () => {
  folder = await createHome();
  hands = await startHands(['--scripts']);
  await listen();
});
const listen = async () => {
  events = await openEventSource((signal) => hands.relay().fetch('/api/events', { signal }));
};
beforeEach(() => {
  mark = events.messages.length;
  log = join(folder, `log-${++nth}`);
});
afterAll(async () => {
  events.close();
  await hands.close();
});

const personSaid = (data: unknown) => z.object({ author: z.literal('human') }).safeParse(data).success;
/** What the log was told since the beginning of this test. */
const said = () => JSON.stringify(events.messages.slice(mark).flatMap(({ data }) => (personSaid(data) ? [] : [data])));
const says = (text: string) => expect.poll(said, { timeout: 15_000 }).toContain(text);
const question = async () => {
  await expect.poll(async () => (await hands.waiting()).length, { timeout: 15_000 }).toBe(1);
  const [asked] = await hands.waiting();
  if (!asked) throw new Error('Nothing waits.');
  return asked;
};
const COMMAND = { toolCallId: 'c1', title: 'make', kind: 'execute', rawInput: { command: 'make all' } };

describe('an agent whose mind is a program', () => {
  afterEach(async () => {
    await call('DELETE', '/api/sessions/current');
    for (const { programId } of (await shown()).programs) await ok(call('DELETE', `/api/agent-programs/${programId}`));
    await hands.grant({});
  });

  it('wakes with its soul in its folder; its words, thoughts, plans, calls and what it says it cost are told', async () => {
    const { state } = await awake();
    expect(state).toMatchObject({ kind: 'answers', is: 'acp-agent 1.0', tools: true });
    const [first] = await notes('prompt');
    expect(JSON.stringify(first)).toContain('I love herons.');
    expect(JSON.stringify(first)).toContain('You woke as Lyra');
    const [, started] = await notes('new');
    expect(started).toMatchObject({ cwd: expect.stringContaining('/workspaces/'), servers: [{ name: 'roost' }] });
    expect(await notes('mode'), 'it begins in a mode that does not ask').toEqual(['default']);
    const [names] = z.array(z.array(z.string())).parse(await notes('env'));
    const usual = ['HOME', 'LOGNAME', 'PATH', 'PWD', 'ROOST_SCRIPT_RUN', 'SHELL', 'SHLVL', 'TERM', 'USER', '_'];
    expect(names?.filter((name) => !usual.includes(name))).toEqual(['CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION']);
    const content = [{ type: 'diff', path: '/x/notes.md', oldText: 'old line', newText: 'new line' }];
    await tell(
      { think: 'Herons are grey.' },
      { plan: ['Find a heron'] },
      { tool: { toolCallId: 't1', title: 'Change notes', kind: 'edit', rawInput: { file: 'notes.md' }, content } },
      { say: 'It is done.' },
      { cost: 0.25 },
    );
    await says('It is done.');
    const text = said();
    for (const part of ['Herons are grey.', 'pending: Find a heron', '- old line', '+ new line', 'mind__edit'])
      expect(text).toContain(part);
    const costs = await (await call('GET', '/api/costs?days=1')).text();
    expect(costs).toContain('250000');
    expect((await shown()).programs[0]?.running).toMatchObject([{ agentId: 'a1', state: 'ready' }]);
  });

  it('is given its soul and its last conversation as instructions, where it takes some, and the pictures of the person', async () => {
    await awake('able');
    const given = z.array(z.looseObject({ instructions: z.string().nullable() }));
    const instructions = async () => given.parse(await notes('new')).at(-1)?.instructions;
    for (const part of ['Other lines in square brackets', 'You woke as Lyra', 'I love herons.'])
      expect(await instructions()).toContain(part);
    expect(await notes('prompt')).toEqual([[expect.stringContaining('You are awake now.')]]);
    const file = (name: string, mediaType: string) => ({
      ...{ attachmentId: name, name, mediaType, bytes: 3, data: Buffer.from('abc').toString('base64') },
    });
    const attachments = [
      { ...file('beach.png', 'image/png'), width: 8, height: 6 },
      file('plan.pdf', 'application/pdf'),
    ];
    await ok(call('POST', '/api/messages', { clientId: randomUUID(), text: 'What is this?', to: 'a1', attachments }));
    await noted('prompt', 2);
    const sent = JSON.stringify((await notes('prompt')).at(-1));
    expect(sent).toMatch(/What is this\?.*image image\/png.*resource application\/pdf/);
    await tell({ exit: 0 });
    await says('it has ended');
    await tell({ say: 'Here I am again.' });
    await says('Here I am again.');
    // A new process is told all of it, and what it woke with beside it.
    expect(await instructions()).toContain('I love herons.');
    const anew = JSON.stringify((await notes('prompt')).at(-1));
    expect(anew).not.toContain('I love herons.');
    expect(anew).toMatch(/What was said before.*What is this\?.*image image\/png/);
  });

  it('asks the person by a card: a yes lets it go on, a no is told with its words, a command let for good is not asked again', async () => {
    await awake();
    await tell({ ask: { ...COMMAND, then: [{ say: 'It is made.' }] } });
    const first = await question();
    expect(first).toMatchObject({ tool: 'mind__execute', agentId: 'a1', where: 'session' });
    expect(first.input).toContain('make all');
    expect((await hands.answer(first.callId, 'always-command')).status).toBe(200);
    await says('It is made.');
    await tell({ ask: { ...COMMAND, toolCallId: 'c2', then: [{ say: 'And once more.' }] } });
    await says('And once more.');
    await tell({ ask: { toolCallId: 'c3', title: 'rm', kind: 'delete', rawInput: { path: 'all' } } });
    const second = await question();
    await hands.answer(second.callId, 'no', 'Keep them.');
    await noted('asked', 3);
    expect((await notes('asked')).at(-1)).toEqual({ outcome: 'selected', optionId: 'no' });
    await tell({ say: 'I see.' });
    await says('I see.');
    expect(JSON.stringify((await notes('prompt')).at(-1))).toContain('The human said no. They say: Keep them.');
    await hands.grant({ mind: (await shown()).programs[0]?.programId, toolsets: { mind: 'off' } });
    await tell({ ask: { ...COMMAND, toolCallId: 'c4' } });
    await noted('asked', 4);
    expect((await notes('asked')).at(-1)).toEqual({ outcome: 'selected', optionId: 'no' });
    expect(await hands.waiting()).toEqual([]);
  });

  it('is stopped in the middle of a question, which waits no more, and is held while it sleeps', async () => {
    await awake();
    await tell({ ask: COMMAND });
    await question();
    await ok(call('POST', '/api/agents/a1/stop'));
    await noted('cancel');
    await expect.poll(async () => (await hands.waiting()).length).toBe(0);
    const { sessionId } = z.looseObject({ sessionId: z.string() }).parse(
      JSON.parse(
        said()
          .match(/\{[^{}]*"session-started"[^{}]*"sessionId":"[^"]*"/g)
          ?.at(-1) + '}',
      ),
    );
    const flag = (sleeping: boolean) => ok(call('PUT', `/api/v1/sessions/${sessionId}/a1/sleeping`, { sleeping }));
    await flag(true);
    const before = (await notes('prompt')).length;
    await tell({ say: 'Awake again.' });
    await new Promise((go) => setTimeout(go, 300));
    expect(await notes('prompt')).toHaveLength(before);
    await flag(false);
    await says('Awake again.');
  });

  it('has Roost’s own tools with a secret that ends with its run, and leaves no process behind, its children’s neither', async () => {
    await awake('deaf');
    await tell({ mcp: 'list_team' }, { secret: 1 }, { child: 1 });
    await noted('child');
    expect((await notes('mcp'))[0]).toContain('Lyra (you)');
    const secret = z.string().parse((await notes('secret'))[0]);
    const ask = () =>
      fetch(new URL('/mcp', hands.relay().url), {
        method: 'POST',
        headers: {
          authorization: secret,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    expect((await ask()).status).not.toBe(401);
    const left = [...(await notes('pid')), ...(await notes('child'))];
    await end();
    await expect.poll(() => left.map(isAlive), { timeout: 10_000 }).toEqual(left.map(() => false));
    expect((await ask()).status).toBe(401);
    expect((await shown()).programs[0]?.running).toEqual([]);
  });

  it('is started again where it died, with what was said before; what it says is no message ends it with a clear word', async () => {
    await awake();
    await tell({ say: 'My word is heron.' });
    await says('My word is heron.');
    const spent = async () =>
      costsSchema.parse(await ok(call('GET', '/api/costs?days=1'))).agents[0]?.today.costMicroUsd ?? 0;
    const before = await spent();
    await tell({ cost: 0.5 }, { exit: 7 });
    await says('it has ended (exit status 7)');
    await expect.poll(spent).toBe(before + 500_000);
    await tell({ say: 'Here I am again.' });
    await says('Here I am again.');
    expect(JSON.stringify((await notes('prompt')).at(-1))).toContain('[You said]\\nMy word is heron.');
    await tell({ raw: 'nonsense\n'.repeat(60) }, { wait: 1 });
    await says('it does not speak the Agent Client Protocol');
    await tell({ raw: { repeat: 11_000_000 } }, { wait: 1 });
    await says('is longer than 10000000 bytes');
  });

  it('reaches nothing beyond its folder, its session and its own questions, however it asks', async () => {
    await awake();
    const [, { cwd } = { cwd: '' }] = z.array(z.looseObject({ cwd: z.string() })).parse(await notes('new'));
    const outside = [
      '/etc/passwd',
      `${cwd}/../other/notes`,
      `${cwd}/a/../../x`,
      'notes.md',
      cwd,
      `${cwd}\u0000/x`,
      `${cwd}-2/x`,
    ];
    await tell(
      ...outside.flatMap((path) => [{ read: { path } }, { write: { path, content: 'x' } }]),
      { write: { path: `${cwd}/notes/today.md`, content: 'Grey.\nWhite.' } },
      { read: { path: `${cwd}/notes/today.md`, line: 2 } },
      { as: { session: 'another', step: { say: 'Somebody else’s words.' } } },
      { as: { session: 'another', step: { write: { path: `${cwd}/x`, content: 'x' } } } },
      { ask: { ...COMMAND, sessionId: 'another' } },
      { say: 'That was all.' },
    );
    await says('That was all.');
    expect(await notes('refused')).toHaveLength(outside.length * 2 + 1);
    expect(await notes('wrote')).toEqual([`${cwd}/notes/today.md`]);
    expect(await notes('read')).toEqual(['White.']);
    expect(await hands.file('notes/today.md')).toBe('Grey.\nWhite.');
    expect(await notes('asked')).toEqual([{ outcome: 'cancelled' }]);
    expect(said()).not.toContain('Somebody else');
    expect(await hands.waiting()).toEqual([]);
    await tell({ flood: 20_000 }, { wait: 1 });
    await says('it writes more than anybody could read');
  });

  it('works alone, asks for what it must not do yet, and does it once after a yes', async () => {
    const { programId } = await add();
    await choose(programId);
    const once = `DO ${JSON.stringify([{ ask: { ...COMMAND, then: [{ say: 'Made alone.' }] } }])}`;
    await hands.runs(once);
    const asked = await question();
    expect((await notes('asked'))[0]).toEqual({ outcome: 'selected', optionId: 'no' });
    await hands.answer(asked.callId, 'once');
    await noted('prompt', 2);
    expect(JSON.stringify((await notes('prompt')).at(-1))).toContain('The human lets it, once');
    await hands.runs(once);
    await says('Made alone.');
    await hands.runs(once);
    await question();
  });

  it.each(['later-hang', 'later-mute'])(
    'is stopped, and ended with its session, in the middle of its start: %s',
    async (way) => {
      const { programId } = await add(way);
      await choose(programId);
      const left = async () => (await notes('pid')).map(isAlive);
      for (const leave of [() => ok(call('POST', '/api/agents/a1/stop')), end]) {
        const before = (await notes('initialize')).length;
        await begin();
        await wake();
        await noted('initialize', before + 1);
        expect((await left()).at(-1)).toBe(true);
        expect((await shown()).programs[0]?.running).toMatchObject([{ state: 'starting' }]);
        await leave();
        await expect.poll(async () => (await left()).includes(true), { timeout: 5_000 }).toBe(false);
        // It was the person who left: nothing is wrong with it.
        expect((await shown()).programs[0]?.state).toMatchObject({ kind: 'answers' });
        await call('DELETE', '/api/sessions/current');
      }
      expect(said()).not.toContain('within 60 s');
    },
  );

  it('wakes with others like it, so many at once, each told its place', async () => {
    const { programId } = await add('slow');
    const ids = members(8).map(({ id }) => id);
    const team = (count: number) => members(count).map(({ id, ...each }) => ({ ...each, agentId: id, retired: false }));
    await ok(call('PUT', '/api/team', { agents: team(8) }));
    for (const id of ids) await ok(call('PUT', `/v1/agents/${id}/config`, { coordination: { mind: programId } }));
    await begin();
    await wake(ids.length);
    await expect.poll(async () => (await notes('opened')).length, { timeout: 30_000 }).toBe(1 + ids.length);
    const spans = (await allNotes()).flatMap(({ what, at }) =>
      what === 'pid' ? [[at, 1]] : what === 'opened' ? [[at, -1]] : [],
    );
    let [now, most] = [0, 0];
    for (const [, one = 0] of spans) most = Math.max(most, (now += one));
    expect(most).toBe(PROGRAM_LIMITS.startsAtOnce);
    expect(said()).toContain('"position":5');
    await end();
    for (const id of ids) await ok(call('PUT', `/v1/agents/${id}/config`, {}));
    await ok(call('PUT', '/api/team', { agents: team(1) }));
  });

  it('says clearly what is wrong with one that cannot answer, and costs only its own run', async () => {
    const wrongs = [
      ['signed-out', 'not-signed-in', 'is not signed in'],
      ['exit', 'died', 'No configuration was found.'],
      ['nonsense', 'nonsense', 'does not speak the Agent Client Protocol'],
    ] as const;
    for (const [way, why, words] of wrongs) {
      const { programId, state } = await add(way, { name: way });
      expect(state, way).toMatchObject({ kind: 'fails', why, message: expect.stringContaining(words) });
      await ok(call('DELETE', `/api/agent-programs/${programId}`));
    }
    const go = join(folder, `go-${nth}`);
    const waits = ['-c', 'until [ -e "$0" ]; do sleep 0.05; done; exec "$@"', go, process.execPath, AGENT, log];
    const added = add('good', { command: 'sh', args: waits });
    const state = async () => (await shown()).programs[0]?.state.kind;
    await expect.poll(state, { message: 'it can be seen that it is being tested' }).toBe('trying');
    await writeFile(go, '');
    await ok(call('DELETE', `/api/agent-programs/${(await added).programId}`));
    const { programId, ...missing } = await add('good', { command: 'no-such-agent' });
    expect(missing.state).toMatchObject({ kind: 'fails', why: 'not-installed' });
    await choose(programId);
    await begin();
    await wake();
    await says('there is no program “no-such-agent”');
    await hands.grant({});
    await wake();
    await expect.poll(() => hands.model.requests.some(({ system }) => system.includes('You woke as Lyra'))).toBe(true);
  });

  it('is ended at the next start where the relay was killed', async () => {
    await awake('deaf');
    await tell({ child: 1 });
    await noted('child');
    const left = [(await notes('pid')).at(-1), ...(await notes('child'))];
    expect(left.map(isAlive)).toEqual([true, true]);
    await hands.restart();
    await listen();
    await expect.poll(() => left.map(isAlive)).toEqual([false, false]);
    expect(await shown()).toMatchObject({ programs: [{ running: [], state: { kind: 'untried' } }] });
  });
});

it('bad input is refused with the field, and programs need the relay’s leave', async () => {
  for (const [field, wrong] of [
    ['name', { name: '' }],
    ['command', { command: ' ' }],
    ['env.A=B', { env: { 'A=B': 'x' } }],
  ] as const) {
    const answer = await call('POST', '/api/agent-programs', { name: 'x', command: 'true', ...wrong });
    expect(answer.status, field).toBe(400);
    expect(await answer.text()).toContain(field);
  }
});

it.each([
  ['hang', 'initialize', 'did not say hello within 60 s'],
  ['mute', 'new', 'said hello, but did not open a session within 60 s'],
])('one that hangs is ended, and it is said where it did: %s', async (way, until, words) => {
  /** The time is up as soon as it has come so far. */
  const after = (_: number, run: () => void) => {
    void noted(until).then(run);
    return () => undefined;
  };
  const tried = await tryProgram(
    {
      ...{ name: 'Agent', command: process.execPath, args: [AGENT, log, way], env: {} },
      ...{ processes: createProcesses(null), version: '1', limits: PROGRAM_LIMITS },
    },
    { after },
  );
  expect(tried).toMatchObject({ error: { why: 'hangs', message: expect.stringContaining(words) } });
});

it('whoever is stopped before its turn takes nobody else’s', async () => {
  const starts = createStarts({ startsAtOnce: 1, freeBytes: 0 });
  const places: number[] = [];
  const never = new AbortController().signal;
  let free: () => void = () => undefined;
  const first = starts.inTurn(
    () => new Promise<void>((done) => (free = done)),
    () => undefined,
    never,
  );
  const second = starts.inTurn(
    () => Promise.resolve('second'),
    (place) => places.push(place),
    never,
  );
  await expect(
    starts.inTurn(
      () => Promise.resolve(),
      () => undefined,
      AbortSignal.abort(),
    ),
  ).rejects.toThrow(/stopped/);
  await expect.poll(() => places).toContain(1);
  free();
  await first;
  expect(await second).toBe('second');
});
