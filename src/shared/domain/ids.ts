/**
 * The kinds of ids. An id is a text; its kind is known to the compiler alone, so that an id of one
 * kind never passes for one of another. A text of which nobody said what it is (a literal, a column
 * of the store) passes for any: what comes in from outside is asked by the schemas of
 * `src/shared/protocol/ids.ts`, once.
 */
declare const kind: unique symbol;
type Id<Kind extends string> = string & { readonly [kind]?: Kind };

/** An agent’s; the lead’s is `LEAD_ID`. Which texts can be one: see `agent-id.ts`. */
export type AgentId = Id<'agent'>;
/** A conversation between the person and agents, or among agents. */
export type ThreadId = Id<'thread'>;
/** Everybody awake at once, from the first WAKE to the end. */
export type SessionId = Id<'session'>;
/** One agent at work, once. */
export type RunId = Id<'run'>;
/** One message or answer, in a conversation or a thread. */
export type MessageId = Id<'message'>;
/** A routine, a reminder, or a script. */
export type ScheduleId = Id<'schedule'>;
/** One browser profile. */
export type DeviceId = Id<'device'>;
/** One person’s agents, on all their devices. */
export type HouseholdId = Id<'household'>;
