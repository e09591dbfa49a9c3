import { DEFAULT_SETTINGS } from '../../../src/shared/domain/settings.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { AnswerRoom } from '../runs/context.ts';
import { RUN_LIMITS, type RunLimits } from '../runs/settings.ts';

/** Every limit of the session engine that is not a setting of the household, in one place. */
export interface SessionLimits extends RunLimits {
  /** When an egg without a name is asked again, as parts of `birthTimeoutMs`. */
  readonly nudgesAt: readonly number[];
  /** As a multiple of `birthTimeoutMs`: an egg that has a name may go on writing until then. */
  readonly writesUntil: number;
  /** Times that an egg whose model uses no tools is asked for its name in words. */
  readonly namesAsked: number;
  /** ms after its last call for which a client counts as there. */
  readonly clientSilentMs: number;
  /** Characters of each soul that the lead is told of whom is called; 0: none. */
  readonly soulFirstWords: number;
  /**
   * Characters of what is said to and by an agent in this session that its client can read back.
   */
  readonly conversationChars: number;
  /** ms before an agent that failed for a reason that may pass is asked once more. */
  readonly secondTryMs: number;
  /**
   * ms for which the gate's records of a wake wait at most for all of its requests, and then for
   * the last of them to leave: what is written meanwhile would hold them up.
   */
  readonly askedWithinMs: number;
  readonly askedLeaveMs: number;
  /** Messages of the person's that were taken back and are remembered as such. */
  readonly takenBack: number;
  /** ms of quiet after the first talk with a lead that has no soul, before it is asked for one. */
  readonly soulQuietMs: number;
}

export const SESSION_LIMITS: SessionLimits = {
  ...RUN_LIMITS,
  nudgesAt: [1 / 3, 2 / 3],
  writesUntil: 3,
  namesAsked: 3,
  takenBack: 1_000,
  clientSilentMs: 15 * 60_000,
  soulFirstWords: 300,
  conversationChars: DEFAULT_SETTINGS.transcriptCap,
  secondTryMs: 3_000,
  askedWithinMs: 1_000,
  askedLeaveMs: 50,
  soulQuietMs: 30_000,
};

/** The household's settings that a session keeps, with defaults filled in. */
export interface SessionSettings extends AnswerRoom {
  readonly wakeTimeoutMs: number;
  readonly birthTimeoutMs: number;
  readonly idleMs: number;
}

/** The household's settings, with defaults filled in. */
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
