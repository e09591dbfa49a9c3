/**
 * Minds: what says an agent's next words. A mind is a model server, or the demo mind that needs
 * none.
 *
 * `served.ts` is the mind behind a model server. `protocols` has the dialects, `wire.ts` the
 * Messages API, `assembly.ts` puts one answer together from its events, and `request-queue.ts`
 * keeps to what a server takes at once.
 *
 * Main types: `Mind` (in `server/contracts`), `AnthropicMindConfig`.
 *
 * Invariants:
 * - A mind keeps nothing between answers. The whole conversation is handed in each time.
 * - What was shown is what the model is given next time.
 * - An odd event of a server hurts no more than its own turn.
 *
 * It does not know agents, tools, budgets, or the store.
 */
import { createServer } from 'node:http';
import type { Mind } from '../../contracts/mind.ts';
import { createAnthropicMind } from './served.ts';
export { createAnthropicMind, createServedMind, type AnthropicMindConfig } from './served.ts';
export { createRehearsalMind, type RehearsalMind } from './rehearsal/index.ts';
export {
  isRehearsal,
  tookOf,
  PRIORITIES,
  type AgentMind,
  type MindListener,
  type MindOwner,
  type Mind,
  type MindAnswer,
  type MindBlock,
  type MindError,
  type MindErrorKind,
  type MindMessage,
  type MindRequest,
  type MindTool,
  type Priority,
  type RequestState,
  type StopReason,
} from '../../contracts/mind.ts';
export { withWholeWeb, toldTools } from './web.ts';
export { sizeOfRequest } from './token-limits.ts';
export { DEFAULT_MODELS, windowTokensOf } from './settings.ts';

// What the first request of a process pays for once: the SDK's stream, the runtime's `fetch` and
// its connections are loaded and compiled when they are first used. Here they are used once for
// nobody: with a model of our own on loopback, as close to a real one as can be, which says a word
// to whoever asks.

const EVENTS: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
  {
    type: 'message_start',
    message: {
      id: 'warm',
      type: 'message',
      role: 'assistant',
      model: 'warm',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Warm.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
const BODY = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** `run` with such a mind, for as long as it takes. */
export async function withWarmMind(run: (mind: Mind) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(BODY));
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  const mind = createAnthropicMind({
    key: null,
    baseUrl: `http://127.0.0.1:${port}`,
    models: { lead: 'warm', agent: 'warm' },
  });
  try {
    await run(mind);
  } finally {
    await mind.close();
    server.closeAllConnections();
    server.close();
  }
}
