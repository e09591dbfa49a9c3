/** WAKE and SUMMON, for all, some or one; putting to sleep; starting and ending the session. */
import type { Agent } from '../../domain/agent.ts';
import { bigButton, lifecycleOf } from '../../domain/lifecycle.ts';
import { isSeatPosition, SEAT_ORDER, seatColor, type SeatPosition } from '../../domain/seat.ts';
import { writeSummon, writeWake } from '../../domain/wake-payload.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { RelayProblem } from '../../relay/index.ts';
import { problemText } from '../ports.ts';
import { payloadOf, startSessionBody } from '../wake-material.ts';
import type { Parts } from './parts.ts';

/** ms to wait for the relay's word that a call has begun, before the button is given back. */
const CONFIRM_MS = 20_000;

/** Another tab or device was first: what was asked for happens, only not from here. */
const isAlreadyUnderWay = (problem: RelayProblem) => problem.kind === 'refused' && problem.problem.type.endsWith('already-awake');

export interface TeamActions {
  /**
   * Wakes these agents, or everyone who sleeps. Who is in the session and only set to sleep goes on where it was;
   * the others are called by the lead. Does nothing while a call of this page is under way.
   */
  wake(agents?: readonly Agent[]): Promise<void>;
  /** Brings somebody to life in these seats, or in every empty one. */
  summon(seats?: readonly SeatPosition[]): Promise<void>;
  /** Sets an agent of the running session to sleep: it stays in it, keeps what was said, and is woken by `wake`. */
  rest(agentId: string): Promise<void>;
  /** Takes an agent out of the session, or gives up an egg. */
  sleep(agentId: string): Promise<void>;
  /** True where a session runs, started if need be. */
  startSession(): Promise<boolean>;
  endSession(): Promise<void>;
}

export function createTeamActions({ relay, reach, device, household, live, remember, notices, pending }: Parts): TeamActions {
  async function startSession(): Promise<boolean> {
    if (live.store.getState().live) return true;
    pending.setState({ step: 'Starting the session…' });
    const { roster, settings } = household.store.getState();
    const [lead = null] = roster.lead ? await remember.read([roster.lead]) : [];
    const started = await relay.startSession(startSessionBody(lead, roster, settings));
    if (started.ok) return true;
    // 409: another tab or device was first. Its session is ours too.
    if (started.problem.kind === 'refused' && started.problem.status === 409) return true;
    notices.error(problemText(started.problem));
    return false;
  }

  /** Resolves when the relay was heard to begin the call, or when there is no more reason to wait for that. */
  function heardToBegin(before: number): Promise<void> {
    return new Promise((resolve) => {
      const wasLive = live.store.getState().live !== null;
      const check = () => {
        const now = live.store.getState();
        if (now.callsHeard > before || now.callError || (wasLive && !now.live)) done();
      };
      const stopTimer = device.after(CONFIRM_MS, () => done());
      const stop = live.store.subscribe(check);
      const done = () => {
        stop();
        stopTimer();
        resolve();
      };
      check();
    });
  }

  /** One road for both calls: hold the button, start a session, write the message, wait for the relay's word. */
  async function call(kind: 'wake' | 'summon', write: () => Promise<string | null>): Promise<void> {
    if (pending.getState().call) return;
    pending.setState({ call: kind, step: null });
    live.dismissCallError();
    try {
      if (!(await startSession())) return;
      pending.setState({ step: kind === 'wake' ? 'Gathering what they remember…' : 'Preparing the seats…' });
      const text = await write();
      if (text === null) return;
      if (text.length > LIMITS.teamCallText) {
        notices.error('Together they remember more than one wake can carry. Lower the transcript length in the settings, or wake fewer at once.');
        return;
      }
      pending.setState({ step: null });
      const before = live.store.getState().callsHeard;
      const posted = await relay.postMessage({ text, clientId: device.newId() });
      if (posted.ok) await heardToBegin(before);
      else if (isAlreadyUnderWay(posted.problem)) notices.info(posted.problem.message);
      else notices.error(problemText(posted.problem));
    } catch (error) {
      notices.error(`This device could not read what they remember: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      pending.setState({ call: null, step: null });
    }
  }

  const restsNow = ({ agentId }: Agent) => {
    const session = live.store.getState().live;
    return session !== null && session.awake.has(agentId) && session.resting.has(agentId);
  };

  async function setSleeping(agentId: string, sleeping: boolean): Promise<void> {
    const session = live.store.getState().live;
    if (!session) return;
    const set = await reach((client) => client.putSleeping(session.sessionId, agentId, sleeping));
    if (!set.ok) notices.error(problemText(set.problem));
  }

  const asleepNow = (agents: readonly Agent[]) =>
    agents.filter((agent) => isSeatPosition(agent.position) && lifecycleOf(agent, agent.position, live.store.getState().live) === 'sleeping');

  const callToWake = (agents: readonly Agent[] | undefined) =>
    call('wake', async () => {
      // Asked again after the session began: another tab may have woken some of them meanwhile.
      const now = bigButton(household.store.getState().roster, live.store.getState().live, null);
      const chosen = (agents ? asleepNow(agents) : now.kind === 'wake' ? now.agents : []).filter((agent) => !restsNow(agent));
      if (chosen.length === 0) return null;
      const payloads = (await remember.read(chosen)).flatMap((share) => payloadOf(share) ?? []);
      return writeWake(payloads);
    });

  return {
    startSession,
    async wake(agents) {
      if (pending.getState().call) return;
      const asked = agents ?? [...household.store.getState().roster.seats.values()];
      const resting = asked.filter(restsNow);
      await Promise.all(resting.map(({ agentId }) => setSleeping(agentId, false)));
      const others = asleepNow(asked).filter((agent) => !resting.includes(agent));
      if (resting.length === 0) await callToWake(agents);
      else if (others.length > 0) await callToWake(others);
    },
    summon: (seats) =>
      call('summon', () => {
        const { roster } = household.store.getState();
        const births = live.store.getState().live?.births;
        const wanted = (seats ?? SEAT_ORDER).filter((seat) => !roster.seats.has(seat) && !births?.has(seat));
        const text = wanted.length === 0 ? null : writeSummon(wanted.map((position) => ({ position, ...seatColor(position) })));
        return Promise.resolve(text);
      }),
    async rest(agentId) {
      await setSleeping(agentId, true);
    },
    async sleep(agentId) {
      const slept = await relay.sleep(agentId);
      if (!slept.ok) notices.error(problemText(slept.problem));
    },
    async endSession() {
      if (pending.getState().ending) return;
      pending.setState({ ending: true });
      try {
        const ended = await relay.endSession();
        const nothingRan = !ended.ok && ended.problem.kind === 'refused' && ended.problem.status === 409;
        if (!ended.ok && !nothingRan) notices.error(problemText(ended.problem));
      } finally {
        pending.setState({ ending: false });
      }
    },
  };
}
