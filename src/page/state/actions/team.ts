/**
 * WAKE and SUMMON (all, some or one agent), putting agents to sleep, starting and ending the
 * session.
 */
import type { StoreApi } from 'zustand/vanilla';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Agent } from '../../../shared/domain/agent.ts';
import { bigButton, canBeWoken, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, SEAT_ORDER, seatColor, type SeatPosition } from '../../../shared/domain/seat.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import { spoken, t } from '../../language/t.ts';
import { attempt } from '../attempt.ts';
import { arrivingOf } from '../devices.ts';
import { until, whenRead } from '../documents.ts';
import { errorText, isRefusedAs, problemText } from '../ports.ts';
import { payloadOf } from '../wake-sizes.ts';
import type { Parts } from './parts.ts';

// A wake first waits for what the relay and the other devices have. Otherwise an agent might wake
// without its last words. As long as the relay can be reached, only the person ends that wait.

/** ms that one question to the data worker waits. A wake asks again while more is on its way. */
const CATCH_UP_PATIENCE_MS = 4_000;
/** ms after which the person is offered to go on without what is still missing. */
const OFFER_AFTER_MS = 4_000;

interface Ready {
  /** Agents whose last session is not complete on this device. */
  readonly late: ReadonlySet<string>;
  /**
   * Nobody knows whether this device has everything: other devices may have more, or the relay sent
   * something that cannot be stored here.
   */
  readonly unknown: boolean;
  /** The person chose not to wait any longer. */
  readonly chosen: boolean;
}
const NOBODY_LATE: Ready = { late: new Set(), unknown: false, chosen: false };

interface CatchingUp {
  /**
   * Resolves when the last sessions of these agents are here, when they cannot arrive for now, or
   * when the person goes on without them.
   */
  caughtUp(agentIds: readonly AgentId[]): Promise<Ready>;
  /** The current state, without waiting. */
  known(): Ready;
}

/** The person's way to end a wait. It is offered once the wait takes a while. */
interface WayOut {
  readonly taken: Promise<void>;
  isTaken(): boolean;
  close(): void;
}

function createCatchingUp({
  dataWorker,
  devices,
  device,
  live,
  pending,
}: Pick<Parts, 'dataWorker' | 'devices' | 'device' | 'live' | 'pending'>): CatchingUp {
  const readyHere = (): Ready => ({
    late: new Set(arrivingOf(devices.store.getState())),
    unknown: false,
    chosen: true,
  });

  function openWayOut(): WayOut {
    let isTaken = false;
    let take: () => void = () => undefined;
    const wasTaken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const cancel = device.after(OFFER_AFTER_MS, () =>
      pending.setState({
        goOn() {
          isTaken = true;
          pending.setState({ goOn: null });
          take();
        },
      }),
    );
    return {
      taken: wasTaken,
      isTaken: () => isTaken,
      close() {
        cancel();
        pending.setState({ goOn: null });
      },
    };
  }

  /** Resolves when `holds` is true, or when the person goes on. */
  async function until<State>(
    { taken }: WayOut,
    store: Pick<StoreApi<State>, 'getState' | 'subscribe'>,
    holds: (state: State) => boolean,
  ): Promise<void> {
    if (holds(store.getState())) return;
    let stop: () => void = () => undefined;
    const holding = new Promise<void>((resolve) => {
      stop = store.subscribe((state) => {
        if (holds(state)) resolve();
      });
    });
    await Promise.race([holding, taken]);
    stop();
  }

  /** Waits for what the relay still sends of the time before. False: it cannot be reached. */
  async function hasConnected(wayOut: WayOut): Promise<boolean> {
    const { link: before } = live.store.getState();
    if (before.kind === 'lost' || before.kind === 'locked-out') {
      // The relay may be back, and its connection not yet: a call would get through before what it
      // has to say arrives.
      await Promise.race([attempt(dataWorker.call('reconnect')), wayOut.taken]);
      await until(wayOut, live.store, ({ link }) => link.kind !== 'connecting' && link !== before);
    } else await until(wayOut, live.store, ({ link }) => link.kind !== 'connecting');
    return live.store.getState().link.kind === 'live';
  }

  /** Asks the data worker again and again while more is on its way. */
  async function fetched(wayOut: WayOut, agentIds: readonly AgentId[]): Promise<Ready> {
    for (;;) {
      const { status } = devices.store.getState();
      if (status?.kind !== 'shared' && status?.kind !== 'returning') return NOBODY_LATE;
      // A relay that is away has nothing newer and can start nothing. The failing call says so.
      const isThere = live.store.getState().link.kind === 'live' && status.link !== 'off';
      const catchUp = dataWorker.call('caughtUp', { agentIds, patience: isThere ? CATCH_UP_PATIENCE_MS : 0 });
      const answer = await Promise.race([catchUp.catch(() => null), wayOut.taken]);
      if (wayOut.isTaken()) return readyHere();
      // Agents that are complete here can be woken all the same. For the others the last known
      // state stands.
      if (!answer) return { ...readyHere(), chosen: false };
      const { arriving, compared, fetching } = answer;
      if (!isThere || !fetching) return { late: new Set(arriving), unknown: isThere && !compared, chosen: false };
    }
  }

  async function wait(wayOut: WayOut, agentIds: readonly AgentId[]): Promise<Ready> {
    pending.setState({ step: t`Starting the session…` });
    const isThere = await hasConnected(wayOut);
    if (wayOut.isTaken()) return readyHere();
    if (isThere) {
      const answer = await Promise.race([dataWorker.call('received').catch(() => null), wayOut.taken]);
      if (wayOut.isTaken()) return readyHere();
      if (!answer?.stored) return { ...readyHere(), unknown: true, chosen: false };
    }
    // The data worker says whether there are other devices, and it may just have started.
    await until(wayOut, devices.store, ({ status, failed }) => status !== null || failed !== null);
    if (wayOut.isTaken()) return readyHere();
    if (devices.store.getState().status === null) return { ...NOBODY_LATE, unknown: true };
    if (agentIds.length === 0) return NOBODY_LATE;
    pending.setState({ step: t`Starting the session…` });
    return await fetched(wayOut, agentIds);
  }

  return {
    known: readyHere,
    async caughtUp(agentIds) {
      const wayOut = openWayOut();
      try {
        return await wait(wayOut, agentIds);
      } finally {
        wayOut.close();
      }
    },
  };
}

// Ending the session can be undone for a while, in any tab of this browser. No agent is stopped
// before that time is over.

/** ms in which ending can be undone. */
const UNDO_MS = 10_000;
/**
 * What the tabs of a browser announce to each other: a word, and a number to make each announcement
 * new.
 */
const SAID = 'roost-ending';
type Word = 'begun' | 'undo' | 'over';

type EndSession = (when?: 'soon' | 'now') => Promise<void>;

function createEnding({
  relay,
  device,
  live,
  notices,
  pending,
}: Pick<Parts, 'relay' | 'device' | 'live' | 'notices' | 'pending'>): EndSession {
  /** Undoes what this tab has begun. */
  let callOff: () => void = () => undefined;
  /** Removes the notice about another tab's ending. */
  let withdraw: () => void = () => undefined;
  const say = (word: Word) => void device.browser.write(SAID, `${word} ${device.newId()}`);

  /** In whichever tab it was begun. */
  function undo(): void {
    callOff();
    withdraw();
    say('undo');
  }

  /**
   * `over`: ending may be over by itself or from elsewhere. Returns a function that removes the
   * notice.
   */
  function show(over: () => void): () => void {
    const note = notices.info(t`The session ends in ten seconds. Nobody is stopped before that.`, {
      label: t`Undo`,
      run: undo,
    });
    const stop = live.store.subscribe((state) => {
      if (state.live === null) over();
    });
    return () => {
      stop();
      notices.dismiss(note);
    };
  }

  function endSoon(): void {
    const stopTimer = device.after(UNDO_MS, () => void endSession('now'));
    const hide = show(() => callOff());
    callOff = () => {
      callOff = () => undefined;
      stopTimer();
      hide();
      say('over');
      pending.setState({ ending: false });
    };
    pending.setState({ ending: 'soon' });
    say('begun');
  }

  device.hear(SAID, (text) => {
    withdraw();
    const word = text.split(' ')[0];
    if (word === 'undo') callOff();
    if (word !== 'begun' || live.store.getState().live === null) return;
    const hide = show(() => withdraw());
    withdraw = () => {
      withdraw = () => undefined;
      hide();
    };
  });

  const endSession: EndSession = async (when = 'soon') => {
    const { ending } = pending.getState();
    if (ending === 'now') return;
    if (ending === false && when === 'soon') return endSoon();
    callOff();
    pending.setState({ ending: 'now' });
    try {
      const ended = await relay.endSession();
      const nothingRan = !ended.ok && ended.problem.kind === 'refused' && ended.problem.status === 409;
      if (!ended.ok && !nothingRan) notices.refused(ended.problem);
    } finally {
      pending.setState({ ending: false });
    }
  };
  return endSession;
}

/** ms to wait for the relay to confirm that a wake has begun, before the button is released. */
const CONFIRM_MS = 20_000;

const LATE = t`The latest messages are not on this device yet. Press again in a moment, or continue without them.`;

/** Another tab or device was first. The request is fulfilled, only not from here. */
const isAlreadyUnderWay = (problem: RelayProblem) => isRefusedAs(problem, 'already-awake');

export interface TeamActions {
  /**
   * Wakes these agents, or all who sleep or are driven only by an API client. An agent of the
   * session that was put to sleep continues where it was. The lead wakes the others.
   *
   * The wake waits while the relay still delivers what was said last, unless the person goes on
   * without it. Agents whose last session cannot arrive for now are left asleep. If the lead is
   * among them, or if completeness is unknown, the person is asked. Does nothing while a wake or
   * summon of this page is in progress.
   */
  wake(agents?: readonly Agent[]): Promise<void>;
  /** Brings new agents to life in these seats, or in every empty one. */
  summon(seats?: readonly SeatPosition[]): Promise<void>;
  /**
   * Puts an agent of the running session to sleep. It stays in the session, keeps its context, and
   * is woken by `wake`.
   */
  rest(agentId: AgentId): Promise<void>;
  /** Removes an agent from the session, or gives up an egg. */
  sleep(agentId: AgentId): Promise<void>;
  /** True if a session runs. Starts one if needed. */
  startSession(): Promise<boolean>;
  /**
   * Ends the session after a delay in which the person can undo it; until then no agent is stopped.
   * Asking for it a second time, or for an immediate end, ends it at once.
   */
  readonly endSession: EndSession;
}

export function createTeamActions(parts: Parts): TeamActions {
  const { relay, callRelay, device, clock, household, live, wakeSizes, notices, pending } = parts;
  const catchingUp = createCatchingUp(parts);

  async function startSession(ahead = false): Promise<boolean> {
    if (live.store.getState().live) return true;
    pending.setState({ step: t`Starting the session…` });
    const { roster, settings } = household.store.getState();
    const [lead = null] = roster.lead ? await wakeSizes.read([roster.lead]) : [];
    const { startSessionBody } = await import('../wake-context.ts');
    const started = await relay.startSession({
      body: {
        ...startSessionBody(lead, roster, settings, spoken.language),
        after: clock.next(),
        ...(ahead ? { ahead } : {}),
      },
    });
    if (started.ok) return true;
    if (isRefusedAs(started.problem, 'clock-ahead')) {
      notices.offer(problemText(started.problem), {
        label: t`Continue`,
        run: () => void startSession(true).finally(() => pending.setState({ step: null })),
      });
      return false;
    }
    // Another tab or device was first. This page uses its session.
    if (isRefusedAs(started.problem, 'session-active')) return true;
    notices.refused(started.problem);
    return false;
  }

  /**
   * Resolves when the relay announced the beginning of the call, or when waiting has become
   * pointless.
   */
  function heardToBegin(before: number): Promise<void> {
    const wasLive = live.store.getState().live !== null;
    return until(
      device,
      CONFIRM_MS,
      live.store,
      (now) => now.callsHeard > before || now.callError !== null || (wasLive && now.live === null),
    );
  }

  const leftOut = () => notices.info(t`Some agents are still on the way to this device, and sleep on.`);

  /**
   * Both calls take the same steps: hold the button, catch up with other devices, start a session,
   * write the message, wait for the relay's confirmation. `called`: the agents to wake; those that
   * are not complete here are left out.
   */
  async function call(
    kind: 'wake' | 'summon',
    called: readonly Agent[],
    write: (late: ReadonlySet<string>) => Promise<string | null>,
    anyway = false,
  ): Promise<void> {
    if (pending.getState().call) return;
    pending.setState({ call: kind, step: null });
    live.dismissCallError();
    try {
      // A session begins with the lead and its memory.
      const begins = live.store.getState().live === null;
      const agentIds = [...(begins ? [LEAD_ID] : []), ...called.map(({ agentId }) => agentId)];
      const { late, unknown, chosen } = anyway ? catchingUp.known() : await catchingUp.caughtUp(agentIds);
      if (!chosen && (unknown || (begins && late.has(LEAD_ID)))) {
        notices.offer(LATE, {
          label: t`Continue`,
          run: () => void call(kind, called, write, true),
        });
        return;
      }
      const lateCalled = called.filter(({ agentId }) => late.has(agentId)).length;
      if (lateCalled > 0) leftOut();
      if (lateCalled > 0 && lateCalled === called.length) return;
      if (!(await startSession())) return;
      pending.setState({ step: t`Starting the session…` });
      const text = await write(late);
      if (text === null) return;
      if (text.length > LIMITS.teamCallText) {
        notices.error(
          t`That is more than one wake can carry. Let them remember less (Settings, Advanced), or wake fewer at once.`,
        );
        return;
      }
      pending.setState({ step: null });
      const before = live.store.getState().callsHeard;
      const posted = await relay.postMessage({ body: { text, clientId: device.newId() } });
      if (posted.ok) await heardToBegin(before);
      else if (isAlreadyUnderWay(posted.problem)) notices.info(problemText(posted.problem));
      else notices.refused(posted.problem);
    } catch (error) {
      notices.error(t`Could not load this. ${errorText(error)}`);
    } finally {
      pending.setState({ call: null, step: null, goOn: null });
    }
  }

  const isPausedNow = ({ agentId }: Agent) => {
    const session = live.store.getState().live;
    return session !== null && session.awake.has(agentId) && session.paused.has(agentId);
  };

  async function setSleeping(agentId: AgentId, sleeping: boolean): Promise<void> {
    const session = live.store.getState().live;
    if (!session) return;
    const set = await callRelay((client) =>
      client.putSleeping({ sessionId: session.sessionId, agentId, body: { sleeping } }),
    );
    if (!set.ok) notices.refused(set.problem);
  }

  const asleepNow = (agents: readonly Agent[]) =>
    agents.filter(
      (agent) =>
        isSeatPosition(agent.position) && canBeWoken(lifecycleOf(agent, agent.position, live.store.getState().live)),
    );

  const callToWake = (agents: readonly Agent[] | undefined, asked: readonly Agent[]) =>
    call('wake', asked, async (late) => {
      // Checked again after the session began: another tab may have woken some of them meanwhile.
      const now = bigButton(household.store.getState().roster, live.store.getState().live, null);
      const chosen = (agents ? asleepNow(agents) : now.kind === 'wake' ? now.agents : []).filter(
        (agent) => !isPausedNow(agent) && !late.has(agent.agentId),
      );
      if (chosen.length === 0) return null;
      const payloads = (await wakeSizes.read(chosen)).flatMap((share) => payloadOf(share) ?? []);
      const { writeWake } = await import('../../../shared/domain/wake-payload.ts');
      return writeWake(payloads);
    });

  /**
   * Before the ledger is read, the page shows the team of the last visit, which must not be woken.
   * The call holds its button until the ledger is read. False where the call cannot begin: another
   * one is in progress, or the ledger could not be read.
   */
  async function isReadFor(kind: 'wake' | 'summon'): Promise<boolean> {
    if (pending.getState().call) return false;
    const { store } = household;
    if (store.getState().status === 'loading') {
      pending.setState({ call: kind, step: t`Starting the session…` });
      await whenRead(device, household);
      pending.setState({ call: null, step: null });
    }
    if (store.getState().status === 'ready') return true;
    notices.error(t`This device could not read your team yet. Press again in a moment.`);
    return false;
  }

  return {
    startSession: () => startSession(),
    async wake(agents) {
      if (!(await isReadFor('wake'))) return;
      const targets = agents ?? [...household.store.getState().roster.seats.values()];
      const paused = targets.filter(isPausedNow);
      await Promise.all(paused.map(({ agentId }) => setSleeping(agentId, false)));
      const others = asleepNow(targets).filter((agent) => !paused.includes(agent));
      if (paused.length === 0) await callToWake(agents, others);
      else if (others.length > 0) await callToWake(others, others);
    },
    async summon(seats) {
      if (!(await isReadFor('summon'))) return;
      await call('summon', [], async () => {
        const { roster } = household.store.getState();
        const births = live.store.getState().live?.births;
        const wanted = (seats ?? SEAT_ORDER).filter((seat) => !roster.seats.has(seat) && !births?.has(seat));
        if (wanted.length === 0) return null;
        const { writeSummon } = await import('../../../shared/domain/wake-payload.ts');
        return writeSummon(wanted.map((position) => ({ position, ...seatColor(position) })));
      });
    },
    async rest(agentId) {
      await setSleeping(agentId, true);
    },
    async sleep(agentId) {
      const slept = await relay.sleep({ agentId });
      if (!slept.ok) notices.refused(slept.problem);
    },
    endSession: createEnding(parts),
  };
}
