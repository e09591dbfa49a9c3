/**
 * Runs of agents without a browser. The relay starts each run from the snapshot of the agent that
 * the page stored on the relay.
 */
import type { AgentId, RunId, ScheduleId } from '../../src/shared/domain/ids.ts';
import {
  DEFAULT_INSTRUCTIONS,
  DEFAULT_INTERVAL,
  DEFAULT_ROUTINE_NAME,
  instructionsOf,
} from '../../src/shared/domain/schedule/default-routine.ts';
import { isSameJson } from '../../src/shared/domain/platform/json.ts';
import { LEAD_ID, seatNumber } from '../../src/shared/domain/seat.ts';
import type { AgentConfig, PulseChanges, PulseSettings } from '../../src/shared/protocol/config.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import {
  type Occurrence,
  type Schedule,
  type Scheduled,
  type ScheduleOf,
  scheduleSchema,
} from '../../src/shared/protocol/schedules.ts';
import type { AgentSnapshot } from '../../src/shared/protocol/snapshots.ts';
import { endOfText } from '../../src/shared/domain/cut-middle.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { toolWords } from '../../src/shared/domain/toolsets.ts';
import {
  identityText,
  inLanguage,
  type Protocol,
  renderTemplate,
  teammatesText,
} from '../../src/shared/domain/prompts.ts';
import { writeSaid } from '../../src/shared/domain/quoting.ts';
import { shownName } from '../../src/shared/domain/names.ts';
import type { Alone, DueCause, GivenBefore, Reached } from '../agents/wakes/contract.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { DefaultRoutines } from '../team/gate/routes.ts';
import type { Inbox } from '../team/inbox/index.ts';
import type { TeamTool } from '../tools/index.ts';
import { misfitIn } from '../http/problem.ts';
import type { Mind } from '../agents/minds/index.ts';
import type { Around } from '../agents/runs/context.ts';
import type { Logger } from '../platform/logger.ts';
import type { AgentRun, RunResult, Runs } from '../agents/runs/index.ts';
import type { TeamTools } from '../agents/runs/team-tools.ts';
import { NO_TOOLS } from '../agents/runs/toolbox.ts';
import { isAway } from '../store/index.ts';
import { isAgreed } from './scripts.ts';
import type { Performed } from './clock.ts';
import type { Snapshots } from './snapshots.ts';
import type { Written } from './refusals.ts';
import type { ScheduleRows } from './rows.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

// An agent's default routine, shown as part of the agent's settings. The routine itself is the only
// source of truth. The person sees and edits it among the other routines, and the settings read and
// write it.

interface DefaultRoutinesDeps {
  readonly schedules: {
    get(scheduleId: ScheduleId): Promise<Scheduled | null>;
    put(scheduleId: ScheduleId, schedule: Schedule): Promise<Written>;
    freeName(agentId: AgentId, name: string): Promise<string>;
  };
  readonly snapshots: Pick<Snapshots, 'allow'>;
  readonly configs: Pick<Configs, 'agent' | 'setAgent'>;
}

/** Id of the default routine. It does not depend on the routine's name. */
export const defaultRoutineIdOf = (agentId: AgentId) => `pulse of ${agentId}`.slice(0, LIMITS.id);

/**
 * The agent's default routine as the person has agreed to it on this relay, enabled or not. A woken
 * agent gets its instructions. Null: there is none, or the person has not agreed to it.
 */
export const createRoutineOf =
  (rows: Pick<ScheduleRows, 'get'>) =>
  async (agentId: AgentId): Promise<ScheduleOf<'routine'> | null> => {
    const row = await rows.get(defaultRoutineIdOf(agentId));
    return row?.schedule.kind === 'routine' && isAgreed(row.agreed, row.schedule) ? row.schedule : null;
  };

export function createDefaultRoutines({ schedules, snapshots, configs }: DefaultRoutinesDeps): DefaultRoutines {
  async function routineOf(agentId: AgentId): Promise<ScheduleOf<'routine'> | null> {
    const scheduled = await schedules.get(defaultRoutineIdOf(agentId));
    return scheduled?.schedule.kind === 'routine' ? scheduled.schedule : null;
  }
  async function of(agentId: AgentId): Promise<PulseSettings> {
    const [routine, { own, effective }] = await Promise.all([routineOf(agentId), configs.agent(agentId)]);
    const timing = routine?.timing.kind === 'every' ? routine.timing : null;
    return {
      pulse_enabled: routine?.enabled ?? false,
      pulse_interval_minutes: timing?.minutes ?? DEFAULT_INTERVAL,
      pulse_offset_minutes: timing?.offset ?? null,
      pulse_blackouts: effective.coordination.blackouts,
      pulse_container_timeout_ms: effective.pulse_container_timeout_ms,
      pulse_busy_wait_ms: effective.pulse_busy_wait_ms,
      pulse_max_consecutive_skips: effective.pulse_max_consecutive_skips,
      pulse_max_turns: effective.pulse_max_turns,
      pulse_columns: own.pulse_columns ?? [],
      pulse_transitions_to: own.pulse_transitions_to ?? null,
      planning_model: own.planning_model ?? null,
      executor_model: own.executor_model ?? null,
    };
  }
  /**
   * Blackouts can be set under two names: `pulse_blackouts` and `coordination.blackouts`. When a
   * client sends back an earlier answer with one of them changed, the changed one counts.
   */
  async function blackoutsOf(agentId: AgentId, { coordination }: AgentConfig, said: PulseChanges['pulse_blackouts']) {
    if (said === undefined) return {};
    const { effective } = await configs.agent(agentId);
    if (isSameJson(said, effective.coordination.blackouts) || isSameJson(said, coordination.blackouts)) return {};
    if (coordination.blackouts === undefined || isSameJson(coordination.blackouts, effective.coordination.blackouts))
      return { blackouts: said };
    throw misfitIn('pulse_blackouts', 'is given twice, with different values: `coordination.blackouts` differs');
  }

  return {
    of,
    async set(agentId, { config, pulse, byPerson, version }) {
      const before = await of(agentId);
      const enabled = pulse.pulse_enabled ?? before.pulse_enabled;
      const minutes = pulse.pulse_interval_minutes ?? before.pulse_interval_minutes;
      const offset =
        pulse.pulse_offset_minutes === undefined ? before.pulse_offset_minutes : pulse.pulse_offset_minutes;
      if (offset !== null && offset >= minutes)
        throw misfitIn('pulse_offset_minutes', 'must be shorter than the interval');
      if (enabled && agentId === LEAD_ID)
        throw misfitIn('pulse_enabled', 'the lead works only with the person, and has no routines');
      const blackouts = await blackoutsOf(agentId, config, pulse.pulse_blackouts);
      const changed =
        enabled !== before.pulse_enabled ||
        minutes !== before.pulse_interval_minutes ||
        offset !== before.pulse_offset_minutes;
      if (changed) {
        const routine = await routineOf(agentId);
        const name = routine?.name ?? (await schedules.freeName(agentId, DEFAULT_ROUTINE_NAME));
        const written = await schedules.put(
          defaultRoutineIdOf(agentId),
          scheduleSchema.parse({
            instructions: DEFAULT_INSTRUCTIONS,
            when: 'something_waits',
            ...routine,
            kind: 'routine',
            agentId,
            name,
            enabled,
            timing: { kind: 'every', minutes, offset },
          }),
        );
        if (!written.ok) throw misfitIn('pulse_enabled', written.reason);
        if (enabled && byPerson) await snapshots.allow(agentId);
      }
      const coordination = { ...config.coordination, ...blackouts };
      return await configs.setAgent(agentId, { ...config, coordination }, version);
    },
  };
}

interface Work extends GivenBefore {
  readonly agentId: AgentId;
  readonly cause: AgentRun['cause'];
  /**
   * Why the run starts: a sentence in square brackets. A function is called after `begins`.
   */
  readonly why: string | (() => string);
  /** Tools that are offered from the start. */
  readonly needs?: readonly string[];
  /** Inserted into the system prompt unchanged. Empty: none. */
  readonly instructions: string;
  readonly columns: readonly string[];
  /** Null: the agent's own model. */
  readonly model: string | null;
  readonly laterModel: string | null;
  /** Null: all tools the agent has. */
  readonly tools: readonly string[] | null;
  /** Tools that the agent has in place of the relay's. Left out: the relay's. */
  readonly onlyTools?: readonly TeamTool[];
  /** False: what waits in its inbox stays there. */
  readonly readsInbox?: false;
  readonly timeoutMs: number;
  readonly busyMs: number;
  /** Most requests to the model. */
  readonly maxTurns: number;
  /** Whether the same prompt prefix is sent again within the hour. */
  readonly cachesForAnHour: boolean;
  /**
   * Called when the agent's turn has come and the run is about to begin. Null: the run may begin.
   * Otherwise: why it may not.
   */
  begins?(runId: RunId): Promise<NotBegun | null>;
}

/** Why no run began. */
export type NotBegun =
  /**
   * `detail`: a sentence for people. `until`: when the budget opens again, in ms since the epoch.
   */
  | { readonly why: 'budget'; readonly detail: string; readonly until: number }
  /**
   * `read`: the agent has already read the message the run was for. `not-ours`: another process has
   * the occurrence.
   */
  | { readonly why: 'no-copy' | 'agent-busy' | 'closing' | 'not-ours' | 'read' };
export const NOT_OURS: NotBegun = { why: 'not-ours' };

export type Worked =
  | { readonly kind: 'ended'; readonly runId: RunId; readonly end: RunResult }
  | ({ readonly kind: 'skipped' } & NotBegun);

/** Records runs that were started by a wake in the history. */
export interface Woken extends Pick<Alone, 'carried'> {
  /**
   * `by`: the id of the waking agent, or a name. `due`: the schedule that caused the wake, or null.
   */
  begin(agentId: AgentId, by: string, due: DueCause | null): Promise<WokenRun>;
  /** A run that continues this one. It appears in the history under the same name. */
  goOn(one: Pick<Occurrence, 'scheduleId' | 'agentId' | 'kind' | 'name'>): Promise<WokenRun>;
}
export interface WokenRun {
  /** Null: the run may begin. It may not if another process took this run for dead. */
  begins(runId: RunId): Promise<NotBegun | null>;
  /** Null: an error inside the relay. */
  end(worked: Worked | null): Promise<void>;
  /** The same for an outcome. */
  finish(performed: Performed): Promise<void>;
}

export interface OpenAlone extends Alone {
  work(work: Work): Promise<Worked>;
  /** Whether the provider of this model searches the web itself. `model` null: the agent's own. */
  readsWeb(agentId: AgentId, model: string | null): Promise<boolean>;
}

/**
 * `message`: a sentence for people. `until`: when the budget opens again, in ms since the epoch.
 */
export interface UsedUp {
  readonly message: string;
  readonly until: number;
}

export interface AloneDeps {
  readonly snapshots: Pick<Snapshots, 'has' | 'of'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly runs: Pick<Runs, 'start' | 'stopRun'>;
  readonly inbox: Pick<Inbox, 'statusOf' | 'takenIn' | 'release'>;
  /** The used-up budget, and when it opens again. Null: no budget is used up. */
  readonly usedUp: (agentId: AgentId) => Promise<UsedUp | null>;
  /**
   * Instructions of the agent's default routine, if the person has set one on this relay. Null:
   * there is none.
   */
  readonly routineOf: (agentId: AgentId) => Promise<Pick<Work, 'instructions' | 'columns'> | null>;
  /** What the agent keeps, as its prompt has it. Null: nothing. */
  readonly memoryOf: (agentId: AgentId) => Promise<string | null>;
  readonly protocol: Protocol;
  readonly mind: Mind;
  readonly tools: Pick<TeamTools, 'all'>;
  /** Runs started by a wake appear in the same history as scheduled runs. */
  readonly woken: Woken;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits?: Pick<ScheduleLimits, 'wakeRunMs' | 'saidChars'>;
}

/**
 * The system prompt of a run. It is the same for every run of the agent, so that the provider can
 * cache it. Whatever changes is sent after it. `tools`: names of the offered tools.
 */
export function systemOf(
  { templates }: Pick<Protocol, 'templates'>,
  snapshot: AgentSnapshot,
  { instructions, columns }: Pick<Work, 'instructions' | 'columns'>,
  tools: ReadonlySet<string>,
): string {
  const [name, human] = [shownName(snapshot.name, 'agent'), shownName(snapshot.human, 'person')];
  const filled = instructionsOf(instructions).replaceAll('{{AGENT_NAME}}', () => name);
  const identity = identityText({ templates }, { name, soul: snapshot.soul });
  const system = [
    renderTemplate(templates.agent, 'agent', {
      name,
      human,
      lead: shownName(snapshot.lead, 'lead'),
      colorName: snapshot.colorName,
      seat: String(seatNumber(snapshot.position)),
      ...toolWords(tools),
    }),
    ...(identity === null ? [] : [identity]),
    renderTemplate(templates.alone, 'alone', {
      human,
      instructions: filled,
      columns: columns.join(', '),
      ...toolWords(tools),
    }),
  ].join('\n\n');
  return inLanguage(system, { templates }, human, snapshot.language);
}

/**
 * The first message of a run: the time, the teammates, why the run starts, and the earlier context
 * it is given.
 */
export function firstWords(
  { agentId, why, lastSession, before }: Pick<Work, 'agentId' | 'why' | keyof GivenBefore>,
  { transcript }: Pick<AgentSnapshot, 'transcript'>,
  memory: string | null,
  { now, timeZone, team }: Around,
): string {
  const others = teammatesText(team, agentId);
  return [
    `[It is ${momentText(now, timeZone)}.${others === null ? '' : ` With you live ${others}.`}]`,
    ...(memory === null ? [] : [memory]),
    ...(lastSession && transcript !== null && transcript !== ''
      ? [`<previous-session>\n${transcript}\n</previous-session>`]
      : []),
    ...before.map(({ at, said }) =>
      writeSaid({ head: `[What you said at the end of a run on ${momentText(at, timeZone)}]`, text: said }),
    ),
    typeof why === 'string' ? why : why(),
  ].join('\n\n');
}

const causeOf = (by: string, reason: string | null, due: DueCause | null): AgentRun['cause'] => {
  if (due === null) return { kind: 'wake', by, reason };
  const { name } = due;
  return due.kind === 'reminder' ? { kind: due.kind, name } : { kind: due.kind, name, status: due.status };
};

/** The model that answers for this agent. */
export const modelOf = (
  agentId: AgentId,
  { model }: Pick<AgentSnapshot, 'model'>,
  mind: Pick<Mind, 'models'>,
): string =>
  agentId === LEAD_ID
    ? mind.models({ lead: model, agent: '' }).leadModel
    : mind.models({ lead: '', agent: model }).agentModel;

export function createAlone(deps: AloneDeps): OpenAlone {
  const { snapshots, runs, inbox, protocol, logger, limits = SCHEDULE_LIMITS } = deps;

  /** If the database is unreachable, the snapshot counts as present: it was there a moment ago. */
  const isLeftStill = (agentId: AgentId) =>
    snapshots.has(agentId).catch((error: unknown) => {
      if (!isAway(error)) throw error;
      return true;
    });

  async function work(request: Work): Promise<Worked> {
    const { agentId, cause, timeoutMs, busyMs } = request;
    const snapshot = await snapshots.of(agentId);
    if (!snapshot) return skippedAs({ why: 'no-copy' });
    const mind = deps.mind.current?.() ?? deps.mind;
    const own = modelOf(agentId, snapshot, mind);
    const only = request.tools && new Set(request.tools);
    const memory = await deps.memoryOf(agentId);
    const started = await runs.start({
      identity: { agentId },
      cause,
      instructions: (offered) => systemOf(protocol, snapshot, request, offered),
      worksBy: [
        request.instructions,
        ...(typeof request.why === 'string' ? [request.why] : []),
        ...(request.needs ?? []),
      ],
      context: [
        {
          messageId: null,
          text: (around) => {
            const text = firstWords(request, snapshot, memory, around);
            const short = firstWords({ ...request, lastSession: false }, snapshot, memory, around);
            return { text, shortened: (most) => (text.length <= most ? text : short) };
          },
        },
      ],
      readsInbox: request.readsInbox ?? true,
      tools: {
        own: NO_TOOLS,
        team: request.onlyTools ?? deps.tools.all().filter(({ name }) => !only || only.has(name)),
      },
      mind: {
        answers: mind,
        model: request.model ?? own,
        laterModel: request.laterModel ?? own,
        cachesForAnHour: request.cachesForAnHour,
      },
      limits: {
        timeoutMs,
        busyMs,
        maxTurns: request.maxTurns,
        maxAnswerTokens: snapshot.maxAnswerTokens,
        contextTokens: snapshot.contextTokens,
      },
      async begins(runId): Promise<NotBegun | null> {
        // The agent may have waited for its turn since the snapshot was read.
        if (!(await snapshots.has(agentId))) return { why: 'no-copy' };
        // Checked before the inbox is read. If no model may be asked, the messages stay in the
        // inbox.
        const over = await deps.usedUp(agentId);
        if (over) return { why: 'budget', detail: over.message, until: over.until };
        return (await request.begins?.(runId)) ?? null;
      },
    });
    if (!started.ok) return skippedAs(started.refusal);
    const { runId, whenEnded } = started.run;
    // Withdrawing a snapshot stops the agent's runs. The withdrawal may have come before this run
    // was registered.
    if (!(await isLeftStill(agentId))) runs.stopRun(runId);
    const end = await whenEnded;
    // No model has seen the messages that this run took from the inbox, so they are put back.
    if (end.usage === null && (end.overBudget || end.refusedForNow))
      await inbox.release((await inbox.takenIn(runId)).map(({ messageId }) => messageId));
    return { kind: 'ended', runId, end: { ...end, said: end.said && endOfText(end.said, limits.saidChars) } };
  }

  return {
    can: (agentId) => snapshots.has(agentId),
    carried: deps.woken.carried,
    work,
    async readsWeb(agentId, model) {
      const { effective } = await deps.configs.agent(agentId);
      const snapshot = await snapshots.of(agentId);
      if (!snapshot || effective.coordination.mind !== null) return false;
      const mind = deps.mind.current?.() ?? deps.mind;
      return mind.web?.(model ?? modelOf(agentId, snapshot, mind)) ?? false;
    },
    async wake(agentId, { name, reason, why, due = null, messageId = null }) {
      const isRead = async () => messageId !== null && (await inbox.statusOf(messageId)) === 'read';
      if (await isRead()) return { reached: true };
      const { own, effective } = await deps.configs.agent(agentId);
      // A scheduled wake brings its own instructions.
      const routine = due === null ? await deps.routineOf(agentId) : null;
      const account = await deps.woken.begin(agentId, name, due);
      const worked = await work({
        begins: async (runId) => ((await isRead()) ? { why: 'read' } : await account.begins(runId)),
        agentId,
        cause: causeOf(name, reason, due),
        why,
        instructions: routine?.instructions ?? '',
        columns: routine?.columns ?? [],
        ...(due === null ? { lastSession: true, before: [] } : due.given),
        model: null,
        laterModel: null,
        tools: null,
        timeoutMs: own.pulse_container_timeout_ms ?? limits.wakeRunMs,
        busyMs: effective.pulse_busy_wait_ms,
        maxTurns: effective.pulse_max_turns,
        cachesForAnHour: false,
      }).catch(async (error: unknown) => {
        await account.end(null);
        throw error;
      });
      await account.end(worked);
      if (worked.kind === 'skipped' && due === null)
        logger.warn('A granted wake was not carried out. Its message waits in the inbox.', {
          agentId,
          why: worked.why,
        });
      return reachedBy(worked);
    },
  };
}

const skippedAs = (why: NotBegun): Worked => ({ kind: 'skipped', ...why });

/** Whether the agent has read the message it was woken for. */
function reachedBy(worked: Worked): Reached {
  if (worked.kind === 'ended') {
    const { overBudget, refusedForNow, usage, reason } = worked.end;
    if (usage !== null || !(overBudget || refusedForNow)) return { reached: true };
    return { reached: false, reason: overBudget ? 'budget' : 'model-refused', detail: reason, until: null };
  }
  switch (worked.why) {
    case 'read':
      return { reached: true };
    case 'budget':
      return { reached: false, reason: worked.why, detail: worked.detail, until: worked.until };
    case 'closing':
      return { reached: false, reason: 'planned-stop', detail: null, until: null };
    case 'not-ours':
      return { reached: false, reason: 'overlap', detail: null, until: null };
    case 'no-copy':
    case 'agent-busy':
      return { reached: false, reason: worked.why, detail: null, until: null };
  }
}
