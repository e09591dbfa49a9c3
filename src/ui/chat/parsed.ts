/**
 * Texts that were set as Markdown once are kept set: a message that scrolls back into view costs nothing
 * again. What has not been set yet may hold up a frame only so long; what is over that is shown as it stands
 * and set a moment later, between frames.
 */
import type { ReactElement } from 'react';

/** Characters of text whose setting is kept. */
const KEPT_CHARS = 1_500_000;
/** ms of setting that one frame may take. */
const FRAME_BUDGET = 5;
/** ms after which a new frame is reckoned to have begun. */
const FRAME = 16;

/** Oldest use first. */
const kept = new Map<string, ReactElement>();
let keptChars = 0;
let frameBegan = 0;
let spent = 0;

function inFrame(now: number): number {
  if (now - frameBegan > FRAME) {
    frameBegan = now;
    spent = 0;
  }
  return spent;
}

/** Can this text be shown set without holding up the page? */
export const isReady = (text: string): boolean => kept.has(text) || inFrame(performance.now()) < FRAME_BUDGET;

/** `text` set by `set`, or as it was set before. `keep`: it will be asked for again. */
export function settingOf(text: string, set: (text: string) => ReactElement, keep: boolean): ReactElement {
  const known = kept.get(text);
  if (known) {
    kept.delete(text);
    kept.set(text, known);
    return known;
  }
  const began = performance.now();
  inFrame(began);
  const element = set(text);
  spent += performance.now() - began;
  if (!keep) return element;
  kept.set(text, element);
  keptChars += text.length;
  for (const [oldest] of kept) {
    if (keptChars <= KEPT_CHARS) break;
    kept.delete(oldest);
    keptChars -= oldest.length;
  }
  return element;
}
