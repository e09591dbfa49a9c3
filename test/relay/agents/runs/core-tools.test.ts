/**
 * What tools a model is told of with each request, and how it comes to the others: on the requests
 * that leave a whole relay.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seatColor } from '../../../../src/shared/domain/seat.ts';
import { TOOLSETS } from '../../../../src/shared/domain/toolsets.ts';
import { scheduledSchema } from '../../../../src/shared/protocol/schedules.ts';
import { writeSummon, writeWake } from '../../../../src/shared/domain/wake-payload.ts';
import { sendAnthropicTo } from '../../../support/anthropic-at.ts';
import { openEventSource, type OpenStream } from '../../../support/event-source.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';
import {
  offeredIn,
  startScriptedModel,
  teamScript,
  toldIn,
  type Part,
  type Reply,
  type ScriptedModel,
  type ScriptedRequest,
} from '../../../support/scripted-model.ts';
import { SNAPSHOT } from '../../../support/schedules.ts';
import { headersOf } from '../../../support/sign-in.ts';

const LYRA = { agentId: 'agent-0', name: 'Lyra', position: 0, retired: false };
const START = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I keep the door.', transcript: null } };
const SOUL = 'I chose Lyra because it sounds like rain.';
const WAKE = writeWake([{ id: LYRA.agentId, name: 'Lyra', ...seatColor(0), position: 0, soul: SOUL, transcript: '' }]);
/**
 * All that any agent may be offered in this relay: commands, the web and routines are off, or ask,
 * at first.
 */
const OPEN = {
  ...{ may_put_others_to_sleep: true, may_propose_routines: true },
  toolsets: { shell: 'allow', web: 'allow', files: 'allow', team: 'allow', schedule: 'allow' },
};

interface House {
  readonly model: ScriptedModel;
  readonly page: Browser;
  /** Of this seat; null: the lead’s. */
  of(seat: number | null): ScriptedRequest[];
  /** Says what an agent does that has greeted: the answers one after another. */
  does(...replies: readonly (readonly Part[])[]): void;
  post(path: string, json: unknown): Promise<unknown>;
  put(path: string, json: unknown): Promise<void>;
  /** Says this to Lyra; resolves with the requests for her answer, once she has ended it. */
  says(text: string, ...replies: readonly (readonly Part[])[]): Promise<ScriptedRequest[]>;
  wakes(text?: string): Promise<void>;
  ends(): Promise<void>;
  close(): Promise<void>;
}

async function openHouse(isClaude: boolean): Promise<House> {
  const usual = teamScript();
  let next: readonly (readonly Part[])[] = [];
  const model = await startScriptedModel((request): Reply | Promise<Reply> => {
    const isGreeting = request.body.messages.length === 1 || request.last.startsWith('You are ');
    if (request.seat === null || isGreeting || request.first.startsWith('You are new.')) return usual(request);
    const [reply, ...rest] = next;
    next = rest;
    return reply ?? [{ say: 'Done.' }];
  });
  const restore = isClaude ? sendAnthropicTo(model.url) : () => undefined;
  const relay: OpenRelay = await openTestRelay({
    env: { ANTHROPIC_API_KEY: 'k', ...(isClaude ? {} : { ANTHROPIC_BASE_URL: model.url }) },
  });
  const page = await relay.signIn();
  const headers = headersOf(await page.signIn());
  const events: OpenStream = await openEventSource((signal) =>
    fetch(new URL('/api/events', relay.url), { headers, signal }),
  );
  const call = async (method: string, path: string, json?: unknown): Promise<unknown> => {
    const response = await page.fetch(path, { method, ...(json === undefined ? {} : { json }) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const body = await response.text();
    return body === '' ? null : (JSON.parse(body) as unknown);
  };
  const since = (before: number, kind: string, words: RegExp) =>
    events.messages.slice(before).some(({ event, data }) => event === kind && words.test(JSON.stringify(data)));
  const house: House = {
    model,
    page,
    of: (seat) => model.requests.filter((request) => request.seat === seat),
    does: (...replies) => (next = replies),
    post: (path, json) => call('POST', path, json),
    put: async (path, json) => void (await call('PUT', path, json)),
    async says(text, ...replies) {
      next = replies;
      const [asked, before] = [house.of(1).length, events.messages.length];
      await call('POST', '/api/messages', { text, to: LYRA.agentId, clientId: randomUUID() });
      await events.until(() => since(before, 'message', /"author":"agent-0"/));
      return house.of(1).slice(asked);
    },
    async wakes(text = WAKE) {
      const before = events.messages.length;
      await call('POST', '/api/sessions', START);
      await call('POST', '/api/messages', { text, clientId: randomUUID() });
      await events.until(() => since(before, 'message', /Welcome, all of you/));
    },
    async ends() {
      const before = events.messages.length;
      await call('DELETE', '/api/sessions/current');
      await events.until(() => since(before, 'session-ended', /./));
    },
    async close() {
      events.close();
      await relay.close();
      restore();
      await model.close();
    },
  };
  await house.put('/api/team', { agents: [LYRA] });
  return house;
}

const bytesOf = (request: ScriptedRequest | undefined) => JSON.stringify(request ? toldIn(request) : null).length;
const namesOf = (request: ScriptedRequest | undefined) => (request ? toldIn(request).map(({ name }) => name) : []);

describe.each([
  ['Claude', true, 10],
  ['a server of one’s own', false, 6],
] as const)('%s', (_who, isClaude, most) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(isClaude);
  });
  afterEach(() => house.ends());
  afterAll(() => house.close());

  it('offers one tool at a birth, in a kilobyte', async () => {
    await house.wakes(writeSummon([{ position: 1, ...seatColor(1) }]));
    const born = house.of(2).filter(({ first }) => first.startsWith('You are new.'));
    expect(born.map(namesOf)).toEqual(born.map(() => ['choose_name']));
    expect(Math.max(...born.map(bytesOf))).toBeLessThanOrEqual(1_000);
    for (const { system } of born) expect(system).not.toMatch(/write_soul|message_agent|wake_agent|Besides talking/);
  });

  it(`is told of ${most} tools at most in a greeting, in 4.5 kilobytes, and the lead is too`, async () => {
    await house.wakes();
    const greeted = [...house.of(1), ...house.of(null)];
    expect(greeted.length).toBeGreaterThan(2);
    expect(Math.max(...greeted.map((request) => namesOf(request).length))).toBeLessThanOrEqual(most);
    expect(Math.max(...greeted.map(bytesOf))).toBeLessThanOrEqual(4_500);
    expect(namesOf(house.of(1)[0])).toEqual(expect.arrayContaining(['message_agent', 'message_human', 'read_file']));
    expect(namesOf(house.of(null).at(-1))).toContain('spawn_team');
    const sent = JSON.stringify(greeted.map(({ body }) => body.tools));
    expect(sent.includes('defer_loading')).toBe(isClaude);
    expect(sent.includes('tool_search')).toBe(isClaude);
    expect(sent.includes('find_tool')).toBe(!isClaude);
  });

  it('offers the same tools during a whole conversation, also after using deferred ones', async () => {
    await house.wakes();
    const before = house.of(1).length;
    await house.says('Who is here?', [{ call: 'list_team', input: {} }], [{ say: 'We are.' }]);
    await house.says('And now?');
    const asked = house.of(1).slice(before);
    expect(asked).toHaveLength(3);
    expect(asked[1]?.results[0]).toContain('Lyra (you)');
    const lists = asked.map(({ body }) => JSON.stringify(body.tools));
    // One that does not search is told of what it has used.
    if (isClaude) expect(new Set(lists).size).toBe(1);
    else expect(namesOf(asked[1]).toSorted()).toEqual([...namesOf(asked[0]), 'list_team'].toSorted());
    expect(lists[2]).toBe(lists[1]);
    expect(new Set(asked.map(({ system }) => system)).size).toBe(1);
  });

  it('comes to every tool in one more turn, by its name', async () => {
    await house.put(`/v1/agents/${LYRA.agentId}/config`, { coordination: OPEN });
    // Tools for projects are there for agents that work on one.
    await house.post('/v1/projects', { name: 'The well', agents: [LYRA.agentId] });
    await house.wakes();
    const [greeting] = house.of(1).slice(-1);
    const offered = greeting ? offeredIn(greeting) : [];
    // What no sandbox is there for, and what only some providers do by themselves.
    const besides: readonly string[] = [...TOOLSETS.shell, 'web_search', 'web_fetch', 'fetch_page'];
    const all = [...Object.values(TOOLSETS).flat(), 'choose_name', 'write_soul'].filter(
      (name) => !besides.includes(name),
    );
    expect(all.filter((name) => !offered.includes(name))).toEqual([]);
    if (!isClaude) {
      const [, after] = await house.says(
        'Look for all of them.',
        offered.map((name) => ({ call: 'find_tool', input: { query: name } })),
        [{ say: 'Found.' }],
      );
      expect(offered.filter((name) => !namesOf(after).includes(name))).toEqual([]);
      // They stay for the rest of the conversation.
      const [later] = await house.says('And later?');
      expect(namesOf(later)).toEqual(namesOf(after));
    }
  });

  it('offers a thread’s tools with a message from a thread', async () => {
    await house.wakes();
    expect(namesOf(house.of(1).at(-1))).not.toContain('read_thread');
    await house.post('/api/threads', { title: 'The well', participants: [LYRA.agentId] });
    const [asked] = await house.says('What do you think?');
    expect(asked?.last).toContain('The well');
    const names = isClaude ? (asked?.body.tools ?? []).map(({ name }) => name) : namesOf(asked);
    expect(names).toEqual(expect.arrayContaining(['read_thread', 'send_message_to_thread']));
  });

  it('answers recall whatever name the notes give its argument', async () => {
    await house.wakes();
    const asked = await house.says(
      'What do you know?',
      [{ call: 'recall', input: { topic: 'herons' } }],
      [{ say: 'No.' }],
    );
    expect(asked[1]?.results[0]).toContain('Nothing in your memory has these words.');
  });

  it('offers at once what the person’s words name', async () => {
    await house.wakes();
    const [asked] = await house.says('Please use search_files for once.');
    if (!isClaude) expect(namesOf(asked)).toContain('search_files');
  });
});

it("names only present tools in a run's prompts, and has those of its instructions at hand", async () => {
  const house = await openHouse(false);
  await house.put(`/api/agent-snapshots/${LYRA.agentId}`, { version: 'v1', snapshot: SNAPSHOT });
  const added = await house.post('/v1/pulse-routines', {
    ...{ kind: 'routine', agentId: LYRA.agentId, name: 'Round' },
    instructions: 'Look with search_files whether anything is new.',
    timing: { kind: 'weekly', days: [1], time: '07:30' },
  });
  const { scheduleId } = scheduledSchema.parse(added);
  await house.post(`/v1/pulse-routines/${scheduleId}/trigger`, {});
  await expect.poll(() => house.of(1).length, { timeout: 10_000 }).toBeGreaterThan(0);
  const [run] = house.of(1);
  expect(run?.system).toContain('## Daemon Mode');
  expect(run?.system).toContain('Besides talking you can read and write files in your folder,');
  expect(run?.system).not.toMatch(/write_soul|choose_name/);
  expect(namesOf(run)).toContain('search_files');
  expect(namesOf(run)).not.toContain('write_soul');
  await house.close();
});

it('finds the tools that its task means, and says when none fits', async () => {
  const house = await openHouse(false);
  await house.wakes();
  const queries = ['open a thread with several others', 'delete a file', 'come back to this tomorrow', 'zebra', ''];
  const asked = await house.says(
    'Look.',
    queries.map((query) => ({ call: 'find_tool', input: { query } })),
    [{ say: 'Found.' }],
  );
  const [thread, file, later, none, empty] = asked[1]?.results ?? [];
  expect(thread).toContain('\n- create_thread: Opens a thread');
  expect(file).toContain('\n- delete_file: ');
  expect(later).toContain('\n- wake_later: ');
  expect(none).toBe('No tool fits these words. Try others.');
  expect(empty).toBe('find_tool could not be read. query: must be words.');
  await house.close();
});
