/**
 * Agents whose mind is a program of its own, through a whole relay: a real process that speaks the
 * protocol with its own library.
 */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SEAT_ORDER, seatColor } from '../../../../../src/shared/domain/seat.ts';
import { writeWake, type AgentPayload } from '../../../../../src/shared/domain/wake-payload.ts';
import { costsSchema } from '../../../../../src/shared/protocol/costs.ts';
import { programSchema, programsSchema, type Program } from '../../../../../src/shared/protocol/programs.ts';
import type { WokenTalk } from '../../../../../server/agents/minds/mind.ts';
import { createStoredSessions, createStarts, openSession } from '../../../../../server/agents/minds/acp/starts.ts';
import { createProcesses } from '../../../../../server/platform/processes/index.ts';
import type { ConnectionHandlers } from '../../../../../server/agents/minds/acp/connection.ts';
import type { Timers } from '../../../../../src/shared/domain/platform/timers.ts';
import { PROGRAM_LIMITS } from '../../../../../server/agents/minds/acp/settings.ts';
import { limitsOf, tryProgram } from '../../../../../server/agents/minds/acp/index.ts';
import { createSealer } from '../../../../../server/platform/sealer.ts';
import { createTestClock } from '../../../../support/gate.ts';
import { startHands, type Hands } from '../../../../support/hands.ts';
import { createStorePlace, usualStore } from '../../../../support/stores.ts';
import { createHome } from '../../../../support/relay.ts';
import { programOf } from '../../../../support/relay-build.ts';
import { openEventSource, type OpenStream } from '../../../../support/event-source.ts';

const AGENT = await programOf('test/support/acp-agent.mjs');
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
const wake = (count = 1, more: Partial<AgentPayload> = {}) =>
  post(
    writeWake(
      members(count).map((each) => ({
        ...each,
        ...seatColor(each.position),
        soul: 'I love herons.',
        transcript: null,
        ...more,
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

  it('wakes with its soul in its folder, and reports words, thoughts, plans, calls and costs', async () => {
    const { state } = await awake();
    expect(state).toMatchObject({ kind: 'answers', is: 'acp-agent 1.0', tools: null });
    const [first] = await notes('prompt');
    expect(JSON.stringify(first)).toContain('I love herons.');
    expect(JSON.stringify(first)).toContain('You woke as Lyra');
    const [, started] = await notes('new');
    expect(started).toMatchObject({ cwd: expect.stringContaining('/workspaces/'), servers: [{ name: 'roost' }] });
    expect(await notes('mode'), 'it begins in a mode that does not ask').toEqual(['default']);
    const [names] = z.array(z.array(z.string())).parse(await notes('env'));
    const usual = ['HOME', 'LOGNAME', 'PATH', 'PWD', 'ROOST_SCRIPT_RUN', 'SHELL', 'SHLVL', 'TERM', 'USER', '_'];
    expect(names?.filter((name) => !usual.includes(name))).toEqual([
      'CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION',
      'GEMINI_CLI_TRUST_WORKSPACE',
      'OPENCODE_PERMISSION',
    ]);
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
    // It asked nobody: it stands in the account all the same.
    await expect
      .poll(() => hands.account())
      .toMatchObject([
        {
          tool: 'mind__edit',
          state: 'done',
          allowedBy: 'program',
          where: 'session',
          outcome: expect.stringContaining('+ new line'),
        },
      ]);
    const costs = await (await call('GET', '/api/costs?days=1')).text();
    expect(costs).toContain('250000');
    expect((await shown()).programs[0]?.running).toMatchObject([{ agentId: 'a1', state: 'ready' }]);
  });

  it("gets its soul and last conversation as instructions when it takes some, and the person's pictures", async () => {
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

  it('continues with soul and summary when its process ends after a compaction', async () => {
    const added = await add('able');
    await choose(added.programId);
    const lead = { name: 'Julian', soul: null, transcript: null };
    const settings = { contextTokens: 16_000 };
    await ok(call('POST', '/api/sessions', { human: { name: 'Ada' }, lead, settings }));
    await wake();
    await noted('prompt');
    const summarised = () => said().includes('"tokensBefore"');
    for (let turn = 0; turn < 60 && !summarised(); turn++) {
      await post(`${'m'.repeat(1_500)}\nDO ${JSON.stringify([{ say: `Turn ${turn} is done.` }])}`, 'a1');
      await says(`Turn ${turn} is done.`);
    }
    expect(summarised()).toBe(true);
    await tell({ exit: 0 });
    await says('it has ended');
    await tell({ say: 'Here I am again.' });
    await says('Here I am again.');
    const given = z.array(z.looseObject({ instructions: z.string().nullable() }));
    expect(given.parse(await notes('new')).at(-1)?.instructions).toContain('I love herons.');
    const anew = JSON.stringify((await notes('prompt')).at(-1));
    // What the agent answered when it was asked for its summary.
    expect(anew).toMatch(/replaced by your own summary[^]*> I am here\./);
    expect(anew).not.toContain('Turn 1 is done.');
  });

  it('asks the person by a card, and obeys a yes, a no with its words, and a standing grant', async () => {
    await awake();
    const made = { content: { type: 'text', text: 'make: 3 files' }, type: 'content' };
    const end = { end: { toolCallId: COMMAND.toolCallId, status: 'failed', content: [made] } };
    // It tells of it before it asks: the question is all that stands of it.
    const pending = { end: { ...COMMAND, sessionUpdate: 'tool_call', status: 'pending' } };
    await tell(pending, { ask: { ...COMMAND, then: [{ sleep: 50 }, end, { say: 'It is made.' }] } });
    const first = await question();
    const commands = async () => (await hands.account()).filter(({ tool }) => tool === 'mind__execute');
    await expect.poll(async () => (await commands()).map(({ state }) => state)).toEqual(['asked']);
    expect(first).toMatchObject({ tool: 'mind__execute', agentId: 'a1', where: 'session' });
    expect(first.input).toContain('make all');
    expect((await hands.answer(first.callId, 'always-command')).status).toBe(200);
    await says('It is made.');
    const kept = async () => (await hands.account())[0];
    await expect.poll(kept).toMatchObject({
      ...{ state: 'done', allowedBy: 'always-command', outcome: 'make: 3 files', isError: true, bytes: 13 },
    });
    const { answeredAt, endedAt } = (await kept()) ?? {};
    expect((endedAt ?? 0) - (answeredAt ?? 0)).toBeGreaterThanOrEqual(40);
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

  it('asks again where the script of a command that was let for good is another by now, or the file that it would write', async () => {
    await hands.put('build.sh', 'echo good');
    await hands.put('notes.md', 'old');
    await awake();
    const runs = (nth: number) =>
      tell({
        ask: {
          ...COMMAND,
          toolCallId: `s${nth}`,
          rawInput: { command: 'bash build.sh' },
          then: [{ say: `Ran ${nth}.` }],
        },
      });
    await runs(1);
    const first = await question();
    expect(first.content?.files).toMatchObject([{ path: 'build.sh', text: 'echo good' }]);
    expect((await hands.answer(first.callId, 'always-command')).status).toBe(200);
    await says('Ran 1.');
    await runs(2);
    await says('Ran 2.');
    await hands.put('build.sh', 'echo evil');
    await runs(3);
    const swapped = await question();
    expect(swapped.content).toMatchObject({ before: [{ text: 'echo good' }], files: [{ text: 'echo evil' }] });
    await hands.answer(swapped.callId, 'no');
    await noted('asked', 3);
    const diff = { type: 'diff', path: 'notes.md', oldText: 'old', newText: 'new' };
    await tell({
      ask: { toolCallId: 'e1', title: 'Notes', kind: 'edit', content: [diff], then: [{ say: 'Changed.' }] },
    });
    const edit = await question();
    expect(edit.content?.files).toMatchObject([{ path: 'notes.md', text: 'old' }]);
    await hands.put('notes.md', 'mine');
    expect((await hands.answer(edit.callId, 'once')).status).toBe(409);
    expect(await question()).toMatchObject({
      callId: edit.callId,
      content: { before: [{ text: 'old' }], files: [{ text: 'mine' }] },
    });
    expect((await hands.answer(edit.callId, 'once')).status).toBe(200);
    await says('Changed.');
    for (const name of ['build.sh', 'notes.md']) await call('DELETE', `/api/workspaces/a1/file?path=${name}`);
  });

  it('gets Roost’s tools once it has asked for their list, and none without asking', async () => {
    await awake();
    const [{ state, running } = { state: null, running: [] }] = (await shown()).programs;
    // It has greeted, and asked for no list.
    expect(state).toMatchObject({ kind: 'answers', tools: false });
    expect(running).toMatchObject([{ tools: false }]);
    await tell({ list: null }, { say: 'I have looked.' });
    await says('I have looked.');
    expect(await notes('list')).toEqual([expect.arrayContaining(['read_inbox', 'read_soul'])]);
    expect((await shown()).programs).toMatchObject([{ state: { tools: true }, running: [{ tools: true }] }]);
    // Another process is another matter, until it has answered.
    await tell({ exit: 0 });
    await says('it has ended');
    await tell({ list: null }, { say: 'Here I am again.' }, { wait: null });
    await says('Here I am again.');
    expect((await shown()).programs).toMatchObject([{ running: [{ tools: true }] }]);
  });

  it('keeps Codex in the mode in which the person is asked', async () => {
    await awake('codex');
    expect(await notes('mode')).toEqual(['workspace-write']);
    const mode = async () => (await shown()).programs[0]?.running[0]?.mode;
    expect(await mode()).toEqual({ name: '“workspace-write”', asks: true });
    await tell({ mode: 'agent-full-access' }, { say: 'I may do anything.' });
    await says('I may do anything.');
    expect(await mode()).toEqual({ name: '“agent-full-access”', asks: false });
    await tell({ say: 'Once more.' });
    await says('Once more.');
    expect(await notes('mode')).toEqual(['workspace-write', 'workspace-write']);
    expect(await mode()).toMatchObject({ asks: true });
  });

  it('says truthfully why a turn ended before its work was done', async () => {
    await awake();
    for (const reason of ['max_turn_requests', 'max_tokens', 'weather', null]) {
      const before = said().split('ended its turn early').length;
      await tell({ stop: reason }, { say: `So far ${String(reason)}.` });
      await expect.poll(() => said().split('ended its turn early').length, { timeout: 15_000 }).toBeGreaterThan(before);
      expect(said()).toContain(`So far ${String(reason)}.`);
    }
    expect(said()).not.toMatch(/\b8192\b/);
    expect(said()).not.toContain('Cannot read');
  });

  it('is granted nothing forever by one yes, and does nothing when it cannot be told otherwise', async () => {
    await awake();
    const always = { optionId: 'yes', name: 'Yes', kind: 'allow_always' };
    const once = { optionId: 'once', name: 'Once', kind: 'allow_once' };
    for (const [options, outcome] of [
      [[always], { outcome: 'cancelled' }],
      [[], { outcome: 'cancelled' }],
      [[always, once], { outcome: 'selected', optionId: 'once' }],
    ] as const) {
      const before = (await notes('asked')).length;
      await tell({ ask: { ...COMMAND, options } }, { say: `Asked ${before}.` });
      expect((await hands.answer((await question()).callId, 'once')).status).toBe(200);
      await says(`Asked ${before}.`);
      expect((await notes('asked'))[before]).toEqual(outcome);
    }
    const states = (await hands.account()).slice(0, 3).map(({ state }) => state);
    expect(states).toEqual(['done', 'stopped', 'stopped']);
    await tell({ say: 'Heard.' });
    await says('Heard.');
    expect(JSON.stringify(await notes('prompt'))).toContain('your program can only be told that it may do so for good');
  });

  it('is heard to the end of a long turn, and all its acts are recorded', async () => {
    await awake();
    const reads = Array.from({ length: 6 }, (_, n) => ({ toolCallId: `t${n}`, title: 'read', kind: 'read' }));
    await tell(
      ...reads.map((each) => ({ tool: { ...each, rawInput: { path: each.toolCallId, around: { repeat: 450_000 } } } })),
      { say: 'That was all of it.' },
    );
    await says('That was all of it.');
    const all = () => hands.call('GET', '/api/calls?limit=200').then((answer) => answer.text());
    await expect.poll(async () => [...(await all()).matchAll(/\\"path\\":\\"t\d+/g)].length).toBe(6);
    expect(said().length).toBeLessThan(1_000_000);
  });

  it('asks again for every different act, and twice for a repeated one', async () => {
    // The same words let for the sandbox, and let for it with less.
    await awake('good', { allowed_commands: ['make all', 'mind__execute {"command":"ls"}'] });
    let nth = 0;
    const asks = (more: object) => ({ ask: { ...COMMAND, toolCallId: `o${++nth}`, ...more } });
    const refused = async (more: object) => {
      await tell(asks(more));
      await hands.answer((await question()).callId, 'no');
      await noted('asked', nth);
      expect((await notes('asked')).at(-1)).toEqual({ outcome: 'selected', optionId: 'no' });
    };
    await tell(asks({ rawInput: { command: 'ls' }, title: 'whatever it says of it' }));
    await noted('asked', nth);
    expect((await notes('asked')).at(-1)).toEqual({ outcome: 'selected', optionId: 'yes' });
    await refused({});
    await refused({ rawInput: { command: 'ls', dangerouslyDisableSandbox: true } });
    await refused({ rawInput: { command: 'ls ' } });
    // A title is what the agent wrote: it makes nothing one of Roost's own tools.
    await refused({ title: 'mcp__roost__x; rm -rf ~' });
    await refused({ title: 'mcp__roost__x', kind: 'other', rawInput: { command: 'x' }, name: 'Bash' });
    await refused({ title: 'mcp__roost__x', rawInput: { command: 'mcp__roost__x' } });
    await refused({ title: 'read_inbox (roost MCP Server); rm -rf ~', kind: 'other' });
    await refused({ title: 'read_inbox (roost MCP Server)', kind: 'execute' });
    // As Gemini CLI calls them: Roost asks about its own tools where they are carried out.
    await tell(asks({ title: 'read_inbox (roost MCP Server)', kind: 'other', rawInput: {} }));
    await noted('asked', nth);
    expect((await notes('asked')).at(-1)).toEqual({ outcome: 'selected', optionId: 'yes' });
    expect(await hands.waiting()).toEqual([]);
    // Of two alike at once, each has its own answer.
    await tell({ both: [asks({ then: [{ say: 'First.' }] }), asks({ then: [{ say: 'Second.' }] })] });
    await expect.poll(async () => (await hands.waiting()).length).toBe(2);
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'once');
    await says('First.');
    await says('Second.');
  });

  const micros = async () =>
    costsSchema.parse(await ok(call('GET', '/api/costs?days=1'))).agents[0]?.today.costMicroUsd ?? 0;
  /** How often the connected model was asked for her. */
  const modelAsked = () => hands.model.requests.filter(({ system }) => system.includes('You woke as Lyra')).length;
  const messageSchema = z.object({
    ...{ kind: z.literal('message'), agentId: z.literal('a1'), author: z.string(), time: z.number() },
    blocks: z.array(z.looseObject({ kind: z.string() })),
  });
  const messages = () =>
    events.messages.slice(mark).flatMap(({ data }) => {
      const { data: message } = messageSchema.safeParse(data);
      return message ? [message] : [];
    });
  /**
   * How many of its wakes it has answered. A message that comes before the answer is the first of
   * its session, and the transcript of these tests does not have it.
   */
  const wakesAnswered = () =>
    messages().filter(({ author, blocks }) => author === 'a1' && blocks.some(({ text }) => text === 'I am here.'))
      .length;
  /**
   * Its turn is over, the session ends, and it is woken in the next, as the page would after that:
   * with when the last thing was said.
   */
  async function again(
    more: (asleepSince: number) => Partial<AgentPayload> = () => ({}),
    isAsked = true,
  ): Promise<string> {
    const prompts = (await notes('prompt')).length + (isAsked ? 1 : 0);
    const answered = wakesAnswered() + (isAsked ? 1 : 0);
    await expect.poll(async () => (await shown()).programs[0]?.running[0]?.state).toBe('ready');
    const ended = () => said().split('"session-ended"').length;
    const before = ended();
    await end();
    await expect.poll(ended).toBe(before + 1);
    const asleepSince = Math.max(...messages().map(({ time }) => time));
    await begin();
    const transcript = '=== Today ===\n\nLyra:\n> I am here.\n\nAda:\n> And so on.';
    await wake(1, { transcript, asleepSince, ...more(asleepSince) });
    await noted('prompt', prompts);
    await expect.poll(wakesAnswered, { timeout: 15_000 }).toBe(answered);
    return JSON.stringify((await notes('prompt')).at(-1));
  }
  /** Since it was added: its processes, its new sessions, and those that it was to go on with. */
  const counts = async () =>
    [(await notes('pid')).length - 1, (await notes('opened')).length - 1, (await notes('resume')).length].join(' ');

  it('resumes its session when unchanged, and is woken with soul and transcript otherwise', async () => {
    const before = await micros();
    await awake('resumes');
    await expect.poll(wakesAnswered).toBe(1);
    await tell({ cost: 0.25 }, { say: 'Herons are grey.' });
    await says('Herons are grey.');
    const resumed = await again();
    expect(await counts()).toBe('2 1 1');
    expect(resumed).toContain('You slept, and are awake again.');
    expect(resumed).not.toContain('I love herons.');
    // It has Roost’s tools with the secret of this run; and what it reports for its session so far
    // is counted once.
    await tell({ mcp: 'list_team' }, { cost: 0.4 }, { say: 'White, too.' });
    await says('White, too.');
    expect((await notes('mcp'))[0]).toContain('Lyra (you)');
    await expect.poll(micros).toBe(before + 400_000);
    // A third wake goes on with the same; one that counts anew is counted so.
    await again();
    expect(await counts()).toBe('3 1 2');
    await tell({ cost: 0.1 }, { say: 'And blue.' });
    await says('And blue.');
    await expect.poll(micros).toBe(before + 500_000);
    // Something was said elsewhere, or its soul was written anew there.
    expect(await again((time) => ({ asleepSince: time + 60_000 }))).toContain('I love herons.');
    const soul = 'I love owls.';
    expect(await again(() => ({ soul }))).toContain(soul);
    expect(await counts()).toBe('5 3 2');
    // The program does not know it any more, or dies of it: the wake is not lost.
    await writeFile(`${log}-resume`, 'lost');
    expect(await again(() => ({ soul }))).toContain(soul);
    expect(await counts()).toBe('6 4 3');
    await writeFile(`${log}-resume`, 'dies');
    expect(await again(() => ({ soul }))).toContain(soul);
    expect(await counts()).toBe('8 5 4');
    // It opens it, and answers nothing in it: its first prompt is said once more, in a new one.
    await writeFile(`${log}-resume`, 'mute');
    const prompts = (await notes('prompt')).length;
    await again(() => ({ soul }));
    await noted('prompt', prompts + 2);
    expect(JSON.stringify((await notes('prompt')).slice(-2))).toMatch(
      /You slept, and are awake again\.[^]*I love owls\./,
    );
    expect(await counts()).toBe('10 6 5');
  });

  it('resumes by the older call too, and ignores the repeated messages', async () => {
    await awake('loads');
    await expect.poll(wakesAnswered).toBe(1);
    await again();
    expect(await counts()).toBe('2 1 1');
    expect(said()).not.toContain('This was said before.');
    // Another mind has woken it meanwhile: what that said is told to a new session.
    const [{ programId } = { programId: '' }] = (await shown()).programs;
    await hands.grant({});
    const asked = modelAsked();
    await again(undefined, false);
    await expect.poll(modelAsked).toBe(asked + 1);
    await choose(programId);
    await tell({ say: 'Here I am.' });
    await says('Here I am.');
    expect(await counts()).toBe('3 2 1');
    expect(JSON.stringify((await notes('prompt')).at(-1))).toContain('I love herons.');
  });

  it('stops in the middle of a question, which is withdrawn, and is held while it sleeps', async () => {
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
    // What it was let, and what it asked nobody for, are stopped with it, and stand so in the
    // account.
    const reads = {
      toolCallId: 'r1',
      title: 'Read',
      kind: 'read',
      rawInput: { path: 'a' },
      sessionUpdate: 'tool_call',
    };
    await tell({ end: { ...reads, status: 'in_progress' } }, { ask: { ...COMMAND, then: [{ wait: true }] } });
    await hands.answer((await question()).callId, 'once');
    const states = async () =>
      (await hands.account()).slice(0, 2).map(({ tool, state, allowedBy }) => [tool, state, allowedBy].join(' '));
    await expect.poll(states).toEqual(['mind__execute running once', 'mind__read running program']);
    await ok(call('POST', '/api/agents/a1/stop'));
    await expect.poll(states).toEqual(['mind__execute stopped once', 'mind__read stopped program']);
  });

  it('gets Roost’s tools with a secret that ends with its run, and leaves no process behind', async () => {
    await awake('deaf');
    await tell({ mcp: 'list_team' }, { secret: 1 }, { child: 1 }, { child: { detached: true } });
    await noted('child', 2);
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

  it('restarts after a crash with the conversation, and fails clearly on invalid messages', async () => {
    await awake();
    await tell({ say: 'My word is heron.' });
    await says('My word is heron.');
    const spent = async () =>
      costsSchema.parse(await ok(call('GET', '/api/costs?days=1'))).agents.find(({ agentId }) => agentId === 'a1')
        ?.today.costMicroUsd ?? 0;
    const before = await spent();
    await tell({ cost: 0.5 }, { exit: 7 });
    await says('it has ended (exit status 7)');
    await expect.poll(spent).toBe(before + 500_000);
    await tell({ say: 'Here I am again.' });
    await says('Here I am again.');
    expect(JSON.stringify((await notes('prompt')).at(-1))).toContain('[You said]\\nMy word is heron.');
    await tell({ raw: 'nonsense\n'.repeat(60) }, { wait: 1 });
    await says('it does not speak the Agent Client Protocol');
    await tell({ raw: { repeat: 7_000_000 } }, { wait: 1 });
    await says('it sent a message that is too large');
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
      { write: { path: `${cwd}/work/.git/config`, content: 'x' } },
      { write: { path: `${cwd}/notes/today.md`, content: 'Grey.\nWhite.' } },
      { read: { path: `${cwd}/notes/today.md`, line: 2 } },
      { as: { session: 'another', step: { say: 'Somebody else’s words.' } } },
      { as: { session: 'another', step: { write: { path: `${cwd}/x`, content: 'x' } } } },
      { ask: { ...COMMAND, sessionId: 'another' } },
      { say: 'That was all.' },
    );
    await says('That was all.');
    expect(await notes('refused')).toHaveLength(outside.length * 2 + 2);
    await tell({ read: { path: `${cwd}/new.md` } }, { say: 'There is none yet.' });
    await says('There is none yet.');
    // A program that makes a file reads it first: that there is none is said in the protocol's own
    // way.
    expect((await notes('refused')).at(-1)).toMatch(/^Resource not found/);
    expect(await notes('refused')).toContain('This path is outside the folder.');
    expect(await notes('wrote')).toEqual([`${cwd}/notes/today.md`]);
    expect(await notes('read')).toEqual(['White.']);
    expect(await hands.file('notes/today.md')).toBe('Grey.\nWhite.');
    expect(await notes('asked')).toEqual([{ outcome: 'cancelled' }]);
    expect(said()).not.toContain('Somebody else');
    expect(await hands.waiting()).toEqual([]);
    const [{ programId } = { programId: '' }] = (await shown()).programs;
    await hands.grant({ mind: programId, toolsets: { files: 'off' } });
    await tell(
      { write: { path: `${cwd}/x`, content: 'x' } },
      { read: { path: `${cwd}/notes/today.md` } },
      { say: 'Nothing.' },
    );
    await says('Nothing.');
    expect(await notes('refused')).toHaveLength(outside.length * 2 + 5);
    expect(await hands.file('x')).toBeNull();
    await tell({ flood: 20_000 }, { wait: 1 });
    await says('it writes more than anybody could read');
    const deep = `{"jsonrpc":"2.0","method":"deep","params":${'['.repeat(5_000)}${']'.repeat(5_000)}}\n`;
    await tell({ raw: deep }, { wait: 1 });
    await says('it sent a message that is too large');
  });

  it('tells Gemini CLI that a missing file is empty, because it would create none otherwise', async () => {
    await awake('gemini');
    const [, { cwd } = { cwd: '' }] = z.array(z.looseObject({ cwd: z.string() })).parse(await notes('new'));
    await tell({ read: { path: `${cwd}/new.md` } }, { read: { path: '/etc/passwd' } }, { say: 'I have looked.' });
    await says('I have looked.');
    expect(await notes('read')).toEqual(['']);
    expect(await notes('refused')).toEqual(['This path is outside the folder.']);
  });

  it('works alone, asks for forbidden acts, and does them once after a yes', async () => {
    const { programId } = await add();
    await choose(programId);
    const once = `DO ${JSON.stringify([{ ask: { ...COMMAND, then: [{ say: 'Made alone.' }] } }])}`;
    await hands.runs(once);
    const asked = await question();
    expect((await notes('asked'))[0]).toEqual({ outcome: 'selected', optionId: 'no' });
    await hands.answer(asked.callId, 'once');
    await noted('prompt', 2);
    expect(JSON.stringify((await notes('prompt')).at(-1))).toContain('The human allows this once');
    // The yes is not lost with the relay.
    await hands.restart();
    await listen();
    mark = 0;
    await hands.runs(once);
    expect((await notes('asked')).slice(1)).toEqual([{ outcome: 'selected', optionId: 'yes' }]);
    await hands.runs(once);
    await question();
  });

  it("has only the routine's tools in a run of a routine", async () => {
    const { programId } = await add();
    await choose(programId);
    await hands.runs(`DO ${JSON.stringify([{ list: null }, { say: 'I have looked.' }])}`, false, ['read_inbox']);
    expect(await notes('list')).toEqual([['read_inbox']]);
  });

  it.each(['later-hang', 'later-mute'])(
    'stops in the middle of its start, and ends with its session: %s',
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
    for (const id of ids)
      await ok(call('PUT', `/v1/agents/${id}/config`, { whole: true, coordination: { mind: programId } }));
    await ok(call('PUT', '/v1/config', { programs_at_once: 2 }));
    await begin();
    await wake(ids.length);
    await expect.poll(async () => (await notes('opened')).length, { timeout: 30_000 }).toBe(1 + ids.length);
    const spans = (await allNotes()).flatMap(({ what, at }) =>
      what === 'pid' ? [[at, 1]] : what === 'opened' ? [[at, -1]] : [],
    );
    let [now, most] = [0, 0];
    for (const [, one = 0] of spans) most = Math.max(most, (now += one));
    expect(most).toBe(2);
    expect(said()).toContain('"position":5');
    await end();
    for (const id of ids) await ok(call('PUT', `/v1/agents/${id}/config`, { whole: true }));
    await ok(call('PUT', '/v1/config', { whole: true }));
    await ok(call('PUT', '/api/team', { agents: team(1) }));
  });

  it('reports a program that cannot answer, at the cost of its own run only', async () => {
    const wrongs = [
      ['signed-out', 'not-signed-in', 'is not signed in'],
      ['exit', 'died', 'No configuration was found.'],
      ['nonsense', 'nonsense', 'does not speak the Agent Client Protocol'],
      ['null-hello', 'nonsense', 'does not speak the Agent Client Protocol'],
      ['null-session', 'nonsense', 'does not speak the Agent Client Protocol'],
    ] as const;
    for (const [way, why, words] of wrongs) {
      const { programId, state } = await add(way, { name: way });
      expect(state, way).toMatchObject({
        kind: 'fails',
        why,
        message: expect.stringContaining(words),
      });
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
    const asked = modelAsked();
    await wake();
    await expect.poll(modelAsked).toBe(asked + 1);
  });

  it('ends at the next start after the relay was killed', async () => {
    await awake('deaf');
    await tell({ child: 1 }, { child: { detached: true } });
    await noted('child', 2);
    const left = [(await notes('pid')).at(-1), ...(await notes('child'))];
    expect(left.map(isAlive)).toEqual([true, true, true]);
    await hands.restart();
    await listen();
    await expect.poll(() => left.map(isAlive)).toEqual([false, false, false]);
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
  ['hang', 'initialize'],
  ['mute', 'new'],
])('ends one that does not answer (%s: at `%s`)', async (way, until) => {
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
  expect(tried).toMatchObject({
    error: { why: 'hangs', message: expect.stringContaining('did not answer within 60 s') },
  });
});

it.each(['npx', '/usr/bin/npx', 'uvx', 'bunx', 'npx.cmd'])(
  'gives a program that %s fetches more time to start',
  (command) => {
    expect(limitsOf({ command }, PROGRAM_LIMITS).startMs).toBe(PROGRAM_LIMITS.fetchedStartMs);
    expect(PROGRAM_LIMITS.fetchedStartMs).toBeGreaterThan(60_000);
    expect(limitsOf({ command: 'claude-code-acp' }, PROGRAM_LIMITS).startMs).toBe(PROGRAM_LIMITS.startMs);
  },
);

it('a program that hangs at a session from before is ended, and another begins a new one', async () => {
  const own = join(folder, 'hanging');
  await writeFile(`${own}-resume`, 'hangs');
  const processes = createProcesses(null);
  log = own;
  // Its time is over once it hangs, however slowly it started.
  const timers: Timers = {
    after(_ms, run) {
      let off = false;
      void noted('resume').then(() => off || run());
      return () => void (off = true);
    },
  };
  const handlers: ConnectionHandlers = {
    update: () => undefined,
    permission: () => Promise.resolve({ outcome: { outcome: 'cancelled' } }),
    readFile: () => Promise.resolve({ content: '' }),
    writeFile: () => Promise.resolve(),
  };
  const opened = await openSession(
    {
      ...{ name: 'Agent', command: process.execPath, args: [AGENT, own, 'resumes'], env: {}, cwd: folder },
      ...{ processes, version: '1', limits: PROGRAM_LIMITS },
    },
    { server: { url: 'http://127.0.0.1:9/', secret: 'x' }, instructions: '', resumes: 'session-1' },
    handlers,
    new AbortController().signal,
    timers,
  );
  const [first, second] = await notes('pid');
  expect([opened.resumed, isAlive(first), isAlive(second)]).toEqual([false, false, true]);
  expect(await notes('resume')).toEqual(['session-1']);
  await opened.line.close();
});

it('queues starts up to the limit, and frees the place of one that is stopped', async () => {
  let most = 1;
  const starts = createStarts({ freeBytes: 0 });
  const never = new AbortController().signal;
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const places: number[] = [];
  const start = (name: string) =>
    starts.inTurn(
      () => {
        begun.push(name);
        return new Promise<void>((done) => ends.set(name, done));
      },
      (place) => void (name === 'second' && places.push(place)),
      never,
      () => Promise.resolve(most),
    );
  const all = ['first', 'second', 'third', 'fourth'].map(start);
  await expect(
    starts.inTurn(
      () => Promise.resolve(),
      () => undefined,
      AbortSignal.abort(),
      () => Promise.resolve(most),
    ),
  ).rejects.toThrow(/stopped/);
  await expect.poll(() => places).toContain(1);
  expect(begun).toEqual(['first']);
  most = 3;
  starts.recheck();
  await expect.poll(() => begun).toEqual(['first', 'second', 'third']);
  most = 1;
  ends.get('first')?.();
  ends.get('second')?.();
  await Promise.all(all.slice(0, 2));
  expect(begun).toHaveLength(3);
  ends.get('third')?.();
  await expect.poll(() => begun).toHaveLength(4);
  ends.get('fourth')?.();
  await Promise.all(all);
});

it('resumes a session once, within a day, for the same agent with an unchanged conversation', async () => {
  const place = await createStorePlace(usualStore());
  const { db, close } = await place.open();
  const clock = createTestClock(1_000);
  const woke: WokenTalk = { soul: 'I love herons.', transcript: null, asleepSince: null, said: [], whole: true };
  const said = [
    { author: 'a1', time: 10, text: 'Good morning.\nHow are you?' },
    { author: 'human', time: 30, text: 'Look here.\n[1 picture]' },
    { author: 'a1', time: 20, text: 'I see.' },
  ];
  const then: WokenTalk = { ...woke, asleepSince: 30, transcript: 'Lyra:\n> Good morning.\n> How are you?' };
  const left = { sessionId: 's1', dollars: 0.5, system: 'You are Lyra.', heard: ['[The time is 8.]', 'Look here.'] };
  let talk = woke;
  const sealer = createSealer(new Uint8Array(32));
  const limits = PROGRAM_LIMITS;
  const sessions = createStoredSessions({ ...{ db, home: 'h', sealer, now: clock.now, limits }, talkOf: () => talk });
  /** It slept after `said`, and wakes as `then`. */
  const goesOn = async (
    { before = {}, after = {}, ...more }: { before?: object; after?: object; heard?: string[]; system?: string },
    program = 'p1',
  ) => {
    talk = { ...woke, said, ...before };
    await sessions.leaving('a1', 'p1')({ ...left, heard: more.heard ?? left.heard });
    talk = { ...then, ...after };
    const taken = await sessions.take('a1', program, more.system ?? left.system);
    expect(await sessions.take('a1', program, left.system), 'only once').toBe(null);
    return taken;
  };
  expect(await goesOn({})).toMatchObject({ sessionId: 's1', dollars: 0.5 });
  expect(await goesOn({}, 'p2')).toBe(null);
  for (const [why, changed] of Object.entries({
    'another soul': { after: { soul: 'I love owls.' } },
    'another name': { system: 'You are Dara.' },
    'a soul written meanwhile': { before: { soul: 'I love owls.' } },
    'something said elsewhere': { after: { asleepSince: 40 } },
    'its last words are not there': { after: { asleepSince: 20 } },
    'all is forgotten': { after: { asleepSince: null, transcript: null } },
    'its beginning is forgotten': { after: { transcript: 'Lyra:\n> I see.' } },
    'something that it did not hear': { heard: ['[The time is 8.]'] },
    'something taken back': { before: { whole: false } },
  }))
    expect(await goesOn(changed), why).toBe(null);
  talk = { ...woke, said };
  await sessions.leaving('a1', 'p1')(left);
  clock.pass(PROGRAM_LIMITS.resumeWithinMs + 1);
  talk = then;
  expect(await sessions.take('a1', 'p1', left.system)).toBe(null);
  await close();
  await place.remove();
});
