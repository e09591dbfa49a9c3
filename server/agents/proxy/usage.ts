/**
 * What a request took, read from the answer while it passes: from the events `message_start` and
 * `message_delta` of a stream, or from a whole JSON answer. Nothing here changes or delays a byte.
 */
import { z } from 'zod';
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { parseJson } from '../../../src/shared/domain/platform/json.ts';
import type { Took } from '../../contracts/index.ts';
import { createJsonCount } from '../../platform/json-bounds.ts';
import { createToldUsage, type ToldUsage } from '../minds/told-usage.ts';
import { PROXY_LIMITS } from './settings.ts';

const messageShape = z.object({ usage: z.unknown().optional() });
const eventShape = z.object({
  type: z.string(),
  message: messageShape.nullish().catch(null),
  usage: z.unknown().optional(),
});

const NOTHING = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/**
 * Of the hundreds of events of an answer only these say what it took; the others need not be
 * parsed.
 */
const TELLS = /"(?:message_start|message_delta|error)"/;

export interface UsageReader {
  read(bytes: Uint8Array): void;
  /** Once, at the end. */
  took(): Took;
}

/** `model`: the one that was asked for. What the answer calls itself decides no price. */
function tookOf(model: string, told: ToldUsage, whole: boolean): Took {
  if (!told.isTold()) return null;
  const counts = told.counts();
  const input = !told.inputTold();
  // Where nothing was read, a zero of what was written means nothing either.
  const output = !told.outputTold() || (input && counts.outputTokens === 0);
  return {
    usage: { model, ...counts },
    whole,
    hourCacheWrites: told.hourCacheWrites(),
    searches: told.searches(),
    terms: told.terms(),
    ...(input || output ? { untold: { input, output } } : {}),
  };
}

export function createStreamReader(model: string): UsageReader {
  const told = createToldUsage();
  const decoder = new TextDecoder();
  let line = '';
  let tooLong = false;
  let ended = false;
  let refused = false;

  function take(text: string): void {
    if (!text.startsWith('data:') || !TELLS.test(text)) return;
    if (createJsonCount(PROXY_LIMITS.eventJson).take(Buffer.from(text)) !== null) return;
    const event = eventShape.safeParse(parseJson(text.slice('data:'.length)));
    if (!event.success) return;
    const { type, message, usage } = event.data;
    if (type === 'message_start') told.add(message?.usage);
    if (type === 'message_delta' && isRecord(usage)) {
      told.add(usage);
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
        if (!tooLong && line.length + part.length <= PROXY_LIMITS.eventBytes) take(line + part);
        line = '';
        tooLong = false;
      }
      if (!tooLong) line += last;
      if (line.length > PROXY_LIMITS.eventBytes) {
        line = '';
        tooLong = true;
      }
    },
    took: () => tookOf(model, told, ended) ?? (refused ? { usage: { model, ...NOTHING }, whole: true } : null),
  };
}

export function createJsonReader(model: string): UsageReader {
  const json = createJsonCount(PROXY_LIMITS.json);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let tooMuch = false;
  return {
    read(bytes) {
      size += bytes.byteLength;
      tooMuch ||= size > PROXY_LIMITS.readBytes || json.take(bytes) !== null;
      if (!tooMuch) chunks.push(bytes);
    },
    took() {
      if (tooMuch) return null;
      const message = messageShape.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
      const told = createToldUsage();
      told.add(message.data?.usage);
      return tookOf(model, told, true);
    },
  };
}
