/**
 * An agent in a session, from the call until it leaves: what is the same for one that is woken and
 * one that hatches. `arrival.ts` decides what happens, and this module does it.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { AsleepReason, RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import type { MindErrorKind, RequestState } from '../minds/index.ts';
import type { AnswerEnd, SpeakerDeps } from '../runs/delivery.ts';
import { createInboxReader } from '../runs/inbox-reader.ts';
import type { Item } from '../runs/item.ts';
import type { Life } from '../runs/life.ts';
import { createSpeaker, type Speaker } from '../runs/speaker.ts';
import { type Arrival, type ArrivalEvent, called, type EndedAnswer, isComing, transition } from './arrival.ts';
import { applyChange } from './changes.ts';
import type { SessionContext } from './context.ts';
import { noteBeforeSleep } from './note-before-sleep.ts';
import type { Present } from './presence.ts';
import { cancelled, endedItself, failedReason, outcomeOf, silentReason, stoppedBefore } from './prompts.ts';
import { AGENT_TOOLS, type RunningCall, type ToolCall } from './tools.ts';

/** Failures that may be temporary. A wrong key, account, model name or request stays wrong. */
const PASSING: ReadonlySet<MindErrorKind> = new Set([
  'overloaded',
  'rate-limited',
  'unreachable',
  'stream-cut',
  'upstream-broken',
]);

/** A tool of the birth ends at once and cannot be stopped. */
const NEVER = new AbortController().signal;

interface PresentDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly agentId: AgentId;
  readonly position: number;
  /** Null: it hatches. */
  readonly name: string | null;
  /** The agent has left the session. */
  readonly remove: () => void;
}

/** The agent, for its own way. */
export interface Here {
  readonly life: Life;
  arrival(): Arrival;
  /** Null for an egg without a name. */
  name(): string | null;
  speaker(): Speaker | null;
  step(event: ArrivalEvent): void;
  /** Starts a try. Each try is a separate conversation. */
  ask(): void;
  /** Ends its answer. It leaves if it has not arrived then. */
  giveUp(reason: AsleepReason): Promise<void>;
  /** It is here before it is asked anything. Resolves when that is on disk. */
  arrive(): Promise<void>;
  /** `choose_name` and `write_soul` of an agent that has a soul already. */
  change(call: ToolCall, answer: string, signal: AbortSignal): Promise<ToolOutcome>;
  /** A timer until the agent is awake or leaves. */
  after(ms: number, work: () => void): void;
}

/** What differs between an agent that is woken and one that hatches. */
export interface Way {
  readonly speaks: Pick<SpeakerDeps, 'model' | 'system' | 'tools'> & Pick<SpeakerDeps['hooks'], 'note'>;
  /** What it is given first, in each try. */
  first(): readonly Item[];
  begin(): void;
  onState(state: RequestState): void;
  /** An answer has ended, or the session closes. `leaves`: the agent leaves. */
  onEnd?(leaves: boolean): void;
  /** Its first event as one of the team. */
  firstEvent(): RoostEvent;
  /** Asks an egg again, and returns the events to write. */
  nudge?(text: string): readonly RoostEvent[];
}

function endedAnswer(end: AnswerEnd, hatches: boolean, isClosing: boolean): EndedAnswer {
  const { failure, interruption } = end;
  // Its text is long enough for a soul.
  const isFull = hatches && end.status === 'interrupted' && end.stop === 'length';
  return {
    words: end.blocks.flatMap((block) => (block.kind === 'text' && block.text.trim() !== '' ? [block.text] : [])),
    isEnough: endedItself(end) || interruption !== null || isFull,
    isClosing,
    isToolless: end.toolless === true,
    failure: isFull ? null : failedReason(end),
    isPassing: failure !== null && failure.lasting !== true && PASSING.has(failure.kind),
  };
}

export function createPresent(deps: PresentDeps, wayOf: (here: Here) => Way): Present {
  const { context, call, agentId, position, remove } = deps;
  const { sessionId, now, record, timers, settings, limits, prompts } = context;
  const silence = silentReason(settings.wakeTimeoutMs);
  const rules = { human: prompts.human, silence, namesAsked: limits.namesAsked };
  const life = context.newLife(agentId);
  const hatches = deps.name === null;
  let { name } = deps;
  let arrival = called(hatches);
  let speaker: Speaker | null = null;
  let isClosed = false;
  /** Ends the time limit of this try, or the wait for the next one. */
  let cancelTry: () => void = () => undefined;
  const cancels: (() => void)[] = [];
  const inbox = createInboxReader(context, life, () => speaker);

  function step(event: ArrivalEvent) {
    const next = transition(arrival, event, rules);
    if (isComing(arrival) && next.arrival.egg) name = next.arrival.egg.name;
    arrival = next.arrival;
    return next.effect;
  }

  function stopWaiting(): void {
    cancelTry();
    for (const cancel of cancels) cancel();
  }

  function left(kind: 'birth-ended' | 'agent-asleep', reason: AsleepReason): readonly RoostEvent[] {
    stopWaiting();
    remove();
    void speaker?.close({ by: 'person' });
    way.onEnd?.(true);
    return [
      { kind, time: now(), agentId, position, sessionId, reason },
      ...life.ended(outcomeOf(reason), reason.message),
      ...call.decided(agentId, { here: false, reason }),
    ];
  }

  /** It leaves before it has arrived. */
  const leftBefore = (reason: AsleepReason) => left(hatches ? 'birth-ended' : 'agent-asleep', reason);

  function arrived(): readonly RoostEvent[] {
    stopWaiting();
    return [way.firstEvent(), ...call.decided(agentId, { here: true })];
  }

  /** Takes a step and does what follows. Returns the events to write. */
  function perform(event: ArrivalEvent): readonly RoostEvent[] {
    const effect = step(event);
    switch (effect) {
      case 'retry':
        void speaker?.close({ by: 'person' });
        cancelTry = timers.after(limits.secondTryMs, ask);
        return [];
      case 'arrive':
        void context.onHere(agentId);
        return arrived();
      case 'leave':
        return leftBefore(arrival.givenUp ?? silence);
      case null:
        return [];
      default:
        return way.nudge?.(effect === 'ask-name' ? prompts.nameInWords() : prompts.nudge()) ?? [];
    }
  }

  /** Its time runs only while the request is at the model's server. */
  function limitTry({ kind }: RequestState): void {
    if (!isComing(arrival) || arrival.hasSpoken || isClosed) return;
    cancelTry();
    if (kind !== 'sent') return;
    cancelTry = timers.after(settings.wakeTimeoutMs, () => {
      step({ kind: 'time-out' });
      void speaker?.interrupt({ by: 'relay', error: silence.message });
    });
  }

  function onEnd(end: AnswerEnd): readonly RoostEvent[] {
    cancelTry();
    way.onEnd?.(false);
    const events = perform({ kind: 'answer', ...endedAnswer(end, hatches, isClosed) });
    if (arrival.state === 'awake') inbox.open();
    return events;
  }

  function ask(): void {
    if (isClosed || arrival.state === 'leaving') return;
    step({ kind: 'ask' });
    const { note, ...speaks } = way.speaks;
    speaker = createSpeaker({
      context,
      life,
      ...speaks,
      // An agent that never says a word leaves no trace in the ledger.
      announces: () => arrival.state === 'awake',
      hooks: {
        onState(state) {
          way.onState(state);
          limitTry(state);
        },
        onFirstWords() {
          cancelTry();
          return perform({ kind: 'speak' });
        },
        onEnd,
        gather: (run) => inbox.take(run),
        ...(note ? { note } : {}),
      },
    });
    speaker.put(way.first());
  }

  async function giveUp(reason: AsleepReason): Promise<void> {
    step({ kind: 'give-up', reason });
    await speaker?.interrupt({ by: 'relay', error: reason.message });
    // It was quiet, or its answer was over and has only now reached the disk.
    if (!isComing(arrival)) return;
    step({ kind: 'leave' });
    await record(leftBefore(arrival.givenUp ?? reason));
  }

  const way = wayOf({
    life,
    arrival: () => arrival,
    name: () => name,
    speaker: () => speaker,
    step,
    ask,
    giveUp,
    async arrive() {
      step({ kind: 'speak' });
      await record(arrived());
      await context.onHere(agentId);
      if (arrival.state !== 'awake') return;
      inbox.open();
      ask();
    },
    async change(toolCall, answer, signal) {
      const outcome = await applyChange(context, life, toolCall, { answer, signal });
      if (toolCall.tool === 'choose_name' && !outcome.asks) name = toolCall.input.name;
      return outcome;
    },
    after: (ms, work) => void cancels.push(timers.after(ms, work)),
  });

  return {
    agentId,
    position,
    life,
    state: () => arrival.state,
    name: () => name,
    speaker: () => speaker,
    birth() {
      if (!hatches || !isComing(arrival)) return null;
      const call = async (tool: string, input: unknown) => await way.speaks.tools.run(tool, input, NEVER, '');
      return { tools: AGENT_TOOLS.map(({ name }) => name), call };
    },
    begin: () => way.begin(),
    abandon() {
      stopWaiting();
      step({ kind: 'leave' });
      remove();
      void speaker?.close({ by: 'person' });
    },
    stop() {
      if (!hatches && isComing(arrival)) void giveUp(stoppedBefore);
      else if (arrival.state === 'retrying') void giveUp(cancelled);
      else if (speaker?.busy()) void speaker.interrupt({ by: 'person' });
      else return false;
      return true;
    },
    async close(why) {
      isClosed = true;
      stopWaiting();
      // The session's timers have ended.
      way.onEnd?.(false);
      await speaker?.close(why);
    },
    async leave(reason) {
      if (isComing(arrival)) await giveUp(reason);
      if (arrival.state !== 'awake') return;
      step({ kind: 'leave' });
      if (speaker) await noteBeforeSleep(context, agentId, speaker, { by: 'person' });
      await speaker?.close({ by: 'person' });
      await record(left('agent-asleep', reason));
    },
    inboxChanged: () => inbox.changed(),
  };
}
