/**
 * What an agent at work needs of its surroundings, and all that it may reach for. Whoever starts it
 * gives it.
 */
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { Costs } from '../../contracts/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Mind } from '../minds/index.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { ReadAround } from './around.ts';
import type { WaitingAgents } from './waiting.ts';
import type { TeamTools } from './team-tools.ts';
import type { WriteEvents } from './record.ts';
import type { RunLimits } from './settings.ts';

/** Whether an agent is set to sleep, for whoever is about to ask something of its mind. */
export interface Rest {
  isPaused(agentId: AgentId): boolean;
  /**
   * Resolves when it is not, or `signal` aborts. False: it never will be, nothing may be asked of
   * it any more.
   */
  untilResumed(agentId: AgentId, signal: AbortSignal): Promise<boolean>;
}

/** How much one answer may be, and how much its model reads. */
export interface AnswerRoom {
  readonly maxAnswerTokens: number;
  /** 0: not known. */
  readonly contextTokens: number;
}

export interface RunContext {
  /** The session that this is a part of; null: none. */
  readonly sessionId: SessionId | null;
  /** Where it has a `current`, each answer is asked of what that is when the answer begins. */
  readonly mind: Mind;
  readonly costs: Pick<Costs, 'check'>;
  readonly rest: Rest;
  /** Tools that every agent has, besides those of this run. */
  readonly teamTools: Pick<TeamTools, 'all'>;
  /**
   * Before each turn: resolves with the way to end it, once nobody else has this agent’s turn; null
   * where `signal` aborts first.
   */
  readonly takeTurn: (agentId: AgentId, signal: AbortSignal) => Promise<(() => void) | null>;
  /** How things are just now. */
  readonly around: ReadAround;
  /** Who waits in line before the model's server. */
  readonly waiting: Pick<WaitingAgents, 'set'>;
  readonly room: AnswerRoom;
  readonly limits: RunLimits;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Its turn is over, and nothing more waits before it. */
  readonly onQuiet: (agentId: AgentId) => void;
  /**
   * A log that cannot be written ends the run, and nothing more is written. An event that does not
   * fit its schema is left out.
   */
  readonly record: WriteEvents;
  /** Something happened that must not: it ends at once, and the log says why as far as it can. */
  readonly fail: (error: unknown) => void;
}
