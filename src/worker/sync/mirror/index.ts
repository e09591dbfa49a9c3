/**
 * A second copy of what a device needs to restore itself, outside IndexedDB: files in the origin's
 * private file system and a mark in `localStorage`.
 *
 * The browser can lose each of the three stores alone. With one of them left, the device knows its
 * household and fetches the rest.
 *
 * Main types: `SealedLog` (a copy of every sealed entry on this device), `Mark` (household, keys
 * and device), `Files`.
 *
 * Invariants:
 * - The log holds sealed entries only.
 * - Where two marks differ, `betterMark` decides which one is used.
 *
 * It does not know the ledger or its documents.
 */
export { createFailures, createOffered, openFiles, type Files } from './files.ts';
export { createSealedLog, type Replacement, type SealedLog } from './log.ts';
export { betterMark, readMark, writeMark, type Mark } from './mark.ts';
export { MIRROR } from './settings.ts';
