import type { z } from 'zod';
import { NAME_MAX } from '../domain/names.ts';

// Ids in schemas. The schema checks the text, and the caller names the kind of the id.

/** The same schema, whose output is an id of that kind; see src/shared/domain/ids.ts. */
export const idOf = <Id extends string>(schema: z.ZodType<string, string>): z.ZodType<Id, Id> =>
  schema as z.ZodType<Id, Id>;

/** Limits of all sizes on the wire. In characters unless the name says otherwise. */
export const LIMITS = {
  /** Maximum number of agents with their own model in a session: more than there are seats. */
  agentModels: 64,
  /** A message of the person. */
  messageText: 1_000_000,
  /** A message between agents. Many may be read in one turn, so it is shorter than a person's. */
  agentMessageText: 100_000,
  /** A `[WAKE AGENTS]` message: eight souls and transcripts, escaped. */
  teamCallText: 12_000_000,
  /** Any request body, in bytes. */
  bodyBytes: 40_000_000,
  /** Nesting depth of lists and objects in a JSON body. */
  jsonDepth: 100,
  /**
   * Bytes and number of values in the body of a call that sets no other limit. Parsing time depends
   * more on the number of values than on bytes.
   */
  callBytes: 2_000_000,
  callValues: 5_000,
  /** Values in a call with long lists. */
  listValues: 50_000,
  /** Values in an API client's model request. Each message of a long conversation has about ten. */
  modelValues: 100_000,
  name: NAME_MAX,
  /** A language tag, BCP 47 (RFC 5646, 4.4.1). */
  languageTag: 35,
  id: 128,
  threadTitle: 200,
  /** Forgotten agents that a page lists: the newest. */
  forgotten: 1_000,
  /** Requests to forget that a page names with an agent snapshot. */
  knownForgets: 20_000,
  /** Fewest characters of a sentence that is searched for in everything. */
  sentence: 3,
  /** Requests to forget that a page hands over in one call. */
  forgets: 200,
  /** Agents in one thread: the lead and eight others. */
  threadParticipants: 9,
  threadSummary: 20_000,
  /**
   * A record's id: an agent's id and the record's type. Longer ones are agents' names as JSON text.
   */
  recordId: 1_000,
  /** All current and former members of a thread. */
  recordMembers: 1_000,
  /** Records that are compared, or restored, in one call. */
  recordsCompared: 2_000,
  recordsOffered: 200,
  /** The label of a credential: where it is used. */
  credentialLabel: 80,
  /** The person's changes that a page shows at once. */
  changeLog: 5_000,
  /** An agent's soul. */
  soul: 1_000_000,
  /** A search text, in characters, and hits of one search. */
  searchText: 1_000,
  searchAnswers: 200,
  /**
   * Results of an agent's search: passages, characters of each, and threads that are searched,
   * newest first.
   */
  searchPassages: 25,
  searchPassage: 1_200,
  searchedThreads: 500,
  /**
   * Maximum ms of silence on the event stream. A client may treat twice this silence as a lost
   * connection.
   */
  heartbeatMs: 10_000,
} as const;
