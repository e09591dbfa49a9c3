/**
 * The context that all parts of one running session share: what each run needs, and what connects
 * them.
 */
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { Directory, Inbox, Pauses, Meanwhile } from '../../contracts/index.ts';
import type { Around, RunContext } from '../runs/context.ts';
import type { Life } from '../runs/life.ts';
import type { WakeMaterials } from './wake-materials.ts';
import type { Prompts } from './prompts.ts';
import type { SessionLimits, SessionSettings } from './settings.ts';

/**
 * `record` and `fail`: if the log cannot be written, the session ends at once. Its `timers` end
 * with it.
 */
export interface SessionContext extends RunContext {
  /** Creates a run in this session for an agent that takes a seat. */
  readonly newLife: (agentId: AgentId) => Life;
  readonly sessionId: SessionId;
  /**
   * The current models: connecting a model changes them. `of`: the model of this agent. `agent`:
   * the model of agents without their own, and of new ones.
   */
  readonly models: {
    readonly lead: () => string;
    readonly agent: () => string;
    readonly of: (agentId: AgentId) => string;
  };
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly pauses: Pauses;
  /** Souls and last conversations, stored while the session runs. */
  readonly wakeMaterials: Pick<WakeMaterials, 'called'>;
  /** The state at the start of the session. */
  readonly begun: Around;
  /** Whether its settings pause the agent as soon as it arrives. */
  readonly startsPaused: (agentId: AgentId) => Promise<boolean>;
  readonly meanwhile: Meanwhile;
  /**
   * The person wakes an agent by this call, for the gate's record. Resolves when the gate has
   * decided.
   */
  readonly onPersonWake: (agentId: AgentId, callId: string) => Promise<void>;
  /**
   * An agent has answered for the first time in this session. Resolves when it is known whether it
   * starts paused. Repeats change nothing.
   */
  readonly onHere: (agentId: AgentId) => Promise<void>;
  readonly prompts: Prompts;
  readonly settings: SessionSettings;
  readonly limits: SessionLimits;
}
