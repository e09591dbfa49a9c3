/**
 * Asks the worker for colours. It begins with the first block of code, and answers in the order in
 * which it is asked.
 */
import type { Coloured } from './colours.ts';

type Lines = readonly (readonly Coloured[])[];

/**
 * ms without an answer, after which it is ended: what was asked stays without colours, and the next
 * block has a new one.
 */
const PATIENCE = 5_000;

let worker: Worker | null = null;
const waiting: ((lines: Lines | null) => void)[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

function giveUp(): void {
  worker?.terminate();
  worker = null;
  clearTimeout(timer);
  for (const answer of waiting.splice(0)) answer(null);
}

function watch(): void {
  clearTimeout(timer);
  if (waiting.length > 0) timer = setTimeout(giveUp, PATIENCE);
}

function begin(): Worker {
  const begun = new Worker(new URL('./colours-worker.ts', import.meta.url), { type: 'module', name: 'roost-colours' });
  begun.addEventListener('message', ({ data }: MessageEvent<Lines | null>) => {
    waiting.shift()?.(data);
    watch();
  });
  // Without its relay the page may not have it: then code stays as it is.
  begun.addEventListener('error', giveUp);
  return begun;
}

/**
 * `code` line by line, as pieces that read as `code` together; null: nobody knows its language
 * here, or it took too long.
 */
export function askForColours(code: string, language: string): Promise<Lines | null> {
  worker ??= begin();
  worker.postMessage({ code, language });
  return new Promise((resolve) => {
    waiting.push(resolve);
    watch();
  });
}
