/**
 * The compaction of a conversation with every protocol of model servers, in a session and in a run.
 * ACP agents have the same test beside their own, in `agents/minds/acp`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SUMMARY_REQUEST } from '../../../../src/shared/domain/compaction.ts';
import { sentence } from '../../../../src/shared/domain/names.ts';
import { LEAD_ID } from '../../../../src/shared/domain/seat.ts';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import { createServedMind, type Mind } from '../../../../server/agents/minds/index.ts';
import {
  type Asked,
  type Kind,
  type Refusal,
  type Reply,
  startStandIn,
  type StandIn,
} from '../../../support/model-servers/stand-in.ts';
import { agentRun } from '../../../support/runs.ts';
import { openSessionBench, payload, wordsOf, type Bench, type Household } from '../../../support/session.ts';

const MODEL = 'one-model';
const SUMMARY = 'I promised Ada the blue door by Friday.';
const POISON = 'A result that the server does not read.';
/** Tokens of the household's setting. */
const CONTEXT = 16_000;

interface Case {
  readonly protocol: Protocol;
  /** Of the address that a person connects. */
  readonly base: string;
  readonly path: string;
  /** A refusal in the words of a server with this protocol. */
  readonly refusal: (message: string) => Refusal;
  readonly tooLong: (tokens: number, most: number) => string;
}
const openAi = (message: string) => ({ status: 400, body: { error: { message, type: 'invalid_request_error' } } });
const CASES: readonly Case[] = [
  {
    protocol: 'messages',
    base: '',
    path: '/v1/messages',
    refusal: (message) => ({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } }),
    tooLong: (tokens, most) => `prompt is too long: ${tokens} tokens > ${most} maximum`,
  },
  {
    protocol: 'chat',
    base: '/v1',
    path: '/v1/chat/completions',
    refusal: openAi,
    tooLong: (tokens, most) =>
      `This model's maximum context length is ${most} tokens. However, your messages resulted in ${tokens} tokens.`,
  },
  {
    protocol: 'responses',
    base: '/v1',
    path: '/v1/responses',
    refusal: openAi,
    tooLong: () => 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  {
    protocol: 'google',
    base: '/v1beta',
    path: '/v1beta/models/*:streamGenerateContent',
    refusal: (message) => ({ status: 400, body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }),
    tooLong: (tokens, most) =>
      `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${most}).`,
  },
];

let bench: Bench;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  bench = await openSessionBench();
});
afterAll(async () => {
  await bench.close();
  for (const close of closing) await close();
});

const isSummary = ({ last }: Asked) => last.includes(SUMMARY_REQUEST);
const answersOf = (house: Household) => house.of('message').filter(({ author }) => author === 'agent-0');
const summariesOf = (house: Household) => house.of('message').filter(({ compaction }) => compaction !== undefined);
const relayLines = (house: Household) =>
  house
    .of('message')
    .filter(({ author, agentId, compaction }) => author === 'relay' && agentId !== LEAD_ID && compaction === undefined)
    .map(wordsOf);
const failedOf = (house: Household) => house.of('message').filter(({ status }) => status !== 'complete');

/** `most`: tokens that the server reads. */
async function open({ protocol, base, path, refusal, tooLong }: Case, most: number, says: (asked: Asked) => Reply) {
  const kind: Kind = {
    paths: { [path]: protocol },
    list: { path: `${base}/models`, body: { data: [] } },
    unknownPath: () => ({ status: 404, body: 'none' }),
    refuse: ({ tokens, results }) =>
      tokens > most
        ? refusal(tooLong(tokens, most))
        : results.some((result) => result.includes(POISON))
          ? refusal('The content was blocked.')
          : null,
  };
  const server = await startStandIn(kind, (asked) => (isSummary(asked) ? { say: SUMMARY } : says(asked)));
  const mind = createServedMind({
    protocol,
    key: 'a-key',
    baseUrl: `${server.origin}${base}`,
    models: { lead: MODEL, agent: MODEL },
    queue: { breaks: 0, refusals: 0 },
  });
  closing.push(async () => {
    await mind.close();
    await server.close();
  });
  return { house: await bench.open({ mind, onError: 'expected' }), mind, server };
}

async function wakeOne(house: Household, contextTokens: number): Promise<void> {
  await house.start({}, { contextTokens });
  await house.wake([payload(0)]);
  await house.until(() => answersOf(house).length === 1);
  await house.untilQuiet();
}
async function talk(house: Household, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    const before = answersOf(house).length;
    expect(await house.post({ text: `This is turn ${turn}. ${'m'.repeat(1_500)}`, to: 'agent-0' })).toMatchObject({
      ok: true,
    });
    await house.until(() => answersOf(house).length > before);
  }
}
/** Requests of the agent in the session, which the lead has beside it. */
const ofAgent = ({ asked }: StandIn) => asked.filter(({ text }) => text.includes('you sit in seat 1'));

/** A run that looks `steps` times, each time at 6,000 characters. */
async function run(
  house: Household,
  mind: Mind,
  {
    steps,
    contextTokens,
    sees = () => 'q'.repeat(6_000),
  }: { steps: number; contextTokens: number; sees?: (step: number) => string },
) {
  let step = 0;
  const started = await house.team.runs.start(
    agentRun(mind, {
      mind: { answers: mind, model: MODEL },
      limits: { contextTokens, maxTurns: 100 },
      tools: {
        own: {
          definitions: [
            { name: 'look', description: 'Looks.', properties: { at: { type: 'string' } }, required: ['at'] },
          ],
          run: () => ({ text: sees(++step), isError: false }),
        },
        team: [],
      },
      instructions: () => `You are Lyra, the heron. You look ${steps} times.`,
    }),
  );
  if (!started.ok) throw new Error(started.refusal.why);
  return await started.run.whenEnded;
}
/** Calls the tool so often, and ends in words. */
const looking = (steps: number) => {
  let step = 0;
  return ({ tools }: Asked): Reply =>
    tools.includes('look') && step++ < steps
      ? { call: { name: 'look', input: { at: 'the sea' } } }
      : { say: 'All is well.' };
};

describe.each(CASES)('a conversation with a model that speaks $protocol', (one) => {
  it('continues with a summary and its soul when its window fills', async () => {
    const { house, server } = await open(one, 100_000, () => ({ say: 'I see.' }));
    await wakeOne(house, CONTEXT);
    await talk(house, 35);
    expect(failedOf(house)).toEqual([]);
    expect(summariesOf(house).map(wordsOf)).toContain(SUMMARY);
    expect(relayLines(house)).toEqual([]);
    const last = ofAgent(server).at(-1);
    expect(last?.system).toContain('I am the one in place 0.');
    expect(last?.text).toContain(SUMMARY);
    expect(last?.last).toContain('This is turn 34.');
    expect(ofAgent(server).filter(({ tokens }) => tokens > CONTEXT)).toEqual([]);
    await house.close();
  });

  it('continues with a summary and its soul when the model refuses it as too long', async () => {
    const { house, server } = await open(one, 10_000, () => ({ say: 'I see.' }));
    await wakeOne(house, 0);
    await talk(house, 35);
    expect(failedOf(house)).toEqual([]);
    expect(summariesOf(house).length).toBeGreaterThan(0);
    const last = ofAgent(server).at(-1);
    expect(last?.system).toContain('I am the one in place 0.');
    expect(last?.last).toContain('This is turn 34.');
    await house.close();
  });

  it("continues in a run outside a session with the person's correction of the summary", async () => {
    const { house, mind, server } = await open(one, 100_000, looking(30));
    const end = await run(house, mind, {
      steps: 30,
      contextTokens: CONTEXT,
      sees(step) {
        for (const { messageId } of summariesOf(house))
          house.team.runs.correctSummary(messageId, `I promised Ada the green door, at step ${step}.`);
        return 'q'.repeat(6_000);
      },
    });
    expect(end).toMatchObject({ outcome: 'done', said: 'All is well.' });
    expect(summariesOf(house).length).toBeGreaterThan(0);
    const last = server.asked.at(-1);
    expect(last?.system).toContain('You are Lyra, the heron.');
    expect(last?.text).toContain('I promised Ada the green door, at step 30.');
    expect(last?.text).not.toContain(SUMMARY);
    await house.close();
  });

  it('continues without a tool result that its server refuses, and says so', async () => {
    const { house, mind, server } = await open(one, 100_000, looking(3));
    const end = await run(house, mind, {
      steps: 3,
      contextTokens: 0,
      sees: (step) => (step === 2 ? POISON : `The sea, look ${step}.`),
    });
    expect(end).toMatchObject({ outcome: 'done', said: 'All is well.' });
    const last = server.asked.at(-1);
    expect(last?.text).toContain('The sea, look 1.');
    expect(last?.text).toContain('The sea, look 3.');
    expect(last?.text).not.toContain(POISON);
    expect(relayLines(house)).toEqual([
      sentence`The model’s server refused what a tool returned. It was left out, and everything else was read.`,
    ]);
    await house.close();
  });
});

it('keeps the results when the server refuses the request without them too', async () => {
  const [one] = CASES;
  if (!one) throw new Error('there are cases');
  const { house, mind } = await open(one, 100_000, looking(2));
  // The second result makes the server refuse whatever follows.
  let refuses = false;
  const strict: Mind = {
    ...mind,
    async answer(request, listener) {
      if (!refuses) return await mind.answer(request, listener);
      return {
        ok: false,
        error: { kind: 'refused-request', message: 'No.' },
        blocks: [],
        usage: null,
        whole: true,
        outputMost: null,
      };
    },
  };
  const end = await run(house, strict, {
    steps: 2,
    contextTokens: 0,
    sees() {
      refuses = true;
      return 'The sea.';
    },
  });
  expect(end).toMatchObject({ outcome: 'failed' });
  expect(relayLines(house)).toEqual([]);
  await house.close();
});
