import { PULSE_BOUNDS } from '../../../src/shared/domain/guardrails.ts';
import { MESSAGE_BATCH_LIMITS, type MessageBatchLimits } from '../../../src/shared/domain/message-batch.ts';
import type { WindowLimits } from './conversation.ts';

/** Every limit of an agent at work that is not a setting of the household, in one place. */
export interface RunLimits {
  /**
   * Most requests to the mind for one answer; each use of tools takes one more. Enough for a piece
   * of work in a folder; what it costs is bounded by budgets.
   */
  readonly maxTurns: number;
  /**
   * Characters of what tools answered in one turn after which no further call of that turn is run:
   * each alone is bounded, and a mind may call many at once.
   */
  readonly resultCharacters: number;
  /**
   * Turns in a row in which a model called tools and no call could be read, after which its answer
   * is given up: each is paid.
   */
  readonly unreadableTurns: number;
  /** Of what waits, so much is put before an agent in one turn. */
  readonly messages: MessageBatchLimits;
  readonly window: WindowLimits;
  /** ms after which an agent is told the time again, with what is said next. */
  readonly timeEveryMs: number;
  /**
   * Most of Roost's own tools that a mind is told of from the start, where its model searches for
   * the others by itself.
   */
  readonly toolsAtOnce: number;
  /**
   * The same of any other model, with `find_tool` among them: servers of one's own have small
   * contexts.
   */
  readonly toolsWithoutSearch: number;
  /**
   * Tools of attached servers that a mind is told of at once; with more, all of them wait until
   * they are found.
   */
  readonly attachedAtOnce: number;
  /** Tools that one search finds at most. */
  readonly toolsFound: number;
}

export const RUN_LIMITS: RunLimits = {
  maxTurns: PULSE_BOUNDS.pulse_max_turns.otherwise,
  resultCharacters: 200_000,
  unreadableTurns: 2,
  messages: MESSAGE_BATCH_LIMITS,
  window: { fullAt: 0.9, keep: 0.6, least: 0.25, tries: 12 },
  timeEveryMs: 900_000,
  toolsAtOnce: 10,
  toolsWithoutSearch: 6,
  attachedAtOnce: 5,
  toolsFound: 8,
};

/** When a server is said to have read less than it was sent. */
export const READ_LESS = {
  /** Of English prose, about. */
  charactersPerToken: 4,
  /** No text has more: beyond it, something was left out. */
  mostCharactersPerToken: 10,
  /** Characters of a request below which nothing is said. */
  fromCharacters: 12_000,
  /** Tokens below which a count is none of what was read: no model reads so little. */
  fromTokens: 1_000,
  /** Tokens that a count of what is new may have beside the newest message. */
  slack: 500,
} as const;
