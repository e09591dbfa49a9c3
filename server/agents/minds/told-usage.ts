/**
 * What a server says that an answer took. Servers leave counts out, write them as texts, or make
 * them up. A count is believed where it is a whole number that a request can come to. Any other
 * value counts as not told, so that the most that the request may have taken is charged.
 */
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import type { Terms } from '../../../src/shared/domain/request-cost.ts';
import { MIND_LIMITS } from './settings.ts';

export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface ToldUsage {
  /**
   * Takes one `usage` object. What is told later is of the whole answer so far, and replaces what
   * was told before.
   */
  add(usage: unknown): void;
  /** Whether any `usage` object came. */
  isTold(): boolean;
  counts(): TokenCounts;
  /** Of the cache writes, those that stay for an hour. */
  hourCacheWrites(): number;
  /** Searches of the web that the server made. */
  searches(): number;
  terms(): Partial<Terms>;
  /** Whether all that was read is known: something was, and no count of it was nonsense. */
  inputTold(): boolean;
  /** Whether the newest `usage` told what was written, and no count of it was nonsense. */
  outputTold(): boolean;
}

/** `undefined` and `null` are left out. `NaN` is something that is no count. */
function countOf(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MIND_LIMITS.mostTokens
    ? Number(value)
    : NaN;
}

/** A count that is told several times. */
function createCount() {
  let value: number | null = null;
  let isNonsense = false;
  return {
    take(given: unknown): void {
      const count = countOf(given);
      if (count === null) return;
      if (Number.isNaN(count)) isNonsense = true;
      else value = count;
    },
    value: () => value ?? 0,
    /** A count that was believed once holds, whatever nonsense came beside it. */
    isUnknown: () => isNonsense && value === null,
  };
}

const fieldsOf = (value: unknown) => (isRecord(value) ? value : {});

/** Where an answer was made that was bound to no country. */
const NOWHERE: ReadonlySet<string> = new Set(['', 'global', 'not_available']);

export function createToldUsage(): ToldUsage {
  const input = createCount();
  const output = createCount();
  const cacheRead = createCount();
  const cacheWrite = createCount();
  const hourWrites = createCount();
  const searches = createCount();
  const terms: { -readonly [Name in keyof Terms]?: boolean } = {};
  /**
   * Summaries that the server wrote for itself on the way. They are in none of the other counts.
   */
  let compacted = { input: 0, output: 0 };
  let isTold = false;
  let outputTold = false;

  function addIterations(iterations: unknown): void {
    if (!Array.isArray(iterations)) return;
    const sum = { input: 0, output: 0 };
    for (const each of iterations) {
      const { type, input_tokens: read, output_tokens: written } = fieldsOf(each);
      if (type !== 'compaction') continue;
      sum.input += countOf(read) || 0;
      sum.output += countOf(written) || 0;
    }
    compacted = sum;
  }

  return {
    add(usage) {
      if (!isRecord(usage)) return;
      isTold = true;
      const written = countOf(usage['output_tokens']);
      outputTold = written !== null && !Number.isNaN(written);
      input.take(usage['input_tokens']);
      output.take(usage['output_tokens']);
      cacheRead.take(usage['cache_read_input_tokens']);
      cacheWrite.take(usage['cache_creation_input_tokens']);
      hourWrites.take(fieldsOf(usage['cache_creation'])['ephemeral_1h_input_tokens']);
      searches.take(fieldsOf(usage['server_tool_use'])['web_search_requests']);
      addIterations(usage['iterations']);
      const { speed, service_tier: tier, inference_geo: place } = usage;
      if (typeof speed === 'string') terms.fast ||= speed === 'fast';
      if (typeof tier === 'string') terms.priority ||= tier === 'priority';
      if (typeof place === 'string') terms.resident ||= !NOWHERE.has(place);
    },
    isTold: () => isTold,
    counts: () => ({
      inputTokens: input.value() + compacted.input,
      outputTokens: output.value() + compacted.output,
      cacheReadTokens: cacheRead.value(),
      cacheWriteTokens: cacheWrite.value(),
    }),
    hourCacheWrites: () => hourWrites.value(),
    searches: () => searches.value(),
    terms: () => terms,
    // Every request has something that is read, whatever number stands there.
    inputTold: () =>
      input.value() + compacted.input + cacheRead.value() + cacheWrite.value() > 0 &&
      ![input, cacheRead, cacheWrite, hourWrites].some((count) => count.isUnknown()),
    outputTold: () => outputTold && !searches.isUnknown(),
  };
}
