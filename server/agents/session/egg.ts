/**
 * An agent that hatches. It thinks aloud. When it has chosen a name and its turn is complete, it is
 * born, and all that it wrote is its soul. After that it lives in the session like an agent that
 * was woken.
 */
import { sentence } from '../../../src/shared/domain/names.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { SeatPayload } from '../../../src/shared/domain/wake-payload.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import { toolDone } from '../../tools/define-tool.ts';
import { messageEvent } from '../runs/message-event.ts';
import { isComing } from './arrival.ts';
import type { SessionContext } from './context.ts';
import type { Present } from './presence.ts';
import { createPresent, type Here, type Way } from './present.ts';
import { unnamedReason } from './prompts.ts';
import { AGENT_TOOLS, CHOOSE_NAME, ownTools, type RunningCall, type ToolCall } from './tools.ts';

interface EggDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly agentId: AgentId;
  readonly seat: SeatPayload;
  /** The agent has left the session. */
  readonly remove: () => void;
}

export function createEgg({ context, call, agentId, seat, remove }: EggDeps): Present {
  const { position } = seat;
  return createPresent({ context, call, agentId, position, name: null, remove }, (here) =>
    hatches({ context, call, seat }, here),
  );
}

function hatches({ context, call, seat }: Pick<EggDeps, 'context' | 'call' | 'seat'>, here: Here): Way {
  const { sessionId, now, newId, record, limits, prompts, settings } = context;
  const { birthTimeoutMs } = settings;
  const { position, color, colorName } = seat;
  const { agentId, runId } = here.life;
  const isHatching = () => isComing(here.arrival());
  let isTimed = false;

  /** Asks again, and returns the events to write. */
  function nudge(text = prompts.nudge()): RoostEvent[] {
    const messageId = newId();
    here.speaker()?.put([{ messageId, text, priority: 'wake' }]);
    return [messageEvent({ time: now(), messageId, sessionId, runId, agentId, author: 'relay', text })];
  }

  /** The timers start with the first request that is sent. Time in the queue does not count. */
  function startTimers(): void {
    if (isTimed) return;
    isTimed = true;
    for (const part of limits.nudgesAt)
      here.after(birthTimeoutMs * part, () => {
        if (isHatching() && here.name() === null && !here.speaker()?.busy()) void record(nudge());
      });
    here.after(birthTimeoutMs, () => {
      // An egg with a name is only still writing.
      if (isHatching() && here.name() === null) void here.giveUp(unnamedReason(birthTimeoutMs));
    });
    here.after(birthTimeoutMs * limits.writesUntil, () => {
      if (isHatching()) void here.speaker()?.interrupt({ by: 'relay', error: WROTE_TOO_LONG });
    });
  }

  async function runTool(toolCall: ToolCall, answer: string, signal: AbortSignal): Promise<ToolOutcome> {
    if (!isHatching() || toolCall.tool === 'spawn_team') return await here.change(toolCall, answer, signal);
    if (toolCall.tool === 'choose_name') {
      here.step({ kind: 'name', name: toolCall.input.name });
      return toolDone(`Your name is ${toolCall.input.name}.`);
    }
    here.step({ kind: 'write', text: toolCall.input.text });
    return toolDone('Stored. It is part of your soul.');
  }

  // An agent without a name needs no other tool, and small models have no room for them.
  const own = ownTools(AGENT_TOOLS, prompts.human, runTool);

  return {
    speaks: {
      model: context.models.agent,
      // The newborn's first answer is its soul, until that answer becomes part of a summary.
      system: (tools, isShortened) =>
        prompts.agentSystem(
          { name: isShortened ? here.name() : null, colorName, position },
          isShortened ? (context.wakePayloads.soulOf(agentId) ?? null) : null,
          tools,
        ),
      tools: { ...own, toldAlone: () => (isHatching() ? [CHOOSE_NAME] : null) },
    },
    first: () => [{ messageId: null, text: (around) => prompts.birth(agentId, seat, around), priority: 'wake' }],
    begin: here.ask,
    onState(state) {
      if (!isHatching()) return;
      call.asked(agentId);
      if (state.kind === 'sent') startTimers();
    },
    firstEvent() {
      const time = now();
      const { egg } = here.arrival();
      return {
        kind: 'agent-born',
        time,
        agentId,
        position,
        sessionId,
        color,
        colorName,
        name: egg?.name ?? '',
        soul: egg?.soul.join('\n\n') ?? '',
        bornAt: time,
      };
    },
    nudge,
  };
}

const WROTE_TOO_LONG = sentence`It wrote for too long without coming to an end. What it wrote until then is its soul.`;
