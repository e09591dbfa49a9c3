/**
 * Hybrid logical clock stamps (Kulkarni et al., "Logical Physical Clocks", 2014).
 *
 * A stamp is a string that sorts as time does: 15 digits of milliseconds since the epoch, 6 digits
 * of counter, then the node that made it. Two devices whose clocks are apart still agree on the
 * order of what they have seen of each other: what was written knowing of something else is stamped
 * after it, whatever the clocks say. So nothing from the future holds for good, not even where it
 * lies ten years ahead: the next edit is later. And a clock that was a year ahead and was set right
 * goes on after what was said until then.
 *
 * What comes from elsewhere and is dated further ahead than MAX_AHEAD_MS is therefore asked for
 * where it enters, in a copy (src/page/archive), a call to the relay, or an entry of another device
 * (src/worker/sync): it waits until the person takes it, or until its time has come. What another
 * device or a copy dates further ahead than any clock goes wrong is not taken at all, so that
 * nobody moves the clocks of a household to their end. None is later than LAST_TIME: there is
 * always a later stamp to be made.
 */

export type Stamp = string;

/**
 * How far ahead of this device's clock what comes from elsewhere may be dated before it has to be
 * asked for: 24 hours, in ms.
 */
export const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;
/** How far ahead what another device dates can be taken at all, in ms: a hundred years. */
export const MOST_AHEAD_MS = 100 * 365 * 24 * 60 * 60 * 1000;
/** The last ms that a stamp can hold, and the last that a document may name: the year 33658. */
export const MAX_TIME = 999_999_999_999_999;
/**
 * The last ms of a stamp that is taken and followed, the end of the year 9999: a clock that has
 * seen it has 23,000 years left.
 */
export const LAST_TIME = Date.UTC(10_000, 0) - 1;
/** The relay's name in stamps. */
export const RELAY_NODE = 'relay';
const MAX_COUNTER = 999_999;
const FORM = /^(\d{15})-(\d{6})-([A-Za-z0-9_.]{1,64})$/;

export interface StampParts {
  /** ms since the epoch */
  readonly time: number;
  readonly counter: number;
  readonly node: string;
}

export function formatStamp({ time, counter, node }: StampParts): Stamp {
  return `${String(Math.max(0, Math.floor(time))).padStart(15, '0')}-${String(counter).padStart(6, '0')}-${node}`;
}

/** The parts of a stamp, or null where the text is not one. */
export function parseStamp(stamp: string): StampParts | null {
  const match = FORM.exec(stamp);
  if (!match) return null;
  const [, time, counter, node = ''] = match;
  return { time: Number(time), counter: Number(counter), node };
}

export interface Clock {
  /** A stamp later than every stamp this clock has made or followed. */
  next(): Stamp;
  /** Follow a stamp seen on a document from elsewhere. */
  follow(stamp: Stamp): void;
  /**
   * Is this dated later, by more than MAX_AHEAD_MS, than the wall clock and than all that this
   * clock has made or followed?
   */
  isAhead(stamp: Stamp): boolean;
  /** How far what is stamped next lies ahead of the wall clock, in ms; 0: not. */
  lead(): number;
}

/** `now` gives ms since the epoch; `node` names the device: letters, digits, `_` and `.`. */
export function createClock({ now, node }: { now: () => number; node: string }): Clock {
  let time = 0;
  let counter = 0;
  return {
    next() {
      const wall = now();
      if (wall > time) {
        time = wall;
        counter = 0;
      } else if (++counter > MAX_COUNTER) {
        time += 1;
        counter = 0;
      }
      return formatStamp({ time, counter, node });
    },
    follow(stamp) {
      const seen = parseStamp(stamp);
      if (!seen || seen.time > LAST_TIME) return;
      if (seen.time > time) {
        time = seen.time;
        counter = seen.counter;
      } else if (seen.time === time) counter = Math.max(counter, seen.counter);
    },
    isAhead: (stamp) => (parseStamp(stamp)?.time ?? 0) > Math.max(now(), time) + MAX_AHEAD_MS,
    lead: () => Math.max(0, time - now()),
  };
}
