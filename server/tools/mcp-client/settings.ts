import type { JsonBounds } from '../../platform/json-bounds.ts';

/** Every limit and default of attached MCP servers; times in ms. */
export const ATTACHED_LIMITS = {
  /** Of one household. */
  servers: 20,
  /** Tools of one server that are looked at; pages of its list. */
  tools: 200,
  pages: 20,
  /**
   * Until it has said hello; has listed all that it has; has answered a call, or said how far it is
   * with it.
   */
  connectMs: 20_000,
  /** The same where it has to be fetched first, as by `npx`. */
  fetchedConnectMs: 120_000,
  listMs: 20_000,
  callMs: 120_000,
  /** A whole call, however often its server says how far it is. */
  callMostMs: 1_800_000,
  /** Until the person has answered a question of a server; that time is none of the call's. */
  questionMs: 1_800_000,
  /** Between two signs to a server that its question still stands, where it wants to know. */
  questionSignMs: 15_000,
  /** Questions that one call may bring about. */
  questionsPerCall: 5,
  /**
   * Of a question: fields, options of one field, characters of its message, of a field's name, and
   * of its schema as JSON.
   */
  questionFields: 20,
  questionOptions: 100,
  questionChars: 2_000,
  questionNameChars: 100,
  questionSchemaChars: 16_000,
  /** Bytes of one message of it; levels and values of its JSON. */
  messageBytes: 5_000_000,
  jsonDepth: 500,
  jsonValues: 20_000,
  /** Messages, bytes and questions of a server within `windowMs`. */
  windowMs: 10_000,
  windowQuestions: 100,
  windowMessages: 5_000,
  windowBytes: 100_000_000,
  /** Parts of an answer that are read, and characters of it that an agent is given. */
  answerParts: 1_000,
  answerChars: 30_000,
  /** Characters with which a server describes all of its tools. */
  toolChars: 1_000_000,
  /**
   * Of a tool: characters of its title, its description, and its schema as JSON; levels of the
   * schema.
   */
  titleChars: 120,
  descriptionChars: 4_000,
  schemaChars: 32_000,
  schemaDepth: 24,
  /** Parts of a schema as minds are told it, with what it refers to in its place. */
  schemaParts: 2_000,
  /** Calls of one server at once. */
  callsAtOnce: 4,
  /** Until the person has allowed a sign-in; bytes of one answer of a sign-in server. */
  signInMs: 600_000,
  signInBytes: 1_000_000,
  /**
   * Characters of one token; and how many tokens of the past are still taken out of what the server
   * says.
   */
  tokenChars: 10_000,
  tokensKept: 8,
  /** Before it is tried again after it failed; doubles with each in a row. */
  backoffFirst: 1_000,
  backoffMost: 300_000,
  /** After it said that its list has changed, before it is asked. */
  changedMs: 1_000,
  /** Between asking a program to end and ending it. */
  endMs: 2_000,
  /** Until a program that is asked where it fetches others from has said so. */
  runnersMs: 10_000,
  /** Characters of an error that are told. */
  problemChars: 500,
  /** Characters of the end of what a program wrote to its errors, for the person. */
  errorChars: 1_000,
} as const;

export type AttachedLimits = Readonly<Record<keyof typeof ATTACHED_LIMITS, number>>;

export const jsonOf = ({ jsonDepth, jsonValues }: Pick<AttachedLimits, 'jsonDepth' | 'jsonValues'>): JsonBounds => ({
  depth: jsonDepth,
  values: jsonValues,
});
