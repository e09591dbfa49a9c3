/** A model over HTTP that takes as long as it is told, and notes when it was asked. Speaks the Messages API. */
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

const requestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).min(1),
});

export interface TimedModel {
  readonly url: string;
  /** ms before an agent's first word. The lead never takes any. */
  think(ms: number): void;
  /** Forgets what was noted. */
  clear(): void;
  /** `performance.now()` of each request of an agent. */
  readonly asked: readonly number[];
  /** `performance.now()` when the lead's call of its tool was wholly sent. */
  readonly called: readonly number[];
  /** Resolves when this many agents have asked. */
  untilAsked(count: number): Promise<void>;
  close(): Promise<void>;
}

const usage = { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

type Said = { readonly text: string } | { readonly tool: string; readonly input: unknown };

function* framesOf(model: string, said: Said): Generator<object> {
  const isText = 'text' in said;
  yield { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage } };
  yield { type: 'content_block_start', index: 0, content_block: isText ? { type: 'text', text: '' } : { type: 'tool_use', id: `toolu_${randomUUID()}`, name: said.tool, input: {} } };
  yield { type: 'content_block_delta', index: 0, delta: isText ? { type: 'text_delta', text: said.text } : { type: 'input_json_delta', partial_json: JSON.stringify(said.input) } };
  yield { type: 'content_block_stop', index: 0 };
  yield { type: 'message_delta', delta: { stop_reason: isText ? 'end_turn' : 'tool_use', stop_sequence: null }, usage };
  yield { type: 'message_stop' };
}

function send(response: ServerResponse, model: string, said: Said): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of framesOf(model, said)) response.write(`event: ${'type' in frame ? String(frame.type) : ''}\ndata: ${JSON.stringify(frame)}\n\n`);
  response.end();
}

/** `lead` names the model that answers for the lead; it calls `spawn_team` with these seats whenever it is asked to wake. */
export async function startTimedModel({ lead, seats }: { lead: string; seats: readonly number[] }): Promise<TimedModel> {
  const asked: number[] = [];
  const called: number[] = [];
  const waiting = new Set<() => void>();
  let thinkMs = 0;

  const server = createServer((request, response) => {
    const arrived = performance.now();
    void json(request).then((body) => {
      const { model, messages } = requestSchema.parse(body);
      if (model === lead) {
        const newest = JSON.stringify(messages.at(-1)?.content);
        if (!newest.includes('[WAKE AGENTS]') || newest.includes('tool_result')) return send(response, model, { text: 'Good morning.' });
        send(response, model, { tool: 'spawn_team', input: { seats } });
        called.push(performance.now());
        return;
      }
      asked.push(arrived);
      for (const look of waiting) look();
      setTimeout(() => send(response, model, { text: 'Good morning.' }), thinkMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = z.object({ port: z.number() }).parse(server.address());

  return {
    url: `http://127.0.0.1:${address.port}`,
    think(ms) {
      thinkMs = ms;
    },
    clear() {
      asked.length = 0;
      called.length = 0;
    },
    asked,
    called,
    untilAsked: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (asked.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
