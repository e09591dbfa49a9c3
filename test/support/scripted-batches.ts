/** The Message Batches API of a scripted model, for batches of one request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { OFFICIAL_API } from '../../server/agents/minds/settings.ts';
import type { Part } from './scripted-model.ts';

const paramsSchema = z.looseObject({
  model: z.string(),
  system: z.unknown(),
  messages: z.array(z.looseObject({ role: z.string() })),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});
const createSchema = z.object({
  requests: z.array(z.object({ custom_id: z.string(), params: paramsSchema })).length(1),
});
export type BatchParams = z.infer<typeof paramsSchema>;

/** What has become of a batch when somebody looks. `unreadable`: the result is not JSON. */
export type BatchReply =
  | 'pending'
  | 'expired'
  | 'unreadable'
  | { readonly errored: string }
  | { readonly parts: readonly Part[] };

export interface ScriptedBatches {
  /** The requests that were left, in order. */
  readonly created: readonly BatchParams[];
  /** Ids of batches that somebody cancelled. */
  readonly cancelled: readonly string[];
  /** Asked at each look, until it is not `pending`. */
  follow(script: (params: BatchParams) => BatchReply): void;
  /**
   * What the server does with a new batch. `drop`: it takes it, and its answer is lost. `silent`:
   * it takes it, and never answers.
   */
  takes(how: 'yes' | 'not-found' | 'drop' | 'silent' | 'bad-request'): void;
  /** Whether the request was one about batches. */
  handle(request: IncomingMessage, response: ServerResponse, body: string): boolean;
}

interface Batch {
  readonly customId: string;
  readonly params: BatchParams;
  isCancelled: boolean;
  end: Exclude<BatchReply, 'pending'> | null;
}

const USAGE = { input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const messageOf = (parts: readonly Part[], model: string) => ({
  ...{ id: 'msg_batch', type: 'message', role: 'assistant', model, stop_sequence: null, usage: USAGE },
  content: parts.flatMap((part, i): object[] => {
    if ('say' in part) return [{ type: 'text', text: part.say }];
    if ('think' in part) return [{ type: 'thinking', thinking: part.think, signature: part.signature }];
    return 'call' in part ? [{ type: 'tool_use', id: `toolu_${i}`, name: part.call, input: part.input }] : [];
  }),
  stop_reason:
    parts.flatMap((part) => ('stop' in part ? [part.stop] : []))[0] ??
    (parts.some((part) => 'call' in part) ? 'tool_use' : 'end_turn'),
});

export function createScriptedBatches(): ScriptedBatches {
  const all = new Map<string, Batch>();
  const created: BatchParams[] = [];
  const cancelled: string[] = [];
  let script: (params: BatchParams) => BatchReply = () => 'pending';
  let takes: Parameters<ScriptedBatches['takes']>[0] = 'yes';

  const shown = (id: string, { isCancelled, end }: Batch) => ({
    ...{ id, type: 'message_batch', archived_at: null, cancel_initiated_at: null, created_at: '2026-11-21T00:00:00Z' },
    ...{ ended_at: end && '2026-11-21T01:00:00Z', expires_at: '2026-11-22T00:00:00Z' },
    processing_status: end ? 'ended' : isCancelled ? 'canceling' : 'in_progress',
    request_counts: { canceled: 0, errored: 0, expired: 0, processing: end ? 0 : 1, succeeded: end ? 1 : 0 },
    results_url: end && `${OFFICIAL_API}/v1/messages/batches/${id}/results`,
  });
  function resultOf({ params, isCancelled, end }: Batch): object {
    if (end === null || end === 'unreadable') return { type: 'strange' };
    if (end === 'expired') return { type: isCancelled ? 'canceled' : 'expired' };
    if ('parts' in end) return { type: 'succeeded', message: messageOf(end.parts, params.model) };
    return {
      type: 'errored',
      error: { type: 'error', error: { type: 'invalid_request_error', message: end.errored } },
    };
  }

  return {
    created,
    cancelled,
    follow: (next) => void (script = next),
    takes: (how) => void (takes = how),
    handle(request, response, body) {
      const [, id = '', act = ''] = /^\/v1\/messages\/batches(?:\/([^/?]+))?(?:\/(\w+))?/.exec(request.url ?? '') ?? [];
      if (!request.url?.startsWith('/v1/messages/batches')) return false;
      const answer = (status: number, value: object) => {
        response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
        response.end(JSON.stringify(value));
        return true;
      };
      const refuse = (status: number, type: string, message: string) =>
        answer(status, { type: 'error', error: { type, message } });
      if (id === '') {
        if (takes === 'not-found') return refuse(404, 'not_found_error', 'Not found.');
        if (takes === 'bad-request') return refuse(400, 'invalid_request_error', 'No.');
        const [first] = createSchema.parse(JSON.parse(body)).requests;
        if (!first) return refuse(400, 'invalid_request_error', 'There is no request.');
        const batch: Batch = { customId: first.custom_id, params: first.params, isCancelled: false, end: null };
        created.push(first.params);
        const made = `msgbatch_${created.length}`;
        all.set(made, batch);
        if (takes === 'silent') return true;
        if (takes === 'drop') {
          response.destroy();
          return true;
        }
        return answer(200, shown(made, batch));
      }
      const batch = all.get(id);
      if (!batch) return refuse(404, 'not_found_error', 'There is no such batch.');
      if (act === 'cancel') {
        cancelled.push(id);
        batch.isCancelled = true;
        return answer(200, shown(id, batch));
      }
      if (act === 'results') {
        response.writeHead(200, { 'content-type': 'application/x-jsonl' });
        response.end(`${JSON.stringify({ custom_id: batch.customId, result: resultOf(batch) })}\n`);
        return true;
      }
      const reply = script(batch.params);
      if (reply !== 'pending') batch.end ??= reply;
      else if (batch.isCancelled) batch.end ??= 'expired';
      return answer(200, shown(id, batch));
    },
  };
}
