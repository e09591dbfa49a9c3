/** Limits of tool calls: what is asked and what is stored. */
export const CALL_LIMITS = {
  /** Waiting questions per agent. */
  openPerAgent: 20,
  /** Longest input that the person is asked about, in characters. It is shown whole. */
  askedInput: 200_000,
  /** Characters of an input that are stored after its call: per text, and in total. */
  keptText: 1_000,
  keptInput: 8_000,
  /** Characters of an outcome that are stored. */
  keptOutcome: 4_000,
  /** Characters of an input and of an outcome that its agent is told later. */
  toldInput: 2_000,
  toldOutcome: 30_000,
  /** Characters of a field's name in a sentence about it. */
  fieldChars: 100,
  /** ms for which a yes to a mind's own action stays valid where nobody waited for it. */
  leaveMs: 86_400_000,
  /** ms for which calls are stored. */
  keptMs: 90 * 86_400_000,
  /** ms for which answered questions are shown beside waiting ones. */
  answeredForMs: 86_400_000,
  /** Answered calls that are shown. */
  answeredShown: 50,
  /**
   * ms between a change of an agent's files and the check whether its questions now cover other
   * content.
   */
  recheckMs: 300,
  /** ms between two notifications to pages about new calls. */
  tellEveryMs: 2_000,
  /** Old calls are deleted each time this many were stored. */
  dropEvery: 500,
  /** ms after which a call that runs in another process counts as dead. */
  believedDeadMs: 7_200_000,
} as const;
