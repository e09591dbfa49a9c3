/**
 * Seals what was here before this device began to share: everything, oldest first, so that the newest has the
 * highest counters and is fetched first. How far it came is remembered with each step.
 */
import { SYNC_OWNER } from '../settings.ts';
import { rememberMeta, type SyncDatabase } from './database.ts';
import { sealingsOf } from './streams.ts';
import type { LedgerPort, Place } from './ports.ts';
import type { FirstSeal } from './records.ts';
import type { Sealer } from './sealer.ts';

export interface FirstSealDeps {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'betweenAppends' | 'places' | 'documentsAt'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  /** Documents that lie in entries already. */
  readonly sealed: () => Promise<ReadonlySet<string>>;
  readonly onProgress: (progress: { readonly done: number; readonly of: number } | null) => void;
  readonly isClosed: () => boolean;
}

const isAfter = (place: Place, through: FirstSeal['through']) =>
  through === null || place.at > through.at || (place.at === through.at && place.id > through.id);

/** From `state` on. Appends made since go through the outbox; what both bring is harmless. */
export async function sealEverything(
  { db, ledger, sealer, sealed, onProgress, isClosed }: FirstSealDeps,
  state: FirstSeal,
): Promise<void> {
  const places = await ledger.betweenAppends(() => ledger.places());
  const known = places.length === 0 ? new Set<string>() : await sealed();
  const left = places.filter((place) => isAfter(place, state.through) && !known.has(place.id));
  for (let at = 0; at < left.length; at += SYNC_OWNER.firstSeal) {
    if (isClosed()) return;
    const some = left.slice(at, at + SYNC_OWNER.firstSeal);
    const last = some.at(-1);
    const firstSeal: FirstSeal = { done: false, through: last ? { at: last.at, id: last.id } : state.through };
    await sealer.seal(sealingsOf(await ledger.documentsAt(some)), { firstSeal });
    onProgress({ done: at + some.length, of: left.length });
  }
  await rememberMeta(db, { firstSeal: { done: true, through: null } });
  onProgress(null);
}
