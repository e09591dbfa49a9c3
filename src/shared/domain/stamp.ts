/**
 * Hybrid logical clock stamps (Kulkarni et al., "Logical Physical Clocks", 2014).
 *
 * A stamp is a string that sorts by time. It has 15 digits of milliseconds since the epoch, 6
 * digits of counter, and the node that made it. Devices whose clocks differ still agree on the
 * order of what they have seen of each other. A document that was written with knowledge of another
 * is stamped after it. So a document from the future does not win for good, not even one dated ten
 * years ahead. The next edit is stamped later. A clock that was a year ahead and was corrected
 * continues after its last stamps.
 *
 * External data that is dated further ahead than MAX_AHEAD_MS is therefore held where it enters.
 * That is in a copy (src/page/exports), in a call to the relay, or in an entry of another device
 * (src/worker/sync). The data waits until the person accepts it, or until its time has come. Data
 * that is dated further ahead than MOST_AHEAD_MS is refused, so that nobody can exhaust the clocks
 * of a household. No stamp is later than LAST_TIME, so there is always a later stamp.
 */

export type Stamp = string;

/**
 * How far external data may be dated ahead of this device's clock before the person is asked: 24
 * hours, in ms.
 */
export const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;
/** How far another device's data may be dated ahead at all, in ms: a hundred years. */
export const MOST_AHEAD_MS = 100 * 365 * 24 * 60 * 60 * 1000;
/** The last ms that a stamp can hold and a document may name: the year 33658. */
export const MAX_TIME = 999_999_999_999_999;
/**
 * The last ms of a stamp that a clock follows: the end of the year 9999. A clock that has seen it
 * has 23,000 years left.
 */
export const LAST_TIME = Date.UTC(10_000, 0) - 1;
/** The relay's node name in stamps. */
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

/** The parts of a stamp. Null: the text is not a stamp. */
export function parseStamp(stamp: string): StampParts | null {
  const match = FORM.exec(stamp);
  if (!match) return null;
  const [, time, counter, node = ''] = match;
  return { time: Number(time), counter: Number(counter), node };
}

export interface Clock {
  /** Returns a stamp later than every stamp that this clock has made or followed. */
  next(): Stamp;
  /** Follows a stamp of an external document. */
  follow(stamp: Stamp): void;
  /**
   * Whether the stamp is more than MAX_AHEAD_MS later than both the wall clock and every stamp this
   * clock has made or followed.
   */
  isAhead(stamp: Stamp): boolean;
  /** How far the next stamp is ahead of the wall clock, in ms. 0: it is not. */
  lead(): number;
}

/** `now` returns ms since the epoch. `node` names the device: letters, digits, `_` and `.`. */
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
