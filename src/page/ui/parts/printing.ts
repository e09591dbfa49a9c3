/**
 * Prints the page. While printing, virtual content is rendered completely. A browser announces
 * printing just before it starts and waits for nothing, so `printOpen` loads what is needed first.
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

/** Is the page being printed? For components that mount just then. */
export const isPrinting = (): boolean => printing;
export const usePrinting = (): boolean => useSyncExternalStore(subscribe, isPrinting);

/** Loads what is to be printed. Returns whether it is complete. */
type Prepare = () => Promise<boolean>;
let open: Prepare | null = null;

/** The open conversation is printed from its beginning. Returns a function that reverts this. */
export function setPrinted(prepare: Prepare): () => void {
  open = prepare;
  return () => {
    if (open === prepare) open = null;
  };
}
export const canPrint = (): boolean => open !== null;

/** ms to wait for pictures on the sheet, and between two checks of them. */
const PICTURES = 3_000;
const POLL_MS = 50;
/** ms for which the sheet stays if a browser does not report the end of printing. */
const KEPT = 120_000;

const isDrawn = () =>
  document.querySelector('.print-sheet [data-waits=true]') === null &&
  [...document.querySelectorAll<HTMLImageElement>('.print-sheet img')].every(({ complete }) => complete);

/** Loads the complete open conversation and prints it. */
export async function printOpen(): Promise<void> {
  const prepare = open;
  if (!prepare || !(await prepare())) return;
  begin();
  for (let waited = 0; waited < PICTURES && !isDrawn(); waited += POLL_MS)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  // Some browsers return at once and read the sheet later.
  setTimeout(end, KEPT);
  print();
}
