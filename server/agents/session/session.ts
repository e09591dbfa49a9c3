/** One running session: the lead, the agents that are here, and the person's messages to them. */
import { hasWordsOfOthers } from '../../../src/shared/domain/transcript.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import { type Answering, type JoinedClient, whoAnswers } from '../../../src/shared/domain/lifecycle.ts';
import type { AgentId, MessageId, RunId } from '../../../src/shared/domain/ids.ts';
import {
  type AgentPayload,
  isTeamCall,
  parseTeamCall,
  type TeamCall,
  writeForLead,
} from '../../../src/shared/domain/wake-payload.ts';
import type { AsleepReason, EventOf, RoostEvent } from '../../../src/shared/protocol/events.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import { messageIdOf } from '../../../src/shared/domain/message-id.ts';
import type { Block, EndReason } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import { type Attachment, attachmentLine } from '../../../src/shared/domain/attachment.ts';
import {
  type AgentState,
  type Brought,
  type CallingClient,
  type EventLog,
  type MoreForAgent,
  type Newborn,
  type PostOutcome,
  WAYS,
} from '../../contracts/index.ts';
import { isAway } from '../../store/index.ts';
import { createInboxReader } from '../runs/inbox-reader.ts';
import { DATABASE_BROKE, type Interruption } from '../runs/outcome.ts';
import { type AnswerEnd, createSpeaker, type Speaker } from '../runs/speaker.ts';
import type { Prompt } from '../runs/context.ts';
import type { SessionContext } from './context.ts';
import { applyChange } from './changes.ts';
import {
  cancelled,
  createFirstWords,
  failedReason,
  outcomeAtEnd,
  outcomeOf,
  putToSleep,
  silentReason,
  stoppedBefore,
} from './prompts.ts';
import { createPresence, type Phase, type Presence, type Present } from './presence.ts';
import { AGENT_TOOLS, createRunningCall, ownTools, type RunningCall } from './tools.ts';
import { createEgg } from './egg.ts';
import { createLead } from './lead.ts';
import { noteBeforeSleep } from './note-before-sleep.ts';

// API clients that joined with an agent's credential and drive it from outside, beside a mind of
// the relay or in its place. They have no seat in `Presence`, so the seat stays free for a mind.
// They fetch their own messages.

interface GuestAgent {
  readonly agentId: AgentId;
  readonly position: number;
}

interface Guests {
  /**
   * A client has called. Resolves when that is on disk and it is known whether its agent starts
   * paused.
   */
  called(agent: GuestAgent, client: CallingClient): Promise<void>;
  left(credentialId: string): void;
  /** Takes this agent out of the session. False: no client drives it. */
  leave(agentId: AgentId): boolean;
  /** The client that drives this agent. Of several, the first. */
  of(agentId: AgentId): JoinedClient | null;
  inSeat(position: number): boolean;
}

interface Guest {
  readonly agent: GuestAgent;
  client: CallingClient;
  cancelSilence: () => void;
}

function createGuests({ sessionId, now, timers, limits, pauses, record, onHere }: SessionContext): Guests {
  /** By credential. */
  const guests = new Map<string, Guest>();

  function left(credentialId: string): void {
    const guest = guests.get(credentialId);
    if (!guest) return;
    guest.cancelSilence();
    guests.delete(credentialId);
    void record([{ kind: 'client-left', time: now(), agentId: guest.agent.agentId, sessionId, credentialId }]);
  }

  function awaitCall(guest: Guest): void {
    guest.cancelSilence();
    guest.cancelSilence = timers.after(limits.clientSilentMs, () => {
      // A paused client must be silent: its requests are held.
      if (pauses.isPaused(guest.agent.agentId)) awaitCall(guest);
      else left(guest.client.credentialId);
    });
  }

  return {
    async called(agent, { credentialId, name: given, readsInbox }) {
      const name = shownName(given, 'label');
      const known = guests.get(credentialId);
      const client: CallingClient = {
        credentialId,
        name,
        readsInbox: readsInbox || (known?.client.readsInbox ?? false),
      };
      const guest = known ?? { agent, client, cancelSilence: () => undefined };
      const isNews = !known || known.client.readsInbox !== client.readsInbox;
      guest.client = client;
      guests.set(credentialId, guest);
      awaitCall(guest);
      // Calls may arrive together. None of them continues before it is known whether the agent
      // starts paused.
      const here = onHere(agent.agentId);
      if (isNews)
        await record([
          {
            kind: 'client-joined',
            time: now(),
            ...agent,
            sessionId,
            credentialId,
            client: name,
            readsInbox: client.readsInbox,
          },
        ]);
      await here;
    },
    left,
    leave(agentId) {
      const here = [...guests].flatMap(([credentialId, guest]) =>
        guest.agent.agentId === agentId ? [credentialId] : [],
      );
      here.forEach(left);
      return here.length > 0;
    },
    of: (agentId) => [...guests.values()].find((guest) => guest.agent.agentId === agentId)?.client ?? null,
    inSeat: (position) => [...guests.values()].some((guest) => guest.agent.position === position),
  };
}

// An agent that is woken: from the call to its first words, and its life in the session afterwards.

interface WakingDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly payload: AgentPayload;
  /** Records its wake, once. */
  readonly onWake: SessionContext['onPersonWake'];
  /** The agent has left the session. */
  readonly remove: () => void;
}

function createWaking({ context, call, payload, onWake, remove }: WakingDeps): Present {
  const { sessionId, now, record, timers, settings, limits, prompts } = context;
  const { id: agentId, position } = payload;
  const life = context.newLife(agentId);
  let phase: Phase = 'called';
  let name = payload.name;
  let speaker: Speaker | null = null;
  let givenUp: AsleepReason | null = null;
  let recorded: Promise<void> | null = null;
  let asked = false;
  /** What the agent did alone while it slept. It has been told everything up to that time. */
  let note: string | null = null;
  /** What it keeps, as it is when it wakes. */
  let memory: string | null = null;
  let knowsUpTo = payload.asleepSince ?? 0;
  /** Its soul as it is now. Null: the wake message has it, and keeps it. */
  function systemSoul(): string | null {
    const soul = context.wakePayloads.soulOf(agentId) ?? payload.soul;
    return prompts.wakeHasSoul && soul === payload.soul ? null : soul;
  }
  /** Records the wake once. */
  const recordWake = () => (recorded ??= onWake(agentId, call.callId));
  /**
   * Records the wake when all requests of the call are sent. The gate's record must not delay any
   * of them.
   */
  function noteAsked(): void {
    if (asked) return;
    asked = true;
    call.asked(agentId);
    void call.whenAsked().then(recordWake);
  }
  /** What the agent did alone since it was last told; null: nothing. */
  async function tellMeanwhile(asleep: boolean): Promise<string | null> {
    const told = await context.meanwhile(agentId, knowsUpTo, asleep);
    knowsUpTo = told?.upTo ?? knowsUpTo;
    return told?.text ?? null;
  }
  const silence = silentReason(settings.wakeTimeoutMs);
  const firstWords = createFirstWords({
    timers,
    timeoutMs: settings.wakeTimeoutMs,
    secondTryMs: limits.secondTryMs,
    ask,
    onSilence: () => void speaker?.interrupt({ by: 'relay', error: silence.message }),
  });
  const inbox = createInboxReader(context, life, () => speaker);

  function asleep(reason: AsleepReason): RoostEvent[] {
    firstWords.stop();
    phase = 'leaving';
    remove();
    void recordWake();
    return [
      { kind: 'agent-asleep', time: now(), agentId, position, sessionId, reason },
      ...life.ended(outcomeOf(reason), reason.message),
      ...call.decided(agentId, { here: false, reason }),
    ];
  }

  function onFirstWords(): readonly RoostEvent[] {
    if (phase !== 'waking' || givenUp) return [];
    phase = 'awake';
    firstWords.stop();
    void context.onHere(agentId);
    return [
      { kind: 'agent-awake', time: now(), agentId, position, sessionId },
      ...call.decided(agentId, { here: true }),
    ];
  }

  function onEnd(end: AnswerEnd): readonly RoostEvent[] {
    // The agent is busy, so the wake is this one and starts no further turn.
    if (asked) void recordWake();
    if (phase === 'awake') inbox.open();
    if (phase !== 'waking' || end.interruption?.by === 'closing') return [];
    // The agent said nothing, so no waiting message may be delivered to it.
    void speaker?.close({ by: 'person' });
    if (!givenUp && firstWords.tryAgain(end.failure)) return [];
    return asleep(givenUp ?? (firstWords.isSilent() ? silence : null) ?? failedReason(end) ?? silentReason());
  }

  async function giveUp(reason: AsleepReason): Promise<void> {
    givenUp ??= reason;
    await speaker?.interrupt({ by: 'relay', error: reason.message });
    // Between two tries there is no answer to end.
    if (phase === 'waking') await record(asleep(givenUp));
  }

  /** Starts a try. Each try is a separate conversation. */
  function ask(): void {
    speaker = createSpeaker({
      context,
      life,
      model: () => context.models.of(agentId),
      system: (tools) => prompts.agentSystem(payload, systemSoul(), tools),
      tools: ownTools(AGENT_TOOLS, prompts.human, async (toolCall, answer, signal) => {
        const outcome = await applyChange(context, life, toolCall, { answer, signal });
        if (toolCall.tool === 'choose_name' && !outcome.asks) name = toolCall.input.name;
        return outcome;
      }),
      announces: () => phase === 'awake',
      hooks: {
        onState(state) {
          noteAsked();
          if (phase === 'waking') firstWords.onState(state);
        },
        onFirstWords,
        onEnd,
        gather: (run) => inbox.take(run),
        // The first turn has the note with the wake prompt.
        note: () => (phase === 'awake' ? tellMeanwhile(false) : Promise.resolve(null)),
      },
    });
    speaker.put([
      {
        messageId: null,
        text: (around) => prompts.wake(payload, around),
        priority: 'wake',
        ...(hasWordsOfOthers(payload.transcript ?? '', [payload.name, prompts.human])
          ? { way: WAYS.conversation }
          : {}),
      },
      // Its memory stays too when the older part of the conversation is replaced.
      ...(memory === null ? [] : [{ messageId: null, text: pinned(memory) }]),
      ...(note === null ? [] : [{ messageId: null, text: note }]),
    ]);
  }

  /**
   * The agent is here and paused. Its mind is asked nothing until it is resumed, and then its wake
   * prompt comes first.
   */
  async function rest(): Promise<void> {
    call.asked(agentId);
    // Before its flag is set, because the record would resume it.
    await recordWake();
    if (phase !== 'waking' || givenUp) return;
    phase = 'awake';
    await record([
      { kind: 'agent-awake', time: now(), agentId, position, sessionId },
      ...call.decided(agentId, { here: true }),
    ]);
    await context.onHere(agentId);
    if (phase !== 'awake') return;
    inbox.open();
    firstWords.ask();
  }

  return {
    agentId,
    position,
    life,
    phase: () => phase,
    name: () => name,
    speaker: () => speaker,
    birth: () => null,
    begin() {
      phase = 'waking';
      Promise.all([context.startsPaused(agentId), tellMeanwhile(true), context.memoryOf(agentId)])
        .then(([paused, told, kept]) => {
          note = told;
          memory = kept;
          return phase === 'waking' && !givenUp ? (paused ? rest() : firstWords.ask()) : undefined;
        })
        .catch((error: unknown) =>
          isAway(error) ? giveUp({ code: 'failed', message: DATABASE_BROKE }) : context.fail(error),
        );
    },
    abandon() {
      phase = 'leaving';
      firstWords.stop();
      remove();
      void speaker?.close({ by: 'person' });
    },
    stop() {
      if (phase === 'waking') void giveUp(stoppedBefore);
      else if (speaker?.busy()) void speaker.interrupt({ by: 'person' });
      else return false;
      return true;
    },
    async close(why) {
      firstWords.stop();
      // The session's timers have ended.
      if (asked) void recordWake();
      await speaker?.close(why);
    },
    async leave(reason) {
      if (phase === 'waking') await giveUp(reason);
      if (phase !== 'awake') return;
      phase = 'leaving';
      if (speaker) await noteBeforeSleep(context, agentId, speaker, { by: 'person' });
      await speaker?.close({ by: 'person' });
      await record(asleep(reason));
    },
    inboxChanged: () => inbox.changed(),
  };
}

const pinned = (text: string) => (): Prompt => ({ text, shortened: (most) => cutMiddle(text, most) });

/*
 * Admission of a call to the team. No agent is woken twice and no seat is taken twice. So a double
 * click, two tabs or two devices cause only one wake.
 */

/** `call` is null if everybody in it is here and only paused. */
type Admission =
  | { readonly ok: true; readonly call: TeamCall | null }
  | { readonly ok: false; readonly detail: string };

const sentence = (names: readonly string[]) => names.join(', ');

/**
 * Returns the call without agents that are awake or on the way. An agent that only a client drives
 * can be woken. No egg can hatch in its seat.
 */
function admit(
  call: TeamCall,
  presence: Presence,
  guests: Pick<Guests, 'inSeat'>,
  isResting: (agentId: AgentId) => boolean,
): Admission {
  if (call.kind === 'summon') {
    const seats = call.seats.filter((seat) => !presence.inSeat(seat.position) && !guests.inSeat(seat.position));
    return seats.length > 0
      ? { ok: true, call: { kind: 'summon', seats } }
      : { ok: false, detail: 'Each of these seats has an agent or an egg already.' };
  }
  const agents = call.agents.filter((agent) => !presence.get(agent.id));
  if (agents.length === 0 && call.agents.some((agent) => isResting(agent.id))) return { ok: true, call: null };
  if (agents.length === 0) return { ok: false, detail: 'All of these agents are awake or waking already.' };
  const clashes = agents.filter((agent) => presence.inSeat(agent.position));
  if (clashes.length > 0)
    return {
      ok: false,
      detail: `${sentence(clashes.map((agent) => `${agent.name} (seat ${seatNumber(agent.position)})`))}: somebody else is in that seat. Put them to sleep first, or give this agent another seat.`,
    };
  return { ok: true, call: { kind: 'wake', agents } };
}

/* The person's words and attachments, in the log's form and in the mind's. */

/** The person's words as blocks. */
const wordsOf = (text: string): Block[] => (text === '' ? [] : [{ kind: 'text', text }]);
/** An attachment without its bytes, which only the ledger has. */
const withoutBytes = ({
  attachmentId,
  name,
  mediaType,
  bytes,
  width,
  height,
}: NonNullable<PostMessage['attachments']>[number]) => ({ attachmentId, name, mediaType, bytes, width, height });
/**
 * The words and the names of the attachments. The names serve minds that cannot see, and remain
 * after a restart.
 */
const textWith = (text: string, attachments: readonly Attachment[]): string =>
  [...(text === '' ? [] : [text]), ...attachments.map(attachmentLine)].join('\n\n');

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

const refused = (reason: Extract<PostOutcome, { ok: false }>['reason'], detail: string): PostOutcome => ({
  ok: false,
  reason,
  detail,
});

/** A ledger may contain names that are no longer allowed. */
const withShownNames = (call: TeamCall): TeamCall =>
  call.kind === 'wake'
    ? { ...call, agents: call.agents.map((agent) => ({ ...agent, name: shownName(agent.name, 'agent') })) }
    : call;

export function createRunningSession(context: SessionContext, log: EventLog): RunningSession {
  const { sessionId, now, newId, inbox, pauses } = context;
  const presence = createPresence();
  const guests = createGuests(context);
  const eggs = new Set<string>();
  const lead = createLead(context);
  const closed = createDeferred();

  /**
   * The person's message as an event. Its id is derived from the client's, so that a repeat is the
   * same message.
   */
  function personMessage(
    message: PostMessage,
    agentId: AgentId,
    blocks: Block[],
    waiting: boolean,
  ): EventOf<'message'> {
    const { clientId, replaces = null, attachments = [] } = message;
    return {
      kind: 'message',
      time: now(),
      messageId: messageIdOf(clientId),
      sessionId,
      agentId,
      author: 'human',
      role: 'user',
      blocks,
      ...(attachments.length > 0 ? { attachments: attachments.map(withoutBytes) } : {}),
      status: 'complete',
      error: null,
      usage: null,
      clientId,
      replaces,
      waiting,
    };
  }

  /**
   * Takes the seats at once, so that a second call cannot take them. It also asks all agents for
   * their first words in the same tick, because the person's call must not wait. All their words
   * come after the call in the log. If the message is a repeat, the seats are released.
   */
  const living = async () => (await context.directory.all()).filter(({ retired }) => !retired);
  async function postCall(message: PostMessage): Promise<PostOutcome> {
    // Most calls name ids, and then take the seats in this tick.
    const named = parseTeamCall(message.text);
    const parsed = named.ok ? named : parseTeamCall(message.text, await living());
    if (!parsed.ok)
      return refused('malformed', `This begins like a call to the team but cannot be read: ${parsed.reason}.`);
    const asked = withShownNames(parsed.call);
    const callId = newId();
    wakeResting(asked, callId);
    const admission = admit(asked, presence, guests, (agentId) => pauses.isPaused(agentId));
    if (!admission.ok) return refused('already-awake', admission.detail);
    const { call } = admission;
    if (call === null) return postNothing(message, asked, callId);
    const running = createRunningCall({ context, callId, kind: call.kind });
    const agents = seatAll(call, running);
    running.seat(agents);
    const seats = agents.map((agent) => ({ agentId: agent.agentId, position: agent.position, name: agent.name() }));
    const event = personMessage(message, LEAD_ID, [{ kind: 'call', call: call.kind, callId, seats }], false);
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
    const asked = withShownNames({ kind: 'wake', agents: [payload] });
    const admission = admit(asked, presence, guests, (agentId) => pauses.isPaused(agentId));
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
    return { ok: true, over: Promise.race([running.whenOver(), closed.promise]) };
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
    const event = personMessage(message, LEAD_ID, [{ kind: 'call', call: call.kind, callId, seats }], false);
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
    const event = personMessage(message, agentId, wordsOf(text), false);
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
    const event = personMessage(message, agentId, wordsOf(text), true);
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
      mind: presence.get(agentId)?.phase() === 'awake',
      client: guests.of(agentId),
      paused: pauses.isPaused(agentId),
    });

  function stateOf(agentId: AgentId): AgentState {
    if (agentId === LEAD_ID) return lead.speaker.busy() ? 'busy' : 'idle';
    const agent = presence.get(agentId);
    if (!agent && !guests.of(agentId)) return 'absent';
    if (pauses.isPaused(agentId)) return 'paused';
    if (!agent) return 'driven';
    return agent.phase() !== 'awake' || agent.speaker()?.busy() ? 'busy' : 'idle';
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
      if (agent.phase() === 'leaving') return false;
      await agent.leave(eggs.has(agentId) && agent.phase() !== 'awake' ? cancelled : putToSleep);
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
        .some((agent) => !pauses.isPaused(agent.agentId) && (agent.phase() !== 'awake' || agent.speaker()?.busy())),
    cut(why) {
      for (const { speaker } of [lead, ...presence.all().map((agent) => ({ speaker: agent.speaker() }))])
        if (speaker?.busy()) void speaker.interrupt(why);
    },
    async noteBeforeSleep(reason) {
      const awake = presence.all().flatMap((agent) => {
        const speaker = agent.phase() === 'awake' ? agent.speaker() : null;
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
