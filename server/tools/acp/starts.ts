/**
 * The line in which programs wait to be started: one for all homes, with so many under way as its
 * own household has set, and as memory allows.
 */
import { memoryLeft } from '../../platform/processes/index.ts';
import type { ProgramLimits } from './settings.ts';

export interface Starts {
  /**
   * `onPlace`: 1 is next; told whenever it changes. `most`: how many may be under way with it, as
   * its household has set it. Rejects with an `AbortError` where `signal` aborts before its turn.
   */
  inTurn<Value>(
    work: () => Promise<Value>,
    onPlace: (place: number) => void,
    signal: AbortSignal,
    most: () => Promise<number>,
  ): Promise<Value>;
  /** What a household has set may be another now. */
  look(): void;
}

interface Waiter {
  readonly go: () => void;
  readonly onPlace: (place: number) => void;
  readonly most: () => Promise<number>;
}

export function createStarts(
  limits: Pick<ProgramLimits, 'freeBytes'>,
  available: () => Promise<number> = async () => (await memoryLeft()).available,
): Starts {
  const waiting: Waiter[] = [];
  let under = 0;
  /** Something has changed that whoever looks now may not have seen. */
  let [looking, again] = [false, false];

  /**
   * One is always let: where memory is short, or what is set cannot be read, they come one after
   * another.
   */
  const mayStart = async ({ most }: Waiter) =>
    under === 0 || (under < (await most().catch(() => 1)) && (await available()) >= limits.freeBytes);

  async function next(): Promise<void> {
    again = true;
    if (looking) return;
    looking = true;
    try {
      while (again) {
        again = false;
        for (let first = waiting[0]; first && (await mayStart(first)); first = waiting[0]) {
          // It may have left the line meanwhile.
          if (waiting[0] !== first) continue;
          waiting.shift();
          under += 1;
          first.go();
        }
      }
    } finally {
      looking = false;
    }
    waiting.forEach(({ onPlace }, index) => onPlace(index + 1));
  }

  return {
    async inTurn(work, onPlace, signal, most) {
      await new Promise<void>((resolve, reject) => {
        const refuse = () => reject(new DOMException('It was stopped while it waited.', 'AbortError'));
        const leave = () => {
          waiting.splice(waiting.indexOf(waiter), 1);
          refuse();
        };
        const waiter: Waiter = {
          onPlace,
          most,
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
    look: () => void next(),
  };
}
