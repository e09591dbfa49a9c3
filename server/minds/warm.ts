/**
 * What the first request of a process pays for once: the SDK's stream and the runtime's `fetch` are loaded and compiled
 * when they are first used. One answer that nobody asked for and that leaves no trace: no server is spoken to.
 */
import { createAnthropicMind } from './anthropic.ts';
import type { MindRequest } from './mind.ts';

const EVENTS: readonly { readonly type: string; readonly [field: string]: unknown }[] = [
  { type: 'message_start', message: { id: 'warm', type: 'message', role: 'assistant', model: 'warm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 0, output_tokens: 0 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Warm.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
const BODY = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const REQUEST: MindRequest = { priority: 'team', model: 'warm', system: 'Warm.', messages: [{ role: 'user', blocks: [{ kind: 'text', text: 'Warm.' }] }], tools: [], maxTokens: 1 };
/** So often is a piece of code run until it is likely to be compiled. */
const TIMES = 8;

/** Resolves with whether the answers came through. */
export async function warmMinds(): Promise<boolean> {
  await (await fetch('data:text/plain,warm')).text();
  const mind = createAnthropicMind({ key: null, baseUrl: 'http://localhost', fetch: () => Promise.resolve(new Response(BODY, { headers: { 'content-type': 'text/event-stream' } })) });
  const answers = await Promise.all(Array.from({ length: TIMES }, () => mind.answer(REQUEST, { onText: () => undefined, signal: new AbortController().signal })));
  await mind.close();
  return answers.every(({ ok }) => ok);
}
