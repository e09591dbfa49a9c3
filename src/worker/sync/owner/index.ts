/**
 * Synchronisation in the data worker: it seals what this device writes, opens what others wrote,
 * and keeps the household's keys.
 *
 * `sync.ts` is the entry. `participation.ts` says whether this device belongs to a household.
 * `shared.ts` wires the parts of a shared one: `writing.ts`, `holding.ts`, `exchange.ts`,
 * `keys.ts`, `members.ts`.
 *
 * Main type: `Sync`.
 *
 * Invariants:
 * - A device writes each place (writer and counter) once.
 * - An entry counts as held only when its document is durable in the ledger, or when it waits for
 *   a key or its time.
 * - A key rotation goes to the devices on the roll alone.
 *
 * It does not know the views or the page. `../README.md` has the protocol.
 */
export { openSyncDatabase } from './entry-store.ts';
export type { Sync } from './contract.ts';
export { householdOf, isSealing, openSync } from './sync.ts';
