/**
 * A mind: given a conversation, it produces the next message. A mind stores nothing between
 * answers. Each request carries the whole conversation.
 */
import type { MindAnswer, MindError, MindListener, MindRequest } from './requests.ts';
import type { AgentId, RunId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { MindInfo } from '../../../src/shared/protocol/events.ts';

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

/** What an agent woke with, and what has been said since. */
export interface WokenTalk {
  /** Current value. */
  readonly soul: string | null;
  readonly transcript: string | null;
  /** Time of the last message in the wake payload, ms since the epoch. Null: there was none. */
  readonly asleepSince: number | null;
  /** Oldest first. */
  readonly said: readonly { readonly author: string; readonly time: number; readonly text: string }[];
  /** `said` is complete, and nothing was withdrawn. */
  readonly whole: boolean;
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
