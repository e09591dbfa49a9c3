/**
 * Before an agent sleeps it may note what matters, in one short answer. The conversation of a
 * session is gone from its prompts later, and its memory is not.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Interruption } from '../runs/outcome.ts';
import type { Speaker } from '../runs/speaker.ts';
import type { SessionContext } from './context.ts';

export const NOTE_REQUEST =
  '[This conversation is about to end, and you will sleep. Note now with `remember` or `memory` what you want to know in a later one: facts, decisions, promises, names, numbers. Write only what your memory does not have yet. If there is nothing, call no tool. Then say one short sentence. Nobody answers it.]';

/** Amounts of money are in millionths of a dollar. */
const MICRO_PER_CENT = 10_000;

/**
 * Asks the agent, if the person said enough to it. The speaker is closed then, and says nothing
 * afterwards. It never takes longer than `noteWaitMs`.
 */
export async function noteBeforeSleep(
  { configs, limits, pauses }: Pick<SessionContext, 'configs' | 'limits' | 'pauses'>,
  agentId: AgentId,
  speaker: Speaker,
  why: Interruption,
): Promise<void> {
  if (speaker.personSaid() < limits.noteLeastSaid || speaker.isDemo() || pauses.isPaused(agentId)) return;
  const { note_before_sleep: isOn, note_cents: cents } = (await configs.agent(agentId)).effective.coordination;
  if (!isOn) return;
  await speaker.closeAfter(
    {
      messageId: null,
      text: NOTE_REQUEST,
      tools: ['remember', 'memory'],
      // Nothing of its inbox is read with it.
      alone: true,
      bounds: {
        requests: limits.noteRequests,
        answerTokens: limits.noteAnswerTokens,
        mostMicroUsd: cents * MICRO_PER_CENT,
      },
    },
    limits.noteWaitMs,
    why,
  );
}
