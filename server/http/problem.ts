/** Problem documents (RFC 9457): the form of every error of the relay. */
import { HTTPException } from 'hono/http-exception';
import type { z } from 'zod';
import { sentence } from '../../src/shared/domain/names.ts';
import type { Problem } from '../../src/shared/protocol/http.ts';
import type { ProblemName } from '../../src/shared/protocol/problems.ts';

const TITLES = {
  400: 'That does not fit',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not here',
  405: 'Not that way',
  409: 'Not now',
  410: 'Gone',
  413: 'Too large',
  415: 'Not JSON',
  422: 'That does not fit',
  426: 'Not that way',
  429: 'Too many at once',
  500: 'Something broke',
  503: 'Not ready',
} as const;
export type ProblemStatus = keyof typeof TITLES;

export type ProblemFields = Pick<Problem, 'errors' | 'sessionId' | 'epoch' | 'models' | 'box' | 'current'>;

/** `name` becomes the type under `about:roost/`. `detail` is a sentence for people. */
export function problemResponse(
  status: ProblemStatus,
  name: ProblemName,
  detail: string,
  { fields = {}, headers = {} }: { fields?: ProblemFields; headers?: Record<string, string> } = {},
): Response {
  const problem: Problem = { type: `about:roost/${name}`, title: TITLES[status], status, detail, ...fields };
  return new Response(JSON.stringify(problem), {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  });
}

/** For a 503 that passes by itself. */
export const RETRY_AFTER = { 'retry-after': '5' } as const;

/** May be thrown anywhere below a route. */
export function problem(...args: Parameters<typeof problemResponse>): HTTPException {
  return new HTTPException(args[0], { res: problemResponse(...args), message: args[2] });
}

export const tooManyCalls = (seconds: number): HTTPException =>
  problem(429, 'too-many-calls', `Too many calls at once. Try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });

/** Most errors in one answer: a list of a hundred thousand wrong values has as many. */
const MOST_ERRORS = 20;

const fieldOf = ({ path }: z.core.$ZodIssue) => (path.length > 0 ? path.map(String).join('.') : 'body');

/** What is wrong with a field, for people. A schema's own message is used unchanged. */
function wrongWith(issue: z.core.$ZodIssue): string {
  const field = fieldOf(issue);
  if (!/^(?:Invalid|Too|Unrecognized) /.test(issue.message)) return `${field}: ${issue.message}`;
  switch (issue.code) {
    case 'too_big':
      return issue.origin === 'string'
        ? sentence`${field}: at most ${String(issue.maximum)} characters`
        : sentence`${field}: at most ${String(issue.maximum)}`;
    case 'too_small':
      if (issue.origin !== 'string') return sentence`${field}: at least ${String(issue.minimum)}`;
      return issue.minimum === 1
        ? sentence`${field}: is empty`
        : sentence`${field}: at least ${String(issue.minimum)} characters`;
    case 'invalid_type':
      return issue.message.endsWith('undefined')
        ? sentence`${field}: is missing`
        : sentence`${field}: must be of type ${issue.expected}`;
    case 'invalid_value':
      return sentence`${field}: must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return sentence`${field}: has unknown fields: ${issue.keys.join(', ')}`;
    default:
      return `${field}: ${issue.message}`;
  }
}

/** One or more fields that do not fit. `message` follows the name of each. */
export const misfitsIn = (fields: readonly [string, ...string[]], message: string): HTTPException =>
  problem(400, 'misfit', `${fields[0]}: ${message}`, {
    fields: { errors: fields.map((field) => ({ field, message })) },
  });
export const misfitIn = (field: string, message: string): HTTPException => misfitsIn([field], message);

/** A body that its schema refuses. Each error names the field, or `body` for the whole. */
export function misfit({ issues }: z.ZodError): HTTPException {
  const [first] = issues;
  const errors = issues.slice(0, MOST_ERRORS).map((issue) => {
    const field = fieldOf(issue);
    return { field, message: wrongWith(issue).slice(field.length + 2) };
  });
  const left = issues.length - errors.length;
  if (left > 0) errors.push({ field: 'body', message: `has ${left} more errors` });
  return problem(400, 'misfit', first ? wrongWith(first) : 'body: does not fit', { fields: { errors } });
}

/** The body is not YAML that can be read. `message` says why. */
export function notYaml(message: string) {
  return problem(400, 'not-yaml', `The body is not YAML: ${message}`, {
    fields: { errors: [{ field: 'body', message }] },
  });
}
