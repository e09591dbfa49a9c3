/**
 * The only way to the gate. Every wake is requested through `ask`. No other part of the relay calls
 * the gate, clears a sleeping flag or begins a turn for messages. If the wake is granted, the
 * agent's flag is cleared and a turn begins with the waiting messages. If it is deferred, it is
 * requested again when the agent's turn, or its run alone, ends.
 */
import type { GateCheck, WakeReason, WakeWay } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { createTimerSet, sleep, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { WakeDecision, WakeSource } from '../../../src/shared/protocol/wakes.ts';
import type { Alone, CallersPermit, DueCause, NotReached, Wakes, Reached, WakeAsked } from './contract.ts';
import type { SessionHost } from '../session/contract.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Gate, WakePermit } from '../../team/gate/contract.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { AgentState } from '../../../src/shared/domain/guardrails.ts';
import type { Logger } from '../../platform/logger.ts';
import { againIn, type WakeSettings } from './settings.ts';
import { wokenBy } from './tools.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

// The queue in which applications and threads clear sleeping flags. A request that the gate stops
// is repeated, oldest first, until it passes. The queue is in memory, as the flags are: both end
// with the session.

interface FlagsDeps {
  readonly ask: Wakes['ask'];
  readonly pauses: Pick<Pauses, 'isPaused' | 'subscribe'>;
  readonly host: Pick<SessionHost, 'sessionId'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
  readonly settings: WakeSettings;
}

interface Waiting {
  readonly request: WakeAsked;
  readonly sessionId: SessionId;
  readonly since: number;
  /** ms since the epoch: no request before then. */
  nextAt: number;
  /** The check that stopped the last request. */
  stoppedBy: GateCheck | null;
  readonly cleared: Promise<boolean>;
  resolve(isAwake: boolean): void;
}

export function createFlags({ ask, pauses, host, timers, now, logger, settings }: FlagsDeps): {
  readonly clear: Wakes['clearFlag'];
  close(): void;
} {
  const waiting: Waiting[] = [];
  const inTurn = createQueue();
  let cancel: (() => void) | null = null;

  function leave(one: Waiting, isAwake: boolean): void {
    const at = waiting.indexOf(one);
    if (at >= 0) waiting.splice(at, 1);
    one.resolve(isAwake);
  }
  // The agent was woken by another cause. A request that still waits would wake it from its next
  // sleep.
  const stopListening = pauses.subscribe(({ agentId, paused }) => {
    if (!paused) for (const one of waiting.filter(({ request }) => request.target === agentId)) leave(one, true);
  });

  const nextAfter = (until: number | null) => now() + againIn(until, now(), settings);
  /** Those that may be requested. One that waits for the flood guard holds up those after it. */
  function first(): Waiting[] {
    const last = waiting.findIndex(({ stoppedBy }) => stoppedBy === 'flood');
    return last < 0 ? [...waiting] : waiting.slice(0, last + 1);
  }

  /** Requests all due wakes, in order. */
  async function pass(): Promise<void> {
    for (const one of [...waiting]) {
      if (!waiting.includes(one)) continue;
      if (!first().includes(one)) return;
      const { request, sessionId, since } = one;
      if (host.sessionId() !== sessionId || !pauses.isPaused(request.target)) {
        leave(one, host.sessionId() === sessionId);
        continue;
      }
      if (one.nextAt > now()) continue;
      const { decision } = await ask({ ...request, since, quiet: true });
      if (decision.outcome === 'granted') {
        leave(one, true);
        continue;
      }
      one.nextAt = nextAfter(decision.until);
      one.stoppedBy = decision.check;
    }
  }
  function passLater(): void {
    cancel?.();
    cancel = null;
    if (waiting.length === 0) return;
    const wait = Math.max(1, Math.min(...first().map(({ nextAt }) => nextAt)) - now());
    cancel = timers.after(Math.min(wait, settings.againMostMs), () => {
      void inTurn(pass)
        .catch((error: unknown) =>
          logger.error('A sleeping flag could not be cleared. The relay tries again.', { error }),
        )
        .finally(passLater);
    });
  }

  /** With `only`, it waits for that check alone, and only where waiting helps. */
  const stays = ({ check, until }: WakeDecision, only: GateCheck | undefined) =>
    only === undefined || (check === only && until !== null);

  return {
    clear: (request, only) =>
      inTurn(async () => {
        await pass();
        const since = now();
        const sessionId = host.sessionId();
        const answer = await ask({ ...request, since });
        const { outcome, until, check } = answer.decision;
        const isAwake = outcome === 'granted';
        const before = waiting.find((one) => one.request.target === request.target);
        if (isAwake || sessionId === null || !pauses.isPaused(request.target) || !stays(answer.decision, only))
          return { ...answer, waits: false, cleared: Promise.resolve(isAwake || !pauses.isPaused(request.target)) };
        if (before) return { ...answer, waits: true, cleared: before.cleared };
        const { promise, resolve } = createDeferred<boolean>();
        waiting.push({
          request,
          sessionId,
          since,
          nextAt: nextAfter(until),
          stoppedBy: check,
          cleared: promise,
          resolve,
        });
        passLater();
        return { ...answer, waits: true, cleared: promise };
      }),
    close() {
      cancel?.();
      stopListening();
      for (const one of [...waiting]) leave(one, false);
    },
  };
}

export interface AskDeps {
  readonly gate: Gate;
  readonly pauses: Pauses;
  readonly inbox: Pick<Inbox, 'count' | 'statusOf'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly host: SessionHost;
  readonly alone: Alone;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly timers: Timers;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly settings: WakeSettings;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

interface Deferred {
  readonly source: WakeSource;
  readonly way: WakeWay;
  readonly reason: WakeReason | null;
  readonly messageId: MessageId | null;
  readonly due: DueCause | undefined;
  /** When an earlier process was granted the wake and began nothing. Left out: none was. */
  readonly grantedAt?: number | undefined;
}

/** The source of the wake, as an event names it. */
const nameOf = (source: WakeSource): string =>
  source.kind === 'agent' ? source.agentId : source.kind === 'person' ? 'human' : source.name;

const CAN_GO_ON: ReadonlySet<Awaited<ReturnType<Alone['carried']>>> = new Set(['begins', 'cut-off']);

const READ: Promise<Reached> = Promise.resolve({ reached: true });
const NOT_READ: NotReached = { reached: false, reason: 'agent-busy', detail: null, until: null };

/**
 * One deferred wake is remembered per agent. One turn reads all waiting messages, so the newest
 * wake represents all.
 */
export function createAsk({
  gate,
  pauses,
  inbox,
  directory,
  host,
  alone,
  logger,
  timers: given,
  now,
  settings,
  setAside = SETS_NOTHING_ASIDE,
}: AskDeps): {
  readonly ask: Wakes['ask'];
  readonly permitFor: Wakes['permitFor'];
  turnEnded(agentId: AgentId): Promise<void>;
  /**
   * Resumes wakes that an earlier process deferred, or was granted without beginning, for agents
   * that can work alone. Called once.
   */
  recover(): Promise<void>;
  close(): void;
} {
  const timers = createTimerSet(given);
  const deferred = new Map<string, Deferred>();
  let closed = false;
  const waits = async (messageId: MessageId) => (await inbox.statusOf(messageId)) === 'waits';

  /**
   * A turn may take long, or wait for the person. So this resolves once the agent has read the
   * message.
   */
  async function whenRead(messageId: MessageId | null, turn: Promise<unknown>): Promise<Reached> {
    let isOver = false;
    const over = turn.finally(() => (isOver = true));
    while (!isOver) {
      await Promise.race([over, sleep(timers.after, settings.readMs)]);
      if (messageId === null || !(await waits(messageId))) return { reached: true };
    }
    return messageId === null || !(await waits(messageId)) ? { reached: true } : NOT_READ;
  }

  /** Wraps a permit. When it is released, wakes that wait for this agent are requested again. */
  function heldBy(target: AgentId, decisionId: string, permit: WakePermit): CallersPermit {
    let released: Promise<void> | null = null;
    const failed = (what: string) => (error: unknown) => logger.error(what, { target, decisionId, error });
    async function end(): Promise<void> {
      await permit.release().catch(failed('The end of a wake could not be stored. The wake counts as ended.'));
      void turnEnded(target);
    }
    const release = () => (released ??= end());
    return {
      release,
      releaseAfter: (work) =>
        void work
          .catch(failed('A granted wake could not be carried out. Its message waits in the inbox.'))
          .then(release),
    };
  }

  /** Asks the gate. `isCallers`: the caller does the work itself, wherever the agent is. */
  async function decide(request: Omit<WakeAsked, 'due'>, isCallers: boolean) {
    const { target, source } = request;
    const state = host.stateOf(target);
    // Asked only if the answer matters. The person's own wakes do not wait.
    const canAlone = isCallers || (state === 'absent' && source.kind !== 'person' && (await alone.can(target)));
    const oneAtATime = !isCallers && source.kind !== 'person' && (state === 'absent' || state === 'idle');
    const { permit, ...answer } = await gate.ask({ ...request, state, alone: canAlone, oneAtATime });
    return {
      answer,
      permit: permit && heldBy(target, answer.decision.decisionId, permit),
      state,
      // The agent could begin. If it is deferred all the same, it is at work for an earlier wake.
      isFree: oneAtATime && (state === 'idle' || canAlone),
    };
  }

  /**
   * Sets the agent to work for a wake that was granted. `reached` resolves once the message was
   * read, or never will be; the turn or run may go on until `over`.
   */
  async function begin(
    { target, source, reason, due, messageId, grantedAt }: WakeAsked,
    state: AgentState,
    way: WakeWay,
  ): Promise<{ readonly reached: Promise<Reached>; readonly over: Promise<unknown> }> {
    const sessionId = host.sessionId();
    const why = async () => wokenBy(source, way, reason, await directory.all());
    if (state === 'absent' && source.kind !== 'person') {
      const by = {
        name: nameOf(source),
        reason,
        why: await why(),
        due,
        ...(due || grantedAt !== undefined ? { messageId } : {}),
      };
      const reached = alone.wake(target, by);
      return { reached, over: reached };
    }
    if (sessionId !== null && pauses.isPaused(target)) await pauses.set(sessionId, target, false, nameOf(source));
    // An agent that the person wakes from afar or in mid-turn needs no turn of its own.
    if (state !== 'paused' && state !== 'idle') return { reached: READ, over: READ };
    const turn = host.rouse(target, await why());
    return { reached: due ? whenRead(messageId, turn) : READ, over: turn };
  }

  /** `wanted`: the way in which a deferred wake was asked for first. */
  async function ask({ due, ...request }: WakeAsked, wanted?: WakeWay): ReturnType<Wakes['ask']> {
    const { target, source, reason, messageId, grantedAt } = request;
    const way = request.way === 'deferred' ? (wanted ?? request.way) : request.way;
    // A relay may have died after the grant and before the schedule recorded it. Then the schedule
    // requests the wake again.
    const before = due && messageId !== null ? await gate.granted({ target, messageId }) : null;
    // If the message of a granted wake is still unread, the wake was never carried out.
    if (before && messageId !== null && !(await waits(messageId))) return { decision: before, left: null };
    const { answer, permit, state, isFree } = await decide(request, false);
    if (answer.decision.outcome === 'deferred' && (state === 'busy' || isFree)) {
      deferred.set(target, { source, way: wanted ?? request.way, reason, messageId, due, grantedAt });
      // Its run may be another process's, or may have ended while the gate decided.
      if (isFree) timers.after(settings.atWorkMs, () => void turnEnded(target));
      // Its turn may have ended while the gate decided, and no other end may come.
      else if (host.stateOf(target) === 'idle') void turnEnded(target);
    }
    if (!permit) return answer;
    deferred.delete(target);
    const begun = begin({ due, ...request }, state, way);
    permit.releaseAfter(begun.then(({ over }) => over));
    return due ? { ...answer, over: begun.then(({ reached }) => reached).catch(() => NOT_READ) } : answer;
  }

  /** Waits and requests the wake again. A wake that was requested meanwhile replaces it. */
  function waitAgain(target: AgentId, wanted: Deferred, ms: number): void {
    if (!deferred.has(target)) deferred.set(target, wanted);
    timers.after(ms, () => void turnEnded(target));
  }
  /**
   * Requests a granted wake once more, unless something began for it. Whatever stops it will pass.
   */
  async function grantedBefore(wanted: Deferred, request: WakeAsked & { readonly grantedAt: number }): Promise<void> {
    const { target, messageId, grantedAt } = request;
    if (messageId === null || grantedAt < now() - settings.deferredMs || !(await waits(messageId))) return;
    const carried = await alone.carried(target, grantedAt);
    if (carried === 'begins') return waitAgain(target, wanted, settings.atWorkMs);
    if (carried === 'yes') return;
    const { outcome, until } = (await ask({ ...request, quiet: true }, wanted.way)).decision;
    if (outcome !== 'granted') waitAgain(target, wanted, againIn(until, now(), settings));
  }

  async function turnEnded(agentId: AgentId): Promise<void> {
    const wantedWay = deferred.get(agentId);
    // The wake is recorded as deferred, and the next process resumes it.
    if (closed || !wantedWay || !deferred.delete(agentId)) return;
    const { way, grantedAt, source, reason, messageId, due } = wantedWay;
    const again = { source, reason, messageId, due, target: agentId, way: 'deferred', callerSession: null } as const;
    try {
      if (grantedAt !== undefined) await grantedBefore(wantedWay, { ...again, grantedAt });
      // The agent may have read the message in the turn that ended.
      else if ((await inbox.count(agentId)) > 0) await ask({ ...again, quiet: 'deferred' }, way);
    } catch (error) {
      logger.error('A deferred wake could not be asked for again. Its message waits in the inbox.', {
        agentId,
        error,
      });
    }
  }

  return {
    ask: (request) => ask(request),
    async permitFor(request) {
      const { answer, permit } = await decide(request, true);
      return { ...answer, permit };
    },
    turnEnded,
    async recover() {
      const decisions = await gate.open(now() - settings.deferredMs);
      const takeUp = async (decision: (typeof decisions)[number]) => {
        const { target, source, way, reason, messageId, outcome, time, isLeft } = decision;
        // The clock repeats scheduled wakes, and the person sees the outcome of their own.
        if (source.kind === 'schedule' || source.kind === 'script' || source.kind === 'person') return;
        if (messageId === null || !(await waits(messageId)) || !(await alone.can(target))) return;
        // One wake represents all, preferably one that is granted already.
        if (deferred.get(target)?.grantedAt !== undefined) return;
        const grantedAt = outcome === 'granted' ? time : undefined;
        // A wake that was carried out, as in a session, waits for its agent's next turn.
        if (grantedAt !== undefined && !isLeft && !CAN_GO_ON.has(await alone.carried(target, grantedAt))) return;
        deferred.set(target, { source, way, reason, messageId, due: undefined, grantedAt });
      };
      await setAside.each('messages', decisions, ({ decisionId }) => decisionId, takeUp);
      for (const target of deferred.keys()) timers.after(settings.takenUpMs, () => void turnEnded(target));
    },
    close() {
      closed = true;
      timers.close();
    },
  };
}
