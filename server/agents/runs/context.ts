/**
 * What an agent at work needs of its surroundings, and all that it may reach for. Whoever starts it
 * gives it.
 */
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import { momentText } from '../../../src/shared/domain/zone-days.ts';
import { teammatesText } from '../../../src/shared/domain/teammates.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { Configs, Costs, Directory } from '../../contracts/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Mind } from '../minds/index.ts';
import type { WaitingAgents } from './waiting.ts';
import type { TeamTools } from './team-tools.ts';
import type { WriteEvents } from './recover.ts';
import type { RunLimits } from './settings.ts';

// How things are just now, for what is put before a mind; and what of that it has to be told,
// economically.

/** What changes while somebody is at work, as it is now. */
export interface Around {
  /** ms since the epoch */
  readonly now: number;
  /** The household's. */
  readonly timeZone: string;
  readonly team: readonly TeamMember[];
}

/** A first message, which stays when the conversation outgrows its model. */
export interface Prompt {
  readonly text: string;
  /** The same in about so many characters, as far as it can be. The soul is never cut. */
  shortened(most: number): string;
}

export type ReadAround = () => Promise<Around>;

interface ReadAroundDeps {
  readonly configs: Pick<Configs, 'household'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  /** It could not be read, and what was known before is told. */
  readonly onError: (error: unknown) => void;
}

export function createReadAround({ configs, directory, now, onError }: ReadAroundDeps): ReadAround {
  let known: Pick<Around, 'timeZone' | 'team'> | null = null;
  return async () => {
    try {
      const [{ effective }, team] = await Promise.all([configs.household(), directory.all()]);
      known = { timeZone: effective.time_zone, team };
    } catch (error) {
      // The day and the names are no reason to end a talk.
      if (known === null) throw error;
      onError(error);
    }
    return { now: now(), ...known };
  };
}

interface News {
  /**
   * This prompt tells it how things are, and the time where it is in it: the person may have
   * written the template.
   */
  announced(around: Around, prompt: string): void;
  /**
   * Lines for what is said next: the time where it was told long ago or on another day, and who
   * lives here where that has changed.
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
