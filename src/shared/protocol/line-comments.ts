/** The person's comments on lines of a diff. They go to the agent with a request for changes. */
import { z } from 'zod';
import { ms } from './documents.ts';
import { argumentText, commitIdSchema } from './outward-texts.ts';
import { LIMITS } from './limits.ts';

export const LINE_COMMENT_LIMITS = {
  /** Characters of a comment, of the line that it quotes, and of a path. */
  text: 2_000,
  quoted: 500,
  path: 1_000,
  /** Comments that go with one request for changes, and comments that a task keeps: the newest. */
  atOnce: 50,
  kept: 100,
} as const;

const place = {
  path: argumentText(LINE_COMMENT_LIMITS.path).min(1).describe('the file, as it is called on that side'),
  line: z.number().int().positive().describe('the number of the line, from 1'),
};
const commentFields = {
  commentId: z.string().min(1).max(LIMITS.id).describe('a repeat with the same id is the same comment'),
  side: z.enum(['before', 'after']).describe('before: the line as the work found it; after: as the work left it'),
  ...place,
  commit: commitIdSchema.describe('the commit in which the line was read: the base of the diff, or its head'),
  text: z.string().trim().min(1).max(LINE_COMMENT_LIMITS.text),
};
/** A comment as the person sends it. The relay reads the line itself. */
export const newLineCommentSchema = z.strictObject(commentFields);
export type NewLineComment = z.infer<typeof newLineCommentSchema>;
/** A comment in the task's record. */
export const lineCommentSchema = z.strictObject({
  ...commentFields,
  quoted: z.string().max(LINE_COMMENT_LIMITS.quoted).describe('the text of the line, or its beginning'),
  time: ms,
});
export type LineComment = z.infer<typeof lineCommentSchema>;
/** A comment with the place of its line in the shown diff. */
export const shownLineCommentSchema = z.object({
  ...lineCommentSchema.shape,
  now: z.object(place).nullable().describe('where the line is now; null: it has changed, and the comment is outdated'),
});
export type ShownLineComment = z.infer<typeof shownLineCommentSchema>;
