/**
 * Each model server that people have: connected on the page, hatched, a tool used where it can,
 * woken.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEAT_ORDER, seatColor } from '../../../../src/shared/domain/seat.ts';
import { writeSummon, writeWake } from '../../../../src/shared/domain/wake-payload.ts';
import { connectionSchema, foundServersSchema, modelsSchema } from '../../../../src/shared/protocol/models.ts';
import { problemSchema } from '../../../../src/shared/protocol/http.ts';
import { startSession, follow, teamOfLead } from '../../../support/homes.ts';
import {
  gemini,
  GEMINI_KEY,
  google,
  groq,
  GROQ_KEY,
  liteLlm,
  LITELLM_KEY,
  llamaCpp,
  lmStudio,
  ollama,
  openAi,
  OPENAI_KEY,
  OPENROUTER_KEY,
  openRouter,
  vllm,
} from '../../../support/model-servers/kinds.ts';
import {
  startStandIn,
  type Kind,
  type Model,
  type Reply,
  type StandIn,
} from '../../../support/model-servers/stand-in.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';

/** A team that behaves, with tools and without. */
const team =
  ({ thinks = false } = {}): Model =>
  (asked) => {
    const reply = behaved(asked);
    return thinks ? { think: 'I wonder who that is.', ...reply } : reply;
  };
function behaved({ system, last, results, tools }: Parameters<Model>[0]): Reply {
  const seat = /you sit in seat (\d)/.exec(system)?.[1];
  if (last.includes('Are you there?')) return { say: 'Yes.' };
  if (seat === undefined)
    return tools.includes('spawn_team') && /\[(?:WAKE|SUMMON) AGENTS\]/.test(last)
      ? { call: { name: 'spawn_team', input: { seats: [1] } } }
      : { say: 'Welcome.' };
  if (results.length > 0) return { say: 'That is me.' };
  if (last.includes('You are new.'))
    return {
      say: `I am somebody quiet in seat ${seat}.`,
      ...(tools.includes('choose_name') ? { call: { name: 'choose_name', input: { name: `Name${seat}` } } } : {}),
    };
  if (last.includes('Answer with the name alone')) return { say: `**Name${seat}**` };
  return tools.includes('write_soul')
    ? { call: { name: 'write_soul', input: { text: `I am Name${seat}, awake.` } } }
    : { say: `Good morning from seat ${seat}.` };
}

interface Case {
  readonly name: string;
  readonly kind: Kind;
  readonly path?: string;
  readonly key?: string;
  /** The model that the person chooses, where they are asked. */
  readonly choose?: string;
  readonly protocol: string;
  readonly tools: boolean;
  /** The tool is used by those who are awake. Left out: where the model can use tools. */
  readonly acts?: boolean;
  readonly thinks?: boolean;
}

const CASES: readonly Case[] = [
  { name: 'Ollama', kind: ollama(), protocol: 'messages', tools: true },
  { name: 'Ollama with a model that thinks', kind: ollama(), protocol: 'messages', tools: true, thinks: true },
  { name: 'Ollama with a model without tools', kind: ollama({ tools: false }), protocol: 'messages', tools: false },
  {
    name: 'Ollama by its OpenAI address',
    kind: ollama(),
    path: '/v1/chat/completions',
    protocol: 'chat',
    tools: true,
    thinks: true,
  },
  { name: 'LM Studio', kind: lmStudio(), path: '/v1', protocol: 'chat', tools: true, thinks: true },
  { name: 'LM Studio 0.4', kind: lmStudio({ messages: true }), protocol: 'messages', tools: true },
  { name: 'llama.cpp', kind: llamaCpp(), protocol: 'messages', tools: true },
  { name: 'llama.cpp without --jinja', kind: llamaCpp({ jinja: false }), protocol: 'messages', tools: false },
  { name: 'llama.cpp at 4,096 tokens', kind: llamaCpp({ context: 4_096 }), protocol: 'messages', tools: true },
  { name: 'vLLM at 8k', kind: vllm(), protocol: 'chat', tools: true },
  { name: 'vLLM at 8k that speaks the Messages API', kind: vllm({ older: false }), protocol: 'messages', tools: true },
  { name: 'vLLM at 8k without a tool parser', kind: vllm({ parser: false }), protocol: 'chat', tools: false },
  { name: 'vLLM at 4k', kind: vllm({ context: 4_096 }), protocol: 'chat', tools: true },
  { name: 'LiteLLM', kind: liteLlm(), key: LITELLM_KEY, choose: 'gpt-5-mini', protocol: 'messages', tools: true },
  {
    name: 'OpenRouter',
    kind: openRouter(),
    path: '/api/v1',
    key: OPENROUTER_KEY,
    choose: 'vendor2/model-42',
    protocol: 'chat',
    tools: true,
  },
  {
    name: 'OpenRouter with a model without tools',
    kind: openRouter(),
    path: '/api/v1',
    key: OPENROUTER_KEY,
    choose: 'vendor13/model-13',
    protocol: 'chat',
    tools: false,
  },
  {
    name: 'Groq',
    kind: groq(),
    path: '/openai/v1',
    key: GROQ_KEY,
    choose: 'llama-3.3-70b-versatile',
    protocol: 'chat',
    tools: true,
    thinks: true,
  },
  {
    name: 'OpenAI’s Responses',
    kind: openAi(),
    path: '/v1/responses',
    key: OPENAI_KEY,
    choose: 'gpt-5-mini',
    protocol: 'responses',
    tools: true,
  },
  {
    name: 'Gemini by Google’s own',
    kind: google(),
    path: '/v1beta',
    key: GEMINI_KEY,
    protocol: 'google',
    tools: true,
  },
  {
    name: 'Gemini by its OpenAI address',
    kind: gemini(),
    path: '/v1beta/openai/',
    key: GEMINI_KEY,
    choose: 'models/gemini-3-flash-preview',
    protocol: 'chat',
    tools: true,
  },
];

describe('A model server as people have it', () => {
  let relay: OpenRelay;
  let one: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
    one = await relay.signIn();
    await one.fetch('/api/team', { method: 'PUT', json: teamOfLead('Sol') });
  });
  afterAll(() => relay.close());

  const connect = (json: object) => one.fetch('/api/models', { method: 'POST', json });
  const end = () => one.fetch('/api/sessions/current', { method: 'DELETE' });

  /** Says this, and waits until so many events of the kind came after it. */
  async function say(text: string, kind: string, count: number) {
    const stream = await follow(one);
    const response = await one.fetch('/api/messages', {
      method: 'POST',
      json: { text, clientId: crypto.randomUUID() },
    });
    expect(response.status, await response.clone().text()).toBe(202);
    const { eventId } = (await response.json()) as { eventId: number };
    const since = (all: readonly { readonly id?: unknown; readonly event: string; readonly data: unknown }[]) =>
      all.filter(({ id }) => Number(id) > eventId);
    const all = await stream.until(
      (seen) =>
        since(seen).filter(({ event }) => event === kind).length >= count ||
        since(seen).some(({ event }) => event === 'birth-ended'),
    );
    stream.close();
    return since(all);
  }

  async function served(kind: Kind, model: Model, test: (server: StandIn) => Promise<void>) {
    const server = await startStandIn(kind, model);
    try {
      await test(server);
    } finally {
      await end();
      for (const { connectionId } of modelsSchema.parse(await (await one.fetch('/api/models')).json()).connections)
        await one.fetch(`/api/models/${connectionId}`, { method: 'DELETE' });
      await server.close();
    }
  }

  it.each(CASES)(
    '$name is connected, hatches eight, uses a tool where it can, and is woken',
    ({ kind, path = '', key, choose, protocol, tools, acts = tools, thinks = false }) =>
      served(kind, team({ thinks }), async (server) => {
        const given = { kind: 'server', address: server.origin + path, ...(key === undefined ? {} : { key }) };
        let response = await connect(given);
        if (choose !== undefined) {
          const problem = problemSchema.parse(await response.json());
          expect(problem).toMatchObject({ status: 422, type: 'about:roost/choose-model' });
          expect(problem.models?.map(({ id }) => id)).toContain(choose);
          expect(server.asked).toEqual([]);
          response = await connect({ ...given, model: choose });
        }
        expect(response.status, await response.clone().text()).toBe(201);
        expect(connectionSchema.parse(await response.json())).toMatchObject({
          protocol,
          state: { kind: 'answers', tools },
        });

        await startSession(one, 'Sol');
        const seats = SEAT_ORDER.map((position) => ({ position, ...seatColor(position) }));
        const born = (await say(writeSummon(seats), 'agent-born', 8)).filter(({ event }) => event === 'agent-born');
        const names = born.map(({ data }) => (data as { name: string }).name);
        expect(names.toSorted()).toEqual(SEAT_ORDER.map((position) => `Name${position + 1}`).toSorted());
        expect(born.map(({ data }) => (data as { soul: string }).soul).join()).toMatch(/I am somebody quiet/);
        await end();

        await startSession(one, 'Sol');
        const agent = {
          ...{ id: 'agent-one', name: 'Wren', position: 0 as const, ...seatColor(0) },
          ...{ soul: 'I keep the lamp.', transcript: 'Noa:\n> The word is heron.' },
        };
        const woken = await say(writeWake([agent]), 'agent-awake', 1);
        expect(woken.map(({ event }) => event)).toContain('agent-awake');
        expect(JSON.stringify(woken).includes('I am Name1, awake.')).toBe(acts);

        await end();
        await startSession(one, 'Sol');
        const said = await say('Good morning, Sol.', 'message', acts ? 1 : 2);
        expect(JSON.stringify(said).includes('This agent can only talk')).toBe(!acts);
        const talked = said
          .map(({ data }) => data as { author?: string; status?: string; blocks?: { kind: string; name?: string }[] })
          .find(({ author }) => author === 'lead');
        expect(talked?.status).toBe('complete');
        // Some of them think aloud first.
        expect(talked?.blocks?.filter(({ name }) => name !== 'mind__think')).toMatchObject([
          { kind: 'text', text: 'Welcome.' },
        ]);
      }),
    60_000,
  );

  const said = async (response: Response) => problemSchema.parse(await response.json()).detail;

  it('finds a model server at its usual port', async () => {
    const silent: Model = () => ({ say: '' });
    const started = await Promise.allSettled([
      startStandIn(ollama(), silent, 11_434),
      startStandIn(lmStudio(), silent, 1_234),
      startStandIn(llamaCpp(), silent, 8_080),
      startStandIn(vllm(), silent, 8_000),
    ]);
    // Where something else of this machine has such a port, the others say enough.
    const servers = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const { found } = foundServersSchema.parse(await (await one.fetch('/api/models/find', { method: 'POST' })).json());
    await Promise.all(servers.map((server) => server.close()));
    expect(servers.length).toBeGreaterThan(0);
    const names = ['Ollama', 'LM Studio', 'llama.cpp', 'vLLM'].filter((_, i) => started[i]?.status === 'fulfilled');
    expect(found.map(({ program }) => program)).toEqual(expect.arrayContaining(names));
    for (const { models } of found.filter(({ program }) => names.includes(program))) expect(models).not.toEqual([]);
  });

  it('asks for a missing key, and reports a refused one', async () => {
    await served(groq(), team(), async ({ origin }) => {
      const given = { kind: 'server', address: `${origin}/openai/v1` };
      expect(await said(await connect(given))).toMatch(/needs a key\. Make a new one there/);
      expect(await said(await connect({ ...given, key: 'gsk_wrong' }))).toMatch(/did not accept the key/);
      expect(await said(await connect({ ...given, model: 'llama-3.3-70b-versatile' }))).toMatch(/needs a key/);
    });
  });

  it('says that nothing answers where nothing does, and that an address is no model server’s', async () => {
    let origin = '';
    await served(lmStudio(), team(), (server) => {
      ({ origin } = server);
      return Promise.resolve();
    });
    expect(await said(await connect({ kind: 'server', address: origin }))).toMatch(/cannot be reached/);
    await served(groq(), team(), async (server) => {
      const given = { kind: 'server', address: `${server.origin}/elsewhere`, key: GROQ_KEY, model: 'x' };
      expect(await said(await connect(given))).toMatch(/none of the protocols that Roost knows.*base URL/);
    });
  });

  it('names a server that reads less than it was sent, and sends no more than that from then on', async () => {
    await served(ollama({ context: 4_096 }), team(), async (server) => {
      expect((await connect({ kind: 'server', address: server.origin })).status).toBe(201);
      await startSession(one, 'Sol', { contextTokens: 100_000 });
      const agent = {
        ...{ id: 'agent-two', name: 'Linden', position: 1 as const, ...seatColor(1) },
        ...{
          soul: 'I keep the lamp.',
          transcript: `Noa:\n> ${'The word is heron, and the lamp is lit. '.repeat(5_000)}`,
        },
      };
      const woken = await say(writeWake([agent]), 'agent-awake', 1);
      expect(JSON.stringify(woken)).toMatch(/read only 4,096 of about 5\d,\d{3} tokens.*OLLAMA_CONTEXT_LENGTH/);
      const [first] = server.asked.filter(({ system }) => system.includes('seat 2'));
      const before = server.asked.length;
      await say('Everybody: good morning!', 'message', 1);
      expect(first?.tokens).toBeGreaterThan(50_000);
      for (const { tokens, system } of server.asked.slice(before))
        if (system.includes('seat 2')) expect(tokens).toBeLessThan(10_000);
    });
  });

  it.each([
    ['all of its window', ollama({ context: 4_096 }), '/v1/chat/completions', '4,096', 4_096],
    ['half of its window', ollama({ context: 4_096, halves: true }), '/v1/chat/completions', '2,050', 2_050],
  ])(
    'says once, with what to do, that Ollama reads %s of requests that grow',
    async (_name, kind, path, said, tokens) => {
      await served(kind, team(), async (server) => {
        expect((await connect({ kind: 'server', address: `${server.origin}${path}` })).status).toBe(201);
        await startSession(one, 'Sol');
        const soul = 'I keep the lamp. '.repeat(900);
        const agent = {
          id: 'agent-two',
          name: 'Linden',
          position: 1 as const,
          ...seatColor(1),
          soul,
          transcript: null,
        };
        const all = [await say(writeWake([agent]), 'agent-awake', 1)];
        const sentOf = () => server.asked.filter(({ system }) => system.includes('seat 2')).map((each) => each.tokens);
        for (let i = 0; i < 5; i++) all.push(await say(`Linden: ${'What is new? '.repeat(200)}`, 'message', 1));
        const notices = (JSON.stringify(all).match(/of about [\d,]+ tokens\. Give it a larger context/g) ?? []).length;
        expect(notices, sentOf().join(' ')).toBe(1);
        expect(JSON.stringify(all)).toMatch(new RegExp(`read only ${said} of about .*OLLAMA_CONTEXT_LENGTH.*num_ctx`));
        const { connections } = modelsSchema.parse(await (await one.fetch('/api/models')).json());
        expect(connections[0]?.readsOnly).toEqual([{ model: 'qwen3:8b', tokens }]);
        expect(Math.max(...sentOf())).toBeLessThan(40_960);
      });
    },
  );

  it('asks nothing more in a routine’s way of a provider that refuses for hours, and says why in its words', async () => {
    await served(
      {
        ...lmStudio(),
        refuse: ({ last }) =>
          last.includes('Are you there?')
            ? null
            : {
                status: 429,
                headers: { 'retry-after': '20000' },
                body: { error: { message: 'Limit of the day (TPD): 100000 tokens', type: 'tokens' } },
              },
      },
      team(),
      async (server) => {
        expect((await connect({ kind: 'server', address: server.origin })).status).toBe(201);
        await startSession(one, 'Sol');
        const before = server.asked.length;
        const answer = await say('Good morning.', 'message', 1);
        expect(JSON.stringify(answer)).toMatch(/Try again in 6 h\. It said: Limit of the day/);
        expect(server.asked).toHaveLength(before + 1);
      },
    );
  });
});

describe('ANTHROPIC_BASE_URL alone', () => {
  it('picks a model that talks, as the page does', async () => {
    const server = await startStandIn(ollama(), team());
    const relay = await openTestRelay({ env: { ANTHROPIC_BASE_URL: server.origin } });
    try {
      const one = await relay.signIn();
      const { connections } = modelsSchema.parse(await (await one.fetch('/api/models')).json());
      expect(connections).toMatchObject([
        { connectionId: 'environment', leadModel: 'qwen3:8b', agentModel: 'qwen3:8b' },
      ]);
      expect(server.asked).toEqual([]);
    } finally {
      await relay.close();
      await server.close();
    }
  });
});
