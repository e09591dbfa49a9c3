/**
 * What OpenAI's and Google's protocols send, before the SDK reads it. The SDK ends an answer at the
 * first field that does not fit its schema, and servers leave fields out, write them as another
 * type, or send one whole answer instead of a stream.
 */
import { z } from 'zod';
import { isRecord } from '../../../../src/shared/domain/platform/is-record.ts';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import type { ReadEvent } from '../event-reader.ts';
import { MIND_LIMITS } from '../settings.ts';
import { streamError } from './refusal.ts';

const text = z.string().nullish().catch(undefined);
const count = z.int().nonnegative().max(MIND_LIMITS.mostTokens).nullish();
const asJson = z
  .unknown()
  .optional()
  .transform((value) => {
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
const callSchema = z.looseObject({
  index: z.int().nonnegative().nullish().catch(undefined),
  id: text,
  function: z.object({ name: text, arguments: asJson }).catch({ name: undefined, arguments: undefined }),
  extra_content: z
    .object({ google: z.object({ thought_signature: text }).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});
const deltaSchema = z.object({
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
    .nullish()
    .catch(undefined),
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.flatMap((each) => callSchema.safeParse(each).data ?? [])),
});
const choiceSchema = z.object({
  delta: z.unknown().optional(),
  message: z.unknown().optional(),
  finish_reason: text,
});
const chunkSchema = z.object({
  id: text,
  model: text,
  choices: z.array(choiceSchema.catch({ delta: undefined, message: undefined, finish_reason: undefined })).catch([]),
  // A count that is none makes all of them doubtful: the most that the request may have taken is
  // charged then.
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
    })
    .nullish()
    .catch(undefined),
});

/** Whether it is how the answer ends: servers leave the line open after it. */
export type IsEnd = (chunk: unknown) => boolean;

function createChatChunks(): ReadEvent<object | null> {
  let hasDeltas = false;
  return (value) => {
    const parsed = chunkSchema.safeParse(value);
    if (!parsed.success) return null;
    const [choice] = parsed.data.choices;
    const { delta, message } = choice ?? {};
    hasDeltas ||= isRecord(delta);
    // One that did not stream wrote the whole answer as its message.
    const said = isRecord(delta) ? delta : hasDeltas ? undefined : message;
    const read = deltaSchema.safeParse(said);
    return {
      ...parsed.data,
      choices: choice
        ? [{ delta: read.success ? read.data : null, finish_reason: choice.finish_reason ?? undefined }]
        : [],
    };
  };
}

const isChatEnd: IsEnd = (chunk) =>
  isRecord(chunk) && Array.isArray(chunk['choices']) && isRecord(chunk['choices'][0])
    ? typeof chunk['choices'][0]['finish_reason'] === 'string'
    : false;

const isResponsesEnd: IsEnd = (chunk) =>
  isRecord(chunk) && (chunk['type'] === 'response.completed' || chunk['type'] === 'response.incomplete');

const isGoogleEnd: IsEnd = (chunk) =>
  isRecord(chunk) && Array.isArray(chunk['candidates']) && isRecord(chunk['candidates'][0])
    ? typeof chunk['candidates'][0]['finishReason'] === 'string'
    : false;

/**
 * Reads one chunk; throws the error that a server reports in its stream. Null: nothing of it can be
 * read.
 */
export function createChunks(
  protocol: Exclude<Protocol, 'messages'>,
  headers: Headers,
): { readonly read: ReadEvent<object | null>; readonly isEnd: IsEnd } {
  const whole: ReadEvent<object | null> = (value, named) => {
    if (!isRecord(value)) return null;
    return typeof value['type'] === 'string' || named === undefined ? value : { ...value, type: named };
  };
  const read = protocol === 'chat' ? createChatChunks() : whole;
  return {
    isEnd: { chat: isChatEnd, responses: isResponsesEnd, google: isGoogleEnd }[protocol],
    read(value, named) {
      if (isRecord(value)) {
        const { error, type, object, response } = value;
        if (isRecord(error) || typeof error === 'string') throw streamError(value, headers);
        if (type === 'error' || object === 'error') throw streamError(value, headers);
        if (type === 'response.failed') throw streamError(response, headers);
      } else if (Array.isArray(value) && isRecord(value[0]) && isRecord(value[0]['error']))
        throw streamError(value, headers);
      return read(value, named);
    },
  };
}
