/** Every limit and default of attached MCP servers; times in ms. */
export const ATTACHED_LIMITS = {
  /** Of one household. */
  servers: 20,
  /** Tools of one server that are looked at; pages of its list. */
  tools: 200,
  pages: 20,
  /** Until it has said hello; told what it has; answered a call. */
  connectMs: 20_000,
  listMs: 20_000,
  callMs: 120_000,
  /** Bytes of one message of it. */
  messageBytes: 10_000_000,
  /** Messages and bytes of a program within `windowMs`. */
  windowMs: 1_000,
  windowMessages: 2_000,
  windowBytes: 40_000_000,
  /** Characters of an answer that an agent is given. */
  answerChars: 30_000,
  /** Of a tool: characters of its description, and its schema’s as JSON; levels of that. */
  descriptionChars: 4_000,
  schemaChars: 32_000,
  schemaDepth: 24,
  /** Calls of one server at once. */
  callsAtOnce: 4,
  /** Until the person has allowed a sign-in; bytes of one answer of a sign-in server. */
  signInMs: 600_000,
  signInBytes: 1_000_000,
  /** Before it is tried again after it failed; doubles with each in a row. */
  againMs: 1_000,
  againMostMs: 300_000,
  /** After it said that its list has changed, before it is asked. */
  changedMs: 1_000,
  /** Between asking a program to end and ending it. */
  endMs: 2_000,
  /** Characters of an error that are told. */
  problemChars: 500,
  /** Characters of the end of what a program wrote to its errors, for the person. */
  errorChars: 1_000,
} as const;

export type AttachedLimits = Readonly<Record<keyof typeof ATTACHED_LIMITS, number>>;
