/** An agent that is woken: from the call to its first words, and its life in the session after them. */
import type { AgentPayload } from '../../src/domain/wake-payload.ts';
import type { AsleepReason, RoostEvent } from '../../src/protocol/events.ts';
import { applyChange } from './changes.ts';
import type { SessionContext } from './context.ts';
import { createMail } from './mail.ts';
import type { Phase, Present } from './presence.ts';
import { failedReason, mayPass, silentReason } from './reasons.ts';
import { createSpeaker, type AnswerEnd, type Speaker } from './speaker.ts';
import type { RunningCall } from './team-call.ts';
import { AGENT_TOOLS } from './tools.ts';

export interface WakingDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly payload: AgentPayload;
  /** It is not in the session any more. */
  readonly remove: () => void;
}

export function createWaking({ context, call, payload, remove }: WakingDeps): Present {
  const { sessionId, now, record, timers, settings, limits, prompts } = context;
  const { id: agentId, position } = payload;
  let phase: Phase = 'called';
  let name = payload.name;
  let speaker: Speaker | null = null;
  let givenUp: AsleepReason | null = null;
  let silent = false;
  let tries = 0;
  let cancelTimer: () => void = () => undefined;
  const mail = createMail(context, agentId, () => speaker);

  function asleep(reason: AsleepReason): RoostEvent[] {
    cancelTimer();
    phase = 'leaving';
    remove();
    return [{ kind: 'agent-asleep', time: now(), agentId, position, sessionId, reason }, ...call.decided(agentId, { here: false, reason })];
  }

  function onFirstWords(): readonly RoostEvent[] {
    if (phase !== 'waking' || givenUp) return [];
    phase = 'awake';
    cancelTimer();
    void context.onHere(agentId);
    return [{ kind: 'agent-awake', time: now(), agentId, position, sessionId }, ...call.decided(agentId, { here: true })];
  }

  function onEnd(end: AnswerEnd): readonly RoostEvent[] {
    if (phase === 'awake') mail.open();
    if (phase !== 'waking' || end.interruption?.by === 'closing') return [];
    cancelTimer();
    // Not a word: nothing that waits may be put before it.
    void speaker?.close({ by: 'person' });
    if (!givenUp && tries === 1 && (silent || mayPass(end.failure))) {
      cancelTimer = timers.after(limits.secondTryMs, ask);
      return [];
    }
    return asleep(givenUp ?? (silent ? silentReason(settings.wakeTimeoutMs) : null) ?? failedReason(end) ?? silentReason());
  }

  /** Nothing was said in its time. */
  function onSilence(): void {
    silent = true;
    void speaker?.interrupt({ by: 'relay', error: silentReason(settings.wakeTimeoutMs).message });
  }

  async function giveUp(reason: AsleepReason): Promise<void> {
    givenUp ??= reason;
    await speaker?.interrupt({ by: 'relay', error: reason.message });
    // Between two tries nothing is being said.
    if (phase === 'waking') await record(asleep(givenUp));
  }

  /** Each try is a conversation of its own. */
  function ask(): void {
    tries += 1;
    silent = false;
    speaker = createSpeaker({
      context,
      agentId,
      author: agentId,
      model: context.models.agent,
      system: prompts.agentSystem(payload),
      tools: AGENT_TOOLS,
      announces: () => phase === 'awake',
      hooks: {
        onState({ kind }) {
          if (phase !== 'waking') return;
          cancelTimer();
          if (kind === 'sent') cancelTimer = timers.after(settings.wakeTimeoutMs, onSilence);
        },
        onFirstWords,
        onEnd,
        gather: (run) => mail.take(run),
        runTool(toolCall) {
          if (toolCall.tool === 'choose_name') name = toolCall.input.name;
          return applyChange(context, agentId, toolCall);
        },
      },
    });
    speaker.put([{ messageId: null, text: (around) => prompts.wake(payload, around), priority: 'wake' }]);
  }

  /** It is here, set to sleep: nothing is asked of a mind until it is woken, and then its prompt comes first. */
  async function rest(): Promise<void> {
    phase = 'awake';
    await record([{ kind: 'agent-awake', time: now(), agentId, position, sessionId }, ...call.decided(agentId, { here: true })]);
    await context.onHere(agentId);
    if (phase !== 'awake') return;
    mail.open();
    ask();
  }

  return {
    agentId,
    position,
    phase: () => phase,
    name: () => name,
    speaker: () => speaker,
    begin() {
      phase = 'waking';
      context.startsAsleep(agentId).then((resting) => (phase === 'waking' && !givenUp ? (resting ? rest() : ask()) : undefined)).catch(context.fail);
    },
    abandon() {
      phase = 'leaving';
      cancelTimer();
      remove();
      void speaker?.close({ by: 'person' });
    },
    async leave(reason) {
      if (phase === 'waking') await giveUp(reason);
      if (phase !== 'awake') return;
      phase = 'leaving';
      await speaker?.close({ by: 'person' });
      await record(asleep(reason));
    },
    inboxChanged: () => mail.changed(),
  };
}
