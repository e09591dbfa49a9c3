/**
 * What this device was part of when it last ran, as its database and its mark tell: either may be
 * older than the other, or have lost something.
 */
import { readMark, type Mark } from '../mirror/index.ts';
import { readMeta, writeMeta, type SyncDatabase } from './database.ts';
import type { MarkStore } from './mark-keeper.ts';
import type { LedgerPort } from './ports.ts';
import type { Returning } from './records.ts';

export interface LastKnown {
  readonly isMember: boolean;
  readonly removed: boolean;
  readonly returning: Returning | null;
  /** What lies outside of IndexedDB. */
  readonly mark: Mark | null;
  /** Is there nothing in the ledger? */
  readonly isEmpty: boolean;
}

const NOBODY = { human: null, lead: null, agents: 0, documents: 0 };

export async function readLastKnown({
  db,
  ledger,
  mark: store,
  now,
}: {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'team'>;
  readonly mark: MarkStore;
  readonly now: () => number;
}): Promise<LastKnown> {
  const team = await ledger.team();
  await store.load();
  const mark = readMark(store.text());
  const membership = await readMeta(db, 'membership');
  let returning = (await readMeta(db, 'returning')) ?? null;
  // The database is of before the last rotation of the keys, and the mark is not.
  if (
    membership &&
    mark?.membership.household === membership.household &&
    mark.membership.keyring.length > membership.keyring.length
  ) {
    const { keyring, roll, rotations, recovery } = mark.membership;
    await writeMeta(db, { membership: { ...membership, keyring, roll, rotations, recovery } });
  }
  const removed = membership?.removed ?? false;
  const isEmpty = team.documents === 0;
  // The ledger is gone, and the entries are not: they are read again.
  const isGone = membership && !removed && !returning && team.lead === null && team.agents === 0;
  if (isGone && (await db.count('entries')) > 0) {
    returning = { since: now(), team: mark?.team ?? NOBODY };
    await writeMeta(db, { returning, firstSeal: { done: isEmpty, through: null } });
  }
  return { isMember: membership !== undefined, removed, returning, mark, isEmpty };
}
