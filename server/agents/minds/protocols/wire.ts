/**
 * What a protocol is to a mind: it sends one request, and reads the answer into the events that all
 * protocols share.
 */
import type { MindRequest } from '../../../contracts/mind.ts';
import type { WireEvent } from '../wire-events.ts';
import type { Shape } from '../wire.ts';

export interface SentRequest {
  /** Of the answer. An error in mid-stream is reported with them. */
  readonly headers: Headers | undefined;
  /**
   * Reads the answer. `patience`: asked before each read, ms to wait for what comes next. After
   * that the answer counts as ended. Rejects with what broke it off.
   */
  events(patience: () => number): AsyncGenerator<WireEvent, void, undefined>;
}

export interface Wire {
  /**
   * Rejects with an error of the Messages API's SDK, which all protocols use: refused, out of
   * reach, or aborted.
   */
  send(request: MindRequest, shape: Shape, signal: AbortSignal): Promise<SentRequest>;
}

export interface WireConfig {
  readonly key: string | null;
  /** What the protocol's path is put behind. */
  readonly baseURL: string;
  readonly fetch: typeof globalThis.fetch;
}
