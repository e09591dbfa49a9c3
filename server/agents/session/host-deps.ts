/** The dependencies of the session host. */
import type { Protocol } from '../../../src/shared/domain/prompts.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { Configs, Costs, Directory, EventLog, Inbox, Pauses, Meanwhile } from '../../contracts/index.ts';
import type { Mind } from '../minds/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { WakeMaterials } from './wake-materials.ts';
import type { ReadAround } from '../runs/context.ts';
import type { TeamTools } from '../runs/team-tools.ts';
import type { WaitingAgents } from '../runs/waiting.ts';
import type { Turns } from '../runs/turns.ts';
import type { SessionLimits } from './settings.ts';

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
  readonly wakeMaterials: Pick<WakeMaterials, 'begin' | 'called' | 'takenBack'>;
  readonly meanwhile: Meanwhile;
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
}
