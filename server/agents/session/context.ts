/**
 * What every part of one running session shares: what each of its runs needs, and what makes them
 * one session.
 */
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { Directory, Inbox, Pauses, Meanwhile } from '../../contracts/index.ts';
import type { Around, RunContext } from '../runs/context.ts';
import type { Life } from '../runs/life.ts';
import type { WakeMaterials } from './wake-materials.ts';
import type { Prompts } from './prompts.ts';
import type { SessionLimits, SessionSettings } from './settings.ts';

/**
 * `record` and `fail`: a log that cannot be written ends the session at once. Its `timers` end with
 * it.
 */
export interface SessionContext extends RunContext {
  /** A run in this session, for whoever takes a seat. */
  readonly newLife: (agentId: AgentId) => Life;
  readonly sessionId: SessionId;
  /**
   * As they are now: a model that is connected meanwhile is another. `of`: what answers for this
   * agent; `agent`: for who has nothing of its own, and for whoever is born.
   */
  readonly models: {
    readonly lead: () => string;
    readonly agent: () => string;
    readonly of: (agentId: AgentId) => string;
  };
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly pauses: Pauses;
  /** What is held of souls and last conversations while the session runs. */
  readonly wakeMaterials: Pick<WakeMaterials, 'called'>;
  /** As the session began. */
  readonly begun: Around;
  /** Whether its settings set it to sleep as soon as it is here. */
  readonly startsPaused: (agentId: AgentId) => Promise<boolean>;
  readonly meanwhile: Meanwhile;
  /**
   * The person wakes an agent, by this call: for the gate's record. Resolves when that is decided.
   */
  readonly onPersonWake: (agentId: AgentId, callId: string) => Promise<void>;
  /**
   * An agent has answered for the first time in this session. Resolves when it is known whether it
   * starts asleep; a repeat changes nothing.
   */
  readonly onHere: (agentId: AgentId) => Promise<void>;
  readonly prompts: Prompts;
  readonly settings: SessionSettings;
  readonly limits: SessionLimits;
}
