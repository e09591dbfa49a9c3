/**
 * Direct connections between browsers of one household, as the data worker orders them. A worker
 * cannot have peer connections, so a tab carries them: see `../carrier`.
 *
 * Devices meet through the relay, or by texts that a person copies from one to the other.
 *
 * Main type: `Direct`.
 *
 * Invariants:
 * - A connection counts only for a device of the household: each end's certificate is named in a
 *   description that is sealed with the newest key.
 * - A renewed key ends every connection. The devices that stay are introduced anew.
 * - No server outside the household is asked for addresses.
 *
 * It does not know the contents of the entries that pass.
 */
export { createDirect, type Direct } from './direct.ts';
