/**
 * The environment of an agent at work: everything that it may use. The code that starts the run
 * provides it.
 */
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import { momentText } from '../../../src/shared/domain/zone-days.ts';
import { teammatesText } from '../../../src/shared/domain/prompts.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { RecordWork } from '../../files/workspaces/record-work.ts';
import type { Costs } from '../../team/costs/contract.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { NoteForeign } from '../../team/memory/foreign.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Mind } from '../minds/index.ts';
import type { WaitingAgents } from './waiting.ts';
import type { TeamTools } from './team-tools.ts';
import type { WriteEvents } from './recover.ts';
import type { RunLimits } from './settings.ts';

// The current time, time zone and team, and the parts of them that a mind has to be told.

/** The current state of what changes while an agent works. */
export interface Around {
  /** ms since the epoch */
  readonly now: number;
  /** The household's time zone. */
  readonly timeZone: string;
  readonly team: readonly TeamMember[];
}

/** A first message. It stays when the conversation outgrows its model. */
export interface Prompt {
  readonly text: string;
  /** The prompt in about `most` characters, if possible. The soul is never cut. */
  shortened(most: number): string;
}

export type ReadAround = () => Promise<Around>;

interface ReadAroundDeps {
  readonly configs: Pick<Configs, 'household'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** Reading failed. The agent is told the last known state. */
  readonly onError: (error: unknown) => void;
}

export function createReadAround({ configs, directory, now, onError }: ReadAroundDeps): ReadAround {
  let lastRead: Pick<Around, 'timeZone' | 'team'> | null = null;
  return async () => {
    try {
      const [{ effective }, team] = await Promise.all([configs.household(), directory.all()]);
      lastRead = { timeZone: effective.time_zone, team };
    } catch (error) {
      // A failure to read the date and the names must not end a conversation.
      if (lastRead === null) throw error;
      onError(error);
    }
    return { now: now(), ...lastRead };
  };
}

interface News {
  /**
   * Records that this prompt told the agent the state. It told the time only if the text contains
   * it, because the person may have written the template.
   */
  announced(around: Around, prompt: string): void;
  /**
   * Lines for the next message: the time if it was last told long ago or on another day, and the
   * team if it has changed.
   */
  since(around: Around): readonly string[];
}

const dayOf = ({ now, timeZone }: Around) => momentText(now, timeZone).split(',')[0];

export function createNews(agentId: AgentId, everyMs: number): News {
  let last: Around | null = null;
  return {
    announced(around, prompt) {
      last = { ...around, now: prompt.includes(momentText(around.now, around.timeZone)) ? around.now : -Infinity };
    },
    since(around) {
      const before = last ?? { ...around, now: -Infinity };
      const isLater = around.now - before.now >= everyMs || dayOf(around) !== dayOf(before);
      const team = teammatesText(around.team, agentId);
      const isOther = team !== teammatesText(before.team, agentId);
      last = { ...around, now: isLater ? around.now : before.now };
      return [
        ...(isLater ? [`[It is ${momentText(around.now, around.timeZone)}]`] : []),
        ...(isOther ? [`[With you live now: ${team ?? 'no other agents'}]`] : []),
      ];
    },
  };
}

/** Tells callers that are about to ask an agent's mind whether the agent is paused. */
export interface Rest {
  isPaused(agentId: AgentId): boolean;
  /**
   * Resolves when the agent is not paused, or `signal` aborts. False: it stays paused to the end,
   * and nothing may be asked of it.
   */
  untilResumed(agentId: AgentId, signal: AbortSignal): Promise<boolean>;
}

/** Limits of one answer and of the model's context. */
export interface AnswerRoom {
  readonly maxAnswerTokens: number;
  /** 0: unknown. */
  readonly contextTokens: number;
}

export interface RunContext {
  /** The session of this run; null: none. */
  readonly sessionId: SessionId | null;
  /** If the mind has a `current`, each answer uses its value at the start of the answer. */
  readonly mind: Mind;
  readonly costs: Pick<Costs, 'check'>;
  readonly rest: Rest;
  /** Tools of every agent, in addition to those of this run. */
  readonly teamTools: Pick<TeamTools, 'all'>;
  /**
   * Called before each turn. Resolves with a function that ends the turn, once no other run has
   * this agent's turn; null: `signal` aborted first.
   */
  readonly takeTurn: (agentId: AgentId, signal: AbortSignal) => Promise<(() => void) | null>;
  /** Records the agent's files before and after each turn. */
  readonly recordWork: RecordWork;
  /** The current state of team and time. */
  readonly around: ReadAround;
  /** Records by which ways an agent was shown text of others. */
  readonly foreign: NoteForeign;
  /** Agents that are queued for the model's server. */
  readonly waiting: Pick<WaitingAgents, 'set'>;
  /** What this agent has under way, in words. Left out: nothing. */
  readonly underWay?: (agentId: AgentId) => Promise<readonly string[]>;
  readonly room: AnswerRoom;
  readonly limits: RunLimits;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** The agent's turn is over, and its queue is empty. */
  readonly onQuiet: (agentId: AgentId) => void;
  /**
   * If the log cannot be written, the run ends and writes nothing more. An event that does not fit
   * its schema is dropped.
   */
  readonly record: WriteEvents;
  /** An invariant is broken. The run ends at once, and the log records the reason if it can. */
  readonly fail: (error: unknown) => void;
}
