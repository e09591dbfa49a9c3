/** Exams on the wire: whether an agent is still the same under a new condition. */
import { z } from 'zod';
import { ASKED_EXAM_CAUSES, EXAM_CAUSES, EXAM_LIMITS, EXAM_STATES, EXAM_TOPICS } from '../domain/exams.ts';
import type { ExamId } from '../domain/ids.ts';
import { MEMORY_LIMITS } from '../domain/memory.ts';
import { common, ms } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';
import { agentSnapshotSchema } from './snapshots.ts';

const id = z.string().min(1).max(LIMITS.id);
const model = z
  .string()
  .max(200)
  .describe('the model that answered; of an upgrade: the version of Roost; empty: not known');
const microUsd = z.number().int().nonnegative();

const answerSchema = z.strictObject({
  text: z.string().max(EXAM_LIMITS.answer).describe('empty: none was given'),
  isRight: z.boolean().nullable().describe('whether it says what is expected; null: nobody has graded it'),
});
const itemSchema = z.strictObject({
  topic: z.enum(EXAM_TOPICS).describe('never: about something that was never said'),
  question: z.string().max(EXAM_LIMITS.question),
  expected: z.string().max(EXAM_LIMITS.expected),
  before: answerSchema,
  after: answerSchema,
});

/** What an exam has come to. */
export const examValueSchema = z.strictObject({
  agentId: common.agentId,
  cause: z.enum(EXAM_CAUSES).describe('what is about to change'),
  before: model,
  after: model,
  items: z.array(itemSchema).max(EXAM_LIMITS.questions).describe('empty: no answers yet'),
  detail: z.string().nullable().describe('why it failed, as a sentence for people'),
  tokens: z.number().int().nonnegative().nullable().describe('null: not known'),
  costMicroUsd: microUsd,
  mostMicroUsd: microUsd.describe('what the person allowed it to cost'),
  estimated: z.boolean().describe('the cost is an upper bound'),
  madeAt: ms,
});
export type ExamValue = z.infer<typeof examValueSchema>;

export const examSchema = z.object({
  ...examValueSchema.shape,
  examId: idOf<ExamId>(id),
  state: z.enum(EXAM_STATES),
  changedAt: ms.describe('when it came to this state'),
});
export type Exam = z.infer<typeof examSchema>;
export const examsSchema = z.object({ exams: z.array(examSchema).describe('newest first') });

/** A certificate: an exam after the person has decided. */
export const examRecordSchema = z.strictObject({
  ...examValueSchema.shape,
  state: z.enum(['kept', 'declined']).describe('kept: the person took the new condition'),
  changedAt: ms.describe('when the person decided'),
});

/** `POST /api/exams/cost` */
export const examRequestSchema = z.strictObject({
  agentId: common.agentId,
  cause: z.enum(ASKED_EXAM_CAUSES),
  before: agentSnapshotSchema.describe('the copy of the agent as it is'),
  after: agentSnapshotSchema.describe('the copy under the new condition; for `compaction` the relay shortens it'),
  files: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(MEMORY_LIMITS.path),
        text: z.string().max(MEMORY_LIMITS.fileBytes),
      }),
    )
    .max(MEMORY_LIMITS.files)
    .optional()
    .describe('of an import: files that it would add to the memory'),
});
export type ExamRequest = z.infer<typeof examRequestSchema>;
export const examCostSchema = z.object({
  microUsd: microUsd.describe('what it is expected to cost'),
  mostMicroUsd: microUsd.describe('what it can cost at most'),
  estimated: z.boolean().describe('the price of a model is not known'),
  demo: z.boolean().describe('the demo answers, as no model is connected'),
});
export type ExamCost = z.infer<typeof examCostSchema>;
/** `POST /api/exams` */
export const startExamSchema = examRequestSchema.extend({
  mostMicroUsd: microUsd.describe('what it may cost; it ends where the next request could cost more'),
});
/** `POST /api/exams/{examId}/answer` */
export const answerExamSchema = z.strictObject({
  keep: z.boolean().describe('true: the new condition; false: it stays as it was'),
});
