/**
 * What must hold of any stream that a model's server may send, over HTTP, and a few of them through
 * the whole relay.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createConversation } from '../../../../server/agents/runs/conversation.ts';
import {
  createAnthropicMind,
  type Mind,
  type MindAnswer,
  type MindRequest,
} from '../../../../server/agents/minds/index.ts';
import { costsSchema } from '../../../../src/shared/protocol/costs.ts';
import { eventSchema, type RoostEvent } from '../../../../src/shared/protocol/events.ts';
import { eventsOf, startSession, talk } from '../../../support/homes.ts';
import { oddStream, wordsOfEvents, type OddStream } from '../../../support/odd-stream.ts';
import { answers, says, startRawModel, type RawModel } from '../../../support/raw-model.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';

const TOOL = 'write_soul';
const KEY = 'sk-of-the-household-1234567890';
const request: MindRequest = {
  priority: 'team',
  model: 'local',
  system: 'You are a test.',
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hello?' }] }],
  tools: [{ name: TOOL, description: 'Writes', properties: {}, required: [] }],
  maxTokens: 1000,
};

let model: RawModel;
let mind: Mind;
beforeAll(async () => {
  model = await startRawModel(() => answers([]));
  mind = createAnthropicMind({ key: KEY, baseUrl: model.url, queue: { breaks: 0, refusals: 0 } });
});
afterAll(async () => {
  await mind.close();
  await model.close();
});

async function ask({ answer }: OddStream): Promise<{ readonly answer: MindAnswer; readonly heard: string }> {
  model.follow(() => answer);
  let heard = '';
  const told = await mind.answer(request, { onText: (text) => (heard += text), signal: AbortSignal.timeout(20_000) });
  return { answer: told, heard };
}
const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;

describe('Of any stream, however it is torn, repeated, reordered or made up', () => {
  it('keep shown words in the answer, make each call once, and report errors', async () => {
    await fc.assert(
      fc.asyncProperty(oddStream(TOOL), async (stream) => {
        const { answer, heard } = await ask(stream);
        // Shown words are kept, to the letter, and given back so.
        const kept = answer.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('');
        expect(kept).toBe(heard);
        const meant = wordsOfEvents(stream.events);
        if (stream.whole && stream.answer.then === 'end') expect(heard).toBe(meant);
        else expect(meant.slice(0, heard.length)).toBe(heard);
        // Each call at most once, and under a name and an id that can be given back.
        const calls = answer.blocks.flatMap((block) => (block.kind === 'tool-use' ? [block] : []));
        const ids = calls.map(({ toolUseId }) => toolUseId);
        expect(new Set(ids).size).toBe(calls.length);
        for (const { toolUseId, name } of calls)
          expect([typeof toolUseId, typeof name, name === '']).toEqual(['string', 'string', false]);
        const said = calls.map(({ toolUseId, input }) => JSON.stringify([toolUseId.replace(/-\d+$/, ''), input]));
        const readable = said.filter((_each, i) => calls[i]?.unreadable === undefined);
        expect(new Set(readable).size).toBe(readable.length);
        if (answer.ok && answer.stop === 'tools') expect(calls.length).toBeGreaterThan(0);
        // What is wrong is said.
        if (!answer.ok) expect(answer.error.message).toMatch(/^\S.*[.?…)”]$/su);
        // It was counted, or it is known that it was not.
        if (answer.usage) {
          const { model: named, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = answer.usage;
          expect(named).toBe('local');
          expect([inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens].every(isCount)).toBe(true);
        }
        // The conversation can go on with it.
        const conversation = createConversation();
        conversation.addUser([{ messageId: null, text: 'Hello?' }]);
        conversation.addAnswer(answer.blocks);
        conversation.closeCalls('Not run.');
        expect(Number.isFinite(conversation.size())).toBe(true);
      }),
      { numRuns: 80 },
    );
  });
});

describe('Through the whole relay', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: KEY } });
  });
  afterAll(async () => {
    await relay.stop();
  });
  const events = async () =>
    (await eventsOf(relay)).flatMap(({ id, data }): RoostEvent[] =>
      id === undefined ? [] : [eventSchema.parse(data)],
    );

  it('the seat lives, every event can be read, no call is run twice, and the costs can be told', async () => {
    await startSession(relay, 'Julian');
    const streams = fc.sample(oddStream(TOOL), { numRuns: 10, seed: 34 });
    for (const [n, stream] of streams.entries()) {
      let asked = 0;
      // Whatever it is asked after that is answered in words.
      model.follow(() => (asked++ === 0 ? stream.answer : answers(says(0, `Word ${n}.`))));
      await talk(relay, `Question ${n}?`);
    }
    const before = streams.length;
    model.follow(() => answers(says(0, 'Still here.')));
    await talk(relay, 'Are you there?');
    const all = await events();
    const spoken = all.flatMap((event) => (event.kind === 'message' && event.author === 'lead' ? [event] : []));
    expect(spoken).toHaveLength(before + 1);
    expect(spoken.at(-1)).toMatchObject({ status: 'complete', blocks: [{ kind: 'text', text: 'Still here.' }] });
    for (const { status, error } of spoken) expect(status === 'complete' || typeof error === 'string').toBe(true);
    expect(all.some(({ kind }) => kind === 'session-ended')).toBe(false);
    // What was shown while it was said is what stands in the message.
    for (const { messageId, blocks } of spoken) {
      const shown = all.flatMap((event) =>
        event.kind === 'text' && event.messageId === messageId ? [event.text] : [],
      );
      const kept = blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
      expect(kept.join('')).toBe(shown.join(''));
    }
    // What was done is what stands there as done, call by call.
    const done = spoken.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.kind === 'tool' && !block.isError && block.name === TOOL ? [block.input] : [])),
    );
    const changed = all.flatMap((event) =>
      event.kind === 'agent-changed' && event.change.kind === 'soul' ? [event.change.individuationArtifact] : [],
    );
    expect(changed.length).toBeGreaterThan(0);
    expect(changed).toEqual(done.map((input) => Object(input).text));
    const answer = await relay.fetch('/api/costs?days=1');
    expect(answer.status).toBe(200);
    expect(costsSchema.parse(await answer.json()).today.requests).toBeGreaterThan(before);
  });
});
