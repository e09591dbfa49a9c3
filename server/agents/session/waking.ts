/** An agent that is woken. It is awake with its first word. */
import { hasWordsOfOthers } from '../../../src/shared/domain/transcript.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentPayload } from '../../../src/shared/domain/wake-payload.ts';
import { WAYS } from '../../team/memory/foreign.ts';
import { isAway } from '../../store/index.ts';
import { DATABASE_BROKE } from '../runs/outcome.ts';
import type { Prompt } from '../runs/context.ts';
import { isComing } from './arrival.ts';
import type { SessionContext } from './context.ts';
import type { Present } from './presence.ts';
import { createPresent, type Here, type Way } from './present.ts';
import { AGENT_TOOLS, ownTools, type RunningCall } from './tools.ts';

interface WakingDeps {
  readonly context: SessionContext;
  readonly call: RunningCall;
  readonly payload: AgentPayload;
  /** Records its wake, once. */
  readonly onWake: SessionContext['onPersonWake'];
  /** The agent has left the session. */
  readonly remove: () => void;
}

export function createWaking(deps: WakingDeps): Present {
  const { id: agentId, position, name } = deps.payload;
  return createPresent({ ...deps, agentId, position, name }, (here) => wakes(deps, here));
}

function wakes({ context, call, payload, onWake }: WakingDeps, here: Here): Way {
  const { sessionId, now, prompts } = context;
  const { id: agentId, position } = payload;
  let recorded: Promise<void> | null = null;
  let wasAsked = false;
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
  const isAwaited = () => isComing(here.arrival()) && here.arrival().givenUp === null;
  /** Records the wake once. */
  const recordWake = () => (recorded ??= onWake(agentId, call.callId));
  /**
   * Records the wake when all requests of the call are sent. The gate's record must not delay any
   * of them.
   */
  function noteAsked(): void {
    if (wasAsked) return;
    wasAsked = true;
    call.asked(agentId);
    void call.whenAsked().then(recordWake);
  }
  /** What the agent did alone since it was last told; null: nothing. */
  async function tellMeanwhile(asleep: boolean): Promise<string | null> {
    const told = await context.meanwhile(agentId, knowsUpTo, asleep);
    knowsUpTo = told?.upTo ?? knowsUpTo;
    return told?.text ?? null;
  }

  /**
   * The agent is here and paused. Its mind is asked nothing until it is resumed, and then its wake
   * prompt comes first.
   */
  async function rest(): Promise<void> {
    call.asked(agentId);
    // Before its flag is set, because the record would resume it.
    await recordWake();
    if (isAwaited()) await here.arrive();
  }

  return {
    speaks: {
      model: () => context.models.of(agentId),
      system: (tools) => prompts.agentSystem(payload, systemSoul(), tools),
      tools: ownTools(AGENT_TOOLS, prompts.human, here.change),
      // The first turn has the note with the wake prompt.
      note: () => (here.arrival().state === 'awake' ? tellMeanwhile(false) : Promise.resolve(null)),
    },
    first: () => [
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
    ],
    begin() {
      Promise.all([context.startsPaused(agentId), tellMeanwhile(true), context.memoryOf(agentId)])
        .then(([paused, told, kept]) => {
          note = told;
          memory = kept;
          if (!isAwaited()) return undefined;
          return paused ? rest() : here.ask();
        })
        .catch((error: unknown) =>
          isAway(error) ? here.giveUp({ code: 'failed', message: DATABASE_BROKE }) : context.fail(error),
        );
    },
    onState: noteAsked,
    // The agent is busy, so the wake is this one and starts no further turn.
    onEnd(leaves) {
      if (leaves || wasAsked) void recordWake();
    },
    firstEvent: () => ({ kind: 'agent-awake', time: now(), agentId, position, sessionId }),
  };
}

const pinned = (text: string) => (): Prompt => ({ text, shortened: (most) => cutMiddle(text, most) });
