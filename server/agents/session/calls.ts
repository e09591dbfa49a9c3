/** The person's calls to the team, and wakes by API clients: who comes, and in which seat. */
import { shownName } from '../../../src/shared/domain/names.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import {
  type AgentPayload,
  parseTeamCall,
  type TeamCall,
  writeForLead,
} from '../../../src/shared/domain/wake-payload.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';
import type { Brought, PostOutcome } from './contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { SessionContext } from './context.ts';
import type { Presence, Present } from './presence.ts';
import { createRunningCall } from './tools.ts';
import { createEgg } from './egg.ts';
import type { createLead } from './lead.ts';
import { admit } from './admission.ts';
import type { Guests } from './guests.ts';
import { personMessage } from './person-message.ts';
import { createWaking } from './waking.ts';

export const refused = (reason: Extract<PostOutcome, { ok: false }>['reason'], detail: string): PostOutcome => ({
  ok: false,
  reason,
  detail,
});

/** A ledger may contain names that are no longer allowed. */
const withShownNames = (call: TeamCall): TeamCall =>
  call.kind === 'wake'
    ? { ...call, agents: call.agents.map((agent) => ({ ...agent, name: shownName(agent.name, 'agent') })) }
    : call;

interface CallsDeps {
  readonly context: SessionContext;
  readonly log: EventLog;
  readonly presence: Presence;
  readonly guests: Guests;
  readonly lead: ReturnType<typeof createLead>;
  /** Ids of the eggs that are here. */
  readonly eggs: Set<string>;
  /** Resolves when the session closes. */
  readonly closed: Promise<void>;
}

export function createCalls({ context, log, presence, guests, lead, eggs, closed }: CallsDeps) {
  const { sessionId, now, newId, pauses } = context;

  const living = async () => (await context.directory.all()).filter(({ retired }) => !retired);
  /**
   * Takes the seats at once, so that a second call cannot take them. It also asks all agents for
   * their first words in the same tick, because the person's call must not wait. All their words
   * come after the call in the log. If the message is a repeat, the seats are released.
   */
  async function postCall(message: PostMessage): Promise<PostOutcome> {
    // Most calls name ids, and then take the seats in this tick.
    const named = parseTeamCall(message.text);
    const parsed = named.ok ? named : parseTeamCall(message.text, await living());
    if (!parsed.ok)
      return refused('malformed', `This begins like a call to the team but cannot be read: ${parsed.reason}.`);
    const shownCall = withShownNames(parsed.call);
    const callId = newId();
    wakeResting(shownCall, callId);
    const admission = admit(shownCall, presence, guests, (agentId) => pauses.isPaused(agentId));
    if (!admission.ok) return refused('already-awake', admission.detail);
    const { call } = admission;
    if (call === null) return postNothing(message, shownCall, callId);
    const running = createRunningCall({ context, callId, kind: call.kind });
    const agents = seatAll(call, running);
    running.seat(agents);
    const seats = agents.map((agent) => ({ agentId: agent.agentId, position: agent.position, name: agent.name() }));
    const event = personMessage(context, message, LEAD_ID, [{ kind: 'call', call: call.kind, callId, seats }], false);
    // Before the first word, so that later words count as additional.
    if (call.kind === 'wake') call.agents.forEach(context.wakePayloads.called);
    const abandonAll = () => agents.forEach((agent) => agent.abandon());
    const written = log.appendOnce(message.clientId, [
      event,
      { kind: 'call-started', time: now(), sessionId, callId, call: call.kind, seats },
      ...agents.map(({ life }) => life.started()),
    ]);
    for (const agent of agents) agent.begin();
    const { eventId, repeated } = await written.catch((error: unknown) => {
      abandonAll();
      throw error;
    });
    if (repeated) {
      abandonAll();
      return { ok: true, eventId };
    }
    lead.speaker.settle();
    lead.putCall(running, event.messageId, writeForLead(call, context.limits.soulFirstWords));
    return { ok: true, eventId };
  }

  /**
   * Wakes one agent at the request of an API client. The lead has no part in it. The gate has
   * already decided.
   */
  async function bring(payload: AgentPayload): Promise<Brought> {
    const shownCall = withShownNames({ kind: 'wake', agents: [payload] });
    const admission = admit(shownCall, presence, guests, (agentId) => pauses.isPaused(agentId));
    if (!admission.ok) return admission;
    if (admission.call === null) return { ok: true, over: Promise.resolve() };
    const callId = newId();
    const running = createRunningCall({ context, callId, kind: 'wake' });
    const agents = seatAll(admission.call, running, () => Promise.resolve());
    running.seat(agents);
    const seats = agents.map((agent) => ({ agentId: agent.agentId, position: agent.position, name: agent.name() }));
    context.wakePayloads.called(payload);
    try {
      await log.append([
        { kind: 'call-started', time: now(), sessionId, callId, call: 'wake', seats },
        ...agents.map(({ life }) => life.started()),
      ]);
    } catch (error) {
      agents.forEach((agent) => agent.abandon());
      throw error;
    }
    for (const agent of agents) agent.begin();
    return { ok: true, over: Promise.race([running.whenOver(), closed]) };
  }

  /** A call to agents that are here and only paused needs no lead. */
  function wakeResting(call: TeamCall, callId: string): void {
    if (call.kind !== 'wake') return;
    for (const { id } of call.agents) if (pauses.isPaused(id)) void context.onPersonWake(id, callId);
  }

  /** Handles a call in which everybody was here and only paused. */
  async function postNothing(message: PostMessage, call: TeamCall, callId: string): Promise<PostOutcome> {
    const agents = call.kind === 'wake' ? call.agents : [];
    const seats = agents.map(({ id, position, name }) => ({ agentId: id, position, name }));
    const event = personMessage(context, message, LEAD_ID, [{ kind: 'call', call: call.kind, callId, seats }], false);
    const { eventId } = await log.appendOnce(message.clientId, [event]);
    return { ok: true, eventId };
  }

  const leave = (agentId: AgentId) => {
    presence.remove(agentId);
    eggs.delete(agentId);
  };

  /** `onWake` records each wake; left out: the wake is the person's. */
  function seatAll(
    call: TeamCall,
    running: ReturnType<typeof createRunningCall>,
    onWake: SessionContext['onPersonWake'] = context.onPersonWake,
  ): Present[] {
    const agents =
      call.kind === 'wake'
        ? call.agents.map((payload) =>
            createWaking({ context, call: running, payload, onWake, remove: () => leave(payload.id) }),
          )
        : call.seats.map((seat) => {
            const agentId = newId();
            eggs.add(agentId);
            return createEgg({ context, call: running, agentId, seat, remove: () => leave(agentId) });
          });
    for (const agent of agents) presence.add(agent);
    return agents;
  }

  return { postCall, bring };
}
