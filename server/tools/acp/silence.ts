/** How long a program may say nothing while it is at work. */
import { sentence } from '../../../src/shared/domain/sentence.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { ProgramError } from './line.ts';

const MS_PER_MINUTE = 60_000;

export interface Silence {
  /** It said something. */
  sign(): void;
  /**
   * It waits for somebody's answer, until what this gives is called: meanwhile no silence is its
   * own.
   */
  hold(): () => void;
  /**
   * From now on; `onSilent` once, with what to say of it, after `silentMs` without a sign. Gives
   * back what ends the watch.
   */
  watch(onSilent: (error: ProgramError) => void): () => void;
}

/** `name`: of the program; one watch at a time. */
export function createSilence(name: string, silentMs: number, timers: Pick<Timers, 'after'>): Silence {
  let held = 0;
  let onSilent: ((error: ProgramError) => void) | null = null;
  let cancel: () => void = () => undefined;
  function sign(): void {
    cancel();
    const tell = onSilent;
    if (tell === null || held > 0) return;
    const minutes = silentMs / MS_PER_MINUTE;
    cancel = timers.after(silentMs, () =>
      tell(new ProgramError('hangs', sentence`${name} said nothing for ${minutes} minutes, and was ended.`)),
    );
  }
  return {
    sign,
    hold() {
      held += 1;
      sign();
      return () => {
        held -= 1;
        sign();
      };
    },
    watch(tell) {
      onSilent = tell;
      sign();
      return () => {
        onSilent = null;
        cancel();
      };
    },
  };
}
