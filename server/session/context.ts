/** What every part of one running session shares. */
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { Costs, Directory, Inbox, Sleepers, TeamTool } from '../contracts.ts';
import type { Mind } from '../minds/index.ts';
import type { ReadAround } from './around.ts';
import type { Line } from './line.ts';
import type { Memories } from './memories.ts';
import type { Around, Prompts } from './prompts.ts';
import type { SessionLimits } from './settings.ts';
import type { Timers } from './timers.ts';

export interface Logger {
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The household's settings that a session keeps, with defaults filled in. */
export interface SessionSettings {
  readonly maxAnswerTokens: number;
  /** 0: not set. */
  readonly contextTokens: number;
  readonly wakeTimeoutMs: number;
  readonly birthTimeoutMs: number;
  readonly idleMs: number;
}

export interface SessionContext {
  readonly sessionId: string;
  readonly mind: Mind;
  readonly models: { readonly lead: string; readonly agent: string };
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly sleepers: Sleepers;
  readonly costs: Costs;
  /** Tools that every agent has besides those of the session itself. */
  readonly teamTools: readonly TeamTool[];
  /** What is held of souls and last conversations while the session runs. */
  readonly memories: Pick<Memories, 'called'>;
  /** How things are just now. */
  readonly around: ReadAround;
  /** As the session began. */
  readonly begun: Around;
  /** Whether its settings set it to sleep as soon as it is here. */
  readonly startsAsleep: (agentId: string) => Promise<boolean>;
  /** The person wakes an agent. Resolves when that is decided. */
  readonly onPersonWake: (agentId: string) => Promise<void>;
  /** An agent has answered for the first time in this session. Resolves when it is known whether it starts asleep; a repeat changes nothing. */
  readonly onHere: (agentId: string) => Promise<void>;
  /** An agent's turn is over, and nothing more waits before it. */
  readonly onQuiet: (agentId: string) => void;
  /** Who waits in line before the model's server. */
  readonly line: Pick<Line, 'set'>;
  readonly prompts: Prompts;
  readonly settings: SessionSettings;
  readonly limits: SessionLimits;
  readonly now: () => number;
  readonly newId: () => string;
  /** Ends with the session. */
  readonly timers: Timers;
  readonly logger: Logger;
  /**
   * Writes events; resolves when they are on disk. It never rejects: a log that cannot be written ends the
   * session at once, and nothing more is written.
   */
  readonly record: (events: readonly RoostEvent[]) => Promise<void>;
  /** Something happened that must not: the session ends at once, and the log says why as far as it can. */
  readonly fail: (error: unknown) => void;
}
