/** Replication: one state machine over a store and links, for the relay and for browsers. */
export type { Backlog, Link, LinkEnd, Replica, ReplicaDeps } from './contract.ts';
export { createReplica } from './replica.ts';
export { REPLICATION, type ReplicationSettings } from './settings.ts';
