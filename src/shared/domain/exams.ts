/**
 * Exams: before something about an agent changes, a copy of it answers the same questions under
 * the old and the new condition. The person sees both answers and decides. The agent itself is not
 * touched. What the person decided stays as a certificate. States and limits. Pure.
 *
 * - `running`: requests are under way. Their context is in memory alone.
 * - `answered`: both conditions have answered, and the person has not decided.
 * - `kept`: the person took the new condition. This is a certificate.
 * - `declined`: the person stayed with the old one. This is a certificate.
 * - `failed`: it ended without answers.
 */
export const EXAM_STATES = ['running', 'answered', 'kept', 'declined', 'failed'] as const;
export type ExamState = (typeof EXAM_STATES)[number];
const NEXT: Readonly<Record<ExamState, readonly ExamState[]>> = {
  // What a request cost is noted while the exam goes on.
  running: ['running', 'answered', 'failed'],
  answered: ['kept', 'declined'],
  kept: [],
  declined: [],
  failed: [],
};
/** The states from which an exam may come to this one. */
export const examStatesBefore = (to: ExamState): readonly ExamState[] =>
  EXAM_STATES.filter((from) => NEXT[from].includes(to));
/** Nothing more happens to an exam in such a state. */
export const isExamOver = (state: ExamState): boolean => NEXT[state].length === 0;

/**
 * What is about to change. The person asks for an exam of each but `upgrade`, which
 * `roost upgrade` holds before it migrates a home.
 */
export const ASKED_EXAM_CAUSES = ['model', 'compaction', 'import'] as const;
export type AskedExamCause = (typeof ASKED_EXAM_CAUSES)[number];
export const EXAM_CAUSES = [...ASKED_EXAM_CAUSES, 'upgrade'] as const;
export type ExamCause = (typeof EXAM_CAUSES)[number];

/** What a question is about. `never`: something that was never said. */
export const EXAM_TOPICS = ['soul', 'memory', 'conversation', 'never'] as const;
export type ExamTopic = (typeof EXAM_TOPICS)[number];

export const EXAM_LIMITS = {
  questions: 20,
  /** Of these, questions about something that was never said. */
  neverSaid: 2,
  /** Characters of a question, of its expected answer, and of each answer. Longer ones are cut. */
  question: 400,
  expected: 400,
  answer: 800,
  /** Most tokens of each answer of a model. Its thoughts are among them. */
  answerTokens: 6_000,
  /** Tokens that a model usually writes for each request, for the preview. */
  usualTokens: 1_500,
  /** Bytes that questions and answers add to a request, for the preview. */
  usualBytes: 6_000,
  /** ms that an exam may take. */
  runMs: 600_000,
  /** Exams of an agent that are listed. */
  listed: 30,
} as const;

export interface ExamQuestion {
  readonly topic: ExamTopic;
  readonly question: string;
  readonly expected: string;
}
/** `isRight` null: nobody has graded it. */
interface ExamAnswer {
  readonly text: string;
  readonly isRight: boolean | null;
}
export interface ExamItem extends ExamQuestion {
  readonly before: ExamAnswer;
  readonly after: ExamAnswer;
}

/** What has become of one question. */
export type ExamChange = 'same' | 'lost' | 'gained' | 'missed' | 'ungraded';
export function examChange({ before, after }: Pick<ExamItem, 'before' | 'after'>): ExamChange {
  if (before.isRight === null || after.isRight === null) return 'ungraded';
  if (before.isRight !== after.isRight) return before.isRight ? 'lost' : 'gained';
  return before.isRight ? 'same' : 'missed';
}
