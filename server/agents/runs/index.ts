/**
 * Runs of agents outside a session. The caller that starts a run provides everything that it needs,
 * and the run does not know its caller. It writes to the event log and has costs, one outcome, a
 * way to stop it and a time limit. An agent does one thing at a time: a run waits for the end of a
 * turn in the session, and the session waits for the run.
 */
import type { AgentId, MessageId, RunId } from '../../../src/shared/domain/ids.ts';
import { NO_COST } from '../../../src/shared/domain/prices.ts';
import { textOf } from '../../../src/shared/domain/text-of.ts';
import type { RunCause } from '../../../src/shared/protocol/runs.ts';
import { RECORDS_NOTHING, type RecordWork } from '../../files/workspaces/record-work.ts';
import type { EventLog } from '../../log/index.ts';
import type { Costs } from '../../team/costs/contract.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { TeamTool } from '../../tools/index.ts';
import type { Mind, MindError } from '../minds/index.ts';
import { createTimerSet, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { AnswerRoom, ReadAround, Rest, RunContext } from './context.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Item } from './item.ts';
import { createLife, type Life, type RunEnd } from './life.ts';
import type { WaitingAgents } from './waiting.ts';
import { takeWaiting } from './inbox-reader.ts';
import { endOfRun, ENDED_ELSEWHERE, ENDED_WITH_RELAY, RUN_BROKEN, tookTooLong, type Interruption } from './outcome.ts';
import { createRecord } from './recover.ts';
import { RUN_LIMITS, type RunLimits } from './settings.ts';
import { createSpeaker, type Speaker } from './speaker.ts';
import { createTimeLimit } from './time-limit.ts';
import type { OwnTools } from './toolbox.ts';
import type { Turns } from './turns.ts';

/** Everything that an agent needs for a run. `Refusal`: the caller's reasons not to begin. */
export interface AgentRun<Refusal = never> {
  readonly identity: { readonly agentId: AgentId };
  /** What caused the run. Sessions start their runs themselves. */
  readonly cause: Exclude<RunCause, { kind: 'session' }>;
  /** False: it takes no turn of its agent, whose other work it shares nothing with. */
  readonly takesTurn?: false;
  /** False: it is told neither the time nor the team. */
  readonly tellsAround?: false;
  /** Returns its system prompt. `tools`: names of the tools that it is offered. */
  readonly instructions: (tools: ReadonlySet<string>) => string;
  /** Texts that guide it. Tools that they name are offered at once. */
  readonly worksBy: readonly string[];
  /** Its first items, in order. */
  readonly context: readonly Item[];
  /** Its inbox is read and delivered with the first items. */
  readonly readsInbox: boolean;
  readonly tools: { readonly own: OwnTools; readonly team: readonly TeamTool[] };
  readonly mind: {
    readonly answers: Mind;
    /** False: this mind answers, also where the agent has an ACP agent as its own. */
    readonly isAgents?: false;
    readonly model: string;
    /** Model of the requests that follow tool results; left out: the same. */
    readonly laterModel?: string;
    /**
     * The beginning of its prompts repeats within the hour and stays in the model's cache until
     * then.
     */
    readonly cachesForAnHour?: boolean;
  };
  readonly limits: AnswerRoom & {
    /**
     * ms after its first request is sent. Time in the queue does not count, nor does the time in
     * which it waits for an executor.
     */
    readonly timeoutMs: number;
    /** ms that it waits for its turn. */
    readonly busyMs: number;
    /** Most requests to its mind; left out: the limit of one answer. */
    readonly maxTurns?: number;
  };
  /** The agent has its turn, and nothing of the run is written yet. Null: the run may begin. */
  begins?(runId: RunId): Promise<Refusal | null>;
}

const isRefusedForNow = (failure: MindError | null) =>
  failure?.lasting === true && (failure.kind === 'rate-limited' || failure.kind === 'overloaded');

/** The result of a run. */
export interface RunResult extends RunEnd {
  /** The agent's last words; null: it said nothing. */
  readonly said: string | null;
  /** The budget allowed none of its requests. */
  readonly overBudget: boolean;
  /**
   * The model's provider refuses all requests for longer than the run can wait, such as until
   * tomorrow.
   */
  readonly refusedForNow: boolean;
}

export interface Run {
  readonly runId: RunId;
  readonly agentId: AgentId;
  /** The person stops the run. False: it is over. */
  stop(): boolean;
  /**
   * Resolves when its end is on disk. If the log cannot be written, resolves when the run has
   * stopped.
   */
  readonly whenEnded: Promise<RunResult>;
}

/** `agent-busy`: the agent did not get its turn in time. `closing`: the relay is shutting down. */
interface NoTurn {
  readonly why: 'agent-busy' | 'closing';
}
type Started<Refusal> =
  | { readonly ok: true; readonly run: Run }
  /** Nothing has begun. */
  | { readonly ok: false; readonly refusal: NoTurn | Refusal };

export interface Runs {
  /** Resolves when the beginning of the run is on disk. */
  start<Refusal = never>(run: AgentRun<Refusal>): Promise<Started<Refusal>>;
  /** The person stops the run of this agent. False: it has none. */
  stop(agentId: AgentId): boolean;
  /** The same for one run. */
  stopRun(runId: RunId): boolean;
  /** The person has corrected this summary. The run that has it goes on by it. */
  correctSummary(messageId: MessageId, text: string): void;
  /**
   * This run waits for a run that it started, which has its own limit. Its time stands still until
   * the returned function is called.
   */
  holdTime(runId: RunId): () => void;
  /** The database did not come back in time. All runs end with this sentence. */
  cutOff(sentence: string): void;
  /** Stops all runs, and resolves when their ends are on disk. None can start afterwards. */
  close(): Promise<void>;
}

export interface RunsDeps {
  readonly log: Pick<EventLog, 'append' | 'subscribe'>;
  readonly inbox: Pick<Inbox, 'waiting' | 'claim' | 'count'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly pauses: Pick<Pauses, 'isPaused' | 'wait'>;
  readonly costs: Pick<Costs, 'check'>;
  readonly around: ReadAround;
  readonly foreign: RunContext['foreign'];
  /** Shared with the session, because an agent has one turn in both. */
  readonly turns: Turns;
  readonly waiting: Pick<WaitingAgents, 'set'>;
  /** Left out: files are not recorded. */
  readonly recordWork?: RecordWork;
  readonly underWay?: RunContext['underWay'];
  /** ms since the epoch */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits?: RunLimits;
}

interface Live extends Run, Pick<Speaker, 'correctSummary'> {
  interrupt(why: Interruption): Promise<void>;
  readonly holdTime: () => () => void;
}

/** Runs one turn. The run has the agent's turn until then, so nothing else asks its mind. */
function beginRun(deps: RunsDeps, rest: Rest, request: AgentRun<unknown>, life: Life): Live {
  const { log, now, newId, logger, limits = RUN_LIMITS } = deps;
  const { identity, instructions, context: first, tools, mind, limits: own } = request;
  const { agentId } = identity;
  const { runId } = life;
  const timers = createTimerSet(deps.timers);
  let why: Interruption | null = null;
  let broken = false;
  let lastText: string | null = null;
  let overBudget = false;
  let refusedForNow = false;

  function fail(error: unknown): void {
    if (broken) return;
    broken = true;
    logger.error('A run ended because of an error in it.', {
      runId,
      agentId,
      error,
    });
    void interrupt({ by: 'relay', error: RUN_BROKEN });
  }
  const time = createTimeLimit({
    ms: own.timeoutMs,
    timers,
    elapsed: deps.elapsed,
    onOver: () => void interrupt({ by: 'relay', error: tookTooLong(own.timeoutMs) }),
  });
  const write = createRecord({
    append: log.append,
    onUnfit: (error) => logger.error('A run wrote an event that cannot be stored.', { runId, agentId, error }),
    fail,
    isBroken: () => broken,
  });
  const context: RunContext = {
    sessionId: null,
    mind: mind.answers,
    costs: deps.costs,
    rest,
    takeTurn: () => Promise.resolve(() => undefined),
    // The run as a whole is recorded.
    recordWork: RECORDS_NOTHING,
    teamTools: { all: () => tools.team },
    ...(deps.underWay ? { underWay: deps.underWay } : {}),
    around: deps.around,
    foreign: deps.foreign,
    waiting: deps.waiting,
    room: own,
    limits: { ...limits, maxTurns: own.maxTurns ?? limits.maxTurns },
    now,
    newId,
    timers,
    logger,
    onQuiet: () => undefined,
    record: write,
    fail,
  };
  const speaker = createSpeaker({
    context,
    life,
    model: () => mind.model,
    ...(mind.isAgents === undefined ? {} : { asksOwnMind: mind.isAgents }),
    ...(mind.laterModel === undefined ? {} : { laterModel: mind.laterModel }),
    ...(mind.cachesForAnHour === undefined ? {} : { cachesForAnHour: mind.cachesForAnHour }),
    system: instructions,
    worksBy: request.worksBy,
    ...(request.tellsAround === undefined ? {} : { tellsAround: request.tellsAround }),
    tools: tools.own,
    announces: () => true,
    hooks: {
      onState({ kind }) {
        if (kind === 'sent') time.begin();
      },
      onEnd(end) {
        lastText = textOf(end.blocks).trim() || lastText;
        overBudget ||= end.overBudget ?? false;
        refusedForNow ||= isRefusedForNow(end.failure);
        return life.ended(...endOfRun(end, end.interruption));
      },
      ...(request.readsInbox
        ? {
            gather: (run: string) =>
              takeWaiting({ ...context, inbox: deps.inbox, directory: deps.directory }, life, run),
          }
        : {}),
    },
  });

  // The log has one end per run, whichever relay wrote it. A relay that was believed dead does
  // not continue a run that is over.
  const unsubscribe = log.subscribe(({ event }) => {
    if (event.kind !== 'run-ended' || event.runId !== runId) return;
    const goesOn = life.end() === null;
    life.endedElsewhere(event);
    if (goesOn) void interrupt({ by: 'relay', error: ENDED_ELSEWHERE });
  });

  async function interrupt(reason: Interruption): Promise<void> {
    why ??= reason;
    await speaker.interrupt(reason);
  }

  async function work(): Promise<RunResult> {
    speaker.put(first);
    if (first.length === 0) speaker.prod();
    await speaker.whenQuiet();
    timers.close();
    unsubscribe();
    // Nothing was delivered, or the run failed. Then its end was not written with its words.
    const [outcome, reason] = broken
      ? (['failed', RUN_BROKEN] as const)
      : why?.by === 'database'
        ? (['failed', why.error] as const)
        : endOfRun({ status: 'complete', error: null }, why);
    const ends = life.ended(outcome, reason);
    if (ends.length > 0)
      await log.append(ends).catch((error: unknown) =>
        logger.error('The end of a run could not be stored. The next start of the relay ends it.', {
          runId,
          error,
        }),
      );
    return {
      ...(life.end() ?? { outcome, reason, usage: null, ...NO_COST }),
      said: lastText,
      overBudget,
      refusedForNow,
    };
  }
  return {
    runId,
    agentId,
    stop() {
      if (life.end()) return false;
      void interrupt({ by: 'person' });
      return true;
    },
    interrupt,
    correctSummary: speaker.correctSummary,
    holdTime: time.hold,
    whenEnded: work(),
  };
}

export function createRuns(deps: RunsDeps): Runs {
  const { log, pauses, turns, now, newId, recordWork = RECORDS_NOTHING } = deps;
  const live = new Set<Live>();
  /** Aborts runs that wait for their turn. */
  const closing = new AbortController();
  const starting = new Set<Promise<unknown>>();

  const rest: Rest = {
    isPaused: (agentId) => pauses.isPaused(agentId),
    // When the session ends, its pause flag ends too.
    untilResumed: async (agentId, signal) =>
      (await pauses.wait(agentId, { signal, limitMs: Infinity })) !== 'aborted' || !signal.aborted,
  };

  async function start<Refusal>(request: AgentRun<Refusal>): Promise<Started<Refusal>> {
    const { agentId } = request.identity;
    if (closing.signal.aborted) return { ok: false, refusal: { why: 'closing' } };
    const endTurn =
      request.takesTurn === false
        ? () => undefined
        : await turns.take(agentId, { signal: closing.signal, limitMs: request.limits.busyMs });
    if (!endTurn) return { ok: false, refusal: { why: closing.signal.aborted ? 'closing' : 'agent-busy' } };
    let recordEnd: Awaited<ReturnType<RecordWork>> = () => Promise.resolve();
    try {
      const runId = newId();
      const refusal = (await request.begins?.(runId)) ?? null;
      if (refusal !== null) {
        endTurn();
        return { ok: false, refusal };
      }
      recordEnd = await recordWork(agentId, { kind: 'run', runId, cause: request.cause });
      const life = createLife({ runId, agentId, sessionId: null, cause: request.cause, now });
      await log.append([life.started()]);
      const run = beginRun(deps, rest, request, life);
      live.add(run);
      const onEnd = async () => {
        live.delete(run);
        await recordEnd();
        endTurn();
      };
      void run.whenEnded.then(onEnd, onEnd);
      if (closing.signal.aborted) void run.interrupt(ENDED_WITH_RELAY);
      return { ok: true, run };
    } catch (error) {
      void recordEnd().finally(endTurn);
      throw error;
    }
  }

  return {
    start(asked) {
      const started = start(asked);
      const settled = started.then(
        () => undefined,
        () => undefined,
      );
      starting.add(settled);
      void settled.then(() => starting.delete(settled));
      return started;
    },
    cutOff(sentence) {
      for (const run of live) void run.interrupt({ by: 'database', error: sentence });
    },
    holdTime: (runId) => [...live].find((run) => run.runId === runId)?.holdTime() ?? (() => undefined),
    correctSummary: (messageId, text) => live.forEach((run) => run.correctSummary(messageId, text)),
    stopRun: (runId) => [...live].some((run) => run.runId === runId && run.stop()),
    stop: (agentId) => [...live].some((run) => run.agentId === agentId && run.stop()),
    async close() {
      closing.abort();
      await Promise.all(starting);
      const running = [...live];
      for (const run of running) void run.interrupt(ENDED_WITH_RELAY);
      await Promise.all(running.map(({ whenEnded }) => whenEnded));
    },
  };
}
