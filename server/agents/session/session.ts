/** One running session: the lead, those who are here, and what the person writes to them. */
import {
  type AgentPayload,
  isTeamCall,
  parseTeamCall,
  type TeamCall,
  writeForLead,
} from '../../../src/shared/domain/wake-payload.ts';
import type { AsleepReason, EventOf, RoostEvent } from '../../../src/shared/protocol/events.ts';
import { shownName } from '../../../src/shared/domain/names.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import { messageIdOf } from '../../../src/shared/domain/message-id.ts';
import type { Block, EndReason } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import { type Answering, whoAnswers } from '../../../src/shared/domain/lifecycle.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import { type Attachment, attachmentLine } from '../../../src/shared/domain/attachment.ts';
import { isAway } from '../../store/index.ts';
import type { AgentState, Brought, CallingClient, EventLog, Newborn, PostOutcome } from '../../contracts/index.ts';
import { createInboxReader } from '../runs/inbox-reader.ts';
import { DATABASE_BROKE, type Interruption } from '../runs/outcome.ts';
import { type AnswerEnd, createSpeaker, type Speaker } from '../runs/speaker.ts';
import { applyChange } from './changes.ts';
import type { SessionContext } from './context.ts';
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
import { createGuests, type Guests } from './guests.ts';
import { createLead } from './lead.ts';

// An agent that is woken: from the call to its first words, and its life in the session after them.

interface WakingDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly payload: AgentPayload;
  /** Keeps the record of its wake, once. */
  readonly onWake: SessionContext['onPersonWake'];
  /** It is not in the session any more. */
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
  /** What it did alone while it slept, and up to when it knows what it did. */
  let note: string | null = null;
  let knowsUpTo = payload.asleepSince ?? 0;
  /** Once. */
  const recordWake = () => (recorded ??= onWake(agentId, call.callId));
  /**
   * When the requests of all are on their way: the gate’s record of a wake stands between the click
   * and none of them.
   */
  function noteAsked(): void {
    if (asked) return;
    asked = true;
    call.asked(agentId);
    void call.whenAsked().then(recordWake);
  }
  /** What it did alone since it was told last; null: nothing. */
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
    // While it is busy: the wake that was asked for is this one, and no further turn.
    if (asked) void recordWake();
    if (phase === 'awake') inbox.open();
    if (phase !== 'waking' || end.interruption?.by === 'closing') return [];
    // Not a word: nothing that waits may be put before it.
    void speaker?.close({ by: 'person' });
    if (!givenUp && firstWords.tryAgain(end.failure)) return [];
    return asleep(givenUp ?? (firstWords.isSilent() ? silence : null) ?? failedReason(end) ?? silentReason());
  }

  async function giveUp(reason: AsleepReason): Promise<void> {
    givenUp ??= reason;
    await speaker?.interrupt({ by: 'relay', error: reason.message });
    // Between two tries nothing is being said.
    if (phase === 'waking') await record(asleep(givenUp));
  }

  /** Each try is a conversation of its own. */
  function ask(): void {
    speaker = createSpeaker({
      context,
      life,
      model: () => context.models.of(agentId),
      system: (tools) => prompts.agentSystem(payload, tools),
      tools: ownTools(AGENT_TOOLS, prompts.human, (toolCall) => {
        if (toolCall.tool === 'choose_name') name = toolCall.input.name;
        return applyChange(context, agentId, toolCall);
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
        // At its first it was told with what woke it.
        note: () => (phase === 'awake' ? tellMeanwhile(false) : Promise.resolve(null)),
      },
    });
    speaker.put([
      { messageId: null, text: (around) => prompts.wake(payload, around), priority: 'wake' },
      ...(note === null ? [] : [{ messageId: null, text: note }]),
    ]);
  }

  /**
   * It is here, set to sleep: nothing is asked of a mind until it is woken, and then its prompt
   * comes first.
   */
  async function rest(): Promise<void> {
    call.asked(agentId);
    // Before its flag is set: it would be woken by it.
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
      Promise.all([context.startsPaused(agentId), tellMeanwhile(true)])
        .then(([paused, told]) => {
          note = told;
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
      // The timers of the session run no more.
      if (asked) void recordWake();
      await speaker?.close(why);
    },
    async leave(reason) {
      if (phase === 'waking') await giveUp(reason);
      if (phase !== 'awake') return;
      phase = 'leaving';
      await speaker?.close({ by: 'person' });
      await record(asleep(reason));
    },
    inboxChanged: () => inbox.changed(),
  };
}

/*
 * What of a call to the team may pass: nobody is woken twice, no seat is taken twice. This is what
 * makes a double click, two tabs and two devices one wake.
 */

/** `call` is null where everybody in it is here and only set to sleep. */
type Admission =
  | { readonly ok: true; readonly call: TeamCall | null }
  | { readonly ok: false; readonly detail: string };

const sentence = (names: readonly string[]) => names.join(', ');

/**
 * The call without those who are awake or on the way already. Whoever is only driven by a client
 * can be woken; nobody is born in its seat.
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
      : { ok: false, detail: 'Somebody is in each of these seats, or on the way there.' };
  }
  const agents = call.agents.filter((agent) => !presence.get(agent.id));
  if (agents.length === 0 && call.agents.some((agent) => isResting(agent.id))) return { ok: true, call: null };
  if (agents.length === 0) return { ok: false, detail: 'All of them are awake or on the way already.' };
  const clashes = agents.filter((agent) => presence.inSeat(agent.position));
  if (clashes.length > 0)
    return {
      ok: false,
      detail: `${sentence(clashes.map((agent) => `${agent.name} (seat ${seatNumber(agent.position)})`))}: somebody else is in that seat. Put them to sleep first, or give this agent another seat.`,
    };
  return { ok: true, call: { kind: 'wake', agents } };
}

/* What the person says and sends along, as it is written and as it is put before a mind. */

/** What the person said, as blocks. */
const wordsOf = (text: string): Block[] => (text === '' ? [] : [{ kind: 'text', text }]);
/** What is written of a file: the bytes are the ledger's alone. */
const withoutBytes = ({
  attachmentId,
  name,
  mediaType,
  bytes,
  width,
  height,
}: NonNullable<PostMessage['attachments']>[number]) => ({ attachmentId, name, mediaType, bytes, width, height });
/**
 * What was said, and by name what came with it: that is there for minds that see nothing, and after
 * a restart.
 */
const textWith = (text: string, attachments: readonly Attachment[]): string =>
  [...(text === '' ? [] : [text]), ...attachments.map(attachmentLine)].join('\n\n');

export interface RunningSession {
  post(message: PostMessage): Promise<PostOutcome>;
  bring(payload: AgentPayload): Promise<Brought>;
  /** Takes back a message that waits for the end of an answer. False where it does not. */
  takeBack(messageId: MessageId): boolean;
  stop(agentId: AgentId): boolean;
  sleep(agentId: AgentId): Promise<boolean>;
  stateOf(agentId: AgentId): AgentState;
  modelOf(agentId: AgentId): string;
  /** Characters of the lead's conversation in this session. */
  leadHas(): number;
  rouse(agentId: AgentId, why?: string): Promise<boolean>;
  newborn(agentId: AgentId): Newborn | null;
  joined(agent: TeamMember, client: CallingClient): Promise<void>;
  left(credentialId: string): void;
  /** What waits for this agent may have changed, or it may read it now. */
  inboxChanged(agentId: AgentId): void;
  busy(): boolean;
  /** Ends what is being said just now; the session goes on. */
  cut(why: Interruption): void;
  /** The lead is at work from the first: to be written with the session's beginning. */
  started(): readonly RoostEvent[];
  /**
   * Ends everything that is being said; resolves when that is on disk, with the ends of all runs,
   * to be written with the session's. Nothing is said after it.
   */
  close(reason: EndReason): Promise<readonly RoostEvent[]>;
}

/** Of an agent that has not chosen a name yet; nobody is shown it. */
const UNNAMED = 'Egg';

const refused = (reason: Extract<PostOutcome, { ok: false }>['reason'], detail: string): PostOutcome => ({
  ok: false,
  reason,
  detail,
});

/** A ledger may hold names that nobody would be given now. */
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
   * The person's message as an event. Its id follows from the client's, so that a repeat is the
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
   * Takes the seats at once, so that no second call can, and asks everybody for their first words
   * in the same tick: the person has called them, and nothing stands in between. All they say comes
   * after the call in the log. Gives the seats back where the message turns out a repeat.
   */
  const living = async () => (await context.directory.all()).filter(({ retired }) => !retired);
  async function postCall(message: PostMessage): Promise<PostOutcome> {
    // Most calls name ids, and are then taken in this very moment.
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
    // Before a word is said: what follows is heard in addition.
    if (call.kind === 'wake') call.agents.forEach(context.wakeMaterials.called);
    const giveBack = () => agents.forEach((agent) => agent.abandon());
    const written = log.appendOnce(message.clientId, [
      event,
      { kind: 'call-started', time: now(), sessionId, callId, call: call.kind, seats },
      ...agents.map(({ life }) => life.started()),
    ]);
    for (const agent of agents) agent.begin();
    const { eventId, repeated } = await written.catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (repeated) {
      giveBack();
      return { ok: true, eventId };
    }
    lead.speaker.settle();
    lead.putCall(running, event.messageId, writeForLead(call, context.limits.soulFirstWords));
    return { ok: true, eventId };
  }

  /**
   * One agent, as a program asks for it: the lead has no part in it, and the gate was asked before.
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
    context.wakeMaterials.called(payload);
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

  /** Those of a call who are here and only set to sleep need no lead to be woken. */
  function wakeResting(call: TeamCall, callId: string): void {
    if (call.kind !== 'wake') return;
    for (const { id } of call.agents) if (pauses.isPaused(id)) void context.onPersonWake(id, callId);
  }

  /** A call in which everybody was here already, and only set to sleep. */
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

  /** `onWake` keeps the record of each wake; left out: it is the person's. */
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

  /** To somebody who can read it now. */
  async function postNow(message: PostMessage, agentId: AgentId, speaker: Speaker): Promise<PostOutcome> {
    const { text, clientId, replaces, attachments = [] } = message;
    if (replaces !== undefined && !speaker.holds(replaces))
      return refused(
        'not-last',
        'Only what you wrote in this session can be changed, as long as the agent has it before it and you called nobody since.',
      );
    if (replaces !== undefined && agentId === LEAD_ID && lead.calling())
      return refused('not-last', 'The lead is calling the team. Change the message when that is done.');
    const event = personMessage(message, agentId, wordsOf(text), false);
    // Views hide what lies between the two messages: what is being said stands before the new one.
    if (replaces !== undefined) await speaker.withdraw(replaces);
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
    ]);
    return { ok: true, eventId };
  }

  /**
   * To somebody who sleeps, or is still on the way: it waits, and is read after the first words.
   */
  async function postLater(message: PostMessage, agentId: AgentId): Promise<PostOutcome> {
    const { text, clientId, replaces, attachments = [] } = message;
    if (replaces !== undefined)
      return refused('not-last', 'This agent sleeps. A message can be changed while the agent is awake.');
    const event = personMessage(message, agentId, wordsOf(text), true);
    // First the inbox, whose row is the same for a repeat: a crash between the two leaves nothing
    // unread.
    await inbox.put({
      messageId: event.messageId,
      to: agentId,
      from: 'human',
      text: textWith(text, attachments),
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
    if (!agent) return 'played';
    return agent.phase() !== 'awake' || agent.speaker()?.busy() ? 'busy' : 'idle';
  }

  async function post(message: PostMessage): Promise<PostOutcome> {
    const { text, to = LEAD_ID } = message;
    if (to === LEAD_ID && isTeamCall(text)) return postCall(message);
    if (text.length > LIMITS.messageText)
      return refused('too-large', `A message can have ${LIMITS.messageText} characters; this one has ${text.length}.`);
    if (to === LEAD_ID) return postNow(message, LEAD_ID, lead.speaker);
    const speaker = answering(to).by === 'mind' ? speakerOf(to) : null;
    return speaker ? postNow(message, to, speaker) : postLater(message, to);
  }

  return {
    started: () => [lead.life.started()],
    post,
    bring,
    takeBack: (messageId) =>
      [lead.speaker, ...presence.all().flatMap((agent) => agent.speaker() ?? [])].some((speaker) =>
        speaker.takeBack(messageId),
      ),
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
      // Without a seat of its own it is no less welcome, but not in the grid.
      if (agentId !== LEAD_ID && position !== null) await guests.called({ agentId, position }, client);
    },
    left: (credentialId) => guests.left(credentialId),
    inboxChanged(agentId) {
      if (agentId === LEAD_ID) lead.inbox.changed();
      else presence.get(agentId)?.inboxChanged();
    },
    // Whoever is set to sleep says nothing, even in the middle of an answer.
    busy: () =>
      lead.speaker.busy() ||
      presence
        .all()
        .some((agent) => !pauses.isPaused(agent.agentId) && (agent.phase() !== 'awake' || agent.speaker()?.busy())),
    cut(why) {
      for (const { speaker } of [lead, ...presence.all().map((agent) => ({ speaker: agent.speaker() }))])
        if (speaker?.busy()) void speaker.interrupt(why);
    },
    async close(reason) {
      closed.resolve();
      const why: Interruption = { by: 'closing', status: reason === 'ended' ? 'stopped' : 'interrupted' };
      const here = [lead, ...presence.all()];
      await Promise.all([lead.speaker, ...presence.all()].map((each) => each.close(why)));
      return here.flatMap(({ life }) => life.ended(outcomeAtEnd(reason), null));
    },
  };
}
