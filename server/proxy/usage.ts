/**
 * What a request took, read from the answer while it passes: from the events `message_start` and `message_delta`
 * of a stream, or from a whole JSON answer. Nothing here changes or delays a byte.
 */
import { z } from 'zod';
import type { Terms } from '../../src/domain/request-cost.ts';
import type { Took } from '../contracts.ts';
import { parseJson } from '../../src/domain/platform/json.ts';
import { PROXY_LIMITS } from './settings.ts';

const count = z.number().nonnegative().nullish().catch(null);
const word = z.string().nullish().catch(null);
const usageShape = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullish().catch(null),
  server_tool_use: z.object({ web_search_requests: count }).nullish().catch(null),
  service_tier: word,
  speed: word,
  inference_geo: word,
  /** What the server did on the way; of these only a summary that it wrote for itself is not in the sums above. */
  iterations: z
    .array(
      z
        .object({ type: word, input_tokens: count, output_tokens: count })
        .catch({ type: null, input_tokens: null, output_tokens: null }),
    )
    .nullish()
    .catch(null),
});
const usageOrNot = usageShape.nullish().catch(null);
const messageShape = z.object({ model: z.string().nullish().catch(null), usage: usageOrNot });
const eventShape = z.object({
  type: z.string(),
  message: messageShape.nullish().catch(null),
  usage: usageOrNot,
});

const NOTHING = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Of the hundreds of events of an answer only these say what it took; the others need not be parsed. */
const TELLS = /"(?:message_start|message_delta|error)"/;

export interface UsageReader {
  read(bytes: Uint8Array): void;
  /** Once, at the end. */
  took(): Took;
}

function createSum(model: string) {
  const sum = {
    model,
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    hourWrites: 0,
    searches: 0,
    compacted: { input: 0, output: 0 },
    reported: false,
    /** By what came last, which is of the whole answer. */
    outputTold: false,
  };
  const terms: { -readonly [Name in keyof Terms]?: boolean } = {};
  return {
    sum,
    /** What is told later is of the whole answer so far, and holds. */
    add(usage: z.infer<typeof usageShape>) {
      sum.reported = true;
      sum.outputTold = typeof usage.output_tokens === 'number';
      sum.input = usage.input_tokens ?? sum.input;
      sum.output = usage.output_tokens ?? sum.output;
      sum.cacheRead = usage.cache_read_input_tokens ?? sum.cacheRead;
      sum.cacheWrite = usage.cache_creation_input_tokens ?? sum.cacheWrite;
      sum.hourWrites = usage.cache_creation?.ephemeral_1h_input_tokens ?? sum.hourWrites;
      sum.searches = usage.server_tool_use?.web_search_requests ?? sum.searches;
      const compactions = usage.iterations?.filter(({ type }) => type === 'compaction');
      if (compactions)
        sum.compacted = {
          input: total(compactions.map((each) => each.input_tokens)),
          output: total(compactions.map((each) => each.output_tokens)),
        };
      if (typeof usage.speed === 'string') terms.fast ||= usage.speed === 'fast';
      if (typeof usage.service_tier === 'string') terms.priority ||= usage.service_tier === 'priority';
      if (typeof usage.inference_geo === 'string') terms.resident ||= !NOWHERE.has(usage.inference_geo);
    },
    took(whole: boolean): Took {
      if (!sum.reported) return null;
      const { input, output } = sum.compacted;
      const usage = {
        model: sum.model,
        inputTokens: sum.input + input,
        outputTokens: sum.output + output,
        cacheReadTokens: sum.cacheRead,
        cacheWriteTokens: sum.cacheWrite,
      };
      // Every request has something that is read, whatever number stands there; where none does, neither does the other mean anything.
      const none = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens === 0;
      const untold = { input: none, output: !sum.outputTold || (none && usage.outputTokens === 0) };
      const told = { usage, whole, hourCacheWrites: sum.hourWrites, searches: sum.searches, terms };
      return untold.input || untold.output ? { ...told, untold } : told;
    },
  };
}
const total = (counts: readonly (number | null | undefined)[]) =>
  counts.reduce<number>((sum, each) => sum + (each ?? 0), 0);
/** Where an answer was made that was bound to no country. */
const NOWHERE: ReadonlySet<string> = new Set(['', 'global', 'not_available']);

export function createStreamReader(model: string): UsageReader {
  const { sum, add, took } = createSum(model);
  const decoder = new TextDecoder();
  let line = '';
  let tooLong = false;
  let ended = false;
  let refused = false;

  function take(text: string): void {
    if (!text.startsWith('data:') || !TELLS.test(text)) return;
    const event = eventShape.safeParse(parseJson(text.slice('data:'.length)));
    if (!event.success) return;
    const { type, message, usage } = event.data;
    if (type === 'message_start' && message) {
      sum.model = message.model || model;
      if (message.usage) add(message.usage);
    }
    if (type === 'message_delta' && usage) {
      add(usage);
      ended = true;
    }
    // A model that refuses charges nothing.
    if (type === 'error') refused = true;
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
    took: () => took(ended) ?? (refused ? { usage: { model, ...NOTHING }, whole: true } : null),
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
    took() {
      const message = messageShape.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
      if (!message.success || !message.data.usage) return null;
      const { add, took } = createSum(message.data.model || model);
      add(message.data.usage);
      return took(true);
    },
  };
}
