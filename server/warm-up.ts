import type { Closers } from './closers.ts';
import type { Homes } from './homes/index.ts';
import type { Logger } from './logger.ts';
import { withWarmMind } from './minds/index.ts';

/** The first wake is not to pay for what is loaded at first use. Ends with the relay. */
export function warmUp(homes: Homes, logger: Logger, closers: Closers): void {
  const closing = new AbortController();
  const warming = withWarmMind(async (warmMind) => {
    for (const each of homes.open()) await each.warm(warmMind, closing.signal);
  }).catch((error: unknown) =>
    logger.warn('Not everything could be warmed; the first answer takes a little longer.', { error }),
  );
  closers.add(() => {
    closing.abort();
    return warming;
  });
}
