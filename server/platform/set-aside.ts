/**
 * What cannot be read or finished is set aside: it is reported, and keeps nothing else out. A part
 * of a household, or one row of it, is set aside. A store that is away is no such failure: it is
 * thrown on, because everything would be set aside.
 */

/** What one part does at the start of the relay with what an earlier process left. */
export interface RecoveryStep {
  /** Names the part in reports. */
  readonly part: string;
  run(): Promise<unknown>;
}

/** `id`: of the row. Null: the whole part. */
export interface Aside {
  readonly part: string;
  readonly id: string | null;
  readonly error: unknown;
}

export interface SetAside {
  /** Runs the steps in order. A part that fails is set aside, and the others go on. */
  run(steps: readonly RecoveryStep[]): Promise<void>;
  /** Does the work for each item, one after the other. Items for which it fails are set aside. */
  each<Item>(
    part: string,
    items: readonly Item[],
    idOf: (item: Item) => string,
    work: (item: Item) => Promise<unknown>,
  ): Promise<void>;
  /** What the rows say. Rows that cannot be read are set aside. */
  read<Row, Value>(part: string, rows: readonly Row[], idOf: (row: Row) => string, read: (row: Row) => Value): Value[];
}

interface SetAsideDeps {
  /** A failure that passes by itself, and says nothing about a row. */
  readonly passes: (error: unknown) => boolean;
  /** Called once for each row or part. */
  readonly onSetAside: (aside: Aside) => void;
}

export function createSetAside({ passes, onSetAside }: SetAsideDeps): SetAside {
  const knownKeys = new Set<string>();
  function aside(part: string, id: string | null, error: unknown): void {
    if (passes(error)) throw error;
    const key = JSON.stringify([part, id]);
    if (knownKeys.has(key)) return;
    knownKeys.add(key);
    onSetAside({ part, id, error });
  }
  return {
    async run(steps) {
      for (const { part, run } of steps)
        try {
          await run();
        } catch (error) {
          aside(part, null, error);
        }
    },
    async each(part, items, idOf, work) {
      for (const item of items)
        try {
          await work(item);
        } catch (error) {
          aside(part, idOf(item), error);
        }
    },
    read: (part, rows, idOf, read) =>
      rows.flatMap((row) => {
        try {
          return [read(row)];
        } catch (error) {
          aside(part, idOf(row), error);
          return [];
        }
      }),
  };
}

/** Throws every failure on. */
export const SETS_NOTHING_ASIDE: SetAside = createSetAside({ passes: () => true, onSetAside: () => undefined });
