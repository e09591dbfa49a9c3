/**
 * Which agents are paused in the running session, in memory.
 *
 * A flag changes only when its event is on disk, so that what pages show and what holds calls back
 * always agree. Changes of one agent are queued. When a flag is cleared, all waiting calls are
 * released before the next change can run. A relay that was killed has no session after a restart,
 * and so no flags.
 */
import type { Context } from 'hono';
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { Given } from '../../../src/shared/protocol/endpoints/endpoint.ts';
import { pauseEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import type { Sleeping } from '../../../src/shared/protocol/team.ts';
import type { WakeDecision, WakeSource } from '../../../src/shared/protocol/wakes.ts';
import { createListeners } from '../../../src/shared/domain/platform/events.ts';
import { LONGEST_TIMER_MS, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import { createQueues } from '../../../src/shared/domain/platform/queue.ts';
import type { EventLog } from '../../log/index.ts';
import type { Directory } from '../directory/index.ts';
import type { Configs } from '../gate/configs.ts';
import { answer, type Env, type Handled, refuseWithout } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { EffectiveConfig } from '../../../src/shared/protocol/config.ts';

/**
 * `late`: still asleep after the longest wait. `ended`: the session is over. `aborted`: the caller
 * is gone.
 */
export type PauseWait = 'awake' | 'late' | 'ended' | 'aborted';

/** The sleeping flags of the running session, and everything that waits for one of them. */
export interface Pauses {
  /**
   * A session begins. Its agents arrive through `join`. `lists`: event lists of agents for which
   * the session overrides their own.
   */
  begin(sessionId: SessionId, lists?: EventLists): void;
  /**
   * The events that put this agent to sleep and wake it: the session's lists where it has some,
   * else the agent's own.
   */
  eventsOf(agentId: AgentId): Promise<TeamEvents>;
  /**
   * An agent joins the running session. Its flag is set where `agent_started` is one of its sleep
   * events.
   */
  join(agentId: AgentId): Promise<void>;
  /** Notifies all waiting callers that the session is over. */
  end(sessionId: SessionId): void;
  isPaused(agentId: AgentId): boolean;
  /**
   * Null where the session or the agent is unknown. `by`: who or what set the flag, for the event.
   */
  set(sessionId: SessionId, agentId: AgentId, paused: boolean, by: string): Promise<boolean | null>;
  get(sessionId: SessionId, agentId: AgentId): boolean | null;
  /**
   * Resolves at once where the agent is awake, is not in the session, or no session runs. An agent
   * that is just joining is waited for. `limitMs`: Infinity waits as long as the session.
   */
  wait(agentId: AgentId, options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  /** How many callers wait now. */
  waiting(): number;
  /** Called after each change, when it is on disk. */
  subscribe(
    listener: (change: { readonly sessionId: SessionId; readonly agentId: AgentId; readonly paused: boolean }) => void,
  ): () => void;
}

/** The events that put an agent to sleep and that wake it. */
export type TeamEvents = Pick<EffectiveConfig['coordination'], 'sleep_events' | 'wake_events'>;

/** Lists by agent. A missing list is taken from the agent's own settings. */
export type EventLists = ReadonlyMap<AgentId, Partial<TeamEvents>>;

// HTTP routes that pause and resume an agent.

/** Stands for the running session in a URL, so that API clients need not look up its id. */
const CURRENT = 'current';

type Addressed = Given<typeof pauseEndpoints.sleeping>;

interface PauseRoutesDeps {
  readonly pauses: Pick<Pauses, 'get' | 'set'>;
  readonly directory: Pick<Directory, 'find'>;
  /** Id of the running session. Null: none runs. */
  readonly sessionId: () => string | null;
  /**
   * The caller: the person, by the page's cookie, or an API client (kind `api`) whose credential
   * allows this for this agent. Throws a problem for everybody else.
   */
  readonly callerOf: (context: Context, agentId: AgentId) => Promise<WakeSource>;
  /** Asks the gate, and wakes the agent if it is granted. */
  readonly wake: (agentId: AgentId, source: WakeSource) => Promise<Pick<WakeDecision, 'outcome' | 'detail'>>;
}

export function createPauseRoutes({
  pauses,
  directory,
  sessionId: runningId,
  callerOf,
  wake,
}: PauseRoutesDeps): readonly Handled[] {
  function unknown(): never {
    throw problem(404, 'unknown', 'There is no such session, or this agent is not in it.');
  }

  /**
   * Resolves an agent by id, name or seat, as everywhere else. An unknown name is passed on
   * unchanged and refused later.
   */
  async function addressed({
    sessionId: session,
    agentId: called,
  }: Addressed): Promise<readonly [sessionId: string, agentId: string]> {
    const found = await directory.find(called);
    return [session === CURRENT ? (runningId() ?? unknown()) : session, found.ok ? found.agent.agentId : called];
  }
  /** The flag of an agent. The lead is in every session and is never paused. */
  const flagOf = (sessionId: SessionId, agentId: AgentId) =>
    pauses.get(sessionId, agentId) ?? (agentId === LEAD_ID && sessionId === runningId() ? false : unknown());

  async function read(given: Addressed, context: Context): Promise<Sleeping> {
    const [sessionId, agentId] = await addressed(given);
    await callerOf(context, agentId);
    return { sleeping: flagOf(sessionId, agentId) };
  }

  async function write(given: Given<typeof pauseEndpoints.putSleeping>, context: Context<Env>): Promise<Sleeping> {
    const body = given.body;
    refuseWithout(context, body.sleeping ? 'sleep' : 'wake');
    const [sessionId, agentId] = await addressed(given);
    const source = await callerOf(context, agentId);
    const before = flagOf(sessionId, agentId);
    // Nothing to do. Clearing the flag here would undo, without the gate, a concurrent call that
    // sets it.
    if (!before && !body.sleeping) return { sleeping: false };
    if (agentId === LEAD_ID)
      throw problem(
        409,
        'lead',
        'The lead cannot be set to sleep, because the team is reached through it. End the session to let all agents sleep.',
      );
    if (!body.sleeping) {
      const { outcome, detail } = await wake(agentId, source);
      if (outcome !== 'granted') throw problem(409, 'not-woken', detail);
    }
    const sleeping =
      (await pauses.set(sessionId, agentId, body.sleeping, source.kind === 'api' ? source.name : 'human')) ?? unknown();
    return { sleeping };
  }

  return answer(pauseEndpoints, { sleeping: read, putSleeping: write, postSleeping: write });
}

/** Calls that wait until one agent's flag is cleared. Each is released exactly once. */
interface Waiters {
  /** Resolves when the call is released, its signal aborts, or `limitMs` have passed. */
  wait(options: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<PauseWait>;
  release(how: Extract<PauseWait, 'awake' | 'ended'>): void;
  count(): number;
}

function createWaiters(timers: Timers): Waiters {
  const releases = createListeners<[PauseWait]>();
  return {
    wait({ signal, limitMs }) {
      if (signal.aborted) return Promise.resolve('aborted');
      if (limitMs <= 0) return Promise.resolve('late');
      return new Promise((resolve) => {
        const onAbort = () => release('aborted');
        const cancel = limitMs > LONGEST_TIMER_MS ? () => undefined : timers.after(limitMs, () => release('late'));
        const release = (how: PauseWait) => {
          stop();
          cancel();
          signal.removeEventListener('abort', onAbort);
          resolve(how);
        };
        const stop = releases.subscribe(release);
        signal.addEventListener('abort', onAbort);
      });
    },
    release: releases.tell,
    count: releases.count,
  };
}

interface PausesDeps {
  readonly log: Pick<EventLog, 'append' | 'subscribe' | 'snapshot'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly now: () => number;
  readonly timers: Timers;
  /** Called when a subscriber throws. The others are still called. */
  readonly onListenerError: (error: unknown) => void;
}

interface Pausable {
  /** `joining`: it is not known yet whether the agent starts paused. Its calls wait until then. */
  state: 'joining' | 'awake' | 'paused';
  readonly waiters: Waiters;
}

interface Running {
  readonly sessionId: SessionId;
  readonly lists: EventLists;
  readonly agents: Map<string, Pausable>;
  /** One queue per agent, also for agents that are not in the session yet. */
  readonly inTurn: ReturnType<typeof createQueues<AgentId>>;
}

/** `close` ends the session if one runs. */
export interface OpenPauses extends Pauses {
  close(): void;
}

export function createPauses({ log, configs, now, timers, onListenerError }: PausesDeps): OpenPauses {
  let running: Running | null = null;
  const listeners = new Set<Parameters<Pauses['subscribe']>[0]>();

  const write = ({ sessionId }: Running, agentId: AgentId, paused: boolean, by: string) =>
    log.append([{ kind: 'pause-flag', time: now(), sessionId, agentId, paused, by }]);

  function tell(change: { readonly sessionId: SessionId; readonly agentId: AgentId; readonly paused: boolean }): void {
    for (const listener of listeners) {
      try {
        listener(change);
      } catch (error) {
        onListenerError(error);
      }
    }
  }

  /**
   * Applies a flag that is on disk. False: the session has ended meanwhile, or the agent has left
   * it.
   */
  function apply(session: Running, agentId: AgentId, agent: Pausable, paused: boolean): boolean {
    if (running !== session || session.agents.get(agentId) !== agent) return false;
    const wasJoining = agent.state === 'joining';
    agent.state = paused ? 'paused' : 'awake';
    if (!paused) agent.waiters.release('awake');
    if (paused || !wasJoining) tell({ sessionId: session.sessionId, agentId, paused });
    return true;
  }

  async function eventsOf(agentId: AgentId) {
    const ofSession = running?.lists.get(agentId);
    const { sleep_events, wake_events } = (await configs.agent(agentId)).effective.coordination;
    return { sleep_events, wake_events, ...ofSession };
  }

  function finish(session: Running): void {
    running = null;
    for (const { waiters } of session.agents.values()) waiters.release('ended');
  }

  // Calls of an agent that leaves the session are released.
  const stopListening = log.subscribe(({ event }) => {
    if ((event.kind !== 'agent-asleep' && event.kind !== 'client-left') || event.sessionId !== running?.sessionId)
      return;
    // The agent may still be there, driven by a client or by its own mind.
    const { session } = log.snapshot();
    if (session?.awake.includes(event.agentId) || session?.clients.some(({ agentId }) => agentId === event.agentId))
      return;
    const agent = running.agents.get(event.agentId);
    running.agents.delete(event.agentId);
    agent?.waiters.release('awake');
  });

  return {
    eventsOf,
    begin(sessionId, lists = new Map()) {
      if (running?.sessionId === sessionId) return;
      if (running) finish(running);
      running = { sessionId, lists, agents: new Map(), inTurn: createQueues() };
    },
    async join(agentId) {
      const session = running;
      if (session === null) return;
      await session.inTurn(agentId, async () => {
        if (running !== session || session.agents.has(agentId)) return;
        const agent: Pausable = { state: 'joining', waiters: createWaiters(timers) };
        session.agents.set(agentId, agent);
        try {
          const paused = (await eventsOf(agentId)).sleep_events.includes('agent_started');
          if (paused && running === session) await write(session, agentId, paused, 'agent_started');
          apply(session, agentId, agent, paused);
        } catch (error) {
          session.agents.delete(agentId);
          agent.waiters.release('awake');
          throw error;
        }
      });
    },
    end(sessionId) {
      if (running?.sessionId === sessionId) finish(running);
    },
    isPaused: (agentId) => running?.agents.get(agentId)?.state === 'paused',
    async set(sessionId, agentId, paused, by) {
      const session = running;
      if (session?.sessionId !== sessionId) return null;
      return await session.inTurn(agentId, async () => {
        const agent = running === session ? session.agents.get(agentId) : undefined;
        if (!agent) return null;
        if (agent.state === (paused ? 'paused' : 'awake')) return paused;
        await write(session, agentId, paused, by);
        return apply(session, agentId, agent, paused) ? paused : null;
      });
    },
    get(sessionId, agentId) {
      const state = running?.sessionId === sessionId ? running.agents.get(agentId)?.state : undefined;
      return state === undefined || state === 'joining' ? null : state === 'paused';
    },
    async wait(agentId, options) {
      const agent = running?.agents.get(agentId);
      return agent && agent.state !== 'awake' ? await agent.waiters.wait(options) : 'awake';
    },
    waiting: () => [...(running?.agents.values() ?? [])].reduce((sum, { waiters }) => sum + waiters.count(), 0),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      stopListening();
      if (running) finish(running);
    },
  };
}
