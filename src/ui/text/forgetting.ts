/** What is being forgotten, in words. */
import type { ForgetDoc } from '../../protocol/documents.ts';

const DAY = 24 * 60 * 60 * 1000;

/** `Lyra`, `The conversation with Lyra` */
export const targetText = (target: ForgetDoc['target'], name: string): string =>
  target.kind === 'agent' ? name : `The conversation with ${name}`;

/** `30 days left`, `1 day left`, `less than a day left` */
export function daysLeft(finalAt: number, now: number): string {
  const days = Math.floor((finalAt - now) / DAY);
  return days < 1 ? 'less than a day left' : `${days} day${days === 1 ? '' : 's'} left`;
}
