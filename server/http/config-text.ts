/** Configurations as text: JSON and YAML, in requests and in answers. */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { readBody, type CallBounds } from './body.ts';
import { misfit, notYaml, problem } from './problem.ts';
import type { ConfigText } from './yaml-text.ts';

/** Loaded at the first YAML. Most relays see none. */
const yaml = () => import('./yaml-text.ts');

/** The largest configuration is short: it has some twenty blackouts. */
const MOST_BYTES = 64 * 1_024;
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

const limited = bodyLimit({
  maxSize: MOST_BYTES,
  onError() {
    throw problem(413, 'too-large', `A configuration may take ${MOST_BYTES} bytes at most.`);
  },
});

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The parsed body. Throws a problem that names each field that does not fit. */
export async function readConfig<Value>(
  context: Context,
  schema: z.ZodType<Value>,
  bounds: CallBounds,
): Promise<Value> {
  // The middleware is called without a next handler: it refuses a large body while it is read.
  await limited(context, () => Promise.resolve());
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json') return await readBody(context, schema, bounds);
  if (!YAML_TYPES.includes(type))
    throw problem(415, 'not-a-config', 'Send the body as application/json or application/yaml.');
  let text: string;
  try {
    text = decoder.decode(await context.req.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) throw notYaml('it is not UTF-8');
    throw error;
  }
  const parsed = schema.safeParse((await yaml()).parseYaml(text));
  if (!parsed.success) throw misfit(parsed.error);
  return parsed.data;
}

export async function answerConfig(context: Context, config: ConfigText): Promise<Response> {
  const type = accepts(context, {
    header: 'Accept',
    supports: ['application/json', ...YAML_TYPES],
    default: 'application/json',
  });
  context.header('vary', 'Accept');
  context.header('cache-control', 'no-store');
  if (type === 'application/json') return context.json(config.json);
  return context.body((await yaml()).toYaml(config), 200, { 'content-type': `${type}; charset=utf-8` });
}
