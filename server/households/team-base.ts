/**
 * What the agents of a household stand on: its store, settings, costs, memory, and what is open of
 * their work.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { realTimers, type Timers } from '../../src/shared/domain/platform/timers.ts';
import type { Protocol } from '../../src/shared/domain/prompts.ts';
import type { Mind } from '../agents/minds/index.ts';
import { createReadAround } from '../agents/runs/context.ts';
import { createRunScopes } from '../agents/runs/run-scopes.ts';
import { createTeamTools } from '../agents/runs/team-tools.ts';
import { createTurns } from '../agents/runs/turns.ts';
import { createWaiting } from '../agents/runs/waiting.ts';
import { SESSION_LIMITS, type SessionLimits } from '../agents/session/settings.ts';
import type { Hands } from '../execution/hands/index.ts';
import { RECORDS_NOTHING, type RecordWork } from '../files/workspaces/record-work.ts';
import { createAnnounce, type EventLog } from '../log/index.ts';
import type { McpServers } from '../mcp/client/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { Sealer } from '../platform/sealer.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { createAttempts, createProjectRoom } from '../projects/board/index.ts';
import type { RepositoriesDeps } from '../projects/checkouts/index.ts';
import type { Meter } from '../projects/work/meter.ts';
import {
  createLeases,
  createScheduleRows,
  createScripts,
  createSnapshots,
  createWoken,
  type Scripts,
} from '../schedules/index.ts';
import { SCHEDULE_LIMITS } from '../schedules/settings.ts';
import { ALWAYS_THERE, type Database, type HomeStore } from '../store/index.ts';
import { createCosts, type OpenCosts } from '../team/costs/index.ts';
import { createDirectory } from '../team/directory/index.ts';
import { createConfigs, createGate } from '../team/gate/index.ts';
import { createInbox } from '../team/inbox/index.ts';
import { createForeignReads } from '../team/memory/foreign.ts';
import { createForgets } from '../team/memory/forgets.ts';
import { createMemories } from '../team/memory/index.ts';
import { createPauses } from '../team/pauses/index.ts';

export interface TeamDeps extends HomeStore {
  /** Left out: the database is always reachable. */
  readonly database?: Database;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  readonly log: EventLog;
  readonly mind: Mind;
  readonly protocol: Protocol;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms, for durations. Left out: `now`. */
  readonly elapsed?: () => number;
  readonly newId: () => string;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** ms that a message is stored after it was read. */
  readonly retentionMs: number;
  /**
   * Why agents may store no more just now, as a sentence. Null: they may. Left out: they always
   * may.
   */
  readonly refuseForRoom?: () => Promise<string | null>;
  /** Bytes that the household’s projects may take in the store. Left out: as usual. */
  readonly projectBytes?: number;
  readonly timers?: Timers;
  /** Seals what is stored here for the time without a browser. */
  readonly sealer: Sealer;
  /** Left out: scripts are off. */
  readonly scripts?: Scripts;
  /** Agents' folders. Left out: they have none, and no tools for them. */
  readonly hands?: Hands;
  /** The relay’s repositories of projects. Left out: agents have no checkouts. */
  readonly repositories?: Pick<RepositoriesDeps, 'folder' | 'hidden' | 'rights' | 'lane'>;
  /** Records agents' files. Left out: nothing is recorded. */
  readonly recordWork?: RecordWork;
  /** MCP servers that the person has added. Left out: none. */
  readonly mcpServers?: Pick<McpServers, 'tools' | 'records'>;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  readonly limits?: SessionLimits;
}

export type TeamBase = ReturnType<typeof openTeamBase>;

export function openTeamBase(given: TeamDeps) {
  const deps = {
    database: ALWAYS_THERE,
    elapsed: given.now,
    refuseForRoom: () => Promise.resolve(null),
    timers: realTimers,
    scripts: createScripts(null),
    recordWork: RECORDS_NOTHING,
    setAside: SETS_NOTHING_ASIDE,
    limits: SESSION_LIMITS,
    ...given,
  };
  const { db, database, home, log, now, elapsed, newId, logger, alone, timers, sealer, setAside } = deps;
  /** What most of the tables' owners need. */
  const stored = { db, home, now, newId, setAside };
  const usual = { now, newId, timers, logger };
  const saying = (what: string) => (error: unknown) => logger.error(what, { error });
  const tell = createAnnounce({ log, logger });
  const changed = (what: 'files' | 'schedules' | 'memories' | 'exams') => (agentId: AgentId | null) =>
    tell({ kind: 'changed', time: now(), what, agentId });
  deps.hands?.workspaces.subscribe(changed('files'));
  const inbox = createInbox({ ...stored, retentionMs: deps.retentionMs, tell, refuseForRoom: deps.refuseForRoom });
  const directory = createDirectory({ ...stored, tell, log });
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const configs = createConfigs({ db, home, alone, timeZone, tell, now });
  const onHeartbeatError = saying('The heartbeat of running sessions could not be stored. The relay tries again.');
  const gate = createGate({ ...stored, database, configs, tell, alone, timers, onHeartbeatError });
  /** Counts what an attempt uses. Null: agents have no checkouts, or are not open yet. */
  const metering: { meter: Meter | null } = { meter: null };
  const counted = createCosts({ ...stored, database, configs, directory, log, alone, elapsed });
  const costs: OpenCosts = {
    ...counted,
    check: (request, signal) => metering.meter?.check(counted, request, signal) ?? counted.check(request, signal),
  };
  const scheduleRows = createScheduleRows({ db, home, limits: SCHEDULE_LIMITS, setAside });
  const leases = createLeases({
    rows: scheduleRows,
    database,
    limits: SCHEDULE_LIMITS,
    timers,
    now,
    onError: saying('An agent’s working state could not be stored. The relay tries again.'),
  });
  const forgets = createForgets({ db, home });
  return {
    ...{ deps, stored, usual, saying, tell, changed, inbox, directory, configs, gate, metering, costs },
    ...{ scheduleRows, leases, forgets },
    pauses: createPauses({ log, configs, now, timers, onListenerError: saying('A listener failed.') }),
    turns: createTurns(timers),
    around: createReadAround({
      configs,
      directory,
      now,
      onError: saying('The state of the team could not be read. The relay sends the earlier state.'),
    }),
    waiting: createWaiting(now),
    foreign: createForeignReads(),
    snapshots: createSnapshots({ db, home, sealer, now, setAside }),
    woken: createWoken({ rows: scheduleRows, leases, directory, onChange: changed('schedules'), now, newId }),
    tools: createTeamTools(),
    scopes: createRunScopes(),
    memories: createMemories({ ...stored, forgets, onChange: changed('memories') }),
    room: createProjectRoom({ db, home, elapsed, most: deps.projectBytes }),
    attempts: createAttempts({
      ...stored,
      onChange: (projectId) => tell({ kind: 'changed', time: now(), what: 'projects', agentId: null, projectId }),
      onBegin: (began) => metering.meter?.began(began),
      onEnd: (attemptId) => metering.meter?.ended(attemptId),
    }),
    recoverCosts: () => counted.recover(),
  };
}
