/** How many event streams there may be: of one sign-in, and at this relay. */
import { problem } from '../http/problem.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Streams } from '../http/stream.ts';

const RETRY_AFTER_SECONDS = '5';

/** Throws a problem where no further stream may be opened. */
export type StreamLimit = (browser: string | undefined) => void;

export const createStreamLimit =
  (most: number, homes: () => Iterable<{ readonly streams: Pick<Streams, 'count' | 'countOf'> }>): StreamLimit =>
  (browser) => {
    let own = 0;
    let all = 0;
    for (const { streams } of homes()) {
      if (browser !== undefined) own += streams.countOf(browser);
      all += streams.count();
    }
    const refuse = (text: string) =>
      problem(503, 'too-many-streams', text, { headers: { 'retry-after': RETRY_AFTER_SECONDS } });
    if (own >= QUOTAS.streamsBySignIn)
      throw refuse(
        `This browser has ${own} pages of Roost open, which is the most. Close one, and this one goes on by itself.`,
      );
    if (all >= most) throw refuse('Too many pages are open at once. Close one and try again.');
  };
