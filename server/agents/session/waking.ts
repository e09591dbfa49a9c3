/** An agent that is woken: from the call to its first words, and its life in the session after. */
import { hasWordsOfOthers } from '../../../src/shared/domain/transcript.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { AsleepReason, RoostEvent } from '../../../src/shared/protocol/events.ts';
import { WAYS } from '../../team/memory/foreign.ts';
import { isAway } from '../../store/index.ts';
import { createInboxReader } from '../runs/inbox-reader.ts';
import { DATABASE_BROKE } from '../runs/outcome.ts';
import type { AnswerEnd } from '../runs/delivery.ts';
import { createSpeaker, type Speaker } from '../runs/speaker.ts';
import type { Prompt } from '../runs/context.ts';
import type { SessionContext } from './context.ts';
import { applyChange } from './changes.ts';
import { createFirstWords, failedReason, outcomeOf, silentReason, stoppedBefore } from './prompts.ts';
import type { Phase, Present } from './presence.ts';
import { AGENT_TOOLS, ownTools, type RunningCall } from './tools.ts';
import { closeAfterNote } from './note-before-sleep.ts';

interface WakingDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly payload: AgentPayload;
  /** Records its wake, once. */
  readonly onWake: SessionContext['onPersonWake'];
  /** The agent has left the session. */
  readonly remove: () => void;
}

export function createWaking({ context, call, payload, onWake, remove }: WakingDeps): Present {
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
      await closeAfterNote(context, agentId, speaker);
      await record(asleep(reason));
    },
    inboxChanged: () => inbox.changed(),
  };
}

const pinned = (text: string) => (): Prompt => ({ text, shortened: (most) => cutMiddle(text, most) });
