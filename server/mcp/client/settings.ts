import type { JsonBounds } from '../../platform/json-bounds.ts';

/** Limits and defaults of MCP servers. Times in ms. */
export const MCP_LIMITS = {
  /** Per household. */
  servers: 20,
  /** Tools that are read per server, and pages of their list. */
  tools: 200,
  pages: 20,
  /** Time to connect, to list everything, and to answer a call or report progress. */
  connectMs: 20_000,
  /** Time for a program to start: its first start may be slow. */
  programConnectMs: 60_000,
  /** After this time, the person is told that a program is still starting. */
  slowStartMs: 5_000,
  /** Time to connect where the program must be fetched first, as by `npx`. */
  fetchedConnectMs: 120_000,
  listMs: 20_000,
  callMs: 120_000,
  /** Longest call, however often its server reports progress. */
  callMostMs: 1_800_000,
  /** Time for the person to answer a server's question. The call's own time stands still. */
  questionMs: 1_800_000,
  /** Between two notifications to a server that its question still waits, if it wants them. */
  questionSignMs: 15_000,
  /** Questions that one call may cause. */
  questionsPerCall: 5,
  /**
   * Per question: fields, options of one field, and characters of its message, of a field's name,
   * and of its schema as JSON.
   */
  questionFields: 20,
  questionOptions: 100,
  questionChars: 2_000,
  questionNameChars: 100,
  questionSchemaChars: 16_000,
  /** Bytes of one message; depth and number of values of its JSON. */
  messageBytes: 5_000_000,
  jsonDepth: 500,
  jsonValues: 20_000,
  /** Messages, bytes and questions of a server within `windowMs`. */
  windowMs: 10_000,
  windowQuestions: 100,
  windowMessages: 5_000,
  windowBytes: 100_000_000,
  /** Parts of an answer that are read, and characters of it that an agent receives. */
  answerParts: 1_000,
  answerChars: 30_000,
  /** Characters of all tool descriptions of a server. */
  toolChars: 1_000_000,
  /**
   * Per tool: characters of its title, its description, and its schema as JSON; depth of the
   * schema.
   */
  titleChars: 120,
  descriptionChars: 4_000,
  schemaChars: 32_000,
  schemaDepth: 24,
  /** Parts of a schema as models receive it, with its references resolved. */
  schemaParts: 2_000,
  /** Concurrent calls to one server. */
  callsAtOnce: 4,
  /** Time for the person to allow a sign-in; bytes of one answer of a sign-in server. */
  signInMs: 600_000,
  signInBytes: 1_000_000,
  /**
   * Characters of one token; number of old tokens that are still removed from the server's output.
   */
  tokenChars: 10_000,
  tokensKept: 8,
  /** Pause before the next try after a failure. It doubles with each further failure in a row. */
  backoffFirst: 1_000,
  backoffMost: 300_000,
  /**
   * Pause between a server's notice that its list has changed and the next request for the list.
   */
  changedMs: 1_000,
  /** Between asking a program to end and killing it. */
  endMs: 2_000,
  /** Time for a program to print its registry address. */
  runnersMs: 10_000,
  /** Characters of an error that are shown. */
  problemChars: 500,
  /** Characters of the end of a program's error output, for the person. */
  errorChars: 1_000,
} as const;

export type McpLimits = Readonly<Record<keyof typeof MCP_LIMITS, number>>;

export const jsonOf = ({ jsonDepth, jsonValues }: Pick<McpLimits, 'jsonDepth' | 'jsonValues'>): JsonBounds => ({
  depth: jsonDepth,
  values: jsonValues,
});
