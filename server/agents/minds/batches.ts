/**
 * The Message Batches API: requests that Anthropic answers within a day, at half the price. Each
 * batch has one request. The caller stores its id, so that a relay that was killed reads it later.
 *
 * https://platform.claude.com/docs/en/build-with-claude/batch-processing
 */
import Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { MindBlock } from './messages.ts';
import type { BatchState, MindBatches } from './mind.ts';
import type { MindError, MindRequest } from './requests.ts';
import type { KeyFilter } from '../../platform/key-filter.ts';
import { isUnsent } from '../../platform/unsent.ts';
import { requestParams, type Shape } from './wire.ts';

interface BatchesDeps {
  readonly messages: Anthropic['messages'];
  readonly shapeOf: (request: MindRequest) => Shape;
  readonly filter: KeyFilter;
  /** The failure of a request to this server, as a sentence for people. */
  readonly problemOf: (error: unknown, model: string) => MindError;
}

/** The only request of each batch. */
const CUSTOM_ID = 'roost';

const count = z.number().int().nonnegative().nullish();
const blockSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
  // Thoughts have no use once the answer is there.
  z.object({ type: z.string() }).transform(() => null),
]);
const answerSchema = z.object({
  content: z.array(blockSchema),
  stop_reason: z.string().nullish(),
  usage: z.object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  }),
});
const resultSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('succeeded'), message: answerSchema }),
  z.object({ type: z.literal('errored'), error: z.unknown() }),
  z.object({ type: z.literal('expired') }),
  z.object({ type: z.literal('canceled') }),
]);

const STOPS = { max_tokens: 'length', refusal: 'refusal', tool_use: 'tools' } as const;
const stopOf = (reason: string | null | undefined) =>
  reason === 'max_tokens' || reason === 'refusal' || reason === 'tool_use' ? STOPS[reason] : 'end';

const UNREADABLE: MindError = {
  kind: 'upstream-broken',
  message: sentence`The result of the batch cannot be read.`,
};
const isStatus = (error: unknown, status: number): boolean =>
  error instanceof Anthropic.APIError && error.status === status;

export function createBatches({ messages, shapeOf, filter, problemOf }: BatchesDeps): MindBatches {
  const { batches } = messages;
  /** The server has said that it takes no batches. */
  let isMissing = false;

  function answered(message: z.output<typeof answerSchema>, model: string): BatchState {
    const { usage } = message;
    const blocks = message.content.flatMap((block): MindBlock[] => {
      if (block === null) return [];
      if ('text' in block) return [{ kind: 'text', text: block.text }];
      return [{ kind: 'tool-use', toolUseId: block.id, name: block.name, input: block.input }];
    });
    return {
      kind: 'answered',
      answer: filter.value({
        ok: true,
        blocks,
        stop: stopOf(message.stop_reason),
        usage: {
          model,
          inputTokens: usage.input_tokens ?? 0,
          outputTokens: usage.output_tokens ?? 0,
          cacheReadTokens: usage.cache_read_input_tokens ?? 0,
          cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
        },
        untold: {
          input: typeof usage.input_tokens !== 'number',
          output: typeof usage.output_tokens !== 'number',
        },
        terms: { batch: true },
      }),
    };
  }

  async function resultOf(batchId: string, model: string, signal: AbortSignal): Promise<BatchState> {
    for await (const line of await batches.results(batchId, {}, { signal })) {
      if (line.custom_id !== CUSTOM_ID) continue;
      const { success, data } = resultSchema.safeParse(line.result);
      if (!success) return { kind: 'failed', error: UNREADABLE };
      switch (data.type) {
        case 'succeeded':
          return answered(data.message, model);
        case 'errored': {
          const error = new Anthropic.APIError(undefined, data.error as object, undefined, new Headers(), undefined);
          return { kind: 'failed', error: filter.value(problemOf(error, model)) };
        }
        case 'expired':
          return { kind: 'expired' };
        case 'canceled':
          return { kind: 'cancelled' };
        default:
          return data satisfies never;
      }
    }
    return { kind: 'failed', error: UNREADABLE };
  }

  return {
    async submit(request, signal) {
      if (isMissing) return { ok: false, error: UNREADABLE, isMissing, mayHaveArrived: false };
      // One request has no use for a cache, whose writes cost more.
      const params = {
        ...requestParams(request, { ...shapeOf(request), plain: true }),
        stream: false as const,
      };
      try {
        const { id } = await batches.create({ requests: [{ custom_id: CUSTOM_ID, params }] }, { signal });
        return { ok: true, batchId: z.string().min(1).max(200).parse(id) };
      } catch (error) {
        isMissing = isStatus(error, 404) || isStatus(error, 405);
        const wasRefused =
          error instanceof Anthropic.APIError && !(error instanceof Anthropic.APIConnectionError) && !isAbort(error);
        return {
          ok: false,
          error: filter.value(problemOf(error, request.model)),
          isMissing,
          mayHaveArrived: !wasRefused && !isUnsent(error),
        };
      }
    },
    async read(batchId, model, signal) {
      try {
        const batch = await batches.retrieve(batchId, {}, { signal });
        return batch.processing_status === 'ended' ? await resultOf(batchId, model, signal) : { kind: 'pending' };
      } catch (error) {
        const problem = filter.value(problemOf(error, model));
        // Nothing more is to be had of a batch that the server does not know.
        return { kind: isStatus(error, 404) ? 'failed' : 'unknown', error: problem };
      }
    },
    async cancel(batchId, signal) {
      await batches.cancel(batchId, {}, { signal }).catch(() => undefined);
    },
  };
}

const isAbort = (error: unknown): boolean => error instanceof Anthropic.APIUserAbortError;
