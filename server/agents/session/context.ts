/**
 * The context that all parts of one running session share: what each run needs, and what connects
 * them.
 */
import type { Protocol } from '../../../src/shared/domain/prompts.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import type { Meanwhile } from './contract.ts';
import type { RecordWork } from '../../files/workspaces/record-work.ts';
import type { EventLog } from '../../log/index.ts';
import type { Costs } from '../../team/costs/contract.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { Caller, ToolOutcome } from '../../tools/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Mind } from '../minds/index.ts';
import type { Around, ReadAround, RunContext } from '../runs/context.ts';
import type { TeamTools } from '../runs/team-tools.ts';
import type { WaitingAgents } from '../runs/waiting.ts';
import type { Turns } from '../runs/turns.ts';
import type { Life } from '../runs/life.ts';
import type { WakePayloads } from './wake-payloads.ts';
import type { SessionLimits, SessionSettings } from './settings.ts';
import type { Prompts } from './prompts.ts';

/**
 * Asks the person before an agent's soul or name changes, where the agent was shown text of others.
 * Resolves with what the agent reads. Null: it was shown none, and the person is not asked.
 */
export type AskFirst = (
  tool: 'choose_name' | 'write_soul',
  input: unknown,
  caller: Caller,
) => Promise<ToolOutcome | null>;

/** The dependencies of the session host. */
export interface SessionHostDeps {
  readonly log: EventLog;
  readonly inbox: Inbox;
  readonly directory: Directory;
  /** The current state of team and time. */
  readonly around: ReadAround;
  readonly pauses: Pauses;
  readonly costs: Costs;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly teamTools: Pick<TeamTools, 'all'>;
  readonly wakePayloads: Pick<WakePayloads, 'begin' | 'called' | 'soulOf' | 'withdrawn'>;
  readonly meanwhile: Meanwhile;
  readonly foreign: RunContext['foreign'];
  readonly askFirst: AskFirst;
  /** What the agent keeps, as its prompt has it. Null: nothing. */
  readonly memoryOf: (agentId: AgentId) => Promise<string | null>;
  readonly mind: Mind;
  readonly protocol: Protocol;
  /** ms since the epoch */
  readonly now: () => number;
  /** Monotonic ms for durations; left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId: () => string;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly timers?: Timers;
  readonly limits?: SessionLimits;
  /** The turn of each agent, in this session and outside it. */
  readonly turns: Turns;
  /** Agents that are queued for the model's server, in this session and outside it. */
  readonly waiting: WaitingAgents;
  /** Left out: files are not recorded. */
  readonly recordWork?: RecordWork;
  readonly underWay?: RunContext['underWay'];
}

/**
 * If the log cannot be written, `record` ends the session at once. The session's `timers` end with
 * it.
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
  readonly configs: Pick<Configs, 'agent'>;
  /** Souls and last conversations, stored while the session runs. */
  readonly wakePayloads: Pick<WakePayloads, 'called' | 'soulOf'>;
  /** The state at the start of the session. */
  readonly begun: Around;
  /** Whether its settings pause the agent as soon as it arrives. */
  readonly startsPaused: (agentId: AgentId) => Promise<boolean>;
  readonly meanwhile: Meanwhile;
  readonly askFirst: AskFirst;
  /** What the agent keeps, as its prompt has it. Null: nothing. */
  readonly memoryOf: (agentId: AgentId) => Promise<string | null>;
  /** The same of the lead, at the start of the session. */
  readonly leadMemory: string | null;
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
