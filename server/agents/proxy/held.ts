/**
 * A streaming request that is held: its answer has begun, and pings keep it alive until it may go.
 */
import { z } from 'zod';
import { realTimers, within } from '../../../src/shared/domain/platform/timers.ts';
import { errorEvent, event, PING, type ProxyError } from './errors.ts';
import type { ProxyAnswer } from './answer.ts';
import { parseJson } from '../../../src/shared/domain/platform/json.ts';

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: ProxyAnswer }
  | { readonly kind: 'error'; readonly error: ProxyError }
  | { readonly kind: 'gone' };

const refusalShape = z.object({
  type: z.literal('error'),
  error: z.looseObject({ type: z.string(), message: z.string() }),
});

/** A refusal of the upstream comes as JSON; in a stream that has begun it is an error event. */
async function* inStream({ status, headers, body }: ProxyAnswer): ProxyAnswer['body'] {
  if (status === 200 && headers['content-type']?.includes('text/event-stream')) return yield* body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const refused = refusalShape.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
  yield refused.success
    ? event('error', refused.data)
    : errorEvent({ kind: 'unreachable', message: `The model’s server answered ${status}, and not with a stream.` });
}

export async function* heldAnswer(outcome: Promise<Outcome>, pingMs: number): ProxyAnswer['body'] {
  yield PING;
  for (;;) {
    const decided = await within(realTimers.after, pingMs, outcome);
    if (decided === null) {
      yield PING;
      continue;
    }
    switch (decided.kind) {
      case 'answer':
        return yield* inStream(decided.answer);
      case 'error':
        return yield errorEvent(decided.error);
      case 'gone':
        return;
      default:
        return decided satisfies never;
    }
  }
}
