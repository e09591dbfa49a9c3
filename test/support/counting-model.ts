/**
 * A model's server that knows what it has worked, request by request, and goes on counting where
 * nobody listens any more.
 *
 * What it bills of a stream that does not come to its end, where it stops when it is left
 * (`stopsWhenLeft`):
 * - somebody leaves, and its line is whole: what it has written until it notices.
 * - its line dies (`cut`, `broken`), and nobody has left it: the whole answer that it had in mind.
 * - both at once: what came first here. That somebody has left is noticed within a few turns of the
 *   event loop; where it was before the line dies, it is one that was left. Nothing that Roost sees
 *   could tell these two apart either: a server that hears of the leaving first bills what is
 *   written, one whose line had died before bills all. What Roost promises is about a line that had
 *   died *before* it was left: see `deaf-model.ts` and the attack `budgets-stop`, which put the two
 *   in order.
 *
 * A server that does not stop bills every answer whole, whatever becomes of its line.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { costOf, DEFAULT_PRICES } from '../../src/shared/domain/prices.ts';
import { seatsCalled } from './scripted-model.ts';

/** Bytes of a token, as that server counts: never more tokens than Roost may reckon with. */
const BYTES_PER_TOKEN = 3;
/** Of what it writes: tokens of four characters, so many every so many ms. */
const STEP = { tokens: 3, characters: 4, everyMs: 10 } as const;
/** Turns of the event loop within which the end of a line is noticed. */
const NOTICED_TURNS = 4;
/** Of a call of a tool, by one that writes no more than is seen. */
const CALL_TOKENS = 50;

const bodySchema = z.looseObject({
  model: z.string(),
  max_tokens: z.number(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) })),
});

/**
 * `whole`: to its end. `cut`: the line goes dead in the middle. `broken`: before the first byte.
 * `refused`: it is too busy, and charges nothing.
 */
export type Fate = 'whole' | 'cut' | 'broken' | 'refused';

export interface CountingModel {
  readonly url: string;
  /** Millionths of a dollar by request, as they came. */
  readonly spent: readonly { readonly microUsd: number }[];
  total(): number;
  /** Requests that it works at. */
  open(): number;
  close(): Promise<void>;
}

export interface CountingModelOptions {
  readonly random: () => number;
  readonly fate: () => Fate;
  /**
   * It writes no further once the other side has gone. Otherwise, and where its line has died by
   * itself, it writes to the end that it had in mind.
   */
  readonly stopsWhenLeft: boolean;
  /** It has the longest answer in mind that it may give. */
  readonly wordy: boolean;
}

/** The seats that the newest turn calls; none where that brings results of tools. */
function called(messages: z.infer<typeof bodySchema>['messages']): number[] {
  const content = messages.at(-1)?.content ?? '';
  if (typeof content === 'string' || content.some(({ type }) => type === 'tool_result')) return [];
  const text = content
    .map((block) => z.string().catch('').parse(block['text']))
    .find((each) => each.startsWith('[WAKE AGENTS]'));
  return text === undefined ? [] : seatsCalled(text);
}

export async function startCountingModel({
  random,
  fate,
  stopsWhenLeft,
  wordy,
}: CountingModelOptions): Promise<CountingModel> {
  const spent: { microUsd: number }[] = [];
  let open = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('end', () => {
      open += 1;
      void answer(Buffer.concat(chunks).toString('utf8')).finally(() => (open -= 1));
    });

    async function answer(text: string): Promise<void> {
      const body = bodySchema.parse(JSON.parse(text));
      const { model } = body;
      const becomes = fate();
      if (becomes === 'refused') {
        response.writeHead(529, { 'content-type': 'application/json' });
        return void response.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
      }
      const inputTokens = Math.ceil(text.length / BYTES_PER_TOKEN);
      const most = wordy ? body.max_tokens : Math.ceil(random() * body.max_tokens);
      const entry = { microUsd: 0 };
      spent.push(entry);
      const count = (outputTokens: number) => {
        const tokens = { model, inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
        entry.microUsd = costOf(tokens, DEFAULT_PRICES).microUsd;
        return outputTokens;
      };
      // One that goes on where nobody listens has in the end written all.
      count(stopsWhenLeft ? 0 : most);
      await sleep(random() * 15);
      if (becomes === 'broken') {
        count(most);
        return void response.destroy();
      }
      const usage = (outputTokens: number) => ({ input_tokens: inputTokens, output_tokens: outputTokens });
      const message = { id: 'm', type: 'message', role: 'assistant', model, stop_reason: null, stop_sequence: null };
      if (body.stream !== true) {
        count(most);
        response.setHeader('content-type', 'application/json');
        const content = [{ type: 'text', text: 'Hm.' }];
        const whole = JSON.stringify({ ...message, content, stop_reason: 'end_turn', usage: usage(most) });
        response.write(whole.slice(0, 30));
        await sleep(random() * 10);
        return void (becomes === 'cut' ? response.destroy() : response.end(whole.slice(30)));
      }
      response.setHeader('content-type', 'text/event-stream');
      const event = (data: { readonly type: string; readonly [field: string]: unknown }) =>
        void response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
      event({ type: 'message_start', message: { ...message, content: [], usage: usage(1) } });
      const seats = called(body.messages);
      if (seats.length > 0) {
        event({
          type: 'content_block_start',
          index: 0,
          content_block: { type: 'tool_use', id: `t${spent.length}`, name: 'spawn_team', input: {} },
        });
        event({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json: JSON.stringify({ seats }) },
        });
        event({ type: 'content_block_stop', index: 0 });
        event({
          type: 'message_delta',
          delta: { stop_reason: 'tool_use' },
          usage: usage(count(stopsWhenLeft ? Math.min(CALL_TOKENS, body.max_tokens) : most)),
        });
        event({ type: 'message_stop' });
        return void response.end();
      }
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      const steps = Math.ceil(random() * 20);
      let written = 0;
      for (let step = 0; step < steps && !response.destroyed; step++) {
        await sleep(STEP.everyMs);
        written += STEP.tokens;
        if (stopsWhenLeft) count(Math.min(written, body.max_tokens));
        event({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: 'x'.repeat(STEP.tokens * STEP.characters) },
        });
      }
      // Who has left before this has left a line that was whole: that they have is on its way here.
      for (let turn = 0; turn < NOTICED_TURNS && becomes === 'cut'; turn++) await setImmediate();
      if (response.destroyed && stopsWhenLeft) return;
      if (becomes === 'cut') {
        // It does not notice, and writes to its end.
        count(most);
        return void response.destroy();
      }
      const end = count(stopsWhenLeft ? Math.min(written, body.max_tokens) : most);
      event({ type: 'content_block_stop', index: 0 });
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: usage(end) });
      event({ type: 'message_stop' });
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spent,
    total: () => spent.reduce((sum, { microUsd }) => sum + microUsd, 0),
    open: () => open,
    close: () => new Promise<void>((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
