import { MAIL_LIMITS, type MailLimits } from '../../src/domain/mail-batch.ts';
import { DEFAULT_SETTINGS } from '../../src/domain/settings.ts';
import type { WindowLimits } from './window.ts';

/** Every limit of the session engine that is not a setting of the household, in one place. */
export interface SessionLimits {
  /** ms that words are gathered before they become one `text` event. */
  readonly textBatchMs: number;
  /** Most requests to the mind for one answer; each use of tools takes one more. */
  readonly maxTurns: number;
  /** When an egg without a name is asked again, as parts of `birthTimeoutMs`. */
  readonly nudgesAt: readonly number[];
  /** ms after its last call for which a client counts as there. */
  readonly clientSilentMs: number;
  /** Characters of each soul that the lead is told of whom is called; 0: none. */
  readonly soulFirstWords: number;
  /** Characters of what is said to and by an agent in this session that its client can read back. */
  readonly conversationChars: number;
  /** ms before an agent that failed for a reason that may pass is asked once more. */
  readonly secondTryMs: number;
  /** Of what waits, so much is put before an agent in one turn. */
  readonly mail: MailLimits;
  /** ms for which the gate's records of a wake wait at most for all of its requests, and then for the last of them to leave: what is written meanwhile would hold them up. */
  readonly askedWithinMs: number;
  readonly askedLeaveMs: number;
  readonly window: WindowLimits;
  /** ms of quiet after the first talk with a lead that has no soul, before it is asked for one. */
  readonly soulQuietMs: number;
  /** ms after which an agent is told the time again, with what is said next. */
  readonly timeEveryMs: number;
}

export const SESSION_LIMITS: SessionLimits = {
  textBatchMs: 30,
  maxTurns: 10,
  nudgesAt: [1 / 3, 2 / 3],
  clientSilentMs: 15 * 60_000,
  soulFirstWords: 300,
  conversationChars: DEFAULT_SETTINGS.transcriptCap,
  secondTryMs: 3_000,
  mail: MAIL_LIMITS,
  askedWithinMs: 1_000,
  askedLeaveMs: 50,
  window: { fullAt: 0.9, keep: 0.6, least: 0.25, tries: 12 },
  timeEveryMs: 900_000,
  soulQuietMs: 30_000,
};
