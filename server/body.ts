/** Request bodies: JSON in UTF-8, of a schema, of a bounded size. */
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { LIMITS } from '../src/protocol/limits.ts';
import { refuseJson } from './json-bounds.ts';
import { misfit, problem } from './problem.ts';

export const limitBody = () =>
  bodyLimit({
    maxSize: LIMITS.bodyBytes,
    onError() {
      throw problem(413, 'too-large', `A call may carry ${LIMITS.bodyBytes} bytes at most.`);
    },
  });

const decoder = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: ArrayBuffer): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (error) {
    // JSON.parse says SyntaxError, the decoder TypeError.
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw problem(400, 'not-json', 'The body is not JSON in UTF-8.', {
        fields: { errors: [{ field: 'body', message: 'not JSON in UTF-8' }] },
      });
    throw error;
  }
}

/** The body as its schema says. Throws a problem: 415 where it is not sent as JSON, 413 where it is too much, 400 where it does not fit. */
export async function readBody<Value>(context: Context, schema: z.ZodType<Value>): Promise<Value> {
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw problem(415, 'not-json', 'Send the body as application/json.');
  const bytes = await context.req.arrayBuffer();
  const tooMuch = refuseJson(new Uint8Array(bytes));
  if (tooMuch !== null) throw problem(413, 'too-much', tooMuch);
  const parsed = schema.safeParse(parse(bytes));
  if (!parsed.success) throw misfit(parsed.error);
  return parsed.data;
}
