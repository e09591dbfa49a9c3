/** What waits for the person, in a few words. Pure. */
import type { Wait } from '../../state/inbox.ts';
import { plural } from '../text/sizes.ts';

/** `2 questions · 1 review` */
export function waitsText(waits: readonly Wait[]): string {
  const count = (...kinds: readonly Wait['kind'][]) => waits.filter(({ kind }) => kinds.includes(kind)).length;
  const parts: readonly (readonly [number, (n: number) => string])[] = [
    [count('question', 'proposal'), (n) => plural(n, 'question')],
    [count('review'), (n) => plural(n, 'review')],
    [count('blocked'), (n) => plural(n, 'blocked task')],
    [count('failed'), (n) => plural(n, 'failed run')],
    [count('paused'), (n) => plural(n, 'paused routine')],
    [count('dream'), (n) => plural(n, 'dream')],
    [count('exam'), (n) => plural(n, 'exam')],
    [count('budget'), (n) => plural(n, 'budget used up', 'budgets used up')],
  ];
  return parts.flatMap(([n, text]) => (n === 0 ? [] : [text(n)])).join(' · ');
}
