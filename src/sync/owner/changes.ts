/** Who waits for something to have become so. */
import type { Timers } from '../../domain/platform/timers.ts';

export interface Changes {
  /** Something may have changed. */
  tell(): void;
  /** Resolves when `holds`, or after `patience` ms. */
  until(holds: () => boolean, patience: number): Promise<void>;
}

export function createChanges(timers: Timers, onChange: () => void): Changes {
  const watchers = new Set<() => void>();
  return {
    tell() {
      for (const watcher of watchers) watcher();
      onChange();
    },
    until: (holds, patience) =>
      new Promise((resolve) => {
        const done = () => {
          watchers.delete(look);
          cancel();
          resolve();
        };
        const look = () => {
          if (holds()) done();
        };
        const cancel = timers.after(patience, done);
        watchers.add(look);
        look();
      }),
  };
}
