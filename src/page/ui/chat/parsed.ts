/**
 * Texts that were set as Markdown once are kept set: a message that scrolls back into view costs
 * nothing again. What has not been set yet may hold up a frame only so long; what is over that is
 * shown as it stands and set a moment later, between frames.
 */

/** ms of setting that one frame may take. */
const FRAME_BUDGET = 5;
/** ms after which a new frame is reckoned to have begun. */
const FRAME = 16;

let frameBegan = 0;
let spent = 0;

function inFrame(now: number): number {
  if (now - frameBegan > FRAME) {
    frameBegan = now;
    spent = 0;
  }
  return spent;
}

/** Can another text be set without holding up the page? */
export const isTimeLeft = (): boolean => inFrame(performance.now()) < FRAME_BUDGET;

interface Kept<T> {
  has(key: string): boolean;
  /** What was made for this key, or is made now. */
  get(key: string, make: () => T): T;
}

/** Keeps what was used last. @param chars Characters of all keys together that are kept. */
export function createKept<T>(chars: number): Kept<T> {
  /** Oldest use first. */
  const kept = new Map<string, T>();
  let keptChars = 0;
  return {
    has: (key) => kept.has(key),
    get(key, make) {
      const known = kept.get(key);
      if (known !== undefined) {
        kept.delete(key);
        kept.set(key, known);
        return known;
      }
      const began = performance.now();
      inFrame(began);
      const made = make();
      spent += performance.now() - began;
      kept.set(key, made);
      keptChars += key.length;
      for (const [oldest] of kept) {
        if (keptChars <= chars) break;
        kept.delete(oldest);
        keptChars -= oldest.length;
      }
      return made;
    },
  };
}
