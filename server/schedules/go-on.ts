/**
 * A run that did not come to its own end, gone on with because the person said so: by another run,
 * which is given what set the first to work, its last words, and what it did, as the account of
 * calls has it. Nothing of it has to be held meanwhile, so it can be asked for after months, and
 * after a restart.
 */
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { titled, writeSaid } from '../../src/shared/domain/quoting.ts';
import { canGoOn } from '../../src/shared/domain/schedule/timing.ts';
import type { CallState, ToolCall } from '../../src/shared/protocol/calls.ts';
import type { Occurrence, ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Configs, Inbox, Reach, SessionHost } from '../contracts/index.ts';
import type { Logger } from '../platform/logger.ts';
import { NOT_OURS, type OpenAlone, type Woken, type Worked } from './alone.ts';
import type { ScheduleRows } from './rows.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

export type WentOn =
  | { readonly ok: true }
  /** `detail`: a sentence for people. */
  | { readonly ok: false; readonly reason: 'unknown' | 'cannot'; readonly detail: string };

/**
 * Lets its agent go on with this run. Resolves when that is granted, or refused; the run itself is
 * not waited for.
 */
export type GoOn = (runId: RunId) => Promise<WentOn>;

export interface GoOnDeps {
  readonly rows: Pick<ScheduleRows, 'withRun' | 'continuedIn' | 'goesOn' | 'get'>;
  readonly calls: { ofRun(agentId: AgentId, runId: RunId, limit: number): Promise<readonly ToolCall[]> };
  readonly inbox: Pick<Inbox, 'takenIn'>;
  readonly alone: Pick<OpenAlone, 'can' | 'work'>;
  readonly woken: Woken;
  readonly reach: Pick<Reach, 'permitFor'>;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
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
 * One call in its own lines: its input and its outcome, as much as the account keeps, and at most
 * `most` characters of each.
 */
function callText({ tool, input, state, isError, outcome }: ToolCall, most: number): string {
  const cut = (text: string) => (text.length <= most ? text : `${text.slice(0, most)} […]`);
  const became = state === 'done' && isError ? 'failed' : CALL_WORDS[state];
  return `${tool} ${cut(input)}\n→ ${became}${outcome === null || outcome === '' ? '' : `: ${cut(outcome)}`}`;
}

/**
 * As many of the newest as there is room for, the oldest first. `newestFirst`: one more than are
 * looked at says that there are more.
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

/** What set it to work, as a sentence goes on. */
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

/** Runs of before that one goes back over. */
const MOST_BEFORE = 10;

/** What is told of a run that is gone on with, and of those that it went on with itself. */
function createTold(deps: GoOnDeps): (last: Occurrence) => Promise<string> {
  const { rows, limits = SCHEDULE_LIMITS } = deps;

  /** What is told of one run of this agent, the last of several or not. */
  async function toldOf(one: Occurrence, runId: RunId, zone: string): Promise<string[]> {
    const [messages, calls] = await Promise.all([
      deps.inbox.takenIn(runId),
      deps.calls.ofRun(one.agentId, runId, limits.goOnCalls + 1),
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

  /** That run, before it those that it went on with: the oldest first. */
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

export function createGoOn(deps: GoOnDeps): GoOn {
  const { rows, alone, woken, reach, logger, limits = SCHEDULE_LIMITS } = deps;
  const told = createTold(deps);
  /** That wait for their agent, and are not written as gone on with yet. */
  const beginning = new Set<RunId>();

  /** The routine, where it is one and still there. */
  async function routineOf({ kind, scheduleId }: Occurrence): Promise<ScheduleOf<'routine'> | null> {
    const row = kind === 'routine' ? await rows.get(scheduleId) : null;
    return row?.schedule.kind === 'routine' ? row.schedule : null;
  }

  async function work(last: Occurrence, runId: RunId): Promise<void> {
    const { agentId } = last;
    const routine = await routineOf(last);
    const why = await told(last);
    const account = await woken.goOn(last);
    let worked: Worked | null = null;
    try {
      const { own, effective } = await deps.configs.agent(agentId);
      worked = await alone.work({
        agentId,
        cause: routine ? { kind: 'pulse', routine: routine.name } : { kind: 'wake', by: 'human', reason: null },
        why,
        instructions: routine?.instructions ?? '',
        columns: routine?.columns ?? [],
        lastSession: routine === null || routine.context === 'last_session',
        before: [],
        model: routine?.planningModel ?? routine?.model ?? null,
        laterModel: routine?.executorModel ?? routine?.model ?? null,
        tools: routine?.tools ?? null,
        timeoutMs: routine
          ? (routine.timeoutMs ?? effective.pulse_container_timeout_ms)
          : (own.pulse_container_timeout_ms ?? limits.wakeRunMs),
        busyMs: effective.pulse_busy_wait_ms,
        maxTurns: routine?.maxTurns ?? effective.pulse_max_turns,
        cachesForAnHour: false,
        begins: async (next) => ((await rows.goesOn(runId, next)) ? await account.begins(next) : NOT_OURS),
      });
    } finally {
      await account.end(worked);
    }
  }

  async function tryToBegin(last: Occurrence, runId: RunId): Promise<WentOn> {
    const { agentId } = last;
    if (!(await alone.can(agentId))) return cannot('This relay holds nothing to wake it from.');
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
        .catch((error: unknown) => logger.error('a run could not be gone on with', { agentId, error: String(error) }))
        .finally(() => beginning.delete(runId)),
    );
    return { ok: true };
  }

  return async (runId) => {
    const last = await rows.withRun(runId);
    if (!last) return { ok: false, reason: 'unknown', detail: 'There is no such run. It may be too long ago.' };
    if (last.continuedBy !== null || beginning.has(runId)) return cannot('It goes on already.');
    if (!canGoOn(last)) return cannot(last.endedAt === null ? 'It is still at work.' : 'It came to its end.');
    const { agentId } = last;
    const state = deps.host.stateOf(agentId);
    if (state === 'paused') return cannot('It was set to sleep in the session. Wake it first.');
    if (state === 'played') return cannot('A client plays it just now.');
    beginning.add(runId);
    const began = await tryToBegin(last, runId).catch((error: unknown) => {
      beginning.delete(runId);
      throw error;
    });
    if (!began.ok) beginning.delete(runId);
    return began;
  };
}
