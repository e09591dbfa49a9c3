/** A request to a mind, its answer, and the usage of it. */
import type { MindBlock, MindMessage, MindTool } from './messages.ts';
import type { Took } from '../../team/costs/contract.ts';
import type { Terms, Unreported } from '../../../src/shared/domain/request-cost.ts';
import type { Usage } from '../../../src/shared/protocol/documents.ts';

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
