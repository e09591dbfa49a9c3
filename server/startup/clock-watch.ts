/**
 * Reports on the terminal and in the log when the clock of a home stops, and at the start how long
 * it had stood still.
 */
import { spanText } from '../../src/shared/domain/zone-days.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import type { Homes } from '../households/index.ts';
import type { Logger } from '../platform/logger.ts';
import { createClockWatch, type ClockWatch } from '../schedules/index.ts';

const COPIED =
  'This home is a copy of another, or was put back from one: nothing that is due runs here, so that it does not run twice. Under Night you bring it here.';

export interface ClockWatchTells {
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly say: (line: string) => void;
  readonly logger: Pick<Logger, 'warn'>;
  /** The watch ends with the relay. */
  readonly closers: { add(closer: () => Promise<void>): void };
}

export function openClockWatch(
  homes: Pick<Homes, 'open'>,
  { elapsed, say, logger, closers }: ClockWatchTells,
): ClockWatch {
  const watch = createClockWatch({
    clocks: () => homes.open().map(({ clock }) => clock),
    elapsed,
    timers: realTimers,
    say(line) {
      say(line);
      logger.warn(line);
    },
  });
  closers.add(() => Promise.resolve(watch.close()));
  const { stoodMs, copied } = watch.state();
  if (copied) say(COPIED);
  if (stoodMs !== null)
    say(
      `The clock by which agents’ routines are due had stood for ${spanText(stoodMs)}: Roost was not running, and nobody had ended it. What was missed stands under Night.`,
    );
  return watch;
}
