/**
 * The contract of a mind: given a conversation, it produces the next message. A mind stores nothing
 * between answers. Each request carries the whole conversation.
 */
import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import type Anthropic from '@anthropic-ai/sdk';
import type { Terms, Unreported } from '../../src/shared/domain/request-cost.ts';
import type { Usage } from '../../src/shared/protocol/documents.ts';
import type { AgentId, RunId, SessionId } from '../../src/shared/domain/ids.ts';
import type { Picture } from '../../src/shared/domain/attachment.ts';
import type { MindInfo } from '../../src/shared/protocol/events.ts';
import type { Protocol } from '../../src/shared/protocol/models.ts';

// Usage of one model request, as reported in its answer.

/**
 * Usage of one request, as far as the model reported it. Null: the request was sent, and nothing
 * was reported.
 */
export type Took = {
  readonly usage: Usage;
  /** The report is complete. Otherwise the output is unknown. */
  readonly whole: boolean;
  /** The part of the cache writes that lives for an hour. */
  readonly hourCacheWrites?: number;
  /**
   * Cost that an ACP agent reports, in millionths of a dollar. Used where nothing else is known.
   */
  readonly reportedMicroUsd?: number;
  /** Searches that the server made. */
  readonly searches?: number;
  /** As far as the model reported them. */
  readonly terms?: Partial<Terms>;
  /**
   * For an incomplete report: the most tokens that the model can have written, where that is known
   * more precisely than the longest possible answer.
   */
  readonly outputMost?: number;
  /** Usage that the model did not report. Left out: it reported all. */
  readonly untold?: Unreported;
} | null;

/** Opaque provider data of a block. It must be sent back unchanged to the model that wrote it. */
export interface Sealed {
  readonly protocol: Protocol;
  readonly model: string;
  readonly data: SharedV3ProviderOptions;
}

export type MindBlock =
  | { readonly kind: 'text'; readonly text: string }
  /** An attachment of the person. */
  | { readonly kind: 'picture'; readonly name: string; readonly picture: Picture }
  /** A PDF, in base64. */
  | { readonly kind: 'document'; readonly name: string; readonly data: string }
  /**
   * Stored to be sent back unchanged within a tool loop. Its text is shown as a call of `THOUGHT`.
   * A block with an empty signature cannot be sent back.
   */
  | { readonly kind: 'thinking'; readonly thinking: string; readonly signature: string; readonly sealed?: Sealed }
  | { readonly kind: 'redacted-thinking'; readonly data: string }
  /**
   * A tool search that the model ran itself, or its result. Stored as the provider wrote it and
   * sent back unchanged. Never shown.
   */
  | { readonly kind: 'tool-search'; readonly block: ToolSearchBlock }
  /** A web search or page read that the provider ran, or its result. Shown as tool calls. */
  | { readonly kind: 'web'; readonly block: WebBlock }
  | {
      readonly kind: 'tool-use';
      readonly toolUseId: string;
      readonly name: string;
      readonly input: unknown;
      /** The input cannot be parsed, so the call must not run. The text tells the model why. */
      readonly unreadable?: string;
      readonly sealed?: Sealed;
    }
  | {
      readonly kind: 'tool-result';
      readonly toolUseId: string;
      readonly text: string;
      readonly isError: boolean;
      readonly picture?: Picture;
    };

/** A use of the provider's own web tools, or its result. */
export type WebBlock = Extract<
  Anthropic.ContentBlock,
  { type: 'server_tool_use' | 'web_search_tool_result' | 'web_fetch_tool_result' }
>;
export type ToolSearchBlock = Extract<Anthropic.ContentBlock, { type: 'server_tool_use' | 'tool_search_tool_result' }>;

export interface MindMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly MindBlock[];
}

export interface MindTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** What `#/$defs/…` in the properties refers to. */
  readonly definitions?: Readonly<Record<string, unknown>>;
  /**
   * A deferred tool. A request lists it once `find_tool`, or the model's own search, has `found`
   * it.
   */
  readonly waits?: 'unseen' | 'found';
  /** For a deferred tool: it is deferred only where the model does not search by itself. */
  readonly roomy?: true;
  /** This tool finds the deferred ones. A model with its own tool search gets that instead. */
  readonly finds?: true;
  /** The model's provider runs this tool itself. Minds of other providers do not see it. */
  readonly provider?: 'web_search' | 'web_fetch';
}

/** Who waits for the answer. The queue of a model server serves the kinds in this order. */
export const PRIORITIES = ['person', 'wake', 'team'] as const;
/**
 * `person`: answers the person's message. `wake`: the first message of an agent that was woken.
 * `team`: anything else.
 */
export type Priority = (typeof PRIORITIES)[number];

/**
 * Where a request is. `waiting`: in the queue at `position` (1 is next). `sent`: the server has it
 * and works on it. `behind`: the server has it, and first works on an earlier request of ours.
 */
export type RequestState =
  | { readonly kind: 'waiting'; readonly position: number }
  | { readonly kind: 'sent' }
  | { readonly kind: 'behind' };

export interface MindRequest {
  readonly priority: Priority;
  readonly model: string;
  readonly system: string;
  /**
   * Roles alternate. The first and the last message are the user's. Exception: an answer that
   * paused for the provider's search comes last itself.
   */
  readonly messages: readonly MindMessage[];
  readonly tools: readonly MindTool[];
  readonly maxTokens: number;
  /**
   * Another request with the same beginning follows within the hour. The model should cache it that
   * long, which costs more to write.
   */
  readonly cachesForAnHour?: boolean;
}

export type MindErrorKind =
  | 'aborted'
  | 'bad-key'
  | 'no-such-model'
  | 'no-such-address'
  | 'overloaded'
  | 'rate-limited'
  | 'out-of-credit'
  | 'unreachable'
  | 'stream-cut'
  | 'too-large'
  | 'refused-request'
  | 'upstream-broken';

export interface MindError {
  readonly kind: MindErrorKind;
  /** One or two sentences for people: what happened and what they can do. Never contains a key. */
  readonly message: string;
  /** The server's own error text, where only that explains the failure. Never contains a key. */
  readonly said?: string;
  /** The server said that the failure will not pass soon. */
  readonly lasting?: boolean;
  /** For `too-large`: tokens sent, and the model's limit, where the server reported them. */
  readonly tokens?: { readonly asked: number; readonly most: number };
}

/**
 * `end`: the model finished. `tools`: it wants results. `length`: the limit cut it off. `refusal`:
 * it declined.
 */
export type StopReason = 'end' | 'tools' | 'length' | 'refusal';

export type MindAnswer =
  | {
      readonly ok: true;
      readonly blocks: readonly MindBlock[];
      readonly stop: StopReason;
      /** Null: the mind is an ACP agent, which reports none. */
      readonly usage: Usage | null;
      /** Cost that an ACP agent reports, in millionths of a dollar. */
      readonly reportedMicroUsd?: number;
      /** Left out: all usage was reported. */
      readonly untold?: Unreported;
      /** The part of the cache writes that lives for an hour. */
      readonly hourCacheWrites?: number;
      /** Web searches by the provider, which charges per search. */
      readonly searches?: number;
      /** The terms that the model reported. */
      readonly terms?: Partial<Terms>;
      /** The model received no tools: it cannot use any, or its context is too small for them. */
      readonly toolless?: boolean;
      /** Most tokens that the answer could have, where that is fewer than were asked for. */
      readonly maxTokens?: number;
    }
  /**
   * `blocks`: everything complete that was said before the error. A tool call or thought that was
   * cut short is left out. `whole`: the model reported its whole usage.
   */
  | {
      readonly ok: false;
      readonly error: MindError;
      readonly blocks: readonly MindBlock[];
      readonly usage: Usage | null;
      readonly reportedMicroUsd?: number;
      readonly untold?: Unreported;
      readonly hourCacheWrites?: number;
      readonly searches?: number;
      readonly terms?: Partial<Terms>;
      readonly whole: boolean;
      /**
       * For an incomplete report: the most tokens that the model can have written. Null: unknown.
       * Without `usage`, null means that the request was already counted, or never sent.
       */
      readonly outputMost: number | null;
    };

const NOTHING_TOLD = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/**
 * The usage to count for an answer. `nothing`: the request was not sent, or was already counted
 * when it ended without a usage report.
 */
export function tookOf(model: string, answer: MindAnswer): NonNullable<Took> | 'nothing' {
  if (!answer.usage) {
    if (answer.ok || answer.outputMost === null) return 'nothing';
    return {
      usage: { model, ...NOTHING_TOLD },
      whole: false,
      untold: { input: true, output: true },
      outputMost: answer.outputMost,
    };
  }
  const {
    usage,
    hourCacheWrites = 0,
    searches = 0,
    terms = {},
    untold = { input: false, output: false },
    reportedMicroUsd,
  } = answer;
  const told = {
    usage,
    hourCacheWrites,
    searches,
    terms,
    untold,
    ...(reportedMicroUsd === undefined ? {} : { reportedMicroUsd }),
  };
  if (answer.ok || answer.whole) return { ...told, whole: true };
  return { ...told, whole: false, ...(answer.outputMost === null ? {} : { outputMost: answer.outputMost }) };
}

/** What has become of a request that was left with a model server. */
export type BatchState =
  | { readonly kind: 'pending' }
  | { readonly kind: 'answered'; readonly answer: Extract<MindAnswer, { ok: true }> }
  /** The server did not come to it within a day, or it was cancelled. It costs nothing. */
  | { readonly kind: 'expired' | 'cancelled' }
  /** The server could not answer it, or does not have it any more. It costs nothing. */
  | { readonly kind: 'failed'; readonly error: MindError }
  /** The server cannot be asked now. */
  | { readonly kind: 'unknown'; readonly error: MindError };

export type BatchSubmitted =
  | { readonly ok: true; readonly batchId: string }
  /**
   * `isMissing`: the server takes no batches. `mayHaveArrived`: the server may have taken it, and
   * only the id is lost.
   */
  | { readonly ok: false; readonly error: MindError; readonly isMissing: boolean; readonly mayHaveArrived: boolean };

/** Requests that a model server answers within a day, at half the price. */
export interface MindBatches {
  /** Leaves one request with the server. It is never sent a second time. */
  submit(request: MindRequest, signal: AbortSignal): Promise<BatchSubmitted>;
  /** `model`: of the request. */
  read(batchId: string, model: string, signal: AbortSignal): Promise<BatchState>;
  /** Asks the server to cancel it. `read` tells what came of that. Never rejects. */
  cancel(batchId: string, signal: AbortSignal): Promise<void>;
}

export interface MindListener {
  /**
   * The server received the request, and it ended without a usage report. Resolves with whether the
   * request may be sent again.
   */
  onLost?(): Promise<boolean>;
  /** The next part of the text, as it arrives. */
  onText(text: string): void;
  /**
   * The mind, or its provider, runs a tool by itself. Called to show it. Returns a function that
   * reports the result.
   */
  onTool?(call: {
    readonly toolUseId: string;
    readonly name: string;
    readonly input: unknown;
  }): (result: string, isError: boolean) => void;
  /**
   * The answer was made without these pictures and PDFs, because the server could not read them.
   * `name`: null where a tool returned the file.
   */
  onLeftOut?(files: readonly { readonly digest: string; readonly name: string | null }[]): void;
  /** Called on every change of state. Time-outs count from the newest `sent`. */
  onState?(state: RequestState): void;
  readonly signal: AbortSignal;
}

/** A mind of one agent for one run. It remembers the conversation and runs its tools by itself. */
export interface AgentMind {
  /**
   * `itself`: its requests go through the relay and are counted there. `reports`: the costs that it
   * reports are counted.
   */
  readonly counts: 'itself' | 'reports';
  /** As `Mind.web`. */
  web?(model: string): boolean;
  /** As `Mind.searches`. */
  searches?(model: string): boolean;
  answer(request: MindRequest, listener: MindListener): Promise<MindAnswer>;
}

/** The agent and run that a turn belongs to. */
export interface MindOwner {
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  readonly runId: RunId;
}

export interface Mind {
  /** The models that answer, given the person's choice. An empty choice selects the default. */
  models(chosen: { readonly lead: string; readonly agent: string }): MindInfo;
  /**
   * For a mind that the person may replace while the relay runs: the mind that answers now. An
   * answer keeps the mind with which it began.
   */
  current?(): Mind;
  /** The agent's own mind for this run. Null: this mind answers. */
  of?(owner: MindOwner): Promise<AgentMind | null>;
  /**
   * Whether the provider of this model searches and reads the web by itself. Left out: none does.
   */
  web?(model: string): boolean;
  /** Whether this model searches for deferred tools by itself. Left out: none does. */
  searches?(model: string): boolean;
  /**
   * The server of this model drops in silence what has more tokens than these. False: that is known
   * already. Left out: nobody remembers it.
   */
  readsOnly?(model: string, tokens: number): boolean;
  /** Tokens that the server of this model has stated as its window. Null: none. */
  window?(model: string): number | null;
  /** The batches of this model's server. Null or left out: it takes none. */
  batches?(model: string): MindBatches | null;
  /** The server of this model has stated its window. */
  learn?(model: string, tokens: number): void;
  /**
   * Produces one answer. Never rejects for a failure of the model server: that is an answer with
   * `ok: false`.
   */
  answer(request: MindRequest, listener: MindListener): Promise<MindAnswer>;
  close(): Promise<void>;
}

/** What a mind passes on that answers by another, chosen by the requested model. */
export const passedOn = (
  mindOf: (model: string) => Mind,
): Required<Pick<Mind, 'web' | 'searches' | 'readsOnly' | 'window' | 'learn' | 'batches'>> & Pick<Mind, 'answer'> => ({
  web: (model) => mindOf(model).web?.(model) ?? false,
  searches: (model) => mindOf(model).searches?.(model) ?? false,
  readsOnly: (model, tokens) => mindOf(model).readsOnly?.(model, tokens) ?? true,
  window: (model) => mindOf(model).window?.(model) ?? null,
  learn: (model, tokens) => mindOf(model).learn?.(model, tokens),
  batches: (model) => mindOf(model).batches?.(model) ?? null,
  answer: (request, listener) => mindOf(request.model).answer(request, listener),
});

/** Whether the demo mind answers because no model is connected. */
export const isRehearsal = (mind: Pick<Mind, 'models'>): boolean =>
  mind.models({ lead: '', agent: '' }).kind === 'rehearsal';
