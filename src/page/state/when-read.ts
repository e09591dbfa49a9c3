/**
 * What a page paints before its ledger was read is what it showed last: nothing is decided or dated
 * by that.
 */
import type { StoreApi } from 'zustand/vanilla';
import type { Device } from './ports.ts';
import type { Household } from './household.ts';

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

/** How long somebody who acted at once is kept waiting for the reading, in ms. */
const READ_MS = 20_000;

/**
 * Resolves once the ledger was read or could not be: true, or false where it is still being read
 * after 20 s.
 */
export async function whenRead(device: Device, { store }: Pick<Household, 'store'>): Promise<boolean> {
  await until(device, READ_MS, store, ({ status }) => status !== 'loading');
  return store.getState().status !== 'loading';
}
