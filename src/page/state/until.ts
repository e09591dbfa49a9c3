import type { StoreApi } from 'zustand/vanilla';
import type { Device } from './ports.ts';

/** Resolves when `holds` of what the store has, or after `patience` ms. */
export function until<State>(
  { after }: Pick<Device, 'after'>,
  patience: number,
  store: Pick<StoreApi<State>, 'getState' | 'subscribe'>,
  holds: (state: State) => boolean,
): Promise<void> {
  if (holds(store.getState())) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stop();
      stopTimer();
      resolve();
    };
    const stopTimer = after(patience, done);
    const stop = store.subscribe((state) => {
      if (holds(state)) done();
    });
  });
}
