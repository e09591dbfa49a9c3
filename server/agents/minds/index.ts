/**
 * Minds produce an agent's next message. A mind is a model server, or the demo mind that needs
 * none.
 *
 * `served.ts` is the mind behind a model server. `protocols` has the protocols, `wire.ts` the
 * Messages API, `assembly.ts` builds one answer from its events, and `request-queue.ts` limits
 * requests to what a server accepts at once.
 *
 * Main types: `Mind` (in `mind.ts`), `AnthropicMindConfig`.
 *
 * Invariants:
 * - A mind stores nothing between answers. Each request carries the whole conversation.
 * - The model's next request contains the text that was shown.
 * - An irregular event of a server affects only its own turn.
 *
 * It does not know agents, tools, budgets, or the store.
 */
import { createServer } from 'node:http';
import type { Mind } from './mind.ts';
import { createAnthropicMind } from './served.ts';
export {
  createAnthropicMind,
  createServedMind,
  missingKey,
  weakKey,
  wrongKey,
  type AnthropicMindConfig,
} from './served.ts';
export { createRehearsalMind, type RehearsalMind } from './rehearsal/index.ts';
export type { MindBlock, MindMessage, MindTool } from './messages.ts';
export { type AgentMind, isRehearsal, type Mind, type MindOwner, passedOn } from './mind.ts';
export {
  type MindAnswer,
  type MindError,
  type MindErrorKind,
  type MindListener,
  type MindRequest,
  PRIORITIES,
  type Priority,
  type RequestState,
  type StopReason,
  tookOf,
} from './requests.ts';
export { withWholeWeb, describedTools, sizeOfTools } from './web.ts';
export { sizeOfRequest } from './token-limits.ts';
export { DEFAULT_MODELS, windowTokensOf } from './settings.ts';

// A warm-up. The SDK's stream, the runtime's `fetch` and its connections are loaded and compiled at
// first use, which the first request would pay for. The warm-up uses them once with a small model
// server on loopback that answers everyone with one word.

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

/** Calls `run` with such a mind, and closes the server afterwards. */
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
