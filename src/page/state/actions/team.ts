/** WAKE and SUMMON, for all, some or one; putting to sleep; starting and ending the session. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Agent } from '../../../shared/domain/agent.ts';
import { bigButton, canBeWoken, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, SEAT_ORDER, seatColor, type SeatPosition } from '../../../shared/domain/seat.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import { spoken, t } from '../../language/t.ts';
import { arrivingOf } from '../devices.ts';
import { until, whenRead } from '../when-read.ts';
import { errorText, isRefusedAs, problemText } from '../ports.ts';
import { leadNameOf } from '../people.ts';
import { payloadOf } from '../wake-sizes.ts';
import type { Parts } from './parts.ts';

// What a call waits for, so that nobody wakes without what was said last: here while the page was
// closed, or on other devices.

/** ms that a call waits for what is known to be on its way from other devices. */
const CATCH_UP_PATIENCE_MS = 4_000;
/**
 * ms that it waits to know what there is at all, while the line to the relay is being made, or was
 * just made.
 */
const COMPARE_PATIENCE_MS = 10_000;

interface CaughtUp {
  /** Whose last session is not whole on this device. */
  readonly late: ReadonlySet<string>;
  /** False: it could not be found out in time whether other devices have more. */
  readonly compared: boolean;
}
const NOBODY_LATE: CaughtUp = { late: new Set(), compared: true };

interface CatchingUp {
  /** Resolves when the last sessions of these agents are here, or will not be for now. */
  caughtUp(agentIds: readonly AgentId[]): Promise<CaughtUp>;
  /** What is known of it at once. */
  known(): CaughtUp;
}

function createCatchingUp({
  owner,
  devices,
  device,
  live,
  pending,
}: Pick<Parts, 'owner' | 'devices' | 'device' | 'live' | 'pending'>): CatchingUp {
  const known = (): CaughtUp => ({ late: new Set(arrivingOf(devices.store.getState())), compared: true });

  return {
    known,
    async caughtUp(agentIds) {
      pending.setState({ step: t`Listening for what was said last…` });
      // What the relay still holds of the last session: the page may just have been opened.
      await until(device, COMPARE_PATIENCE_MS, live.store, ({ link }) => link.kind !== 'connecting');
      // Whether there are other devices at all is told by the owner, which may just have begun too.
      await until(
        device,
        COMPARE_PATIENCE_MS,
        devices.store,
        ({ status, failed }) => status !== null || failed !== null,
      );
      const { status } = devices.store.getState();
      if ((status?.kind !== 'shared' && status?.kind !== 'returning') || agentIds.length === 0) return NOBODY_LATE;
      pending.setState({ step: t`Fetching what was said elsewhere…` });
      // A relay that is away has nothing newer, and begins nothing either: that is said where it is
      // asked to.
      const isThere = live.store.getState().link.kind === 'live' && status.link !== 'off';
      try {
        const { arriving, compared } = await owner.call('caughtUp', {
          agentIds,
          patience: isThere ? CATCH_UP_PATIENCE_MS : 0,
          comparePatience: isThere && status.link !== 'lost' ? COMPARE_PATIENCE_MS : 0,
        });
        return { late: new Set(arriving), compared: compared || !isThere };
      } catch {
        // Who is whole here can be woken all the same: what was told last of the others stands.
        return known();
      }
    },
  };
}

// The end of the session: for a while it can be taken back, in any tab of this browser, and nobody
// is stopped before that.

/** ms in which it can be taken back. */
const UNDO_MS = 10_000;
/** What the tabs of a browser say to each other of it: a word, and a number, so that it is news. */
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
  /** Takes back what this tab has begun. */
  let callOff: () => void = () => undefined;
  /** Takes away what is shown of another tab's. */
  let withdraw: () => void = () => undefined;
  const say = (word: Word) => void device.browser.write(SAID, `${word} ${device.newId()}`);

  /** Whichever tabs have begun it. */
  function undo(): void {
    callOff();
    withdraw();
    say('undo');
  }

  /** `over`: it may end by itself, or from elsewhere. Returns the way to take it away. */
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

/** ms to wait for the relay's word that a call has begun, before the button is given back. */
const CONFIRM_MS = 20_000;

const NOT_COMPARED = t`It could not be found out yet whether more was said on your other devices. Press again in a moment, or go on without it.`;

/** Another tab or device was first: what was asked for happens, only not from here. */
const isAlreadyUnderWay = (problem: RelayProblem) => isRefusedAs(problem, 'already-awake');

export interface TeamActions {
  /**
   * Wakes these agents, or everyone who sleeps or is only driven by a client. Who is in the session
   * and only set to sleep goes on where it was; the others are called by the lead. Whose last
   * session is not whole on this device yet is waited for a little, and then left to sleep; where
   * that is the lead, or where it cannot be told, the person is asked. Does nothing while a call of
   * this page is under way.
   */
  wake(agents?: readonly Agent[]): Promise<void>;
  /** Brings somebody to life in these seats, or in every empty one. */
  summon(seats?: readonly SeatPosition[]): Promise<void>;
  /**
   * Sets an agent of the running session to sleep: it stays in it, keeps what was said, and is
   * woken by `wake`.
   */
  rest(agentId: AgentId): Promise<void>;
  /** Takes an agent out of the session, or gives up an egg. */
  sleep(agentId: AgentId): Promise<void>;
  /** True where a session runs, started if need be. */
  startSession(): Promise<boolean>;
  /**
   * Ends the session after a while in which the person can take that back and nobody is stopped; at
   * once where they say so, or say it again.
   */
  readonly endSession: EndSession;
}

export function createTeamActions(parts: Parts): TeamActions {
  const { relay, reach, device, clock, household, live, wakeSizes, notices, pending } = parts;
  const catchingUp = createCatchingUp(parts);

  async function startSession(ahead = false): Promise<boolean> {
    if (live.store.getState().live) return true;
    pending.setState({ step: t`Starting the session…` });
    const { roster, settings } = household.store.getState();
    const [lead = null] = roster.lead ? await wakeSizes.read([roster.lead]) : [];
    const { startSessionBody } = await import('../wake-material.ts');
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
        label: t`Go on after it`,
        run: () => void startSession(true).finally(() => pending.setState({ step: null })),
      });
      return false;
    }
    // Another tab or device was first. Its session is ours too.
    if (isRefusedAs(started.problem, 'session-active')) return true;
    notices.refused(started.problem);
    return false;
  }

  /**
   * Resolves when the relay was heard to begin the call, or when there is no more reason to wait
   * for that.
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

  const leadIsLate = () => {
    const { roster, settings } = household.store.getState();
    return t`What ${leadNameOf(roster, settings)} heard last is still on its way to this device. Press again in a moment, or go on without it.`;
  };
  const leftOut = (count: number) =>
    notices.info(
      count === 1
        ? t`One agent is still on the way to this device, and sleeps on. WAKE calls it once it is here.`
        : t`${count} agents are still on the way to this device, and sleep on. WAKE calls them once they are here.`,
    );

  /**
   * One road for both calls: hold the button, catch up with other devices, start a session, write
   * the message, wait for the relay's word. `called`: who is to be woken; whoever of them is not
   * whole here yet is left out.
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
      // A session begins with the lead, and with what it remembers.
      const begins = live.store.getState().live === null;
      const agentIds = [...(begins ? [LEAD_ID] : []), ...called.map(({ agentId }) => agentId)];
      const { late, compared } = anyway ? catchingUp.known() : await catchingUp.caughtUp(agentIds);
      if (!anyway && (!compared || (begins && late.has(LEAD_ID)))) {
        notices.offer(compared ? leadIsLate() : NOT_COMPARED, {
          label: t`Go on without it`,
          run: () => void call(kind, called, write, true),
        });
        return;
      }
      const lateCalled = called.filter(({ agentId }) => late.has(agentId)).length;
      if (lateCalled > 0) leftOut(lateCalled);
      if (lateCalled > 0 && lateCalled === called.length) return;
      if (!(await startSession())) return;
      pending.setState({ step: kind === 'wake' ? t`Gathering what they remember…` : t`Preparing the seats…` });
      const text = await write(late);
      if (text === null) return;
      if (text.length > LIMITS.teamCallText) {
        notices.error(
          t`Together they remember more than one wake can carry. Let them remember less of the last conversation (Settings, Waking), or wake fewer at once.`,
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
      notices.error(t`This device could not read what they remember: ${errorText(error)}`);
    } finally {
      pending.setState({ call: null, step: null });
    }
  }

  const isPausedNow = ({ agentId }: Agent) => {
    const session = live.store.getState().live;
    return session !== null && session.awake.has(agentId) && session.paused.has(agentId);
  };

  async function setSleeping(agentId: AgentId, sleeping: boolean): Promise<void> {
    const session = live.store.getState().live;
    if (!session) return;
    const set = await reach((client) =>
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
      // Asked again after the session began: another tab may have woken some of them meanwhile.
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
   * Who is shown before the ledger was read is who was shown last: nobody is called by that. The
   * call holds its button until then. False where the call cannot begin: another one is under way,
   * or the ledger is not read.
   */
  async function isReadFor(kind: 'wake' | 'summon'): Promise<boolean> {
    if (pending.getState().call) return false;
    const { store } = household;
    if (store.getState().status === 'loading') {
      pending.setState({ call: kind, step: t`Reading who lives here…` });
      await whenRead(device, household);
      pending.setState({ call: null, step: null });
    }
    if (store.getState().status === 'ready') return true;
    notices.error(t`Nobody was called: this device could not read who lives here yet. Press again in a moment.`);
    return false;
  }

  return {
    startSession: () => startSession(),
    async wake(agents) {
      if (!(await isReadFor('wake'))) return;
      const asked = agents ?? [...household.store.getState().roster.seats.values()];
      const paused = asked.filter(isPausedNow);
      await Promise.all(paused.map(({ agentId }) => setSleeping(agentId, false)));
      const others = asleepNow(asked).filter((agent) => !paused.includes(agent));
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
