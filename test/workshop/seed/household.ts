/** A made-up household, written by the same code that writes a person's copy. */
import { open } from 'node:fs/promises';
import { writeHousehold } from '../../../src/page/exports/household/write.ts';
import type { Exported, ReadDocuments } from '../../../src/page/exports/types.ts';
import type { Doc } from '../../../src/shared/protocol/documents.ts';
import { generateHousehold, type HouseholdPlan } from '../../support/household-generator.ts';

/**
 * `small`: enough to see every page with something on it. `year`: a session a day, as somebody who
 * lives with it has.
 */
export const SEED_SIZES = {
  small: { seed: 1, messages: 400, sessions: 8, lastSession: 12, idle: 1 },
  year: { seed: 1, messages: 36_500, sessions: 365, lastSession: 60, idle: 2 },
} as const satisfies Record<string, HouseholdPlan>;
export type SeedSize = keyof typeof SEED_SIZES;

export const isSeedSize = (text: string): text is SeedSize => Object.hasOwn(SEED_SIZES, text);

/** Of a job that only writes. */
const unasked = () => Promise.reject(new Error('Nothing is read while a copy is written.'));

/** By id, as the ledger gives them. */
function readerOf(docs: readonly Doc[]): ReadDocuments {
  const sorted = [...docs].sort((a, b) => (a._id < b._id ? -1 : 1));
  return ({ after, limit }) => {
    const from = after === null ? 0 : Number(after);
    const to = from + limit;
    return Promise.resolve({
      docs: sorted.slice(from, to),
      after: to < sorted.length ? String(to) : null,
      of: sorted.length,
    });
  };
}

/** `exportedAt`: ms since the epoch, as the copy will say. `more`: further documents. */
export async function writeSeed({
  size,
  path,
  exportedAt,
  more = [],
}: {
  readonly more?: readonly Doc[];
  readonly size: SeedSize;
  readonly path: string;
  readonly exportedAt: number;
}): Promise<Exported> {
  const read = readerOf([...[...generateHousehold(SEED_SIZES[size])].flat(), ...more]);
  const file = await open(path, 'w', 0o600);
  try {
    const write = async (bytes: Uint8Array) => {
      await file.write(bytes);
      return null;
    };
    return await writeHousehold(
      { passphrase: null, exportedAt },
      { read, write, compare: unasked, append: unasked, take: unasked },
      () => undefined,
    );
  } finally {
    await file.close();
  }
}
