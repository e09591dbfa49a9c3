/**
 * What an agent leaves for the person: it stands in their conversation with it, whether or not
 * anybody looks, as any answer does.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { EventLog, SessionHost, ToolOutcome } from '../../contracts/index.ts';
import { messageEvent } from '../runs/message-event.ts';
import { toolDone, toolError } from '../../contracts/define-tool.ts';

/** How much an agent may leave. */
export const TO_HUMAN = { characters: 10_000, most: 20, withinMs: 3_600_000 } as const;

export interface ToHumanDeps {
  readonly log: Pick<EventLog, 'append' | 'snapshot'>;
  readonly host: Pick<SessionHost, 'sessionId'>;
  readonly now: () => number;
  readonly newId: () => string;
}
export type ToHuman = (agentId: AgentId, text: string) => Promise<ToolOutcome>;

export function createToHuman({ log, host, now, newId }: ToHumanDeps): ToHuman {
  /** When each agent left its latest messages. */
  const left = new Map<string, readonly number[]>();
  return async (agentId, text) => {
    const time = now();
    const recent = (left.get(agentId) ?? []).filter((at) => at > time - TO_HUMAN.withinMs && at <= time);
    if (recent.length >= TO_HUMAN.most)
      return toolError(
        `You have left ${TO_HUMAN.most} messages for the human within an hour, which is the limit. Put what is left into one, later.`,
      );
    // Between two sessions it belongs to the one before.
    const sessionId = host.sessionId() ?? log.snapshot().lastEnd?.sessionId ?? null;
    if (sessionId === null)
      return toolError('No session has run yet, so there is no conversation with the human to leave it in.');
    left.set(agentId, [...recent, time]);
    await log.append([
      messageEvent({ time, messageId: newId(), sessionId, agentId, author: agentId, text, role: 'assistant' }),
    ]);
    return toolDone('It is left for the human, marked as unread.');
  };
}
