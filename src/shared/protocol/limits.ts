import { NAME_MAX } from '../domain/names.ts';

/** Every size that a line crossing may have. Characters unless a name says otherwise. */
export const LIMITS = {
  /** Agents for which a session is told a model of their own: more than ever sit. */
  agentModels: 64,
  /** A message a person writes. */
  messageText: 1_000_000,
  /**
   * A message of one agent to another. Many may be read in one turn, so it is shorter than a
   * person's.
   */
  agentMessageText: 100_000,
  /** A `[WAKE AGENTS]` message: eight souls and transcripts, escaped. */
  teamCallText: 12_000_000,
  /** Any request body, in bytes. */
  bodyBytes: 40_000_000,
  /** Lists and objects in each other in the JSON of a body. */
  jsonDepth: 100,
  /**
   * Bytes of the body of a call, and values in it, where the call says nothing else: their number
   * costs more time to read than their bytes.
   */
  callBytes: 2_000_000,
  callValues: 5_000,
  /** The same of calls with long lists. */
  listValues: 50_000,
  /**
   * Values in a request of a client to a model: a long conversation has some ten in each of its
   * messages.
   */
  modelValues: 100_000,
  name: NAME_MAX,
  /** Of a language, BCP 47 (RFC 5646, 4.4.1). */
  languageTag: 35,
  id: 128,
  threadTitle: 200,
  /** Agents forgotten for good that a page names: the newest. */
  forgotten: 1_000,
  /** Agents in one thread: the lead and eight. */
  threadParticipants: 9,
  threadSummary: 20_000,
  /**
   * What names a record: an agent's id and whose kind it is. Longer ones are agents' names as JSON
   * text.
   */
  recordId: 1_000,
  /** Everybody who ever was in one thread. */
  recordMembers: 1_000,
  /** Records that are compared, or given back, in one call. */
  recordsCompared: 2_000,
  recordsOffered: 200,
  /** Where a credential is used. */
  credentialLabel: 80,
  /** Changes of the person that a page shows at once. */
  changeLog: 5_000,
  /** An agent's soul. */
  soul: 1_000_000,
  /** What somebody looks for, in characters, and what is found at once. */
  searchText: 1_000,
  searchAnswers: 200,
  /**
   * What an agent is given of what it looks for: pieces, characters of each; threads that are
   * looked through, the newest.
   */
  searchPassages: 25,
  searchPassage: 1_200,
  searchedThreads: 500,
  /**
   * The event stream says something at least this often, in ms; a client may take twice this
   * silence for a loss.
   */
  heartbeatMs: 10_000,
} as const;
