/** Every default and limit of the minds, in one place. */
import { readsOf } from '../../../src/shared/domain/model-reads.ts';

/** Used where the person names no model. */
export const DEFAULT_MODELS = { lead: 'claude-opus-5-5', agent: 'claude-sonnet-5-5' } as const;

export const MIND_LIMITS = {
  /** ms to wait for an upstream to begin its answer. */
  requestTimeoutMs: 300_000,
  /** Longest piece of an upstream's own words in a sentence for people. */
  upstreamDetail: 300,
  /** Bytes of a refusal that are read, and characters of it in which its meaning is looked for. */
  refusalBytes: 1_000_000,
  refusalChars: 4_000,
  /** ms that a stream may stay open after its last event, before its line is closed. */
  afterEndMs: 1_000,
  /**
   * ms without an event after an answer told how it ended, and all its blocks have: servers leave
   * the last event out.
   */
  afterToldMs: 3_000,
  /**
   * Bytes of one whole answer. A token of 4 letters takes some 150 bytes of events, and the longest
   * answers have 128,000.
   */
  answerBytes: 100_000_000,
  /** Characters and lines of one event of a stream: a page that the server read may lie in one. */
  eventCharacters: 5_000_000,
  eventLines: 1_000,
  /** Levels and values of the JSON of one event, and of a whole answer. */
  json: { depth: 500, values: 20_000 },
  /**
   * Characters of the words and thoughts of one answer, twice as many as the longest have; and of
   * the input of one call.
   */
  wordCharacters: 1_000_000,
  inputCharacters: 2_000_000,
  /** Values in that input. */
  inputValues: 20_000,
  /** Bytes and characters of an answer that are read in one step. */
  stepBytes: 4_096,
  stepCharacters: 32_768,
  /** Blocks of one answer. */
  blocks: 2_000,
  /** Characters of a call's id and of a tool's name. The Messages API takes 128 for a name. */
  idCharacters: 200,
  nameCharacters: 128,
  /**
   * Tokens of one kind that any request can come to: ten times what the largest model reads. More
   * than that was not counted.
   */
  mostTokens: 100_000_000,
} as const;

/** The line before a model server; times in ms. */
export const QUEUE_LIMITS = {
  /** Pause after a refusal that names none; it doubles with each in a row. */
  backoffFirst: 500,
  backoffMost: 8_000,
  /**
   * The longest pause that a server may ask for and that is waited for; a longer one is told
   * instead.
   */
  longestRetryAfterMs: 90_000,
  /**
   * Refusals (429, 503, 529) while the server answers none of ours, and broken answers, after which
   * a request is given up.
   */
  refusals: 4,
  breaks: 2,
  /** Answers in a row while it was full, after which one more is sent at once. */
  tryMoreAfter: 16,
  /** Requests sent within this time are one volley: the server may take them in any order. */
  volleyMs: 1_000,
  /**
   * How long one answer may keep the time of those from running that the server was sent after it.
   */
  holdMs: 300_000,
  /** A wait at the server that says something of its line. */
  serialAfterMs: 1_000,
  /** How often the same must be seen. */
  serialTimes: 2,
  /** Ended requests that are looked back at. */
  history: 64,
} as const;

export type QueueLimits = Readonly<Record<keyof typeof QUEUE_LIMITS, number>>;

/** Of an answer that is stopped: what the server can have written beside what came. */
export const STOPPED = {
  /** No model writes faster. */
  tokensPerSecond: 400,
  /** ms that words are on their way, and the stop is. */
  afterStopMs: 2_000,
  /** What a block takes beside its text: a call's name and marks. */
  tokensPerBlock: 64,
  /**
   * Of the event loop, in which the end of a line that came before the stop is noticed: read,
   * closed, and told on.
   */
  turns: 8,
} as const;

/** Looking for the one picture that a server refuses. */
export const SIGHT_LIMITS = {
  /**
   * Pictures and PDFs of one request that are left out one by one, the newest first; then all that
   * are new.
   */
  trials: 6,
  /**
   * Answers in a row for which something had to be left out, of a model that never took any, after
   * which it is sent none.
   */
  blindAfter: 3,
} as const;

/** Where a model reads little. */
export const ROOM_LIMITS = {
  /**
   * Tokens: an answer that can have fewer is not asked for. What is before it is made shorter
   * instead.
   */
  leastAnswer: 256,
  /** Bytes of a token, where no server has said how many a request had. */
  bytesPerToken: 3.6,
  /**
   * Of what the model reads, the part that tools may take. Where they take more, it is told of
   * none.
   */
  toolsMost: 0.6,
  /** Times that one request is made smaller. */
  tries: 4,
} as const;

/** Requests that are sent to one model server at once, where it takes as many. */
export const MAX_REQUESTS = 16;

export const OFFICIAL_API = 'https://api.anthropic.com';

/**
 * Models that think adaptively: Claude 4.6 and later, and everything from 5 on. 4.5 and older take
 * a token budget instead and answer `adaptive` with a 400.
 */
export const thinksAdaptively = (model: string): boolean => isFrom(model, 6);

/**
 * Models that search by themselves for deferred tools: from 4.5 on. One that does not after all
 * refuses, and is given our own search.
 */
export const searchesTools = (model: string): boolean => isFrom(model, 5);

/**
 * Models whose provider searches and reads the web for them: from 4 on. Where an account has that
 * switched off, it is refused once.
 */
export const readsWeb = (model: string): boolean => isFrom(model, 0);

/**
 * The provider's own tools for the web, in one request. A search costs `SEARCH_MICRO_USD`, a page
 * what its tokens cost.
 */
export const WEB_LIMITS = {
  searches: 5,
  fetches: 5,
  /** Tokens of one page. */
  fetchTokens: 30_000,
  /** Characters of a page that the person is shown in the call. */
  shownChars: 4_000,
} as const;

/** Whether it is Claude 4.`minor` or later. */
function isFrom(model: string, minor: number): boolean {
  const match = /^claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?:-|$)/.exec(model);
  if (!match) return model === 'claude-mythos-preview';
  const major = Number(match[1]);
  return major >= 5 || (major === 4 && Number(match[2] ?? 0) >= minor);
}

/**
 * Tokens that a model reads: what the person set, or what its name tells. Null: not known, and
 * learned: a model that refuses says how much it reads, or is asked with less until it answers.
 */
export const windowTokensOf = (model: string, set: number): number | null =>
  set > 0 ? set : (readsOf(model)?.windowTokens ?? null);
