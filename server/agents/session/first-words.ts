/**
 * Asking an agent that is on its way for its first words. Each try is a conversation of its own,
 * and has its time, which runs while it is its turn at the model's server; there is one more where
 * what went wrong may pass by itself.
 */
import type { MindError, RequestState } from '../minds/index.ts';
import { mayPass } from './reasons.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';

export interface FirstWords {
  /** Asks for the first time. */
  ask(): void;
  /** Where its request is. */
  onState(state: RequestState): void;
  /** It has said something: the time of this try does not run any more. */
  heard(): void;
  /** Nothing is being asked: no time runs until the next request. */
  pause(): void;
  /** This try is over without what was wanted. Whether there will be another. */
  tryAgain(failure: MindError | null): boolean;
  /** Whether this try ended because nothing was said in its time. */
  isSilent(): boolean;
  /** It waits for its second try. */
  isBetweenTries(): boolean;
  /** Nothing more is asked, and no time runs. */
  stop(): void;
}

export interface FirstWordsDeps {
  readonly timers: Timers;
  /** ms that a try may be silent. */
  readonly timeoutMs: number;
  /** ms before the second try. */
  readonly secondTryMs: number;
  /** Begins a try. */
  readonly ask: () => void;
  /** Nothing was said in its time: ends the try. */
  readonly onSilence: () => void;
}

const MOST_TRIES = 2;

export function createFirstWords({ timers, timeoutMs, secondTryMs, ask, onSilence }: FirstWordsDeps): FirstWords {
  let tries = 0;
  let silent = false;
  let hasSpoken = false;
  let stopped = false;
  let between = false;
  let cancelTimer: () => void = () => undefined;

  function begin(): void {
    if (stopped) return;
    tries += 1;
    silent = false;
    hasSpoken = false;
    between = false;
    ask();
  }

  return {
    ask: begin,
    onState({ kind }) {
      if (hasSpoken || stopped) return;
      cancelTimer();
      if (kind !== 'sent') return;
      cancelTimer = timers.after(timeoutMs, () => {
        silent = true;
        onSilence();
      });
    },
    heard() {
      hasSpoken = true;
      cancelTimer();
    },
    pause: () => cancelTimer(),
    tryAgain(failure) {
      cancelTimer();
      if (stopped || tries >= MOST_TRIES || !(silent || mayPass(failure))) return false;
      between = true;
      cancelTimer = timers.after(secondTryMs, begin);
      return true;
    },
    isSilent: () => silent,
    isBetweenTries: () => between,
    stop() {
      stopped = true;
      between = false;
      cancelTimer();
    },
  };
}
