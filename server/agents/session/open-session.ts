/** One session of the relay, from its first event to its last. */
import { isDeepStrictEqual } from 'node:util';
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { RunningSettings, StartSession } from '../../../src/shared/protocol/http.ts';
import { RECORDS_NOTHING } from '../../files/workspaces/record-work.ts';
import type { EventLists } from '../../team/pauses/index.ts';
import type { Rest } from '../runs/context.ts';
import type { SessionContext, SessionHostDeps } from './context.ts';
import { createLife } from '../runs/life.ts';
import { messageEvent } from '../runs/message-event.ts';
import { createRecord } from '../runs/recover.ts';
import { createPrompts } from './prompts.ts';
import { createRunningSession, type RunningSession } from './session.ts';
import { SESSION_LIMITS, settingsOf } from './settings.ts';
import { createTimerSet, realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { isAway } from '../../store/index.ts';
import { createIdle, type Idle } from './idle.ts';
import { createMinds } from './minds.ts';

export interface Running {
  readonly sessionId: SessionId;
  /** The request that started the session, with the models that were chosen since. */
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

const sayUnfit =
  ({ logger }: SessionHostDeps, sessionId: SessionId) =>
  (error: Error) =>
    logger.error('A session wrote an event that cannot be stored.', { sessionId, error });

/** What a session needs of its host. */
interface HostOfSession {
  readonly rest: Rest;
  readonly turnEnded: (agentId: AgentId) => void;
  readonly onPersonWake: (agentId: AgentId, callId: string) => Promise<void>;
  readonly end: (reason: EndReason) => Promise<unknown>;
}

export async function openSession(
  deps: SessionHostDeps,
  { rest, turnEnded, onPersonWake, end }: HostOfSession,
  request: StartSession,
  lists: EventLists | undefined,
): Promise<Running> {
  const { log, inbox, directory, around, pauses, costs, teamTools, wakePayloads, protocol } = deps;
  const { now, elapsed = now, newId, logger, limits = SESSION_LIMITS, turns, waiting } = deps;
  const sessionId = newId();
  const timers = createTimerSet(deps.timers ?? realTimers);
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
  const write = createRecord({ append: log.append, onUnfit: sayUnfit(deps, sessionId), fail, isBroken: () => broken });
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
    onPersonWake,
    onHere,
    onQuiet: turnEnded,
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

/** `accepted`: messages that have their place before the end. */
export async function closeSession(
  deps: SessionHostDeps,
  running: Running,
  reason: EndReason,
  accepted: ReadonlyMap<string, Promise<unknown>>,
): Promise<void> {
  const { log, pauses, logger, now } = deps;
  // The relay stops without waiting for a note.
  if (reason === 'ended' || reason === 'idle')
    await running.session
      .noteBeforeSleep(reason)
      .catch((error: unknown) => logger.error('Agents could not note what matters before they sleep.', { error }));
  running.stopTimers();
  pauses.end(running.sessionId);
  const ends = await running.session.close(reason);
  // Messages that were accepted before have their place before the end.
  await Promise.allSettled(accepted.values());
  running.seal();
  const { sessionId } = running;
  const throwOn = (error: unknown) => {
    throw error;
  };
  const write = createRecord({ append: log.append, onUnfit: sayUnfit(deps, sessionId), fail: throwOn });
  await write([...ends, { kind: 'session-ended', time: now(), sessionId, reason }]);
}
