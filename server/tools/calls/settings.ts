/** Sizes and counts of what is asked for and kept of tool calls. */
export const CALL_LIMITS = {
  /** Questions of one agent that wait for the person at once. */
  openPerAgent: 20,
  /** Characters of an input that the person is asked about: it is shown whole. */
  askedInput: 200_000,
  /** Characters that are kept of an input when its call is over: of one text in it, and of all. */
  keptText: 1_000,
  keptInput: 8_000,
  /** Characters that are kept of an answer. */
  keptOutcome: 4_000,
  /** Characters of an input, and of an answer, that are told its agent later. */
  toldInput: 2_000,
  toldOutcome: 30_000,
  /** Characters of a field’s name in a sentence about it. */
  fieldChars: 100,
  /** ms for which a yes holds to what a mind does by itself, where nobody waited for it. */
  leaveMs: 86_400_000,
  /** ms that calls are kept. */
  keptMs: 90 * 86_400_000,
  /** ms for which what was answered is shown beside what waits. */
  answeredForMs: 86_400_000,
  /** Calls that are shown as answered. */
  answeredShown: 50,
  /**
   * ms after a change of an agent's files, before it is looked whether its questions are to
   * something else by now.
   */
  lookMs: 300,
  /** ms between two words to pages that there are new calls. */
  tellEveryMs: 2_000,
  /** Calls that were kept after which old ones are dropped. */
  dropEvery: 500,
  /** ms after which a call that runs in another process is believed dead. */
  believedDeadMs: 7_200_000,
} as const;
