/**
 * Reads limits from a server's error message: the model's context window, the input that was sent,
 * and the longest answer. Servers that count input and output together (vLLM, OpenRouter, SGLang)
 * refuse a short request because of the answer length that it asks for. Their messages are quoted
 * in `test/relay/agents/minds/token-limits.test.ts`.
 */
import { type RequestSize, type Terms, UNSAID_TERMS } from '../../../src/shared/domain/request-cost.ts';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import type { MindBlock, MindTool } from './messages.ts';
import type { MindRequest } from './requests.ts';
import { MIND_LIMITS, WEB_LIMITS } from './settings.ts';
import { SEARCH, describedTools, sizeOfTools } from './web.ts';

// The most that a request may cost, estimated before it is sent.

/** Bytes that one block, message or tool takes in the request beside its content. */
const AROUND = 64;

/**
 * Names of the tools that a model's own search found. Their definitions count where they were
 * found.
 */
function foundIn(block: MindBlock): readonly string[] {
  if (block.kind !== 'tool-search' || block.block.type !== 'tool_search_tool_result') return [];
  const { content } = block.block;
  return content.type === 'tool_search_tool_search_result'
    ? content.tool_references.map(({ tool_name }) => tool_name)
    : [];
}

function readTools({ tools, messages }: Pick<MindRequest, 'tools' | 'messages'>, searching: boolean) {
  const told = describedTools(tools, searching);
  if (!searching) return told;
  const foundTools = new Set(messages.flatMap(({ blocks }) => blocks.flatMap(foundIn)));
  return [
    ...told.map((tool): MindTool | typeof SEARCH => (tool.finds ? SEARCH : tool)),
    ...tools.filter((tool) => foundTools.has(tool.name) && !told.includes(tool)),
  ];
}

/**
 * `searching`: the model searches for deferred tools by itself. `wire.ts` marks the parts that the
 * model may cache, for minutes or for an hour.
 */
export function sizeOfRequest(
  {
    model,
    system,
    messages,
    tools,
    maxTokens,
    cachesForAnHour = false,
  }: Pick<MindRequest, 'model' | 'system' | 'messages' | 'tools' | 'maxTokens' | 'cachesForAnHour'>,
  searching: boolean,
): RequestSize {
  let bytes = Buffer.byteLength(system) + sizeOfTools(readTools({ tools, messages }, searching)).bytes;
  let pictures = 0;
  const own = tools.flatMap(({ provider }) => provider ?? []);
  // Pages that the provider looks up count as input too.
  let openEnded = own.length > 0;
  for (const { blocks } of messages)
    for (const block of blocks) {
      if (block.kind === 'document') {
        // A file of few bytes may have hundreds of pages, and each page also counts as a picture.
        openEnded = true;
        continue;
      }
      const { picture = null, ...rest } =
        block.kind === 'tool-result' || block.kind === 'picture' ? block : { ...block, picture: null };
      if (picture) pictures += 1;
      bytes += AROUND + Object.values(rest).reduce<number>((sum, value) => sum + lengthOf(value), 0);
    }
  return {
    model,
    bytes,
    pictures,
    openEnded,
    searches: own.includes('web_search') ? WEB_LIMITS.searches : 0,
    maxOutputTokens: maxTokens,
    cached: cachesForAnHour ? 'hour' : 'minutes',
    terms: UNSAID_TERMS,
  };
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : AROUND;
}

// The usage that a server reports for an answer. Servers omit counts, write them as strings, or
// make them up. A count is believed where it is a whole number within what a request can reach. Any
// other value counts as not reported, so the most that the request may have used is charged.

interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface ReportedUsage {
  /**
   * Adds one `usage` object. A later object describes the whole answer so far and replaces earlier
   * values.
   */
  add(usage: unknown): void;
  /** Whether any `usage` object arrived. */
  isReported(): boolean;
  counts(): TokenCounts;
  /** The part of the cache writes that lives for an hour. */
  hourCacheWrites(): number;
  /** Web searches that the server made. */
  searches(): number;
  terms(): Partial<Terms>;
  /** Whether the whole input is known: a count arrived, and none was invalid. */
  inputReported(): boolean;
  /** Whether the newest `usage` reported the output with a valid count. */
  outputReported(): boolean;
}

/** `undefined` and `null` count as missing. `NaN` marks an invalid value. */
function countOf(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MIND_LIMITS.mostTokens
    ? Number(value)
    : NaN;
}

/** A count that is reported several times. */
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
    /** A count that was believed once stays valid, whatever invalid values follow. */
    isUnknown: () => isNonsense && value === null,
  };
}

const fieldsOf = (value: unknown) => (isRecord(value) ? value : {});

/** Region values that bind the answer to no country. */
const NOWHERE: ReadonlySet<string> = new Set(['', 'global', 'not_available']);

export function createReportedUsage(): ReportedUsage {
  const input = createCount();
  const output = createCount();
  const cacheRead = createCount();
  const cacheWrite = createCount();
  const hourWrites = createCount();
  const searches = createCount();
  const terms: { -readonly [Name in keyof Terms]?: boolean } = {};
  /** Summaries that the server wrote for itself during the answer. No other count includes them. */
  let compacted = { input: 0, output: 0 };
  let isReported = false;
  let outputReported = false;

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
      isReported = true;
      const written = countOf(usage['output_tokens']);
      outputReported = written !== null && !Number.isNaN(written);
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
    isReported: () => isReported,
    counts: () => ({
      inputTokens: input.value() + compacted.input,
      outputTokens: output.value() + compacted.output,
      cacheReadTokens: cacheRead.value(),
      cacheWriteTokens: cacheWrite.value(),
    }),
    hourCacheWrites: () => hourWrites.value(),
    searches: () => searches.value(),
    terms: () => terms,
    // Every request has input, whatever count was reported.
    inputReported: () =>
      input.value() + compacted.input + cacheRead.value() + cacheWrite.value() > 0 &&
      ![input, cacheRead, cacheWrite, hourWrites].some((count) => count.isUnknown()),
    outputReported: () => outputReported && !searches.isUnknown(),
  };
}

interface SaidLimits {
  /** The context window: tokens read and written together. Null: not stated. */
  readonly window: number | null;
  /** Tokens that were sent. Null: not stated. `isLeast`: the server stopped counting there. */
  readonly input: number | null;
  readonly isLeast: boolean;
  /** Most tokens of an answer. Null: not stated. */
  readonly output: number | null;
}

const N = String.raw`[\`"']?(\d[\d,_]{0,15})`;
const first = (said: string, patterns: readonly string[]): number | null => {
  for (const pattern of patterns) {
    const found = new RegExp(pattern, 'i').exec(said)?.[1];
    if (found !== undefined) return Number(found.replaceAll(/[,_]/g, ''));
  }
  return null;
};

const WINDOW = [
  String.raw`max(?:imum)?[ _](?:context|model|sequence)[ _]len(?:gth)?[^\d.]{0,20}${N}`,
  String.raw`too large for model with ${N}`,
  String.raw`[\d,]{1,15} \+ [\d,]{1,15} > ${N}`,
  String.raw`context limit[^\d.]{0,20}${N}`,
  String.raw`must be <= ${N}`,
  String.raw`"?n_ctx"?:? ?\(?${N}`,
  String.raw`context (?:size|length|window)[^\d]{0,40}?${N}`,
  String.raw`[\d,]{1,15} (?:tokens )?> ${N}(?! -)`,
];
const INPUT = [
  String.raw`context limit: ${N} \+`,
  String.raw`${N} (?:in|from) the (?:messages|prompt|input)`,
  String.raw`${N} tokens (?:in|from) the (?:input|messages|prompt)`,
  String.raw`${N} of text input`,
  String.raw`has ${N} input tokens`,
  String.raw`contains at least ${N} input tokens`,
  String.raw`Given: ${N} \`?inputs`,
  String.raw`prompt contains(?: at least)? ${N}`,
  String.raw`"?n_prompt_tokens"?:? ?${N}`,
  String.raw`messages resulted in ${N}`,
  String.raw`request \(?${N} tokens`,
  String.raw`prompt is too long: ${N}`,
  String.raw`input (?:length|tokens?)[^\d.]{0,20}${N}`,
  String.raw`request(?:ed)?[^\d.]{0,30}${N}`,
  String.raw`${N} (?:tokens )?> [\d,]{1,15}(?! -)`,
];
const OUTPUT = [
  String.raw`supports at most ${N}`,
  String.raw`max_(?:completion_|new_|output_)?tokens:? ?[\d,]{1,15} > ${N}`,
  String.raw`(?<!\+ \`?)max_(?:completion_|new_|output_)?tokens\`?[^\d.]{0,40}(?:less than or equal to|at most|<=|cannot exceed|not exceed) ${N}`,
  String.raw`max_(?:completion_|new_|output_)?tokens\`?[^[.]{0,40}\[\d{1,9}, ?${N}\]`,
  String.raw`maximum (?:allowed )?(?:number of )?output[^\d.]{0,30}${N}`,
];
const OF_OUTPUT =
  /max_(?:completion_|new_|output_)?tokens|(?:completion|output|draft) tokens|in the (?:completion|output)|for the completion/i;

/** Wordings of Anthropic, llama.cpp, LM Studio, LiteLLM, vLLM and OpenAI's own. */
export const isTooLong = (said: string): boolean =>
  /too (long|large|many tokens)|context[ _]?(length|window|size)|exceed_context_size|exceeds?.{0,60}(context|tokens)|maximum context|max_model_len|input length and `?max_tokens|draft tokens|must be <= \d/i.test(
    said,
  );

/** Null: the message names no limit. `sent`: most tokens of the requested answer. */
export function limitsIn(said: string, sent: number): SaidLimits | null {
  const ofOutput = OF_OUTPUT.test(said);
  const output = ofOutput ? first(said, OUTPUT) : null;
  const window = output === null ? first(said, WINDOW) : null;
  if (output === null && (window === null || !isTooLong(said))) return null;
  let input = output === null ? first(said, INPUT) : null;
  // A router counts tools separately from the text.
  const tools = first(said, [String.raw`${N} of tool input`]);
  if (input !== null && tools !== null) input += tools;
  // A sum of input and output is not the input.
  if (input !== null && ofOutput && window !== null && input > window && input >= sent) input -= sent;
  return { window, input, isLeast: /at least/i.test(said), output };
}
