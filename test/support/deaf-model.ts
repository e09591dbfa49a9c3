/**
 * A model's server that does not notice when nobody hears it: it writes every answer to its
 * longest, and charges for it, also where its line has died. Where its line is whole and somebody
 * leaves it, it stops, as Anthropic's own does.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { costOf, DEFAULT_PRICES } from '../../src/shared/domain/prices.ts';

const bodySchema = z.looseObject({ model: z.string(), max_tokens: z.number(), stream: z.boolean().optional() });
const INPUT_TOKENS = 40;

/** Of an answer under way: nothing of it was sent, its head, or words. */
export type Said = 'nothing' | 'head' | 'words';

export interface DeafModel {
  readonly url: string;
  /** Millionths of a dollar. */
  total(): number;
  /** Answers that have come as far as they come by themselves. */
  underWay(): number;
  /** Every line dies, here and now; what is under way is written to its end all the same. */
  die(): void;
  close(): Promise<void>;
}

export async function startDeafModel(said: Said): Promise<DeafModel> {
  let total = 0;
  const open = new Map<ServerResponse, () => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { model, max_tokens: most, stream } = bodySchema.parse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      const count = (outputTokens: number) => {
        const tokens = { model, inputTokens: INPUT_TOKENS, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
        total += costOf(tokens, DEFAULT_PRICES).microUsd;
      };
      open.set(response, () => count(most));
      response.once('close', () => {
        // Left by the other side: it has written what it sent.
        if (open.delete(response)) count(stream === true && said === 'words' ? 8 : 1);
      });
      if (said === 'nothing') return;
      const message = {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: INPUT_TOKENS, output_tokens: 1 },
      };
      if (stream !== true) {
        response.setHeader('content-type', 'application/json');
        response.write(JSON.stringify(message).slice(0, 60));
        return;
      }
      response.setHeader('content-type', 'text/event-stream');
      const event = (data: { readonly type: string; readonly [field: string]: unknown }) =>
        void response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
      event({ type: 'message_start', message });
      if (said === 'head') return;
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I was about to say' } });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    total: () => total,
    underWay: () => open.size,
    die() {
      for (const [response, charge] of [...open]) {
        open.delete(response);
        charge();
        response.destroy();
      }
    },
    close: () => new Promise<void>((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
