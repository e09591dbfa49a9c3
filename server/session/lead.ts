/**
 * The lead: answers the person, and calls the team. `spawn_team` answers it when every seat is decided; a
 * lead that is needed meanwhile (the person writes, or an egg takes long) gets a report of those who are here,
 * and of the others when they are decided.
 */
import { LEAD_ID } from '../../src/domain/seat.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { ToolOutcome } from '../contracts.ts';
import { toolDone, toolError } from '../tool-outcome.ts';
import { applyChange } from './changes.ts';
import type { SessionContext } from './context.ts';
import { createMail, type Mail } from './mail.ts';
import { toldEvent } from './message-event.ts';
import { leadSilent } from './reasons.ts';
import { createSpeaker, type AnswerEnd, type Speaker } from './speaker.ts';
import type { RunningCall } from './team-call.ts';
import { LEAD_TOOLS } from './tools.ts';

export interface Lead {
  readonly speaker: Speaker;
  readonly mail: Mail;
  /** Puts a call to the team before the lead, alone. */
  putCall(call: RunningCall, messageId: string, text: string): void;
  /** Whether it has a call before it that it has not answered yet. */
  calling(): boolean;
}

const NO_CALL = 'There is no [WAKE AGENTS] or [SUMMON AGENTS] message to answer. Only the human can call the team.';

/** Why the lead has not called, where its answer is over. */
function notCalled(end: AnswerEnd): string {
  if (end.interruption?.by === 'relay') return end.interruption.error;
  if (end.interruption?.by === 'person') return 'You stopped the lead before it called the team.';
  return end.error === null ? 'The lead answered without calling the team.' : `The lead could not call the team. ${end.error}`;
}

export function createLead(context: SessionContext): Lead {
  const { sessionId, now, newId, record, timers, settings, prompts } = context;
  const mail: Mail = createMail(context, LEAD_ID, () => speaker);
  const calls = new Map<string, RunningCall>();
  let current: RunningCall | null = null;
  let cancelSilence: () => void = () => undefined;
  let needed: () => void = () => undefined;

  /** Resolves when the lead should hear how the call goes: it is over, it took long, or the lead is needed. */
  async function untilReport(call: RunningCall, signal: AbortSignal): Promise<void> {
    let cancel: () => void = () => undefined;
    const enough = new Promise<void>((resolve) => {
      needed = resolve;
      cancel = timers.after(settings.wakeTimeoutMs, resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([call.whenOver(), enough]);
    needed = () => undefined;
    cancel();
  }

  /** Tells the lead, later, of those who were still on the way. */
  async function reportLater(call: RunningCall): Promise<void> {
    await call.whenOver();
    const [messageId, text] = [newId(), call.report()];
    await record([
      toldEvent({ time: now(), messageId, sessionId, agentId: LEAD_ID, author: 'relay', text }),
    ]);
    speaker.put([{ messageId, text }]);
  }

  async function spawn(seats: readonly number[], signal: AbortSignal): Promise<ToolOutcome> {
    const call = current;
    if (!call) return toolError(NO_CALL);
    const spawned = call.spawn(seats);
    if (!spawned.ok) return toolError(spawned.reason);
    cancelSilence();
    await untilReport(call, signal);
    const report = call.report();
    if (!call.over()) void reportLater(call);
    return toolDone(report);
  }

  function onEnd(end: AnswerEnd): readonly RoostEvent[] {
    cancelSilence();
    const call = current;
    current = null;
    return call && end.interruption?.by !== 'closing' ? call.abandon(notCalled(end)) : [];
  }

  const speaker: Speaker = createSpeaker({
    context,
    agentId: LEAD_ID,
    author: LEAD_ID,
    model: context.models.lead,
    system: prompts.leadSystem(),
    tools: LEAD_TOOLS,
    announces: () => true,
    hooks: {
      onStart(items) {
        const messageId = items[0]?.messageId ?? null;
        current = (messageId !== null && calls.get(messageId)) || null;
        if (messageId !== null) calls.delete(messageId);
        if (current) cancelSilence = timers.after(settings.wakeTimeoutMs, () => void speaker.interrupt({ by: 'relay', error: leadSilent(settings.wakeTimeoutMs) }));
      },
      onEnd,
      gather: (run) => mail.take(run),
      onWaiting: () => needed(),
      runTool: (call, signal) => (call.tool === 'spawn_team' ? spawn(call.input.seats, signal) : applyChange(context, LEAD_ID, call)),
    },
  });

  mail.open();
  return {
    speaker,
    mail,
    putCall(call, messageId, text) {
      calls.set(messageId, call);
      speaker.put([{ messageId, text, alone: true }]);
    },
    calling: () => current !== null || calls.size > 0,
  };
}
