/**
 * Searches of agents. The relay asks the open pages on their event streams, and a page answers with
 * a call.
 */
import { z } from 'zod';
import type { ThreadId } from '../domain/ids.ts';
import { common } from './documents.ts';
import { idOf } from './ids.ts';
import { LIMITS } from './limits.ts';

const id = z.string().min(1).max(LIMITS.id);
const threadId = idOf<ThreadId>(id);

/**
 * Sent without an event id to every page of the household that said it answers searches. It is not
 * stored.
 */
export const searchAskedSchema = z.object({
  searchId: id.describe('names this question'),
  agentId: common.agentId.describe('who asks: only what it took part in is looked through'),
  text: z.string().max(LIMITS.searchText).describe('the words'),
  conversation: z.boolean().describe('also in its conversation with the person, which holds what it read in its inbox'),
  threads: z.array(threadId).max(LIMITS.searchedThreads).readonly().describe('and in these threads'),
  author: id.nullable().describe('only what this one said: "human" or an agent’s id'),
  since: common.time.nullable().describe('not earlier than that'),
  limit: z.number().int().min(1).max(LIMITS.searchPassages),
});
export type SearchAsked = z.infer<typeof searchAskedSchema>;

/** `POST /api/searches/{searchId}` */
export const searchAnsweredSchema = z.strictObject({
  state: z
    .enum(['ready', 'building', 'unavailable'])
    .describe('building: some of what there is cannot be found yet; unavailable: nothing can'),
  passages: z
    .array(
      z.strictObject({
        author: id.describe('"human", "relay" or an agent’s id'),
        time: common.time,
        threadId: threadId.nullable().describe('null: it stands in the conversation'),
        sequence: z.number().int().positive().nullable().describe('of a thread’s message'),
        text: z.string().max(LIMITS.searchPassage).describe('the words around what was found'),
      }),
    )
    .max(LIMITS.searchPassages)
    .readonly()
    .describe('the best first'),
  more: z.boolean().describe('there may be more'),
});
export type SearchAnswered = z.infer<typeof searchAnsweredSchema>;

/** The answer of a page that cannot search at the moment. */
export const CANNOT_SEARCH: SearchAnswered = { state: 'unavailable', passages: [], more: false };
