/**
 * The page on paper. While it is printed, what is drawn only near what is in sight is drawn whole.
 * A browser says that it prints just before it does, and waits for nothing: what has to be read
 * first is read by `printOpen`.
 */
import { createListeners } from '../../../shared/domain/platform/events.ts';
import { useSyncExternalStore } from 'react';
import { flushSync } from 'react-dom';

let printing = false;
const listeners = createListeners();

function setPrinting(next: boolean): void {
  if (printing === next) return;
  printing = next;
  flushSync(() => listeners.tell());
}
const begin = () => setPrinting(true);
const end = () => setPrinting(false);

function subscribe(listener: () => void): () => void {
  if (listeners.count() === 0) {
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
  }
  const stop = listeners.subscribe(listener);
  return () => {
    stop();
    if (listeners.count() > 0) return;
    removeEventListener('beforeprint', begin);
    removeEventListener('afterprint', end);
  };
}

/** Is the page being printed? For what begins to be drawn just then. */
export const isPrinting = (): boolean => printing;
export const usePrinting = (): boolean => useSyncExternalStore(subscribe, isPrinting);

/** Reads what is to be printed. Answers whether it is all there. */
type Prepare = () => Promise<boolean>;
let open: Prepare | null = null;

/**
 * The conversation that is open is printed from its beginning. Returns the way to take that back.
 */
export function setPrinted(prepare: Prepare): () => void {
  open = prepare;
  return () => {
    if (open === prepare) open = null;
  };
}
export const canPrint = (): boolean => open !== null;

/** ms for which pictures on the sheet are waited for, and between two looks at them. */
const PICTURES = 3_000;
const LOOK = 50;
/** ms for which the sheet is kept where a browser does not say that it has printed. */
const KEPT = 120_000;

const isDrawn = () =>
  document.querySelector('.print-sheet [data-waits=true]') === null &&
  [...document.querySelectorAll<HTMLImageElement>('.print-sheet img')].every(({ complete }) => complete);

/** Reads all of the conversation that is open, and has the browser print it. */
export async function printOpen(): Promise<void> {
  const prepare = open;
  if (!prepare || !(await prepare())) return;
  begin();
  for (let waited = 0; waited < PICTURES && !isDrawn(); waited += LOOK)
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  // Some go on at once, and read the sheet later.
  setTimeout(end, KEPT);
  print();
}
