/** The line in which programs wait to be started: so many at once over the whole relay, and as memory allows. */
import { freemem } from 'node:os';
import { readFile } from 'node:fs/promises';
import type { ProgramLimits } from './settings.ts';

export interface Starts {
  /** `onPlace`: 1 is next; told whenever it changes. Rejects with an `AbortError` where `signal` aborts before its turn. */
  inTurn<Value>(work: () => Promise<Value>, onPlace: (place: number) => void, signal: AbortSignal): Promise<Value>;
}

/** Bytes that could be given to a program without taking them from another. */
export async function availableMemory(): Promise<number> {
  const told = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const match = /^MemAvailable:\s+(\d+) kB$/m.exec(told);
  return match ? Number(match[1]) * 1_024 : freemem();
}

interface Waiter {
  readonly go: () => void;
  readonly onPlace: (place: number) => void;
}

export function createStarts(
  limits: Pick<ProgramLimits, 'startsAtOnce' | 'freeBytes'>,
  available: () => Promise<number> = availableMemory,
): Starts {
  const waiting: Waiter[] = [];
  let under = 0;
  let looking = false;

  /** The first is always let: where memory is short, they come one after another. */
  async function next(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      while (waiting.length > 0 && under < limits.startsAtOnce) {
        if (under > 0 && (await available()) < limits.freeBytes) break;
        const waiter = waiting.shift();
        if (!waiter) break;
        under += 1;
        waiter.go();
      }
    } finally {
      looking = false;
    }
    waiting.forEach(({ onPlace }, index) => onPlace(index + 1));
  }

  return {
    async inTurn(work, onPlace, signal) {
      await new Promise<void>((resolve, reject) => {
        const refuse = () => reject(new DOMException('It was stopped while it waited.', 'AbortError'));
        const leave = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          refuse();
        };
        const waiter: Waiter = {
          onPlace,
          go() {
            signal.removeEventListener('abort', leave);
            resolve();
          },
        };
        if (signal.aborted) return refuse();
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(waiter);
        void next();
      });
      try {
        return await work();
      } finally {
        under -= 1;
        void next();
      }
    },
  };
}
