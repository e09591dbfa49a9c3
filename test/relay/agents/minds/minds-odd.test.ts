import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createAnthropicMind,
  type AnthropicMindConfig,
  type MindRequest,
} from '../../../../server/agents/minds/index.ts';
import { startScriptedModel, type Reply, type ScriptedModel } from '../../../support/scripted-model.ts';

const hello: MindRequest = {
  priority: 'team',
  model: 'claude-sonnet-5-5',
  system: 'You are a test.',
  messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Hello?' }] }],
  tools: [
    { name: 'choose_name', description: 'Takes a name', properties: { name: { type: 'string' } }, required: ['name'] },
  ],
  maxTokens: 1000,
};
const listening = { onText: () => undefined, signal: new AbortController().signal };

describe('a mind before a server with moods', () => {
  let model: ScriptedModel;
  beforeEach(async () => {
    model = await startScriptedModel(() => [{ say: 'Hello.' }]);
  });
  afterEach(() => model.close());

  const ask = (config: Partial<AnthropicMindConfig> = {}, listener = listening) =>
    createAnthropicMind({ key: 'k', baseUrl: model.url, ...config }).answer(hello, listener);
  function answerTo(reply: Reply) {
    model.follow(() => reply);
    return ask();
  }

  it('says when an answer was cut at its limit, and when the model declined', async () => {
    expect(await answerTo([{ say: 'And so' }, { stop: 'max_tokens' }])).toMatchObject({
      ok: true,
      stop: 'length',
      blocks: [{ kind: 'text', text: 'And so' }],
    });
    expect(await answerTo([{ say: 'No' }, { stop: 'refusal' }])).toMatchObject({ ok: true, stop: 'refusal' });
  });

  it('keeps a thought with its signature, for the way back', async () => {
    expect(
      await answerTo([
        { think: 'Hm. "Wren"?', signature: 'c2ln' },
        { call: 'choose_name', input: { name: 'Wren' } },
      ]),
    ).toMatchObject({
      ok: true,
      stop: 'tools',
      blocks: [
        { kind: 'thinking', thinking: 'Hm. "Wren"?', signature: 'c2ln' },
        { kind: 'tool-use', name: 'choose_name', input: { name: 'Wren' } },
      ],
    });
  });

  it('keeps the words before an error in the stream', async () => {
    expect(
      await answerTo([{ say: 'I was about to' }, { error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    ).toMatchObject({
      ok: false,
      error: { kind: 'overloaded' },
      blocks: [{ kind: 'text', text: 'I was about to' }],
    });
  });

  it('tries again what passes, and gives up after a few times', async () => {
    let tries = 0;
    model.follow(() =>
      ++tries <= 2
        ? { fail: { status: 429, type: 'rate_limit_error', message: 'slow down', retryAfterMs: 1 } }
        : [{ say: 'There.' }],
    );
    expect(await ask()).toMatchObject({ ok: true });
    expect(
      await answerTo({ fail: { status: 529, type: 'overloaded_error', message: 'Overloaded', retryAfterMs: 1 } }),
    ).toMatchObject({ ok: false, error: { kind: 'overloaded' } });
    expect(model.requests).toHaveLength(3 + 5);
  });

  it('gives up where no form of a request is taken, with the server’s reason', async () => {
    expect(await answerTo({ fail: { status: 400, type: 'invalid_request_error', message: 'never' } })).toMatchObject({
      ok: false,
      error: { kind: 'refused-request', message: expect.stringContaining('never') },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('sends no request when the answer is unwanted from the start', async () => {
    expect(await ask({}, { ...listening, signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      error: { kind: 'aborted' },
      blocks: [],
    });
    expect(model.requests).toEqual([]);
  });

  it('tells a server that is something else from a model', async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    try {
      expect(await ask({ baseUrl: `http://127.0.0.1:${address.port}` })).toMatchObject({
        ok: false,
        error: { kind: 'upstream-broken', message: expect.stringMatching(/not the Messages API/) },
      });
    } finally {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    }
  });
});
