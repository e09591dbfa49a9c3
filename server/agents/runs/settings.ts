import { NUMBERS } from '../../../src/shared/domain/setting-table.ts';
import { MESSAGE_BATCH_LIMITS, type MessageBatchLimits } from '../../../src/shared/domain/message-batch.ts';
import type { CompactionLimits } from '../../../src/shared/domain/compaction.ts';
import type { WindowLimits } from './conversation.ts';

/** All limits of an agent at work that are not settings of the household. */
export interface RunLimits {
  /**
   * Most requests to the mind for one answer. Each use of tools takes one more. The limit allows
   * for a piece of work in a folder. Budgets limit its cost.
   */
  readonly maxTurns: number;
  /**
   * Characters of results in one turn after which no further call of that turn is run. Each result
   * is limited by itself, but a mind may make many calls at once.
   */
  readonly resultCharacters: number;
  /**
   * An answer fails after this many turns in a row in which the model called tools and no call
   * could be read. Each such turn costs money.
   */
  readonly unreadableTurns: number;
  /** How many waiting messages are delivered in one turn. */
  readonly messages: MessageBatchLimits;
  readonly window: WindowLimits;
  readonly compaction: CompactionLimits;
  /** ms after which the next message tells the agent the time again. */
  readonly timeEveryMs: number;
  /**
   * Most of Roost's tools that a mind is offered from the start, if its model can search for the
   * others.
   */
  readonly toolsAtOnce: number;
  /**
   * The same for all other models, with `find_tool` included. Local servers have small contexts.
   */
  readonly toolsWithoutSearch: number;
  /**
   * Tools of MCP servers that a mind is offered at once. If there are more, all of them are
   * deferred until they are found.
   */
  readonly mcpToolsAtOnce: number;
  /** Most results of one tool search. */
  readonly toolsFound: number;
}

export const RUN_LIMITS: RunLimits = {
  maxTurns: NUMBERS.pulse_max_turns.otherwise,
  resultCharacters: 200_000,
  unreadableTurns: 2,
  messages: MESSAGE_BATCH_LIMITS,
  window: { fullAt: 0.75, nearAt: 0.6, keep: 0.6, least: 0.25, tries: 12, unknown: 32_000 },
  compaction: {
    keep: 0.2,
    least: 4_000,
    leastShare: 0.1,
    answerTokens: 8_192,
    mostCharacters: 12_000,
    share: 1 / 4,
    resultCharacters: 2_000,
    inputCharacters: 600,
    wordCharacters: 8,
  },
  timeEveryMs: 900_000,
  toolsAtOnce: 10,
  toolsWithoutSearch: 6,
  mcpToolsAtOnce: 5,
  toolsFound: 8,
};

/** When a server counts as having read less than it was sent. */
export const READ_LESS = {
  /** Approximate, for English prose. */
  charactersPerToken: 4,
  /** No text has more characters per token. Beyond this, something was dropped. */
  mostCharactersPerToken: 10,
  /** Characters of a request below which nothing is reported. */
  fromCharacters: 12_000,
  /** Smallest plausible token count: no model reads less. */
  fromTokens: 1_000,
  /** Tokens that a count of new tokens may have beyond the newest message. */
  slack: 500,
  /** Characters by which a request must have grown where the count stayed the same. */
  grewFrom: 400,
  /** The same where the count changed. */
  grewMuch: 2_000,
} as const;
