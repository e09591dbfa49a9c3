/** The connection to one MCP server, as its parts know it. */
import type { AuthProvider } from '@modelcontextprotocol/client';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { McpServer, Attachment } from '../../../src/shared/protocol/mcp.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import type { ListedTool, ReadAnswer } from './offered.ts';
import type { McpLimits } from './settings.ts';
import type { Asks } from './elicitation.ts';
import type { Starts } from './program.ts';

export interface LinkStatus {
  readonly state: McpServer['state'];
  /** A sentence for the person. Null: no problem. */
  readonly problem: string | null;
  /** The tools of the last list. Null: no list yet. */
  readonly tools: readonly ListedTool[] | null;
}

/** The server was unreachable, or the connection broke: a sentence for the caller. */
export class LinkError extends Error {
  /** The call did not run. It may be made again on a new connection. */
  readonly isUndone: boolean;
  constructor(message: string, { isUndone = false, ...options }: ErrorOptions & { isUndone?: boolean } = {}) {
    super(message, options);
    this.isUndone = isUndone;
  }
}

export interface Link {
  status(): LinkStatus;
  /**
   * Resolves when the server is connected and its tools are known, or when that failed. After a
   * recent failure it resolves with that failure until the pause is over.
   */
  open(): Promise<LinkStatus>;
  /** As `open`, but without the pause, and lists the tools again. For the person's request. */
  retry(): Promise<LinkStatus>;
  /**
   * Throws `LinkError`. `asks`: the way to the person, for questions during the call. `again`: the
   * server refused this call once without running it. A second refusal is the answer.
   */
  call(
    tool: string,
    input: Record<string, unknown>,
    asks: Asks,
    signal: AbortSignal,
    again?: boolean,
  ): Promise<ReadAnswer & { readonly isError: boolean }>;
  /** Resolves when nothing of the connection runs any more. */
  close(): Promise<void>;
}

export interface LinkDeps extends Starts {
  readonly attachment: Attachment;
  /** Supplies the token for each request. Null: the server has no sign-in. */
  readonly auth: AuthProvider | null;
  /**
   * The server refused the renewed token too. `scope`: it accepted the token, but needs this
   * further scope.
   */
  readonly onTokenRefused?: (scope?: string) => void;
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
  readonly timers: Timers;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  /**
   * Removes the server's secrets from its output, so that neither an agent nor the person sees
   * them.
   */
  readonly filter: KeyFilter;
  /** The state or the tools have changed. */
  readonly onChange: () => void;
  readonly limits?: McpLimits;
}

/**
 * The transport: streamable HTTP (`requests`), or HTTP with SSE of the revision of 2024-11-05
 * (`stream`).
 */
export type Way = 'requests' | 'stream';
