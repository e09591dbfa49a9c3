/** Every default and limit of the minds. */
import { windowOf } from '../../../src/shared/domain/model-names.ts';

/** Used where the person names no model. */
export const DEFAULT_MODELS = { lead: 'claude-opus-5-5', agent: 'claude-sonnet-5-5' } as const;

export const MIND_LIMITS = {
  /** ms to wait for a server to begin its answer. */
  requestTimeoutMs: 300_000,
  /** Most characters of a server's own message in a sentence for people. */
  upstreamDetail: 300,
  /**
   * Bytes of an error body that are read, and characters of it that are searched for its meaning.
   */
  refusalBytes: 1_000_000,
  refusalChars: 4_000,
  /** ms that a stream may stay open after its last event before its connection is closed. */
  afterEndMs: 1_000,
  /**
   * ms without an event after the stop reason and the end of all blocks: servers omit the last
   * event.
   */
  afterCompleteMs: 3_000,
  /**
   * Bytes of one whole answer. A token of 4 letters takes some 150 bytes of events, and the longest
   * answers have 128,000.
   */
  answerBytes: 100_000_000,
  /**
   * Characters and lines of one event of a stream. One event may hold a page that the server read.
   */
  eventCharacters: 5_000_000,
  eventLines: 1_000,
  /** JSON depth and number of values, in one event and in a whole answer. */
  json: { depth: 500, values: 20_000 },
  /**
   * Characters of text and thoughts in one answer, twice the longest known; and characters of one
   * call's input.
   */
  wordCharacters: 1_000_000,
  inputCharacters: 2_000_000,
  /** Characters of one thought that are shown. */
  thoughtCharacters: 20_000,
  /** Values in one call's input. */
  inputValues: 20_000,
  /** Bytes and characters of an answer that are processed in one step. */
  stepBytes: 4_096,
  stepCharacters: 32_768,
  /** Blocks of one answer. */
  blocks: 2_000,
  /** Characters of a call's id and of a tool's name. The Messages API takes 128 for a name. */
  idCharacters: 200,
  nameCharacters: 128,
  /**
   * Most tokens of one kind in any request: ten times what the largest model reads. Larger counts
   * are not believed.
   */
  mostTokens: 100_000_000,
} as const;

/** The queue of a model server. Times in ms. */
export const QUEUE_LIMITS = {
  /** Pause after a refusal that names none. It doubles with each further refusal in a row. */
  backoffFirst: 500,
  backoffMost: 8_000,
  /**
   * The longest pause requested by a server that the relay waits for. A longer pause is reported
   * instead.
   */
  longestRetryAfterMs: 90_000,
  /**
   * Refusals (429, 503, 529) while the server answers no request of ours, and broken answers, after
   * which a request fails.
   */
  refusals: 4,
  breaks: 2,
  /** Consecutive answers at the limit after which the limit grows by one. */
  tryMoreAfter: 16,
  /** Requests sent within this time are one volley: the server may take them in any order. */
  volleyMs: 1_000,
  /** How long one answer may suspend the time-outs of requests that were sent after it. */
  holdMs: 300_000,
  /** Shortest wait at the server that indicates a queue there. */
  serialAfterMs: 1_000,
  /** How often the same number must be observed. */
  serialTimes: 2,
  /** Ended requests that are remembered. */
  history: 64,
} as const;

export type QueueLimits = Readonly<Record<keyof typeof QUEUE_LIMITS, number>>;

/** Bounds for the output of a stopped answer beyond what arrived. */
export const STOPPED = {
  /** Upper bound for any model's speed. */
  tokensPerSecond: 400,
  /** ms that text, and the stop, may be in transit. */
  afterStopMs: 2_000,
  /** Tokens of a block beside its text: a call's name and delimiters. */
  tokensPerBlock: 64,
  /**
   * Turns of the event loop in which a connection failure from before the stop is noticed: read,
   * closed, and reported.
   */
  turns: 8,
} as const;

/** Search for the one picture that a server refuses. */
export const SIGHT_LIMITS = {
  /**
   * Pictures and PDFs of one request that are left out one by one, newest first. After that, all
   * new ones are.
   */
  trials: 6,
  /**
   * Consecutive answers that needed something left out, after which a model that never accepted any
   * gets no pictures.
   */
  blindAfter: 3,
} as const;

/** Limits for models with a small context window. */
export const ROOM_LIMITS = {
  /** Tokens. A shorter answer is not requested. The input is shortened instead. */
  leastAnswer: 256,
  /** Bytes per token, where no server has reported a request's token count. */
  bytesPerToken: 3.6,
  /** Largest share of the context window for tools. If they need more, the model gets none. */
  toolsMost: 0.6,
  /** How often one request is made smaller. */
  tries: 4,
} as const;

/** Most concurrent requests to one model server. */
export const MAX_REQUESTS = 16;

export const OFFICIAL_API = 'https://api.anthropic.com';

/**
 * Models with adaptive thinking: Claude 4.6 and later, and everything from 5 on. 4.5 and older take
 * a token budget instead and answer `adaptive` with a 400.
 */
export const thinksAdaptively = (model: string): boolean => isFrom(model, 6);

/**
 * Models that search for deferred tools by themselves: from 4.5 on. If one refuses, it gets our own
 * search.
 */
export const searchesTools = (model: string): boolean => isFrom(model, 5);

/**
 * Models whose provider searches and reads the web: from 4 on. Where an account has that switched
 * off, the server refuses once.
 */
export const readsWeb = (model: string): boolean => isFrom(model, 0);

/**
 * The provider's own web tools, per request. A search costs `SEARCH_MICRO_USD`, a page what its
 * tokens cost.
 */
export const WEB_LIMITS = {
  searches: 5,
  fetches: 5,
  /** Tokens of one page. */
  fetchTokens: 30_000,
  /** Characters of a page that the call shows to the person. */
  shownChars: 4_000,
} as const;

/** Whether the model is Claude 4.`minor` or later. */
function isFrom(model: string, minor: number): boolean {
  const match = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-|$)/.exec(model);
  if (!match) return model === 'claude-mythos-preview';
  const major = Number(match[1]);
  return major >= 5 || (major === 4 && Number(match[2] ?? 0) >= minor);
}

/**
 * The model's context window in tokens: what the person set, what its server has stated, or what
 * its name tells. Null: unknown. It is then learned: a model that refuses states its limit, or gets
 * shorter requests until it answers.
 */
export const windowTokensOf = (model: string, set: number, stated: number | null = null): number | null =>
  set > 0 ? set : (stated ?? windowOf(model));
