/**
 * Synchronisation in the data worker: it seals what this device writes, opens what other devices
 * wrote, and stores the household's keys.
 *
 * `sync.ts` is the entry, and says whether this device belongs to a household. `shared.ts` wires
 * the parts of a shared one: `writing.ts`, `holding.ts`, `exchange.ts`, `keys.ts`, `members.ts`.
 *
 * Main type: `Sync`.
 *
 * Invariants:
 * - A device writes each place (writer and counter) once.
 * - An entry counts as held only when its documents are durable in the ledger, or when it waits for
 *   a key or its time.
 * - Only the devices on the roll get the keys of a rotation.
 *
 * It does not know the views or the page. `../SPEC.md` has the protocol.
 */
export { openSyncDatabase } from './entry-store.ts';
export type { Sync } from './contract.ts';
export { householdOf, isSealing, openSync } from './sync.ts';
