/** One running session: the lead, the agents that are here, and the person's messages to them. */
import { type Answering, whoAnswers } from '../../../src/shared/domain/lifecycle.ts';
import type { AgentId, MessageId, RunId } from '../../../src/shared/domain/ids.ts';
import { type AgentPayload, isTeamCall } from '../../../src/shared/domain/wake-payload.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { EndReason } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { Brought, CallingClient, MoreForAgent, Newborn, PostOutcome } from './contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { AgentState } from '../../../src/shared/domain/guardrails.ts';
import type { Interruption } from '../runs/outcome.ts';
import type { Speaker } from '../runs/speaker.ts';
import type { SessionContext } from './context.ts';
import { cancelled, outcomeAtEnd, putToSleep } from './prompts.ts';
import { createPresence } from './presence.ts';
import { createLead } from './lead.ts';
import { noteBeforeSleep } from './note-before-sleep.ts';
import { createCalls, refused } from './calls.ts';
import { createGuests } from './guests.ts';
import { personMessage, textWith, wordsOf } from './person-message.ts';

export interface RunningSession {
  post(message: PostMessage, more?: MoreForAgent): Promise<PostOutcome>;
  bring(payload: AgentPayload): Promise<Brought>;
  /** Withdraws a message that waits for the end of an answer. False: it does not wait. */
  withdraw(messageId: MessageId): boolean;
  /** The person has corrected this summary. */
  correctSummary(messageId: MessageId, text: string): void;
  stop(agentId: AgentId): boolean;
  sleep(agentId: AgentId): Promise<boolean>;
  stateOf(agentId: AgentId): AgentState;
  runOf(agentId: AgentId): RunId | null;
  modelOf(agentId: AgentId): string;
  /** Characters of the lead's conversation in this session. */
  leadHas(): number;
  rouse(agentId: AgentId, why?: string): Promise<boolean>;
  newborn(agentId: AgentId): Newborn | null;
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  left(credentialId: string): void;
  /** The agent's inbox may have changed, or the agent became able to read it. */
  inboxChanged(agentId: AgentId): void;
  busy(): boolean;
  /** Ends the current answers. The session continues. */
  cut(why: Interruption): void;
  /** The lead's run begins with the session. Its events are written with the session's start. */
  started(): readonly RoostEvent[];
  /**
   * Lets each agent note what matters, all at the same time. Nobody is given anything afterwards.
   */
  noteBeforeSleep(reason: EndReason): Promise<void>;
  /**
   * Ends all answers. Resolves when that is on disk, with the end events of all runs. They are
   * written with the session's end. Nothing is said afterwards.
   */
  close(reason: EndReason): Promise<readonly RoostEvent[]>;
}

/** Name of an agent that has not chosen one yet. It is never shown. */
const UNNAMED = 'Egg';

const closingBy = (reason: EndReason): Interruption => ({
  by: 'closing',
  status: reason === 'ended' ? 'stopped' : 'interrupted',
});

export function createRunningSession(context: SessionContext, log: EventLog): RunningSession {
  const { now, inbox, pauses } = context;
  const presence = createPresence();
  const guests = createGuests(context);
  const eggs = new Set<string>();
  const lead = createLead(context);
  const closed = createDeferred();
  const { postCall, bring } = createCalls({ context, log, presence, guests, lead, eggs, closed: closed.promise });

  /** Posts to an agent that can read the message now. */
  async function postNow(
    message: PostMessage,
    agentId: AgentId,
    speaker: Speaker,
    more?: MoreForAgent,
  ): Promise<PostOutcome> {
    const { text, clientId, replaces, attachments = [] } = message;
    if (replaces !== undefined && !speaker.holds(replaces))
      return refused(
        'not-last',
        'Only what you wrote in this session can be changed, and only while the agent remembers it and you have not called the team since.',
      );
    if (replaces !== undefined && agentId === LEAD_ID && lead.calling())
      return refused('not-last', 'The lead is calling the team. Change the message afterwards.');
    const event = personMessage(context, message, agentId, wordsOf(text), false);
    // Views hide the messages between the replaced message and its replacement. So the stopped
    // answer is written before the new message.
    if (replaces !== undefined) await speaker.withdrawFrom(replaces);
    const { eventId, repeated } = await log.appendOnce(clientId, [{ ...event, time: now() }]);
    if (repeated) return { ok: true, eventId };
    speaker.put([
      {
        messageId: event.messageId,
        text: textWith(text, attachments),
        attachments,
        fromPerson: true,
        ...(replaces === undefined ? {} : { replaces }),
      },
      ...(more ? [{ messageId: null, ...more }] : []),
    ]);
    return { ok: true, eventId };
  }

  /**
   * Posts to an agent that sleeps or is on the way. The message waits, and the agent reads it after
   * its first words.
   */
  async function postLater(message: PostMessage, agentId: AgentId, more?: MoreForAgent): Promise<PostOutcome> {
    const { text, clientId, replaces, attachments = [] } = message;
    if (replaces !== undefined)
      return refused('not-last', 'This agent sleeps. A message can be changed while the agent is awake.');
    const event = personMessage(context, message, agentId, wordsOf(text), true);
    // The inbox first. A repeat has the same row there, so a crash between the two writes loses no
    // message.
    await inbox.put({
      messageId: event.messageId,
      to: agentId,
      from: 'human',
      text: [textWith(text, attachments), ...(more ? [more.text] : [])].join('\n\n'),
      attachments,
      time: event.time,
      priority: 'normal',
      threadId: null,
    });
    const { eventId } = await log.appendOnce(clientId, [event]);
    presence.get(agentId)?.inboxChanged();
    return { ok: true, eventId };
  }

  const speakerOf = (agentId: AgentId) =>
    agentId === LEAD_ID ? lead.speaker : (presence.get(agentId)?.speaker() ?? null);

  const answering = (agentId: AgentId): Answering =>
    whoAnswers({
      mind: presence.get(agentId)?.state() === 'awake',
      client: guests.of(agentId),
      paused: pauses.isPaused(agentId),
    });

  function stateOf(agentId: AgentId): AgentState {
    if (agentId === LEAD_ID) return lead.speaker.busy() ? 'busy' : 'idle';
    const agent = presence.get(agentId);
    if (!agent && !guests.of(agentId)) return 'absent';
    if (pauses.isPaused(agentId)) return 'paused';
    if (!agent) return 'driven';
    return agent.state() !== 'awake' || agent.speaker()?.busy() ? 'busy' : 'idle';
  }

  async function post(message: PostMessage, more?: MoreForAgent): Promise<PostOutcome> {
    const { text, to = LEAD_ID } = message;
    if (to === LEAD_ID && isTeamCall(text)) return postCall(message);
    if (text.length > LIMITS.messageText)
      return refused('too-large', `A message can have ${LIMITS.messageText} characters; this one has ${text.length}.`);
    if (to === LEAD_ID) return postNow(message, LEAD_ID, lead.speaker, more);
    const speaker = answering(to).by === 'mind' ? speakerOf(to) : null;
    return speaker ? postNow(message, to, speaker, more) : postLater(message, to, more);
  }

  const speakers = () => [lead.speaker, ...presence.all().flatMap((agent) => agent.speaker() ?? [])];

  return {
    started: () => [lead.life.started()],
    post,
    bring,
    withdraw: (messageId) => speakers().some((speaker) => speaker.withdraw(messageId)),
    correctSummary: (messageId, text) => speakers().forEach((speaker) => speaker.correctSummary(messageId, text)),
    stop(agentId) {
      if (agentId !== LEAD_ID) return presence.get(agentId)?.stop() ?? false;
      if (!lead.speaker.busy()) return false;
      void lead.speaker.interrupt({ by: 'person' });
      return true;
    },
    async sleep(agentId) {
      const agent = presence.get(agentId);
      if (!agent) return guests.leave(agentId);
      if (agent.state() === 'leaving') return false;
      await agent.leave(eggs.has(agentId) && agent.state() !== 'awake' ? cancelled : putToSleep);
      return true;
    },
    stateOf,
    runOf: (agentId) => (agentId === LEAD_ID ? lead.life : presence.get(agentId)?.life)?.runId ?? null,
    leadHas: () => lead.speaker.size(),
    modelOf: (agentId) => (agentId === LEAD_ID ? context.models.lead() : context.models.of(agentId)),
    async rouse(agentId, why) {
      const speaker = stateOf(agentId) === 'absent' ? null : speakerOf(agentId);
      if (!speaker) return false;
      speaker.prod(why);
      await speaker.whenQuiet();
      return true;
    },
    newborn(agentId) {
      const agent = eggs.has(agentId) ? presence.get(agentId) : undefined;
      if (!agent) return null;
      const { position } = agent;
      const member = { agentId, name: agent.name() ?? UNNAMED, position, retired: false };
      return { member, birth: agent.birth() };
    },
    async joined({ agentId, position }, client) {
      // A client whose agent has no seat is accepted too, but is not shown in the grid.
      if (agentId !== LEAD_ID && position !== null) await guests.called({ agentId, position }, client);
    },
    left: (credentialId) => guests.left(credentialId),
    inboxChanged(agentId) {
      if (agentId === LEAD_ID) lead.inbox.changed();
      else presence.get(agentId)?.inboxChanged();
    },
    // A paused agent says nothing, even in the middle of an answer.
    busy: () =>
      lead.speaker.busy() ||
      presence
        .all()
        .some((agent) => !pauses.isPaused(agent.agentId) && (agent.state() !== 'awake' || agent.speaker()?.busy())),
    cut(why) {
      for (const { speaker } of [lead, ...presence.all().map((agent) => ({ speaker: agent.speaker() }))])
        if (speaker?.busy()) void speaker.interrupt(why);
    },
    async noteBeforeSleep(reason) {
      const awake = presence.all().flatMap((agent) => {
        const speaker = agent.state() === 'awake' ? agent.speaker() : null;
        return speaker ? [{ agentId: agent.agentId, speaker }] : [];
      });
      await Promise.all(
        [{ agentId: LEAD_ID, speaker: lead.speaker }, ...awake].map(({ agentId, speaker }) =>
          noteBeforeSleep(context, agentId, speaker, closingBy(reason)),
        ),
      );
    },
    async close(reason) {
      closed.resolve();
      const why = closingBy(reason);
      const here = [lead, ...presence.all()];
      await Promise.all([lead.speaker, ...presence.all()].map((each) => each.close(why)));
      return here.flatMap(({ life }) => life.ended(outcomeAtEnd(reason), null));
    },
  };
}
