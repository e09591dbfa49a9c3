/**
 * Waits for the ledger. Until it is read, the page shows the team of the last visit, on which no
 * decision or date may depend.
 */
import type { StoreApi } from 'zustand/vanilla';
import type { Device } from './ports.ts';
import type { Household } from './household.ts';

/** Resolves when `holds` is true for the store's state, or after `patience` ms. */
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

/** Longest wait, in ms, of a person who acts before the ledger is read. */
const READ_MS = 20_000;

/** Resolves with true once reading the ledger has succeeded or failed, or with false after 20 s. */
export async function whenRead(device: Device, { store }: Pick<Household, 'store'>): Promise<boolean> {
  await until(device, READ_MS, store, ({ status }) => status !== 'loading');
  return store.getState().status !== 'loading';
}
