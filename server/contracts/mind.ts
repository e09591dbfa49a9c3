/**
 * What a mind is to the relay: something that, given a conversation, says the next words. It keeps
 * nothing between answers; the conversation is handed in whole each time.
 */
import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import type Anthropic from '@anthropic-ai/sdk';
import type { Terms, Untold } from '../../src/shared/domain/request-cost.ts';
import type { Usage } from '../../src/shared/protocol/documents.ts';
import type { AgentId, RunId, SessionId } from '../../src/shared/domain/ids.ts';
import type { Picture } from '../../src/shared/domain/attachment.ts';
import type { MindInfo } from '../../src/shared/protocol/events.ts';
import type { Protocol } from '../../src/shared/protocol/models.ts';

// What a request to a model took, as its answer says.

/** What a request took, as far as its model told it; null: it was sent, and nothing was told. */
export type Took = {
  readonly usage: Usage;
  /** It told all of it. Else what was written is not known. */
  readonly whole: boolean;
  /** The part of the cache writes that stays for an hour. */
  readonly hourCacheWrites?: number;
  /** Millionths of a dollar that a program says it cost, where nothing else is known. */
  readonly reportedMicroUsd?: number;
  /** Searches that the server made. */
  readonly searches?: number;
  /** As far as it told them. */
  readonly terms?: Partial<Terms>;
  /** Not whole: the most that it wrote, where that is known better than by the longest answer. */
  readonly outputMost?: number;
  /** What its model said nothing of; left out: it told both. */
  readonly untold?: Untold;
} | null;

/** What a provider wants handed back with a block, unchanged, by the model that wrote it. */
export interface Sealed {
  readonly protocol: Protocol;
  readonly model: string;
  readonly data: SharedV3ProviderOptions;
}

export type MindBlock =
  | { readonly kind: 'text'; readonly text: string }
  /** What the person sent along. */
  | { readonly kind: 'picture'; readonly name: string; readonly picture: Picture }
  /** A PDF, in base64. */
  | { readonly kind: 'document'; readonly name: string; readonly data: string }
  /**
   * Kept only to be handed back unchanged within a tool loop. Never shown. One with an empty
   * signature cannot be handed back.
   */
  | { readonly kind: 'thinking'; readonly thinking: string; readonly signature: string; readonly sealed?: Sealed }
  | { readonly kind: 'redacted-thinking'; readonly data: string }
  /**
   * A search of the model's own, or what that found: as the provider wrote it, to be handed back
   * unchanged. Never shown.
   */
  | { readonly kind: 'tool-search'; readonly block: ToolSearchBlock }
  /** The same of a search of the web, or of a page that it read. Shown as calls. */
  | { readonly kind: 'web'; readonly block: WebBlock }
  | {
      readonly kind: 'tool-use';
      readonly toolUseId: string;
      readonly name: string;
      readonly input: unknown;
      /** Its input cannot be read, so it must not be run: why, as a sentence for the model. */
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

/** A use of the provider's own tools for the web, or its result. */
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
   * Deferred: a request lists it once `find_tool` has `found` it, or the model's own search has.
   */
  readonly waits?: 'unseen' | 'found';
  /** Of a deferred one: it is deferred only where the model does not search by itself. */
  readonly roomy?: true;
  /**
   * It finds the deferred ones; a model that searches by itself is given its own search instead.
   */
  readonly finds?: true;
  /** The model's provider carries it out by itself: minds of others are not told of it. */
  readonly provider?: 'web_search' | 'web_fetch';
}

/**
 * Who waits for the answer: requests of the first kind go before the others, in the line before a
 * model's server.
 */
export const PRIORITIES = ['person', 'wake', 'team'] as const;
/**
 * `person`: to what the person said. `wake`: the first words of an agent that was called. `team`:
 * anything else.
 */
export type Priority = (typeof PRIORITIES)[number];

/**
 * Where a request is. `waiting`: in line, at `position` (1 is next). `sent`: the server has it, and
 * it is its turn. `behind`: the server has it, and is busy with one of ours that it was sent
 * before.
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
   * Alternating roles, the first and the last one the user's; an answer that paused while its
   * provider searched is the last itself.
   */
  readonly messages: readonly MindMessage[];
  readonly tools: readonly MindTool[];
  readonly maxTokens: number;
  /**
   * What it begins with is asked again within the hour: the model's cache is to keep it so long,
   * which costs more to write.
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
  /** A sentence or two for people: what happened and what they can do. Never holds a key. */
  readonly message: string;
  /** The server's own words, where they are all that says why. Never holds a key. */
  readonly said?: string;
  /** The server has said that it will not pass soon. */
  readonly lasting?: boolean;
  /** `too-large`: how many tokens were sent, and how many the model reads, where it said so. */
  readonly tokens?: { readonly asked: number; readonly most: number };
}

/**
 * `end` by itself, `tools`: it wants results, `length`: it was cut at the limit, `refusal`: it
 * declined.
 */
export type StopReason = 'end' | 'tools' | 'length' | 'refusal';

export type MindAnswer =
  | {
      readonly ok: true;
      readonly blocks: readonly MindBlock[];
      readonly stop: StopReason;
      /** Null: of a mind that is a program of its own, which reports nothing. */
      readonly usage: Usage | null;
      /** What such a one reports that it cost, in millionths of a dollar. */
      readonly reportedMicroUsd?: number;
      /** Left out: all was told. */
      readonly untold?: Untold;
      /** Of its cache writes, those that stay for an hour. */
      readonly hourCacheWrites?: number;
      /** Searches of the web that its provider made: they cost by the piece. */
      readonly searches?: number;
      /** The terms that the model told. */
      readonly terms?: Partial<Terms>;
      /**
       * The model was told of no tools, because it cannot use any, or reads too little for them.
       */
      readonly toolless?: boolean;
      /** Most tokens that the answer could have, where that is fewer than were asked for. */
      readonly maxTokens?: number;
    }
  /**
   * `blocks` holds whole what was said before the error; a tool call or a thought cut short is left
   * out. `whole`: the model told all that it took.
   */
  | {
      readonly ok: false;
      readonly error: MindError;
      readonly blocks: readonly MindBlock[];
      readonly usage: Usage | null;
      readonly reportedMicroUsd?: number;
      readonly untold?: Untold;
      readonly hourCacheWrites?: number;
      readonly searches?: number;
      readonly terms?: Partial<Terms>;
      readonly whole: boolean;
      /**
       * Not whole: the most tokens that it can have written; null: not known, or, without `usage`,
       * that it was counted or not sent.
       */
      readonly outputMost: number | null;
    };

const NOTHING_TOLD = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/**
 * What is counted of an answer; `nothing`: it was not sent, or was counted as it ended without a
 * word of what it took.
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

export interface MindListener {
  /**
   * The server has had the request, and it ended without a word of what it took. Resolves with
   * whether it may be sent again.
   */
  onLost?(): Promise<boolean>;
  /** The next words, as they arrive. */
  onText(text: string): void;
  /**
   * A call of a tool that a mind, or its provider, runs by itself, to be shown. Returns the way to
   * tell its result.
   */
  onTool?(call: {
    readonly toolUseId: string;
    readonly name: string;
    readonly input: unknown;
  }): (result: string, isError: boolean) => void;
  /**
   * The answer was given without these pictures and PDFs, which the server could not read. `name`:
   * null: a tool showed it.
   */
  onLeftOut?(files: readonly { readonly digest: string; readonly name: string | null }[]): void;
  /** Called whenever that changes; time-outs count from the newest `sent`. */
  onState?(state: RequestState): void;
  readonly signal: AbortSignal;
}

/**
 * A mind of one agent alone, for one run of it: it keeps what it was told, and runs its tools by
 * itself.
 */
export interface AgentMind {
  /**
   * `itself`: its requests come through the relay and are counted there; `reports`: what it says
   * that they cost is.
   */
  readonly counts: 'itself' | 'reports';
  /** As `Mind.web`. */
  web?(model: string): boolean;
  /** As `Mind.searches`. */
  searches?(model: string): boolean;
  answer(request: MindRequest, listener: MindListener): Promise<MindAnswer>;
}

/** Whose turn it is. */
export interface MindOwner {
  readonly agentId: AgentId;
  readonly sessionId: SessionId | null;
  readonly runId: RunId;
}

export interface Mind {
  /** The models that answer, given what the person chose; empty takes the default. */
  models(chosen: { readonly lead: string; readonly agent: string }): MindInfo;
  /**
   * Of one that the person may change while the relay runs: what answers now. An answer that began
   * with it goes on with it.
   */
  current?(): Mind;
  /** Whether somebody else answers for this agent, in this run; null: this mind does. */
  of?(owner: MindOwner): Promise<AgentMind | null>;
  /** Whether this model's provider searches and reads the web by itself; left out: none does. */
  web?(model: string): boolean;
  /** Whether this model searches by itself for deferred tools; left out: none does. */
  searches?(model: string): boolean;
  /** One answer. Never rejects for what an upstream does: that is an answer with `ok: false`. */
  answer(request: MindRequest, listener: MindListener): Promise<MindAnswer>;
  close(): Promise<void>;
}

/** Does the demo answer, where no model is connected? */
export const isRehearsal = (mind: Pick<Mind, 'models'>): boolean =>
  mind.models({ lead: '', agent: '' }).kind === 'rehearsal';
