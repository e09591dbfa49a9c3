import { QUOTAS } from '../../platform/quotas.ts';

/** Limits and times of the MCP server. */
export interface McpSettings {
  /** ms between two progress notifications of a call that waits for its agent to be woken. */
  readonly progressEveryMs: number;
  /** ms between two comments on a silent stream, for proxies that cut silent ones. */
  readonly keepAliveMs: number;
  /** Bytes of one request. */
  readonly bodyBytes: number;
  /** Open `initialize` sessions. */
  readonly sessions: number;
  /** Of these, sessions of one credential. */
  readonly sessionsOfOne: number;
  /**
   * ms without a request after which another session of the same credential may replace a session.
   */
  readonly ownIdleMs: number;
  /**
   * ms between two refreshes of this process's sessions, where several processes count them
   * together.
   */
  readonly seenEveryMs: number;
  /** ms without a refresh after which a session's process counts as dead. */
  readonly deadMs: number;
  /** ms without a request after which any other session may replace a session. */
  readonly sessionIdleMs: number;
  /** ms that running calls get for their last answer when their credential is revoked. */
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
