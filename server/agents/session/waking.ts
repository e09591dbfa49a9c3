/**
 * An agent that is woken: from the call to its first words, and its life in the session after them.
 */
import type { AgentPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { AsleepReason, RoostEvent } from '../../../src/shared/protocol/events.ts';
import { applyChange } from './changes.ts';
import type { SessionContext } from './context.ts';
import { createFirstWords } from './first-words.ts';
import { createInboxReader } from '../runs/inbox-reader.ts';
import type { Phase, Present } from './presence.ts';
import { failedReason, outcomeOf, silentReason, stoppedBefore } from './reasons.ts';
import { DATABASE_BROKE } from '../runs/outcome.ts';
import { createSpeaker, type AnswerEnd, type Speaker } from '../runs/speaker.ts';
import { isAway } from '../../store/index.ts';
import type { RunningCall } from './team-call.ts';
import { AGENT_TOOLS, ownTools } from './tools.ts';

export interface WakingDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly payload: AgentPayload;
  /** Keeps the record of its wake, once. */
  readonly onWake: SessionContext['onPersonWake'];
  /** It is not in the session any more. */
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
