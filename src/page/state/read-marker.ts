/**
 * Writes how far was read, of many conversations or threads: the first mark of one at once, further
 * ones with pauses between them, so that reading along writes little.
 */
import type { Doc } from '../../shared/protocol/documents.ts';
import type { Device, OwnerPort } from './ports.ts';

/** ms between two marks of one conversation, while it is being read. */
export const MARK_MS = 3_000;

export interface ReadMarker<Mark extends string | number> {
  /** How far was read on this page; null: it was not looked at. */
  at(key: string): Mark | null;
  /** All that was read on this page. */
  all(): ReadonlyMap<string, Mark>;
  /** It is read up to here. Answers whether that was new. */
  mark(key: string, mark: Mark): boolean;
  /** Nobody looks any more: what is not written yet is written now. */
  flush(key: string): void;
}

interface Deps<Mark> {
  readonly owner: OwnerPort;
  readonly device: Pick<Device, 'after'>;
  readonly docOf: (key: string, mark: Mark) => Doc;
}

export function createReadMarker<Mark extends string | number>({ owner, device, docOf }: Deps<Mark>): ReadMarker<Mark> {
  const read = new Map<string, Mark>();
  /** How much of that is in the ledger or on its way there. */
  const written = new Map<string, Mark>();
  /** Those whose mark was written a moment ago. */
  const resting = new Set<string>();

  const isAhead = (key: string): boolean => {
    const [here, there] = [read.get(key), written.get(key)];
    return here !== undefined && (there === undefined || here > there);
  };

  function flush(key: string): void {
    const mark = read.get(key);
    if (mark === undefined || !isAhead(key)) return;
    written.set(key, mark);
    // What could not be kept is kept with the next that is read; until then it is read on this
    // page.
    owner.call('append', [docOf(key, mark)]).catch(() => written.delete(key));
  }

  function flushAndRest(key: string): void {
    flush(key);
    resting.add(key);
    device.after(MARK_MS, () => {
      resting.delete(key);
      if (isAhead(key)) flushAndRest(key);
    });
  }

  return {
    at: (key) => read.get(key) ?? null,
    all: () => read,
    mark(key, mark) {
      const before = read.get(key);
      if (before !== undefined && mark <= before) return false;
      read.set(key, mark);
      if (!resting.has(key)) flushAndRest(key);
      return true;
    },
    flush,
  };
}
