/**
 * Continues a run that did not finish, when the person asks for it. A new run gets what started the
 * first one, its last words, and its actions from the audit log. Nothing is held in memory
 * meanwhile, so the person may ask months later and after a restart.
 */
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import { titled, writeSaid } from '../../src/shared/domain/quoting.ts';
import { canGoOn } from '../../src/shared/domain/schedule/timing.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import type { CallState, ToolCall } from '../../src/shared/protocol/approvals.ts';
import type { Occurrence, ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Wakes } from '../agents/wakes/contract.ts';
import type { RunScopes } from '../agents/runs/run-scopes.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { Logger } from '../platform/logger.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Inbox } from '../team/inbox/index.ts';
import { NOT_OURS, type OpenAlone, type Woken, type Worked } from './alone.ts';
import type { Mappings, RoutineRun } from './mapping-contract.ts';
import { projectsText, scopeOf } from './mapping-runs.ts';
import { performedBy, withOwn } from './outcomes.ts';
import { modelsOf } from './routine-work.ts';
import type { ScheduleRows } from './rows.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

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
  readonly wakes: Pick<Wakes, 'permitFor'>;
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
  async function toldOf(occurrence: Occurrence, runId: RunId, zone: string): Promise<string[]> {
    const [messages, calls] = await Promise.all([
      deps.inbox.takenIn(runId),
      deps.approvals.ofRun(occurrence.agentId, runId, limits.goOnCalls + 1),
    ]);
    const when = momentText(occurrence.startedAt ?? occurrence.dueAt, zone);
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
      ...(occurrence.said === null || occurrence.said === ''
        ? []
        : [writeSaid({ head: '[Your own last words in it]', text: occurrence.said })]),
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
export function createGoOn(deps: GoOnDeps): GoOn {
  const { rows, alone, woken, wakes, logger, limits = SCHEDULE_LIMITS } = deps;
  const toldRuns = createTold(deps);
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
    const why = [await toldRuns(last), ...(about === null ? [] : [about])].join('\n\n');
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
    const { decision, permit } = await wakes.permitFor({
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
