/** WAKE and SUMMON, for all, some or one; putting to sleep; starting and ending the session. */
import { errorText, isRefusedAs, problemText } from '../ports.ts';
import type { Agent } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { bigButton, canBeWoken, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, SEAT_ORDER, seatColor, type SeatPosition } from '../../../shared/domain/seat.ts';
import { spoken } from '../../language/catalogue.ts';
import { t } from '../../language/t.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import { leadNameOf } from '../people.ts';
import { payloadOf } from '../wake-share.ts';
import { until } from '../until.ts';
import { whenRead } from '../when-read.ts';
import { createCatchingUp } from './catching-up.ts';
import { createEnding, type EndSession } from './ending.ts';
import type { Parts } from './parts.ts';

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
