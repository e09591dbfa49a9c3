/** Configurations as text: JSON and YAML, in requests and in answers. */
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { bodyLimit } from 'hono/body-limit';
import { Document, isMap, isScalar, parseDocument, YAMLError, type Node } from 'yaml';
import type { z } from 'zod';
import { readBody } from './body.ts';
import { misfit, problem } from './problem.ts';

/** Characters are few: the largest configuration has some twenty blackouts. */
const MOST_BYTES = 64 * 1_024;
const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml'];

const limited = bodyLimit({
  maxSize: MOST_BYTES,
  onError() {
    throw problem(413, 'too-large', `A configuration may take ${MOST_BYTES} bytes at most.`);
  },
});

function notYaml(message: string) {
  return problem(400, 'not-yaml', `The body is not YAML: ${message}`, {
    fields: { errors: [{ field: 'body', message }] },
  });
}

/** Throws a problem: 400 where it is no YAML, or would unfold into far more than was sent. */
function parseYaml(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error) throw notYaml(error.message.split('\n')[0] ?? error.code);
  try {
    return document.toJS({ maxAliasCount: 10 });
  } catch (error) {
    // Aliases without an anchor, or too many of them.
    if (error instanceof ReferenceError || error instanceof YAMLError) throw notYaml(error.message);
    throw error;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The body as its schema says. Throws a problem that names each field that does not fit. */
export async function readConfig<Value>(context: Context, schema: z.ZodType<Value>): Promise<Value> {
  // As middleware in front of nothing: what is too large is refused while it is read.
  await limited(context, () => Promise.resolve());
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json') return await readBody(context, schema);
  if (!YAML_TYPES.includes(type))
    throw problem(415, 'not-a-config', 'Send the body as application/json or application/yaml.');
  let text: string;
  try {
    text = decoder.decode(await context.req.arrayBuffer());
  } catch (error) {
    if (error instanceof TypeError) throw notYaml('it is not UTF-8');
    throw error;
  }
  const parsed = schema.safeParse(parseYaml(text));
  if (!parsed.success) throw misfit(parsed.error);
  return parsed.data;
}

/** Marks the lines of what is in `own`; what is a mapping in both is gone through. */
function mark(node: Node | null | undefined, own: unknown): void {
  if (!isMap(node) || typeof own !== 'object' || own === null) return;
  for (const { key, value } of node.items) {
    const set =
      isScalar(key) && typeof key.value === 'string' ? new Map(Object.entries(own)).get(key.value) : undefined;
    if (set === undefined || !isScalar(key)) continue;
    if (isMap(value)) mark(value, set);
    else if (isScalar(value)) value.comment = SET_HERE;
    else key.comment = SET_HERE;
  }
}
const SET_HERE = ' set here';

export interface ConfigText {
  /** First line of the YAML. */
  readonly title: string;
  /** What holds, as a configuration that could be set. */
  readonly holds: object;
  readonly own: object;
  /** The answer as JSON. */
  readonly json: object;
}

function toYaml({ title, holds, own }: ConfigText): string {
  const document = new Document(holds);
  document.commentBefore = ` ${title}\n What was set here is marked; leave out the rest, and it follows the defaults.`;
  mark(document.contents, own);
  // Quoted: older readers of YAML take 22:00 for a number.
  return document.toString({ defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });
}

export function answerConfig(context: Context, config: ConfigText): Response {
  const type = accepts(context, {
    header: 'Accept',
    supports: ['application/json', ...YAML_TYPES],
    default: 'application/json',
  });
  context.header('vary', 'Accept');
  context.header('cache-control', 'no-store');
  if (type === 'application/json') return context.json(config.json);
  return context.body(toYaml(config), 200, { 'content-type': `${type}; charset=utf-8` });
}
