/**
 * The session host runs the relay's one session, from its start to its end. See `SessionHost` in
 * server/contracts/session.ts.
 */
import { isDeepStrictEqual } from 'node:util';
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { RoostEvent, MindInfo } from '../../../src/shared/protocol/events.ts';
import type { PostMessage, RunningSettings, StartSession } from '../../../src/shared/protocol/http.ts';
import {
  type EventLists,
  type MoreForAgent,
  type PostOutcome,
  RECORDS_NOTHING,
  type SessionHost,
} from '../../contracts/index.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Rest } from '../runs/context.ts';
import type { SessionContext, SessionHostDeps } from './context.ts';
import { createLife } from '../runs/life.ts';
import { messageEvent } from '../runs/speaker.ts';
import { createRecord } from '../runs/recover.ts';
import { createPrompts } from './prompts.ts';
import { createRunningSession, type RunningSession } from './session.ts';
import { SESSION_LIMITS, settingsOf } from './settings.ts';
import { parseTeamCall } from '../../../src/shared/domain/wake-payload.ts';
import { createTimerSet, realTimers, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import { isAway } from '../../store/index.ts';
import { sizeOfWake } from './size-of-wake.ts';
import { askStore, runMadeUpWake, standIns } from './warm.ts';
import { isRehearsal, type Mind } from '../minds/index.ts';

export { createAgreedChanges } from './changes.ts';
export { createSoulTools } from './egg.ts';
export { createWakePayloads, type WakePayloads } from './wake-payloads.ts';

/*
 * The mind and the models of a session. They are the connected ones at any time, so that a new
 * connection needs no new session.
 */

interface Minds {
  /** The mind for new answers. An answer that has begun keeps its mind. */
  current(): Mind;
  info(): MindInfo;
  modelOf(agentId: AgentId): string;
  choose(models: ModelChoice): void;
}

type ModelChoice = Pick<NonNullable<StartSession['settings']>, 'leadModel' | 'agentModel' | 'agentModels'>;

function createMinds(source: Mind, settings: StartSession['settings']): Minds {
  const newest = () => source.current?.() ?? source;
  let chosen: ModelChoice = settings ?? {};
  let mind = newest();

  /**
   * The demo mind never replaces a model that was removed. The model's refusal tells the person
   * what happened.
   */
  function current(): Mind {
    const next = newest();
    if (!isRehearsal(next) || isRehearsal(mind)) mind = next;
    return mind;
  }
  const info = () => current().models({ lead: chosen.leadModel ?? '', agent: chosen.agentModel ?? '' });
  return {
    current,
    info,
    modelOf: (agentId) =>
      current().models({ lead: '', agent: chosen.agentModels?.[agentId] ?? info().agentModel }).agentModel,
    choose: (models) => (chosen = models),
  };
}

/* Detects a session in which nothing has been said for a while. */

interface Idle {
  /** Restarts the idle time. */
  touch(): void;
  /** `idleMs` has changed. */
  changed(): void;
}

/**
 * `elapsed`: monotonic ms. `busy`: whether an answer is under way, which restarts the idle time.
 */
function createIdle({
  idleMs,
  timers,
  elapsed,
  busy,
  onIdle,
}: {
  idleMs: () => number;
  timers: Timers;
  elapsed: () => number;
  busy: () => boolean;
  onIdle: () => void;
}): Idle {
  let last = elapsed();
  let cancel: () => void = () => undefined;
  const watch = (ms: number) => {
    cancel = timers.after(ms, () => {
      const quiet = elapsed() - last;
      if (busy()) watch(idleMs());
      else if (quiet >= idleMs()) onIdle();
      else watch(idleMs() - quiet);
    });
  };
  watch(idleMs());
  return {
    touch() {
      last = elapsed();
    },
    changed() {
      cancel();
      watch(Math.max(0, idleMs() - (elapsed() - last)));
    },
  };
}

interface Running {
  readonly sessionId: SessionId;
  /** As it was started, with the models that were chosen since. */
  request: StartSession;
  readonly session: RunningSession;
  readonly changeSettings: (next: RunningSettings) => void;
  readonly stopTimers: () => void;
  /** Restarts the session's idle time. */
  readonly touch: () => void;
  /** The session writes nothing more from now on. */
  readonly seal: () => void;
  ending: Promise<void> | null;
}

const NO_SESSION: PostOutcome = {
  ok: false,
  reason: 'no-session',
  detail: 'No session runs. Start one first. Until then every agent sleeps.',
};

export function createSessionHost(deps: SessionHostDeps): SessionHost {
  const {
    log,
    inbox,
    directory,
    around,
    pauses,
    costs,
    teamTools,
    wakePayloads,
    protocol,
    now,
    elapsed = now,
    newId,
    logger,
    timers: given = realTimers,
    limits = SESSION_LIMITS,
    turns,
    waiting,
  } = deps;
  let current: Running | null = null;
  /** Starts and ends run one after another. */
  const inTurn = createQueue();
  /**
   * Posts under way, by the client's id. A repeat that arrives at the same time joins the first
   * call.
   */
  const posts = new Map<string, Promise<PostOutcome>>();
  const turnEnds = createListeners<[AgentId]>();
  /**
   * Withdrawn messages, oldest first. A client that did not receive the answer repeats its request.
   */
  const withdrawn = new Set<MessageId>();
  let onPersonWake: (agentId: AgentId, callId: string) => Promise<void> = () => Promise.resolve();
  // An agent that is resumed reads what the person wrote in the meantime.
  pauses.subscribe(({ agentId, paused }) => {
    if (!paused) open()?.session.inboxChanged(agentId);
  });

  const rest: Rest = {
    isPaused: (agentId) => pauses.isPaused(agentId),
    // An agent that is paused when the session ends is asked nothing more in it.
    untilResumed: async (agentId, signal) => (await pauses.wait(agentId, { signal, limitMs: Infinity })) !== 'ended',
  };

  const sayUnfit = (sessionId: SessionId) => (error: Error) =>
    logger.error('A session wrote an event that cannot be stored.', { sessionId, error });

  async function begin(request: StartSession, lists: EventLists | undefined): Promise<Running> {
    const sessionId = newId();
    const timers = createTimerSet(given);
    const [begun, leadMemory] = await Promise.all([around(), deps.memoryOf(LEAD_ID)]);
    const prompts = createPrompts(protocol, request);
    const settings = settingsOf(request.settings);
    const minds = createMinds(deps.mind, request.settings);
    let announced = minds.info();
    let broken = false;
    let sealed = false;
    let idle: Idle | null = null;

    /**
     * The log cannot be written, or the relay has a bug. Words that cannot be stored are not said.
     */
    function fail(error: unknown): void {
      // Writes that can wait for the database wait in the log. The caller of any other write gets
      // the error.
      if (isAway(error))
        return logger.warn('Part of the session was cut off because the database connection broke.', { sessionId });
      if (broken) return;
      broken = true;
      logger.error('The session ended because of an error in it.', {
        sessionId,
        error,
      });
      void end('crash').catch((again: unknown) =>
        logger.error('The end of the session could not be stored.', { sessionId, error: String(again) }),
      );
    }
    const write = createRecord({ append: log.append, onUnfit: sayUnfit(sessionId), fail, isBroken: () => broken });
    function record(events: readonly RoostEvent[]): Promise<boolean> {
      if (sealed) return Promise.resolve(false);
      idle?.touch();
      return write(events);
    }

    /** Pages show the mind as soon as it is connected. */
    function announceMind(): void {
      const mind = minds.info();
      if (isDeepStrictEqual(mind, announced)) return;
      announced = mind;
      void record([{ kind: 'mind-changed', time: now(), sessionId, mind }]);
    }
    const onHere = (agentId: AgentId) => pauses.join(agentId).catch(fail);
    const onQuiet = (agentId: AgentId) => turnEnds.tell(agentId);
    const startsPaused = async (agentId: AgentId) =>
      (await pauses.eventsOf(agentId)).sleep_events.includes('agent_started');
    pauses.begin(sessionId, lists);
    wakePayloads.begin(request);
    const context: SessionContext = {
      sessionId,
      newLife: (agentId) => createLife({ runId: newId(), agentId, sessionId, cause: { kind: 'session' }, now }),
      async takeTurn(agentId, signal) {
        const turn = await turns.take(agentId, { signal, limitMs: Infinity });
        announceMind();
        return turn;
      },
      mind: { ...deps.mind, current: minds.current },
      rest,
      room: settings,
      models: {
        lead: () => minds.info().leadModel,
        agent: () => minds.info().agentModel,
        of: minds.modelOf,
      },
      inbox,
      directory,
      pauses,
      costs,
      teamTools,
      wakePayloads,
      around,
      begun,
      startsPaused,
      meanwhile: deps.meanwhile,
      memoryOf: deps.memoryOf,
      leadMemory,
      foreign: deps.foreign,
      askFirst: deps.askFirst,
      configs: deps.configs,
      recordWork: deps.recordWork ?? RECORDS_NOTHING,
      ...(deps.underWay ? { underWay: deps.underWay } : {}),
      onPersonWake: (agentId, callId) => onPersonWake(agentId, callId),
      onHere,
      onQuiet,
      waiting,
      prompts,
      settings,
      limits,
      now,
      newId,
      timers,
      logger,
      record,
      fail,
    };
    const session = createRunningSession(context, log);
    const problem = prompts.templateProblem;
    const notice: RoostEvent[] =
      problem === null
        ? []
        : [
            messageEvent({
              time: now(),
              messageId: newId(),
              sessionId,
              agentId: LEAD_ID,
              author: 'relay',
              text: `Your own wake prompt is not used in this session, because it cannot be read. ${problem}. Roost’s own takes its place.`,
            }),
          ];
    await log.append([
      { kind: 'session-started', time: now(), sessionId, mind: announced },
      ...session.started(),
      ...notice,
    ]);
    const unsubscribe = log.subscribe(({ event }) => {
      if (event.kind === 'changed' && event.what === 'models') announceMind();
    });
    idle = createIdle({
      idleMs: () => settings.idleMs,
      timers,
      elapsed,
      busy: session.busy,
      onIdle: () => void end('idle').catch(fail),
    });
    return {
      sessionId,
      request,
      session,
      changeSettings(next) {
        minds.choose(next);
        // Everything in the session reads its settings here.
        Object.assign(settings, settingsOf({ ...settings, ...next }));
        idle?.changed();
        announceMind();
      },
      stopTimers() {
        unsubscribe();
        timers.close();
      },
      touch: () => idle?.touch(),
      seal: () => (sealed = true),
      ending: null,
    };
  }

  async function close(running: Running, reason: EndReason): Promise<void> {
    // Nobody waits for a note when the relay stops.
    if (reason === 'ended' || reason === 'idle')
      await running.session
        .noteBeforeSleep(reason)
        .catch((error: unknown) => logger.error('Agents could not note what matters before they sleep.', { error }));
    running.stopTimers();
    pauses.end(running.sessionId);
    const ends = await running.session.close(reason);
    // Messages that were accepted before have their place before the end.
    await Promise.allSettled(posts.values());
    running.seal();
    const { sessionId } = running;
    const throwOn = (error: unknown) => {
      throw error;
    };
    const write = createRecord({ append: log.append, onUnfit: sayUnfit(sessionId), fail: throwOn });
    await write([...ends, { kind: 'session-ended', time: now(), sessionId, reason }]);
  }

  function end(reason: EndReason): Promise<boolean> {
    return inTurn(async () => {
      const running = current;
      if (!running) return false;
      try {
        await (running.ending ??= close(running, reason));
      } finally {
        current = null;
      }
      return true;
    });
  }

  /** The session, unless it is ending. */
  const open = () => (current?.ending ? null : current);

  async function post(message: PostMessage, more?: MoreForAgent): Promise<PostOutcome> {
    const written = await log.written(message.clientId);
    if (written !== null) return { ok: true, eventId: written };
    const running = open();
    if (!running) return NO_SESSION;
    running.touch();
    return running.session.post(message, more);
  }

  return {
    async warm(warmMind, signal) {
      await askStore(deps);
      let problem: unknown = null;
      const nobody = standIns(deps, warmMind, (error) => (problem ??= error));
      await runMadeUpWake(createSessionHost(nobody), nobody.log, signal);
      if (problem !== null) throw new Error('A session without a listener failed.', { cause: problem });
    },
    async sizeOfWake({ start, text }, signal) {
      const parsed = parseTeamCall(text, await directory.all());
      if (!parsed.ok) return { ok: false, detail: `This is no call to the team that can be read: ${parsed.reason}.` };
      const { call } = parsed;
      if (call.kind !== 'wake') return { ok: false, detail: 'Only a call that wakes agents is measured.' };
      const running = open();
      const requests = await sizeOfWake(
        {
          deps,
          createHost: createSessionHost,
          start: running?.request ?? start,
          call,
          leadHas: running?.session.leadHas() ?? 0,
        },
        signal,
      );
      return { ok: true, requests };
    },
    start: (request, lists) =>
      inTurn(async () => {
        if (current) return { ok: false, sessionId: current.sessionId };
        if (request.after !== undefined && request.ahead !== true && log.isAhead(request.after))
          return { ok: false, sessionId: null };
        if (request.after !== undefined) log.follow(request.after);
        current = await begin(request, lists);
        return { ok: true, sessionId: current.sessionId };
      }),
    end,
    bring: (payload) =>
      open()?.session.bring(payload) ?? Promise.resolve({ ok: false, detail: 'No session is running.' }),
    post(message, more) {
      const same = posts.get(message.clientId);
      if (same) return same;
      const mine = post(message, more).finally(() => posts.delete(message.clientId));
      posts.set(message.clientId, mine);
      return mine;
    },
    async withdraw(messageId) {
      if (withdrawn.has(messageId)) return true;
      if (open()?.session.withdraw(messageId) !== true && !(await inbox.withdrawForPerson(messageId))) return false;
      withdrawn.add(messageId);
      for (const [oldest] of withdrawn.entries()) {
        if (withdrawn.size <= limits.withdrawn) break;
        withdrawn.delete(oldest);
      }
      wakePayloads.withdrawn(messageId);
      return true;
    },
    correctSummary: (messageId, text) => open()?.session.correctSummary(messageId, text),
    stop: (agentId) => Promise.resolve(open()?.session.stop(agentId) ?? false),
    sleep: (agentId) => open()?.session.sleep(agentId) ?? Promise.resolve(false),
    sessionId: () => open()?.sessionId ?? null,
    changeSettings(next) {
      const running = open();
      running?.changeSettings(next);
      if (running) running.request = { ...running.request, settings: { ...running.request.settings, ...next } };
      return running !== null;
    },
    modelOf: (agentId) => open()?.session.modelOf(agentId) ?? null,
    stateOf: (agentId) => open()?.session.stateOf(agentId) ?? 'absent',
    runOf: (agentId) => open()?.session.runOf(agentId) ?? null,
    rouse: (agentId, why) => open()?.session.rouse(agentId, why) ?? Promise.resolve(false),
    newborn: (agentId) => open()?.session.newborn(agentId) ?? null,
    joined: (agent, client) => open()?.session.joined(agent, client) ?? Promise.resolve(),
    left: (credentialId) => open()?.session.left(credentialId),
    waiting: waiting.now,
    clientCalls: waiting.begin,
    onWaiting: waiting.subscribe,
    cutOff: (sentence) => open()?.session.cut({ by: 'database', error: sentence }),
    onTurnEnd: turnEnds.subscribe,
    recordPersonWakes(record) {
      onPersonWake = record;
    },
  };
}
