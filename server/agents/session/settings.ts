import { DEFAULT_SETTINGS } from '../../../src/shared/domain/settings.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { AnswerRoom } from '../runs/context.ts';
import { RUN_LIMITS, type RunLimits } from '../runs/settings.ts';

/** All limits of the session that are not settings of the household. */
export interface SessionLimits extends RunLimits {
  /** Times at which an egg without a name is asked again, as parts of `birthTimeoutMs`. */
  readonly nudgesAt: readonly number[];
  /** Multiple of `birthTimeoutMs` until which an egg with a name may write. */
  readonly writesUntil: number;
  /** How often an egg whose model uses no tools is asked for its name in words. */
  readonly namesAsked: number;
  /** ms after its last call during which a client counts as present. */
  readonly clientSilentMs: number;
  /** Characters of each called agent's soul that the lead gets; 0: none. */
  readonly soulFirstWords: number;
  /** Characters of an agent's conversation in this session that its client can read back. */
  readonly conversationChars: number;
  /** ms before the second try of an agent whose failure may be temporary. */
  readonly secondTryMs: number;
  /**
   * The most ms that the gate's records of a wake wait for all of its requests to begin, and then
   * for the last of them to leave. Earlier writes would delay the requests.
   */
  readonly askedWithinMs: number;
  readonly askedLeaveMs: number;
  /** Number of the person's withdrawn messages that are remembered. */
  readonly withdrawn: number;
  /** Messages of the person after which an agent may note what matters before it sleeps. */
  readonly noteLeastSaid: number;
  /** ms for which the end of a session waits for these notes. */
  readonly noteWaitMs: number;
  /** Most requests of such a note, and tokens of each answer. */
  readonly noteRequests: number;
  readonly noteAnswerTokens: number;
  /** ms of quiet after the first conversation before a lead without a soul is asked for one. */
  readonly soulQuietMs: number;
}

export const SESSION_LIMITS: SessionLimits = {
  ...RUN_LIMITS,
  nudgesAt: [1 / 3, 2 / 3],
  writesUntil: 3,
  namesAsked: 3,
  withdrawn: 1_000,
  clientSilentMs: 15 * 60_000,
  soulFirstWords: 300,
  conversationChars: DEFAULT_SETTINGS.transcriptCap,
  secondTryMs: 3_000,
  askedWithinMs: 1_000,
  askedLeaveMs: 50,
  soulQuietMs: 30_000,
  noteLeastSaid: 6,
  noteWaitMs: 20_000,
  noteRequests: 3,
  noteAnswerTokens: 1_024,
};

/** The household's settings for a session, with defaults. */
export interface SessionSettings extends AnswerRoom {
  readonly wakeTimeoutMs: number;
  readonly birthTimeoutMs: number;
  readonly idleMs: number;
}

/** Fills in the defaults. */
export function settingsOf(settings: StartSession['settings'] = {}): SessionSettings {
  const { maxAnswerTokens, contextTokens, wakeTimeoutMs, birthTimeoutMs, idleMs } = DEFAULT_SETTINGS;
  return {
    maxAnswerTokens: settings.maxAnswerTokens ?? maxAnswerTokens,
    contextTokens: settings.contextTokens ?? contextTokens,
    wakeTimeoutMs: settings.wakeTimeoutMs ?? wakeTimeoutMs,
    birthTimeoutMs: settings.birthTimeoutMs ?? birthTimeoutMs,
    idleMs: settings.idleMs ?? idleMs,
  };
}
