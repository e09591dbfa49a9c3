/** What a sender is told of its letter and of its wake. */
import type { WakeDecision } from '../../src/protocol/wakes.ts';

const waits = (name: string) => `Your message is in ${name}’s inbox and will be read at its next turn; nothing of it is lost.`;

/** `left`: calls of `wake_agent` that the caller has left in its session; null: not counted here. */
export function outcomeText(name: string, { outcome, detail }: WakeDecision, left: number | null): string {
  const rest = left === null ? '' : ` You have ${left} ${left === 1 ? 'wake' : 'wakes'} left in this session.`;
  switch (outcome) {
    case 'granted':
      return `Granted: ${name} is awake and reads your message now.${rest}`;
    case 'deferred':
      return `Deferred: ${detail} ${waits(name)}${rest}`;
    case 'suppressed':
      return `Suppressed: ${detail} ${waits(name)}${rest}`;
    case 'error':
      return `Not asked: ${detail} ${waits(name)}${rest}`;
    default:
      return outcome satisfies never;
  }
}

export const delivered = (name: string): string => `Delivered to ${name}’s inbox. It is read at ${name}’s next turn.`;
