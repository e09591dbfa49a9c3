/** Performs a due occurrence: decides whether anything runs, and reports the outcome. */
import { createHash } from 'node:crypto';
import type { AgentId, MessageId, RunId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { onOneLine, quote, titled, writeSaid } from '../../src/shared/domain/quoting.ts';
import {
  canGoOn,
  comesWithin,
  MINUTE_MS,
  type OccurrenceEnd,
  type SkipReason,
  type TimingContext,
} from '../../src/shared/domain/schedule/timing.ts';
import type { CallState, ToolCall } from '../../src/shared/protocol/approvals.ts';
import type { Occurrence, Schedule, ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { AgentState, GateCheck } from '../../src/shared/domain/guardrails.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { tokensOf } from '../../src/shared/domain/request-cost.ts';
import { endOfText } from '../../src/shared/domain/cut-middle.ts';
import { textOf } from '../../src/shared/domain/text-of.ts';
import type { EventOf } from '../../src/shared/protocol/events.ts';
import type { DueCause, GivenBefore, NotReached, Reach } from '../agents/reach/contract.ts';
import type { RunScopes } from '../agents/runs/run-scopes.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { EventLog } from '../log/index.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Inbox } from '../team/inbox/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { RunResult } from '../agents/runs/index.ts';
import { type NotBegun, NOT_OURS, type OpenAlone, type UsedUp, type Woken, type Worked } from './alone.ts';
import {
  type Claim,
  type Detail,
  type Ended,
  type LeftScript,
  NO_DETAIL,
  type Row,
  type ScheduleRows,
} from './rows.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';
import type { ClockDeps, Performed } from './clock.ts';
import type { Mappings, RoutineRun } from './mapping-contract.ts';
import { projectsText, scopeOf } from './mapping-runs.ts';
import { howItEnded, type ScriptEnd, type Scripts, type ScriptTexts } from './scripts.ts';

// Continues a run that did not finish, when the person asks for it. A new run gets what started the
// first one, its last words, and its actions from the audit log. Nothing is held in memory
// meanwhile, so the person may ask months later and after a restart.

type WentOn =
  | { readonly ok: true }
  /** `detail`: a sentence for people. */
  | { readonly ok: false; readonly reason: 'unknown' | 'cannot'; readonly detail: string };

/**
 * Lets the agent continue this run. Resolves when the gate has granted or refused it, not when the
 * new run ends.
 */
export type GoOn = (runId: RunId) => Promise<WentOn>;

interface GoOnDeps {
  readonly rows: Pick<ScheduleRows, 'withRun' | 'ownOf' | 'continuedIn' | 'goesOn' | 'get'>;
  readonly approvals: { ofRun(agentId: AgentId, runId: RunId, limit: number): Promise<readonly ToolCall[]> };
  readonly inbox: Pick<Inbox, 'takenIn'>;
  readonly alone: Pick<OpenAlone, 'can' | 'work'>;
  readonly woken: Woken;
  readonly reach: Pick<Reach, 'permitFor'>;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly mappings: Pick<Mappings, 'runsOf' | 'readyFor' | 'spentUp'>;
  readonly scopes: Pick<RunScopes, 'enter'>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits?: ScheduleLimits;
}

const cannot = (detail: string): WentOn => ({ ok: false, reason: 'cannot', detail });

const CALL_WORDS: Record<CallState, string> = {
  asked: 'waits for the human, and has not run',
  running: 'it is not known how far it came',
  unknown: 'it is not known whether it ran, or how far it came',
  declined: 'the human said no: it has not run',
  withdrawn: 'has not run',
  stopped: 'was stopped before it ended',
  done: 'done',
};

/**
 * One call as text: its input and its outcome, as far as the audit log stores them, and at most
 * `most` characters of each.
 */
function callText({ tool, input, state, isError, outcome }: ToolCall, most: number): string {
  const cut = (text: string) => (text.length <= most ? text : `${text.slice(0, most)} […]`);
  const became = state === 'done' && isError ? 'failed' : CALL_WORDS[state];
  return `${tool} ${cut(input)}\n→ ${became}${outcome === null || outcome === '' ? '' : `: ${cut(outcome)}`}`;
}

/**
 * The newest calls that fit, oldest first. `newestFirst` may hold one call more than `goOnCalls`,
 * which shows that there are more.
 */
function callsText(newestFirst: readonly ToolCall[], { goOnCalls, goOnChars, goOnCallChars }: ScheduleLimits): string {
  const texts: string[] = [];
  let room = goOnChars;
  for (const call of newestFirst.slice(0, goOnCalls)) {
    const text = callText(call, goOnCallChars);
    room -= text.length;
    if (room < 0) break;
    texts.unshift(text);
  }
  const left = newestFirst.length - texts.length;
  const least = newestFirst.length > goOnCalls ? 'at least ' : '';
  return [...(left > 0 ? [`(${least}${left} earlier ones are left out.)`] : []), ...texts].join('\n\n');
}

/** What started the run, as the end of a sentence. */
const setOffBy = ({ kind, name }: Occurrence): string => {
  switch (kind) {
    case 'wake':
      return `somebody’s wake, ${titled(name)}`;
    case 'routine':
    case 'reminder':
    case 'script':
      return `your ${kind} ${titled(name)}`;
    default:
      return kind satisfies never;
  }
};

/** Most runs in a chain of continued runs that are described. */
const MOST_BEFORE = 10;

/** Describes a run to be continued, and the runs that it continued itself. */
function createTold(deps: GoOnDeps): (last: Occurrence) => Promise<string> {
  const { rows, limits = SCHEDULE_LIMITS } = deps;

  /** Describes one run of the chain. */
  async function toldOf(one: Occurrence, runId: RunId, zone: string): Promise<string[]> {
    const [messages, calls] = await Promise.all([
      deps.inbox.takenIn(runId),
      deps.approvals.ofRun(one.agentId, runId, limits.goOnCalls + 1),
    ]);
    const when = momentText(one.startedAt ?? one.dueAt, zone);
    return [
      ...messages.map(({ text }) => writeSaid({ head: `[A message that was put before you in it]`, text })),
      ...(calls.length === 0
        ? []
        : [
            writeSaid({
              head: `[What you did in the run of ${when}, by the relay’s account, the oldest first: data]`,
              text: callsText(calls, limits),
            }),
          ]),
      ...(one.said === null || one.said === ''
        ? []
        : [writeSaid({ head: '[Your own last words in it]', text: one.said })]),
    ];
  }

  /** The chain of continued runs that ends with this one, oldest first. */
  async function chainOf(last: Occurrence): Promise<{ readonly chain: Occurrence[]; readonly isWhole: boolean }> {
    const chain = [last];
    for (let first: Occurrence | null = await rows.continuedIn(last); first; first = await rows.continuedIn(first)) {
      if (chain.length >= MOST_BEFORE) return { chain, isWhole: false };
      chain.unshift(first);
    }
    return { chain, isWhole: true };
  }

  return async (last) => {
    const zone = (await deps.configs.household()).effective.time_zone;
    const told: string[] = [];
    const { chain, isWhole } = await chainOf(last);
    if (!isWhole)
      told.push(`[Of the runs that this one goes on with, those before the last ${MOST_BEFORE} are not told here.]`);
    for (const one of chain) if (one.runId !== null) told.push(...(await toldOf(one, one.runId, zone)));
    const ended = last.detail === null ? '' : ` How it ended: ${last.detail}`;
    return [
      `[You go on with a run of yours that did not come to its end, because the human says so. It was set off by ${setOffBy(last)}.${ended}]`,
      ...told,
      '[Go on where it broke off. What is done is done: do not do it a second time, and look first where you are not sure how far it came.]',
    ].join('\n\n');
  };
}

/** The run that goes on with an earlier one: about the same projects, and no others. */
function sameRun(
  runs: readonly RoutineRun[],
  routine: Pick<ScheduleOf<'routine'>, 'name' | 'tools'>,
  last: Pick<Occurrence, 'name'>,
  own: string | null | undefined,
): RoutineRun | null {
  const [first] = runs;
  if (!first) return null;
  const named = runs.filter(({ name }) => name === last.name);
  const same =
    own !== undefined
      ? runs.find((run) => run.own === own)
      : named.length === 1
        ? named[0]
        : last.name === routine.name
          ? first
          : undefined;
  // Its project is gone, or rests. The run takes no task of others.
  return same ?? { ...first, tools: routine.tools, projects: [], offers: [], isLimited: true, own: null };
}
/** Notes which mapping had the run for itself, and which tasks that were ready it left. */
const withOwn = (performed: Performed, run: Pick<RoutineRun, 'own'> | null, left: string | null = null): Performed =>
  'end' in performed && run
    ? { ...performed, detail: { ...performed.detail, own: run.own, ...(left === null ? {} : { left }) } }
    : performed;

export function createGoOn(deps: GoOnDeps): GoOn {
  const { rows, alone, woken, reach, logger, limits = SCHEDULE_LIMITS } = deps;
  const told = createTold(deps);
  /** Runs that wait for their agent and are not yet recorded as continued. */
  const beginning = new Set<RunId>();

  /** The run's routine, if it was started by one that still exists. */
  async function routineOf({ kind, scheduleId }: Occurrence): Promise<ScheduleOf<'routine'> | null> {
    const row = kind === 'routine' ? await rows.get(scheduleId) : null;
    return row?.schedule.kind === 'routine' ? row.schedule : null;
  }

  async function work(last: Occurrence, runId: RunId): Promise<void> {
    const { agentId } = last;
    const routine = await routineOf(last);
    const runs = routine ? await deps.mappings.runsOf({ scheduleId: last.scheduleId, schedule: routine }) : [];
    const run = routine && sameRun(runs, routine, last, await rows.ownOf(runId));
    const about = run && projectsText(run, await deps.mappings.readyFor(run, agentId));
    const why = [await told(last), ...(about === null ? [] : [about])].join('\n\n');
    const account = await woken.goOn(last);
    let worked: Worked | null = null;
    let leave: () => void = () => undefined;
    try {
      const { own, effective } = await deps.configs.agent(agentId);
      worked = await alone.work({
        agentId,
        cause: routine ? { kind: 'pulse', routine: routine.name } : { kind: 'wake', by: 'human', reason: null },
        why,
        instructions: routine?.instructions ?? '',
        columns: [],
        lastSession: routine === null || routine.context === 'last_session',
        before: [],
        ...(run ? modelsOf(run) : { model: null, laterModel: null }),
        tools: run?.tools ?? null,
        timeoutMs: routine
          ? (routine.timeoutMs ?? effective.pulse_container_timeout_ms)
          : (own.pulse_container_timeout_ms ?? limits.wakeRunMs),
        busyMs: effective.pulse_busy_wait_ms,
        maxTurns: routine?.maxTurns ?? effective.pulse_max_turns,
        cachesForAnHour: false,
        async begins(next) {
          if (!(await rows.goesOn(runId, next))) return NOT_OURS;
          if (run) leave = deps.scopes.enter(next, scopeOf(agentId, run));
          return await account.begins(next);
        },
      });
    } finally {
      leave();
      await account.finish(withOwn(performedBy(worked), run));
    }
  }

  async function tryToBegin(last: Occurrence, runId: RunId): Promise<WentOn> {
    const { agentId } = last;
    if (!(await alone.can(agentId))) return cannot('The relay has no snapshot of the agent.');
    const { decision, permit } = await reach.permitFor({
      target: agentId,
      source: { kind: 'person' },
      way: 'person',
      reason: null,
      messageId: null,
      callerSession: null,
    });
    if (!permit) return cannot(decision.detail);
    permit.releaseAfter(
      work(last, runId)
        .catch((error: unknown) => logger.error('A run could not be continued.', { agentId, error }))
        .finally(() => beginning.delete(runId)),
    );
    return { ok: true };
  }

  return async (runId) => {
    const last = await rows.withRun(runId);
    if (!last) return { ok: false, reason: 'unknown', detail: 'There is no such run, or it is too old.' };
    if (last.continuedBy !== null || beginning.has(runId)) return cannot('It was continued already.');
    if (!canGoOn(last)) return cannot(last.endedAt === null ? 'The run is still under way.' : 'The run is complete.');
    const { agentId } = last;
    const state = deps.host.stateOf(agentId);
    if (state === 'paused') return cannot('The agent is set to sleep in the session. Wake it first.');
    if (state === 'driven') return cannot('A client drives it now.');
    beginning.add(runId);
    const began = await tryToBegin(last, runId).catch((error: unknown) => {
      beginning.delete(runId);
      throw error;
    });
    if (!began.ok) beginning.delete(runId);
    return began;
  };
}

/*
 * How runs ended, according to the event log. The conversation and the history then report the same
 * outcome.
 */

/** Events per read. */
const PAGE = 2_000;

/**
 * Outcomes of those runs that have ended according to the log. `saidChars`: most characters of the
 * last words.
 */
export async function endsInLog(
  log: Pick<EventLog, 'read'>,
  runIds: ReadonlySet<RunId>,
  saidChars: number,
): Promise<ReadonlyMap<string, Ended>> {
  const said = new Map<string, string>();
  const over: EventOf<'run-ended'>[] = [];
  for (let after = 0; ;) {
    const page = await log.read(after, PAGE);
    for (const { event } of page) {
      if (event.kind === 'run-ended' && runIds.has(event.runId)) over.push(event);
      if (event.kind !== 'message' || event.runId === undefined || event.author !== event.agentId) continue;
      const text = textOf(event.blocks).trim();
      if (runIds.has(event.runId) && text !== '') said.set(event.runId, endOfText(text, saidChars));
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  return new Map(
    over.map((event) => [
      event.runId,
      endOfRun({ ...event, said: said.get(event.runId) ?? null, overBudget: false, refusedForNow: false }),
    ]),
  );
}

interface PerformDeps {
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
  readonly reach: Pick<Reach, 'ask' | 'permitFor'>;
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

/** A run on projects plans with one model. Executors that it starts have another. */
const modelsOf = ({ projects, planningModel, executorModel }: RoutineRun) => ({
  model: planningModel,
  laterModel: projects === null ? executorModel : planningModel,
});

/** What starts a run of a routine. `about`: its projects. */
export const dueText = (name: string, when: string, isLate: boolean, about: string | null): string =>
  [`[Your routine ${name} is due: ${when}${isLate ? ', made up for' : ''}]`, ...(about === null ? [] : [about])].join(
    '\n\n',
  );

/** What each run of a routine gets, whenever it is due. */
export const workOf = (
  schedule: ScheduleOf<'routine'>,
  run: RoutineRun,
  effective: Awaited<ReturnType<Configs['agent']>>['effective'],
) => ({
  agentId: schedule.agentId,
  cause: { kind: 'pulse', routine: schedule.name } as const,
  instructions: schedule.instructions,
  columns: [],
  ...modelsOf(run),
  tools: run.tools,
  timeoutMs: schedule.timeoutMs ?? effective.pulse_container_timeout_ms,
  busyMs: effective.pulse_busy_wait_ms,
  maxTurns: schedule.maxTurns ?? effective.pulse_max_turns,
});

/** How many earlier runs' last words a routine is given. */
const RUNS_BEFORE = 3;
const HOUR_MS = 60 * MINUTE_MS;
/** Time until a script that waits for its earlier run is tried again. */
const WAIT_MS = MINUTE_MS / 12;

const skipped = (reason: SkipReason, detail: string | null = null): Ended => ({
  end: { state: 'skipped', reason },
  detail: { ...NO_DETAIL, detail },
});
const ended = (state: Exclude<OccurrenceEnd['state'], 'skipped'>, detail: Partial<Detail> = {}): Ended => ({
  end: { state, reason: null },
  detail: { ...NO_DETAIL, ...detail },
});

const ONE_WAITS = sentence`The one before has not come yet.`;
const LEFT = sentence`Its last runs left the tasks that are ready. It begins again when one of them changes, or a day later.`;
const FORGOTTEN: Performed = { ...ended('cancelled'), forgets: true };

/** Why an agent in this state begins no run of a routine. Null: it may. */
export function busyText(state: AgentState): string | null {
  if (state === 'paused') return sentence`The agent is set to sleep in the session.`;
  return state === 'driven' ? sentence`A client drives it now.` : null;
}

type GateReason = Extract<SkipReason, 'switched-off' | 'blackout' | 'minutes' | 'concurrency' | 'agent-busy' | 'gate'>;
/** The skip reason for a check of the gate. */
export function reasonOf(check: GateCheck | null): GateReason {
  switch (check) {
    case 'disabled':
      return 'switched-off';
    case 'blackout':
    case 'minutes':
    case 'concurrency':
      return check;
    case 'idle':
      return 'agent-busy';
    default:
      return 'gate';
  }
}

/** The outcome of an occurrence from the result of its run. */
function endOfRun({
  outcome,
  reason,
  usage,
  costMicroUsd,
  estimated,
  said,
  overBudget,
  refusedForNow,
}: RunResult): Ended {
  // A run that reached the model before the budget ended counts as a run.
  if (overBudget && usage === null) return skipped('budget', reason);
  if (refusedForNow && usage === null) return skipped('model-refused', reason);
  const tokens = usage && tokensOf(usage);
  return ended(outcome, { said, detail: reason, tokens, costMicroUsd, estimated });
}

/**
 * A run whose claims all failed has failed, however its agent ended it. So the schedule is paused
 * after `failuresPause` of them, and costs nothing more.
 */
function unlessNothingBegan(performed: Performed, claims: readonly (string | null)[]): Performed {
  const why = claims.at(-1) ?? null;
  if (!('end' in performed) || performed.end.state !== 'done' || why === null || claims.includes(null))
    return performed;
  return {
    ...performed,
    end: { state: 'failed', reason: null },
    detail: { ...performed.detail, detail: sentence`The work on its task could not begin. ${why}` },
  };
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

export function createPerform(deps: PerformDeps): Pick<ClockDeps, 'perform' | 'endLeft'> {
  const { rows, alone, reach, inbox, now, limits = SCHEDULE_LIMITS } = deps;

  const whenOf = async (dueAt: number) => {
    const { effective } = await deps.configs.household();
    return momentText(dueAt, effective.time_zone);
  };

  /** The earlier context that the schedule gives its agent. */
  async function givenTo({ scheduleId, schedule }: Pick<Row, 'scheduleId' | 'schedule'>): Promise<GivenBefore> {
    const { context }: Pick<Schedule, 'context'> = schedule;
    const runs = context === 'own_runs' ? await rows.runs({ scheduleId, before: now() + 1, most: RUNS_BEFORE }) : [];
    return {
      lastSession: context === 'last_session',
      before: runs
        .flatMap(({ said, endedAt }) => (said === null || endedAt === null ? [] : [{ at: endedAt, said }]))
        .reverse(),
    };
  }

  type RoutineRow = Pick<Row, 'scheduleId'> & { readonly schedule: ScheduleOf<'routine'> };

  /** Why the agent cannot begin a run now. Null: it can. */
  function refuseBusy(agentId: AgentId): Ended | null {
    const busy = busyText(deps.host.stateOf(agentId));
    return busy === null ? null : skipped('agent-busy', busy);
  }

  /**
   * Whether tasks are ready for which a run begins. Those that its agent has left too often count
   * no more for a while. Otherwise they would cost a run at each due moment, without end.
   */
  async function readyCounts(
    scheduleId: ScheduleId,
    run: RoutineRun,
    { key }: Awaited<ReturnType<Mappings['readyFor']>>,
  ): Promise<boolean> {
    if (key === null) return false;
    const within = { most: limits.leftMost, from: now() - limits.leftMs, to: now() };
    return !(await rows.hasLeft({ scheduleId, own: run.own, left: key }, within));
  }

  /** One run of a routine. `hasMail`: what waits in the inbox counts as something to do. */
  async function oneRun(
    claim: Claim,
    { scheduleId, schedule }: RoutineRow,
    run: RoutineRun,
    hasMail: boolean,
    begins: (runId: RunId) => Promise<NotBegun | null>,
  ): Promise<Performed> {
    const { agentId, name } = schedule;
    const spent = await deps.mappings.spentUp(run);
    if (spent !== null) return skipped('budget', spent);
    const ready = await deps.mappings.readyFor(run, agentId);
    if (schedule.when === 'something_waits') {
      const counts = await readyCounts(scheduleId, run, ready);
      const waits = counts || (hasMail && (await deps.somethingWaits(agentId, await rows.lastRunOf(agentId))));
      if (!waits) return skipped('nothing-waits', ready.key === null ? null : LEFT);
    }
    if (!(await alone.can(agentId))) return skipped('no-copy');
    const [when, given] = [await whenOf(claim.dueAt), await givenTo({ scheduleId, schedule })];
    const { decision, permit } = await reach.permitFor({
      target: agentId,
      source: { kind: 'schedule', name },
      way: 'schedule',
      reason: null,
      messageId: null,
      callerSession: null,
      inDark: schedule.timing.kind === 'once',
    });
    if (!permit) return skipped(reasonOf(decision.check), decision.detail);
    let leave: () => void = () => undefined;
    /** Of each claim: why its work could not begin. Null: it began. */
    const claims: (string | null)[] = [];
    try {
      const { effective } = await deps.configs.agent(agentId);
      const worked = await alone.work({
        ...workOf(schedule, run, effective),
        why: dueText(titled(name), when, claim.late, projectsText(run, ready)),
        ...given,
        // Storing the cache for an hour pays only if the routine runs again within the hour.
        cachesForAnHour: comesWithin(schedule.timing, HOUR_MS, claim.dueAt, await deps.readContext()),
        async begins(runId) {
          leave = deps.scopes.enter(runId, { ...scopeOf(agentId, run), onClaim: (said) => claims.push(said) });
          return await begins(runId);
        },
      });
      const left = claims.length === 0 ? ready.key : null;
      return withOwn(unlessNothingBegan(performedBy(worked), claims), run, left);
    } finally {
      leave();
      await permit.release();
    }
  }

  /** The runs of mappings that have their own, one after the other. */
  async function separateRuns(claim: Claim, { scheduleId }: RoutineRow, runs: readonly RoutineRun[]): Promise<void> {
    for (const { own, name } of runs) {
      // The routine, its mappings and the board may have changed during the run before.
      const row = await rows.get(scheduleId);
      if (row?.schedule.kind !== 'routine' || row.pausedWhy !== null || !row.schedule.enabled) return;
      const routine = { scheduleId, schedule: row.schedule };
      const { agentId, when } = row.schedule;
      const run = (await deps.mappings.runsOf(routine)).find((each) => each.own === own);
      if (!run || refuseBusy(agentId)) continue;
      const ready = await deps.mappings.readyFor(run, agentId);
      if (when === 'something_waits' && !(await readyCounts(scheduleId, run, ready))) continue;
      const account = await deps.woken.goOn({ scheduleId, agentId, kind: 'routine', name });
      const performed = await oneRun(claim, routine, run, false, account.begins).catch((error: unknown) => {
        deps.logger.error('A run of a routine on a project could not be carried out.', {
          scheduleId,
          error,
        });
        return performedBy(null);
      });
      await account.finish(performed);
    }
  }

  async function routine(
    claim: Claim,
    row: RoutineRow,
    begins: (runId: RunId) => Promise<boolean>,
  ): Promise<Performed> {
    const { agentId, enabled, maxConcurrent } = row.schedule;
    if (!enabled) return skipped('switched-off');
    if ((await rows.under(claim)).running >= maxConcurrent) return skipped('overlap');
    const busy = refuseBusy(agentId);
    if (busy) return busy;
    const [first, ...others] = await deps.mappings.runsOf(row);
    if (!first) return skipped('nothing-waits');
    const performed = await oneRun(claim, row, first, true, async (runId) => ((await begins(runId)) ? null : NOT_OURS));
    if (others.length === 0 || !('end' in performed)) return performed;
    return { ...performed, afterwards: () => separateRuns(claim, row, others) };
  }

  /** The occurrence stays due, and is tried again when the obstacle may be gone. */
  function waits({ reason, detail, until }: Omit<NotReached, 'reached'>): Performed {
    const time = now();
    const at = until ?? time + (reason === 'model-refused' ? limits.refusedAgainMs : limits.waitAgainMs);
    const most = reason === 'model-refused' ? limits.refusedAgainMs : limits.waitMostMs;
    return { again: Math.min(Math.max(at, time + 1), time + most), waits: { reason, detail } };
  }

  /**
   * Puts a message into the agent's inbox and wakes the agent for it. Null: the agent has read it.
   */
  async function wakeFor(
    claim: Claim,
    { messageId, text }: { readonly messageId: MessageId; readonly text: string },
    due: DueCause,
  ): Promise<Performed | null> {
    const { agentId } = claim;
    const message = { messageId, to: agentId, from: agentId, text, priority: 'urgent', threadId: null } as const;
    const full = await inbox.put({ ...message, time: now() });
    if (full !== null) return waits({ reason: 'gate', detail: full, until: null });
    const used = (await deps.usedUp?.(agentId)) ?? null;
    if (used) return waits({ reason: 'budget', detail: used.message, until: used.until });
    const { kind, name } = due;
    const { decision, over } = await reach.ask({
      target: agentId,
      source: kind === 'script' ? { kind, name } : { kind: 'schedule', name },
      way: kind === 'script' ? 'script_failure' : 'reminder',
      due,
      reason: null,
      messageId,
      callerSession: null,
      // Retries are logged once.
      quiet: claim.waited ?? false,
    });
    if (decision.outcome !== 'granted')
      return waits({
        reason: reasonOf(decision.check),
        detail: sentence`It waits in the inbox. ${decision.detail}`,
        until: decision.until,
      });
    const reached = (await over) ?? { reached: true };
    return reached.reached ? null : waits(reached);
  }

  async function reminder(claim: Claim, scheduleId: ScheduleId, schedule: ScheduleOf<'reminder'>): Promise<Performed> {
    const { name, message } = schedule;
    // At most one waits: a recurring reminder has the same text each time.
    if (schedule.timing.kind !== 'once' && (await rows.under(claim)).before > 0) return skipped('overlap', ONE_WAITS);
    const late = claim.late ? `, late: the relay was away` : '';
    const text = `[A reminder that you left for yourself, ${titled(name)}, due ${await whenOf(claim.dueAt)}${late}]\n${quote(message)}`;
    const waiting = await wakeFor(
      claim,
      { messageId: messageIdOf(claim), text },
      { kind: 'reminder', scheduleId, name, given: await givenTo({ scheduleId, schedule }) },
    );
    // The reminder was delivered. If it is not due again, its row is removed and its name is free.
    return waiting ?? { ...ended('done'), removes: 'once-over' };
  }

  async function script(claim: Claim, scheduleId: ScheduleId, schedule: ScheduleOf<'script'>): Promise<Performed> {
    if (!schedule.enabled) return skipped('switched-off');
    const { running, before } = await rows.under(claim);
    // At most one waits. A script that takes longer than its interval would otherwise build up a
    // queue.
    if (running > 0) return schedule.overlap === 'wait' && before < 2 ? { again: now() + WAIT_MS } : skipped('overlap');
    // Recorded before the script starts, so that it does not run twice if the relay dies.
    if (!(await rows.beginsScript(claim, now()))) return skipped('overlap', 'Another process of this relay has it.');
    const { text, note } = await deps.texts.toRun(scheduleId, schedule);
    const began = now();
    const ran =
      text === null ? notRun(note) : await deps.scripts.run(schedule, text, (group) => rows.runsAs(claim, group));
    const { kind, status, output, cancels } = ran;
    const how = howItEnded(ran, now() - began);
    const about = [kind === 'done' ? null : how, text === null ? null : note].filter((part) => part !== null);
    const detail = { said: output, detail: about.join(' ') || null };
    if (cancels) await deps.texts.withdraw(scheduleId);
    if (kind === 'done' || kind === 'stopped') return { ...ended(kind, detail), removes: cancels };
    const wrote = output === '' ? 'It wrote nothing.]' : `The end of what it wrote:]\n${quote(output)}`;
    const words = `${onOneLine(how)} ${wrote}`;
    return await failed(claim, schedule, kind, detail, { status, words });
  }

  const notRun = (why: string | null): ScriptEnd => ({
    ...{ kind: 'failed', by: 'nobody', output: '', cancels: false },
    status: why ?? 'It has no text.',
  });

  /**
   * Leaves a notice for the agent if the schedule says so. The agent gets it as soon as it can be
   * woken.
   */
  async function failed(
    claim: Claim,
    { name, script: path, on_failure }: ScheduleOf<'script'>,
    kind: 'failed' | 'timed-out' | 'crashed',
    detail: { readonly said?: string; detail: string | null },
    { status, words }: { readonly status: string; readonly words: string },
  ): Promise<Ended> {
    if (on_failure === 'wake_agent') {
      const text = `[Script ${onOneLine(path)} failed. It is scheduled as ${titled(name)}. ${words}`;
      await rows.leaveNotice(claim, { messageId: messageIdOf(claim), name, status, text }, now());
    }
    return ended(kind, detail);
  }

  /** Ends what is left of a script whose relay died. The script counts as crashed. */
  async function endLeft({ claim, group }: LeftScript, row: Row | null): Promise<Ended> {
    if (group) await deps.scripts.endLeft(group);
    const detail = { detail: sentence`The relay stopped in the middle of it.` };
    if (row?.schedule.kind !== 'script') return ended('crashed', detail);
    const words = `It was due ${await whenOf(claim.dueAt)}, and the relay broke off while it ran. What it had done until then is done; it is not begun again.]`;
    return await failed(claim, row.schedule, 'crashed', detail, { status: 'the relay broke off', words });
  }

  const perform: ClockDeps['perform'] = async (claim, row: Row, { begins }) => {
    const { scheduleId, schedule } = row;
    // A failure is announced even if the schedule has been paused or disabled since.
    const { notice } = claim;
    if (notice) {
      const { name, status } = notice;
      const due = { kind: 'script', scheduleId, name, status, given: await givenTo(row) } as const;
      return (await wakeFor(claim, notice, due)) ?? FORGOTTEN;
    }
    if (row.pausedWhy !== null) return skipped('switched-off', row.pausedWhy);
    switch (schedule.kind) {
      case 'routine':
        return await routine(claim, { scheduleId, schedule }, begins);
      case 'reminder':
        return await reminder(claim, scheduleId, schedule);
      case 'script':
        return await script(claim, scheduleId, schedule);
      default:
        return schedule satisfies never;
    }
  };
  return { perform, endLeft };
}

/** The outcome of an occurrence from its work. Null: an error inside the relay. */
export function performedBy(worked: Worked | null): Performed {
  if (worked === null) return ended('failed', { detail: 'Nothing was begun.' });
  if (worked.kind === 'ended') return endOfRun(worked.end);
  switch (worked.why) {
    case 'closing':
      return skipped('planned-stop');
    case 'not-ours':
      return skipped('overlap', 'Another process of this relay has it.');
    case 'budget':
      return skipped('budget', worked.detail);
    case 'read':
      return FORGOTTEN;
    case 'no-copy':
    case 'agent-busy':
      return skipped(worked.why);
    default:
      return worked satisfies never;
  }
}
