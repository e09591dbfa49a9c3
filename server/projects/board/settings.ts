/** Times and quotas of projects. Times in ms. */
export const PROJECT_SETTINGS = {
  /** A claim of a run ends this long after its last renewal. It is renewed while the run lasts. */
  leaseMs: 30_000,
  renewMs: 10_000,
  /** A claim of an API client ends this long after the client's last call of a project. */
  clientLeaseMs: 900_000,
  /** Claims in a row whose place of work cannot be prepared, after which the task is blocked. */
  unpreparedMost: 2,
  /** How long the list of agents with a project is used. Another relay may change it. */
  assignedMs: 5_000,
  /** Tasks that one agent may create in an hour. */
  createdInAnHour: 60,
  hourMs: 3_600_000,
  /**
   * How far changes of a board reach back behind the last answer. No change takes this long from
   * its first statement to its commit.
   */
  changesOverlapMs: 30_000,
  /** Projects or tasks that are announced as records in one batch. */
  recordsAnnounced: 100,
  /** Tasks that came as records, in one question to the person, and their characters together. */
  askedTasks: 50,
  askedCharacters: 200_000,
  /** Tasks in one answer of `get_ready_tasks`. */
  readyListed: 20,
  /** Searches of a household at once. One reads so many tasks at a time. */
  searchesAtOnce: 2,
  searchPage: 200,
  /** Words of a search that are compared in SQL: the longest. */
  searchWords: 5,
  /** Lists of ended attempts leave out one that took longer than this. */
  longestAttemptMs: 604_800_000,
  /** Bytes that projects, tasks, comments and attempts of one household may take together. */
  householdBytes: 200_000_000,
  /** How long a count of these bytes is used, and how long after a refusal. */
  countedMs: 60_000,
  recountMs: 2_000,
  /** The newest comments of a task that the tool `get_task_context` returns. */
  commentsShown: 50,
} as const;
