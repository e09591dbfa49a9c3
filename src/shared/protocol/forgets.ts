/** Requests to forget, as a page hands them to the relay once they are final. */
import { z } from 'zod';
import { MOST_SOURCES } from '../domain/forgetting.ts';
import { common, ms, stamp } from './documents.ts';
import { LIMITS } from './limits.ts';

const id = z.string().min(1).max(LIMITS.id);

/** What was forgotten. Agents are reported with the team. */
export const forgetTargetSchema = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('conversation'), agentId: common.agentId })
    .describe('what was said with the agent before the stamp'),
  z
    .strictObject({ kind: z.literal('span'), agentId: common.agentId.nullable(), from: ms, to: ms })
    .describe('what was said from one time until another, with one agent or (null) with all'),
  z
    .strictObject({
      kind: z.literal('items'),
      what: z.enum(['words', 'tool']),
      agentId: z.null(),
      sources: z.array(z.string().max(32)).max(MOST_SOURCES),
    })
    .describe('documents, lines of memories and rows of the relay, by hashes of their ids'),
]);
export const finalForgetSchema = z.strictObject({
  forgetId: id.describe('`_id` of the `forget` document'),
  at: stamp.describe('its stamp'),
  target: forgetTargetSchema,
});
export type FinalForget = z.infer<typeof finalForgetSchema>;

/** `POST /api/forgets` */
export const forgetBodySchema = z.strictObject({ forgets: z.array(finalForgetSchema).max(LIMITS.forgets) });
export const knownForgetsSchema = z.object({
  forgetIds: z.array(id).describe('requests that the relay has carried out'),
});

/** `POST /api/sentences` */
export const sentenceBodySchema = z.strictObject({
  text: z.string().trim().min(LIMITS.sentence).max(LIMITS.searchText),
  tool: z.literal(true).optional().describe('the text is the name of a tool: only its calls are listed'),
});
export const sentencePlaceSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('table'), table: z.string(), rows: z.number().int().positive() }),
  z.object({ kind: z.literal('snapshot'), agentId: common.agentId }).describe('the agent snapshot'),
  z.object({ kind: z.literal('file'), agentId: common.agentId, path: z.string() }).describe('in the agent’s folder'),
]);
export type SentencePlace = z.infer<typeof sentencePlaceSchema>;
export const sentencePlacesSchema = z.object({
  places: z.array(sentencePlaceSchema),
  ids: z.array(z.string()).describe('of messages that wait and of tool calls that have it, such as `call:…`'),
  unread: z.number().int().nonnegative().describe('files that were too large, or too many, to be searched'),
});
export type SentencePlaces = z.infer<typeof sentencePlacesSchema>;
