/** The table of commands. It is loaded directly after the first paint, which does not need it. */
import { useSyncExternalStore } from 'react';
import { createListeners } from '../../../shared/domain/platform/events.ts';
import type { Around, Command } from './command.ts';
import type { seatCommands, leadCommands } from './seat.ts';
import type { wakeWays } from './table.ts';

export interface Commands {
  readonly commandsOf: (around: Around) => readonly Command[];
  readonly wakeWays: typeof wakeWays;
  readonly seatCommands: typeof seatCommands;
  readonly leadCommands: typeof leadCommands;
}

let loadedCommands: Commands | null = null;
let coming: Promise<Commands> | null = null;
const arrived = createListeners();

/** Rejects if it cannot be loaded now. The next call tries again. */
export function fetchCommands(): Promise<Commands> {
  coming ??= Promise.all([import('./table.ts'), import('./seat.ts')]).then(
    ([table, seat]) => {
      loadedCommands = { ...table, ...seat };
      arrived.tell();
      return loadedCommands;
    },
    (error: unknown) => {
      coming = null;
      throw error;
    },
  );
  return coming;
}

/** null until it is loaded. */
export const useCommands = (): Commands | null => useSyncExternalStore(arrived.subscribe, () => loadedCommands);
