/**
 * The lead answers the person and is informed of each call to the team. The called agents do not
 * wait for it. `spawn_team` answers the lead when every seat is decided. If the lead is needed
 * earlier (the person writes, or an egg takes long), it gets a report of the seats decided so far,
 * and of the rest later. Only the lead's own greeting depends on its answer to a call.
 */
import type { MessageId } from '../../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import { toolDone, toolError } from '../../tools/define-tool.ts';
import { isRehearsal } from '../minds/index.ts';
import { applyChange } from './changes.ts';
import type { SessionContext } from './context.ts';
import { createInboxReader, type InboxReader } from '../runs/inbox-reader.ts';
import type { AnswerEnd } from '../runs/delivery.ts';
import { messageEvent } from '../runs/message-event.ts';
import { createSpeaker, type Speaker } from '../runs/speaker.ts';
import { leadSilent } from './prompts.ts';
import type { Life } from '../runs/life.ts';
import type { Item } from '../runs/item.ts';
import { LEAD_TOOLS, ownTools, type RunningCall } from './tools.ts';

export interface Lead {
  readonly speaker: Speaker;
  readonly inbox: InboxReader;
  /** Its run, which lasts as long as the session. */
  readonly life: Life;
  /** Delivers a call to the team to the lead, separately. */
  putCall(call: RunningCall, messageId: MessageId, text: string): void;
  /** Whether the lead has a call that it has not answered yet. */
  calling(): boolean;
}

const NO_CALL = 'There is no [WAKE AGENTS] or [SUMMON AGENTS] message to answer. Only the human can call the team.';

export function createLead(context: SessionContext): Lead {
  const { sessionId, now, newId, record, timers, settings, limits, prompts } = context;
  const life = context.newLife(LEAD_ID);
  const inbox: InboxReader = createInboxReader(context, life, () => speaker);
  const calls = new Map<string, RunningCall>();
  /** Reports for the lead's next turn. */
  const reports: string[] = [];
  let current: { readonly call: RunningCall; joined: boolean } | null = null;
  let hasSpoken = false;
  const isDemo = () => isRehearsal(context.mind.current?.() ?? context.mind);
  /** The author of the soul in this session, or the mind that was asked for one. */
  let soulBy: 'nobody' | 'demo' | 'model' = 'nobody';
  const hasSoul = () => soulBy === 'model' || (soulBy === 'demo' && isDemo()) || prompts.leadSoul(isDemo()) !== null;
  const soulWritten = () => (soulBy = isDemo() ? 'demo' : 'model');
  let cancelSoul: () => void = () => undefined;
  let cancelSilence: () => void = () => undefined;
  /** Items wait while the lead answers. */
  let isNeeded = false;
  let needed: () => void = () => undefined;

  /**
   * Resolves when the lead should get a report: the call is over, an egg takes long, or the lead is
   * needed.
   */
  async function untilReport(call: RunningCall, signal: AbortSignal): Promise<void> {
    if (isNeeded) return;
    let cancel: () => void = () => undefined;
    const enough = new Promise<void>((resolve) => {
      needed = resolve;
      // Eggs may take long.
      if (call.kind === 'summon') cancel = timers.after(settings.wakeTimeoutMs, resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([call.whenOver(), enough]);
    needed = () => undefined;
    cancel();
  }

  /**
   * The called agents' requests go ahead of the lead's in the queue of a slow server, because the
   * lead greets the person with their names.
   */
  async function afterTheCalled(signal: AbortSignal): Promise<void> {
    if (!current || signal.aborted) return;
    const brokenOff = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([current.call.whenAsked(), brokenOff]);
  }

  const reportItem = (text: string): { item: Item; event: RoostEvent } => {
    const messageId = newId();
    return {
      item: { messageId, text },
      event: messageEvent({
        time: now(),
        messageId,
        sessionId,
        runId: life.runId,
        agentId: LEAD_ID,
        author: 'relay',
        text,
      }),
    };
  };

  /**
   * When the call is over, reports the seats that no report to the lead has had: in a turn for it,
   * or with its next turn.
   */
  async function reportLater(call: RunningCall, inTurn: boolean): Promise<void> {
    await call.whenOver();
    const text = call.lateReport();
    if (text === null) return;
    if (!inTurn) {
      reports.push(text);
      return;
    }
    const { item, event } = reportItem(text);
    await record([event]);
    speaker.put([item]);
  }

  async function join(signal: AbortSignal): Promise<ToolOutcome> {
    const joining = current;
    if (!joining) return toolError(NO_CALL);
    cancelSilence();
    await untilReport(joining.call, signal);
    const report = joining.call.report();
    if (!joining.call.over() && !joining.joined) void reportLater(joining.call, true);
    joining.joined = true;
    return toolDone(report);
  }

  /** Asks the lead for its soul, once, in a quiet moment after the first conversation. */
  function askForSoul(): void {
    if (hasSoul()) return;
    soulWritten();
    speaker.put([{ messageId: null, text: prompts.soul() }]);
  }

  function onEnd(end: AnswerEnd): readonly RoostEvent[] {
    cancelSilence();
    const ended = current;
    current = null;
    if (!hasSoul() && end.status === 'complete' && end.items.some(({ fromPerson }) => fromPerson))
      cancelSoul = timers.after(limits.soulQuietMs, askForSoul);
    // A lead that answers in words greets when it knows who came. A lead whose answer failed is not
    // asked again for a greeting.
    if (ended && !ended.joined && end.interruption?.by !== 'closing')
      void reportLater(ended.call, end.status === 'complete');
    return [];
  }

  const speaker: Speaker = createSpeaker({
    context,
    life,
    model: context.models.lead,
    system(tools) {
      const soul = context.wakePayloads.soulOf(LEAD_ID) ?? prompts.leadSoul(isDemo());
      return prompts.leadSystem(context.begun, tools, soul, context.leadMemory, isDemo());
    },
    systemAround: context.begun,
    tools: ownTools(LEAD_TOOLS, prompts.human, async (call, answer, signal) => {
      if (call.tool === 'spawn_team') return await join(signal);
      const outcome = await applyChange(context, life, call, { answer, signal });
      if (call.tool === 'write_soul' && !outcome.isError) soulWritten();
      return outcome;
    }),
    announces: () => true,
    hooks: {
      onStart(items) {
        cancelSoul();
        // Notes of the relay may come before the call.
        const messageId = items.map((item) => item.messageId).find((id) => id !== null && calls.has(id)) ?? null;
        const call = (messageId !== null && calls.get(messageId)) || null;
        current = call && { call, joined: false };
        hasSpoken = false;
        isNeeded = false;
        if (messageId !== null) calls.delete(messageId);
      },
      onState({ kind }) {
        cancelSilence();
        if (current && !hasSpoken && kind === 'sent')
          cancelSilence = timers.after(
            settings.wakeTimeoutMs,
            () => void speaker.interrupt({ by: 'relay', error: leadSilent(settings.wakeTimeoutMs) }),
          );
      },
      letGoFirst: afterTheCalled,
      onFirstWords() {
        hasSpoken = true;
        cancelSilence();
        return [];
      },
      onEnd,
      async gather(run) {
        const reported = reports.splice(0).map(reportItem);
        const messages = await inbox.take(run);
        return {
          items: [...reported.map(({ item }) => item), ...messages.items],
          events: [...reported.map(({ event }) => event), ...messages.events],
        };
      },
      onWaiting() {
        isNeeded = true;
        needed();
      },
    },
  });

  inbox.open();
  return {
    speaker,
    inbox,
    life,
    putCall(call, messageId, text) {
      calls.set(messageId, call);
      speaker.put([{ messageId, text, alone: true }]);
    },
    calling: () => current !== null || calls.size > 0,
  };
}
