/**
 * The kinds of ids.
 *
 * An id is a string whose kind only the compiler knows, so an id of one kind cannot be passed for
 * another. A plain string (a literal, a column of the store) is accepted as any kind. The schemas
 * in `src/shared/protocol/limits.ts` check external input once, where it enters.
 */
declare const kind: unique symbol;
type Id<Kind extends string> = string & { readonly [kind]?: Kind };

/** An agent's id. The lead's is `LEAD_ID`. See `agent-id.ts` for which texts are valid. */
export type AgentId = Id<'agent'>;
/** A conversation between the person and agents, or among agents. */
export type ThreadId = Id<'thread'>;
/** A group of agents that are awake together, from the first WAKE to the end. */
export type SessionId = Id<'session'>;
/** One agent at work, once. */
export type RunId = Id<'run'>;
/** One message or answer, in a conversation or a thread. */
export type MessageId = Id<'message'>;
/** A routine, a reminder, or a script. */
export type ScheduleId = Id<'schedule'>;
/** One browser profile. */
export type DeviceId = Id<'device'>;
/** A project: a board of tasks that agents work on. */
export type ProjectId = Id<'project'>;
/** One task of a project. */
export type TaskId = Id<'task'>;
/** An address at which strangers create a task, or trigger a routine. */
export type WebhookId = Id<'webhook'>;
/** A file of a memory. */
export type MemoryId = Id<'memory'>;
export type DreamId = Id<'dream'>;
export type ExamId = Id<'exam'>;
/** A routine's work on one project. */
export type MappingId = Id<'mapping'>;
