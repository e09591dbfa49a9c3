/**
 * What a request took, read from the answer while it passes: from the events `message_start` and `message_delta`
 * of a stream, or from a whole JSON answer. Nothing here changes or delays a byte.
 */
import { z } from 'zod';
import type { Usage } from '../../src/protocol/documents.ts';
import { jsonOf } from './json.ts';
import { PROXY_LIMITS } from './settings.ts';

const count = z.number().nonnegative().nullish().catch(null);
const usageShape = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullish().catch(null),
});
const usageOrNot = usageShape.nullish().catch(null);
const messageShape = z.object({ model: z.string().nullish().catch(null), usage: usageOrNot });
const eventShape = z.object({
  type: z.string(),
  message: messageShape.nullish().catch(null),
  usage: usageOrNot,
  delta: z.object({ text: z.string(), thinking: z.string(), partial_json: z.string() }).partial().nullish().catch(null),
});

export interface Counted {
  readonly usage: Usage;
  readonly hourCacheWrites: number;
  /** The answer broke off before it told its tokens; those of its text are counted by its length. */
  readonly estimated: boolean;
}

export interface UsageReader {
  read(bytes: Uint8Array): void;
  /** Null where nothing was told. Once, at the end. */
  counted(): Counted | null;
}

function createSum(model: string) {
  const sum = { model, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, hourWrites: 0, told: false };
  return {
    sum,
    /** What is told later is of the whole answer so far, and holds. */
    add({ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, cache_creation }: z.infer<typeof usageShape>) {
      sum.told = true;
      sum.input = input_tokens ?? sum.input;
      sum.output = output_tokens ?? sum.output;
      sum.cacheRead = cache_read_input_tokens ?? sum.cacheRead;
      sum.cacheWrite = cache_creation_input_tokens ?? sum.cacheWrite;
      sum.hourWrites = cache_creation?.ephemeral_1h_input_tokens ?? sum.hourWrites;
    },
    counted(output: number, estimated: boolean): Counted | null {
      if (!sum.told) return null;
      const usage = { model: sum.model, inputTokens: sum.input, outputTokens: output, cacheReadTokens: sum.cacheRead, cacheWriteTokens: sum.cacheWrite };
      return { usage, hourCacheWrites: sum.hourWrites, estimated };
    },
  };
}

/** `model`: the one that was asked for, where the answer names none. */
export function createStreamReader(model: string): UsageReader {
  const { sum, add, counted } = createSum(model);
  const decoder = new TextDecoder();
  let line = '';
  let tooLong = false;
  let characters = 0;
  let ended = false;

  function take(text: string): void {
    if (!text.startsWith('data:')) return;
    const event = eventShape.safeParse(jsonOf(text.slice('data:'.length)));
    if (!event.success) return;
    const { type, message, usage, delta } = event.data;
    if (type === 'message_start' && message) {
      sum.model = message.model || model;
      if (message.usage) add(message.usage);
    }
    if (type === 'message_delta' && usage) {
      add(usage);
      ended = true;
    }
    if (delta) characters += (delta.text?.length ?? 0) + (delta.thinking?.length ?? 0) + (delta.partial_json?.length ?? 0);
  }

  return {
    read(bytes) {
      const lines = decoder.decode(bytes, { stream: true }).split('\n');
      const last = lines.pop() ?? '';
      for (const part of lines) {
        if (!tooLong) take(line + part);
        line = '';
        tooLong = false;
      }
      if (!tooLong) line += last;
      if (line.length > PROXY_LIMITS.readBytes) {
        line = '';
        tooLong = true;
      }
    },
    counted() {
      const said = Math.ceil(characters / PROXY_LIMITS.charactersPerToken);
      const estimated = !ended && said > sum.output;
      return counted(estimated ? said : sum.output, estimated);
    },
  };
}

export function createJsonReader(model: string): UsageReader {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    read(bytes) {
      size += bytes.byteLength;
      if (size <= PROXY_LIMITS.readBytes) chunks.push(bytes);
    },
    counted() {
      const message = messageShape.safeParse(jsonOf(Buffer.concat(chunks).toString('utf8')));
      if (!message.success || !message.data.usage) return null;
      const { sum, add, counted } = createSum(message.data.model || model);
      add(message.data.usage);
      return counted(sum.output, false);
    },
  };
}
