/** What each due occurrence is performed with, and the words about its moment. */
import { createHash } from 'node:crypto';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import type { TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';
import type { GivenBefore, Wakes } from '../agents/wakes/contract.ts';
import type { RunScopes } from '../agents/runs/run-scopes.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { Logger } from '../platform/logger.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Inbox } from '../team/inbox/index.ts';
import type { OpenAlone, UsedUp, Woken } from './alone.ts';
import type { Mappings } from './mapping-contract.ts';
import type { Claim, Row, ScheduleRows } from './rows.ts';
import type { Scripts, ScriptTexts } from './scripts.ts';
import type { ScheduleLimits } from './settings.ts';

export interface PerformDeps {
  readonly mappings: Pick<Mappings, 'runsOf' | 'readyFor' | 'spentUp'>;
  readonly scopes: Pick<RunScopes, 'enter'>;
  /** Records the runs of mappings that have their own. */
  readonly woken: Pick<Woken, 'goOn'>;
  readonly logger: Pick<Logger, 'error'>;
  readonly rows: Pick<
    ScheduleRows,
    'get' | 'under' | 'runs' | 'lastRunOf' | 'hasLeft' | 'beginsScript' | 'runsAs' | 'leaveNotice'
  >;
  readonly alone: OpenAlone;
  readonly wakes: Pick<Wakes, 'ask' | 'permitFor'>;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly inbox: Pick<Inbox, 'put'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  /** Whether the agent has something to do since then. */
  readonly somethingWaits: (agentId: AgentId, since: number) => Promise<boolean>;
  /** The used-up budget, and when it opens again. Null, or left out: none is used up. */
  readonly usedUp?: (agentId: AgentId) => Promise<UsedUp | null>;
  readonly scripts: Pick<Scripts, 'run' | 'endLeft'>;
  readonly texts: Pick<ScriptTexts, 'toRun' | 'withdraw'>;
  /** Timing rules in the household's time zone. */
  readonly readContext: () => Promise<TimingContext>;
  readonly now: () => number;
  readonly limits?: Pick<ScheduleLimits, 'waitAgainMs' | 'refusedAgainMs' | 'waitMostMs' | 'leftMost' | 'leftMs'>;
}

/**
 * The message id of an occurrence. It is the same after a crash, and the inbox takes each id once,
 * so the agent gets one message.
 */
export function messageIdOf({ scheduleId, dueAt }: Pick<Claim, 'scheduleId' | 'dueAt'>): string {
  return createHash('sha256')
    .update(JSON.stringify([scheduleId, dueAt]))
    .digest('hex')
    .slice(0, 32);
}

/** How many earlier runs' last words a routine is given. */
const RUNS_BEFORE = 3;

export type OccurrenceContext = ReturnType<typeof createOccurrenceContext>;

export function createOccurrenceContext({ rows, configs, now }: Pick<PerformDeps, 'rows' | 'configs' | 'now'>) {
  return {
    /** The due moment, in the household's words. */
    async whenOf(dueAt: number): Promise<string> {
      const { effective } = await configs.household();
      return momentText(dueAt, effective.time_zone);
    },
    /** The earlier context that the schedule gives its agent. */
    async givenTo({ scheduleId, schedule }: Pick<Row, 'scheduleId' | 'schedule'>): Promise<GivenBefore> {
      const { context }: Pick<Schedule, 'context'> = schedule;
      const runs = context === 'own_runs' ? await rows.runs({ scheduleId, before: now() + 1, most: RUNS_BEFORE }) : [];
      return {
        lastSession: context === 'last_session',
        before: runs
          .flatMap(({ said, endedAt }) => (said === null || endedAt === null ? [] : [{ at: endedAt, said }]))
          .reverse(),
      };
    },
  };
}
