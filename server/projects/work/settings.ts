/** Limits of the work on tasks. */
export const TASK_WORK_SETTINGS = {
  /** Files of a repository with instructions for agents. The first that is there is read. */
  instructions: ['AGENTS.md', 'CLAUDE.md'],
  instructionBytes: 32_000,
  /** Bytes of `.gitmodules` that are read. */
  submoduleBytes: 100_000,
  /** Paths of a list that an agent is told. */
  pathsNamed: 50,
  /** Paths that the relay could not commit, and that an agent is told. */
  leftNamed: 20,
  /** How long a task waits after its model’s provider was overloaded, in ms. */
  overloadedMs: 300_000,
  /** Characters of the end of what a failed setup wrote, in the history of its task. */
  setupNoteChars: 600,
  /** Attempts of a task, the newest, that an agent is told. */
  attemptsTold: 5,
  /** Rewritten commits, the newest, that an agent is told. */
  rewrittenTold: 10,
  /** Comments on lines, the newest, that an agent is told. */
  lineCommentsTold: 50,
  /** Tasks, and files of one checkout, that are named when a project is deleted. */
  lostNamed: 10,
  /** Searches of all projects at the same time. */
  findsAtOnce: 2,
  /** Entries of an agent's folder that a search looks at. */
  findEntries: 5_000,
  /** Requests to a model for one review. */
  reviewTurns: 3,
  /** A call of a forge, in ms. */
  forgeMs: 15_000,
  /** Most of an answer of a forge. */
  forgeAnswer: { messageBytes: 4_000_000, json: { depth: 30, values: 100_000 } },
  /** Requests in its list. */
  forgeListed: 50,
} as const;
