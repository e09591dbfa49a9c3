/** Request bodies: JSON in UTF-8, of a schema, of a bounded size. */
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { misfit, problem } from './problem.ts';
import { readJson, tooMuchOf } from './read-json.ts';

export const limitBody = () =>
  bodyLimit({
    maxSize: LIMITS.bodyBytes,
    onError() {
      throw problem(413, 'too-large', `A call may carry ${LIMITS.bodyBytes} bytes at most.`);
    },
  });

/** How much the body of a call may be. */
export interface CallBounds {
  readonly bytes: number;
  readonly values: number;
}

/**
 * The body as its schema says. Throws a problem: 415 where it is not sent as JSON, 413 where it is
 * too much, 400 where it does not fit.
 */
export async function readBody<Value>(
  context: Context,
  schema: z.ZodType<Value>,
  { bytes, values }: CallBounds,
): Promise<Value> {
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw problem(415, 'not-json', 'Send the body as application/json.');
  const bounds = { bytes, json: { depth: LIMITS.jsonDepth, values } };
  const read = await readJson(context.req.raw.body, bounds);
  if (!read.ok) {
    const { fault } = read;
    if (fault === 'syntax')
      throw problem(400, 'not-json', 'The body is not JSON in UTF-8.', {
        fields: { errors: [{ field: 'body', message: 'not JSON in UTF-8' }] },
      });
    throw problem(413, fault === 'length' ? 'too-large' : 'too-much', tooMuchOf(fault, bounds));
  }
  const parsed = schema.safeParse(read.value);
  if (!parsed.success) throw misfit(parsed.error);
  return parsed.data;
}
