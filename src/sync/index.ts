/** Synchronisation, for the ledger's owner. */
export type { EpochKey, HouseholdKeys, Lane, Opened } from './contract.ts';
