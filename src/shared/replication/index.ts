/**
 * Replication of sealed entries between a relay and browsers, or between browsers. The same state
 * machine runs in both.
 *
 * An entry has a place: a writer and a counter. Each side announces what it has as ranges of
 * counters, asks for what it lacks, and pushes new entries.
 *
 * Main types: `Replica` (the state machine), `Link` (one connection), `Frame` (one message;
 * `frames.ts` has the bytes).
 *
 * Invariants:
 * - Frames may be lost, repeated, or arrive in any order. What each side says it has is the truth.
 * - One place never holds two different entries unnoticed: `comparing.ts` finds and reports them.
 * - Every buffer and count has a bound in `settings.ts`.
 *
 * It does not know what entries contain, or which devices may connect.
 */
export type { Backlog, Link, LinkEnd, Replica, ReplicaDeps } from './contract.ts';
export { createReplica } from './replica.ts';
export { REPLICATION, type ReplicationSettings } from './settings.ts';
