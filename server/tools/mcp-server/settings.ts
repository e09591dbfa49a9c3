import { QUOTAS } from '../../platform/quotas.ts';

/** Everything about the MCP server that is a number. */
export interface McpSettings {
  /** ms between two progress notifications of a call that waits for its agent to be woken. */
  readonly progressEveryMs: number;
  /**
   * ms between two comments on a stream that is otherwise silent, for proxies that cut what is
   * silent.
   */
  readonly keepAliveMs: number;
  /** Bytes that one request may carry. */
  readonly bodyBytes: number;
  /** `initialize` sessions that may be open at once. */
  readonly sessions: number;
  /** Of these, sessions of one credential. */
  readonly sessionsOfOne: number;
  /**
   * ms without a request after which a session may make place for another of the same credential.
   */
  readonly ownIdleMs: number;
  /**
   * ms between two signs of life of this process's sessions, where several processes count them
   * together.
   */
  readonly seenEveryMs: number;
  /** ms without one, after which a session's process counts as dead. */
  readonly deadMs: number;
  /** ms without a request after which a session may make place for another. */
  readonly sessionIdleMs: number;
  /** ms that calls under way get for their last answer when their credential is revoked. */
  readonly revokeGraceMs: number;
}

export const MCP_SETTINGS: McpSettings = {
  progressEveryMs: 5_000,
  keepAliveMs: 15_000,
  bodyBytes: 4_194_304,
  sessions: 256,
  sessionsOfOne: QUOTAS.mcpSessions.ofOneCredential,
  ownIdleMs: QUOTAS.mcpSessions.makesRoomAfterMs,
  seenEveryMs: 5_000,
  deadMs: 20_000,
  sessionIdleMs: 600_000,
  revokeGraceMs: 1_000,
};
