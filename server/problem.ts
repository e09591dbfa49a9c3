/** Problem documents (RFC 9457): how every error leaves the relay. */
import { HTTPException } from 'hono/http-exception';
import type { z } from 'zod';
import type { Problem } from '../src/protocol/http.ts';
import type { ProblemName } from '../src/protocol/problems.ts';

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

export type ProblemFields = Pick<Problem, 'errors' | 'sessionId' | 'epoch' | 'box'>;

/** `name` becomes the type under `about:roost/`; `detail` is a sentence for people. */
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

/** To throw from anywhere below a route. */
export function problem(...args: Parameters<typeof problemResponse>): HTTPException {
  return new HTTPException(args[0], { res: problemResponse(...args), message: args[2] });
}

/** Errors that an answer names: a list of a hundred thousand wrong values has as many. */
const MOST_ERRORS = 20;

/** A body that its schema refuses; each error names the field, `body` where it is the whole. */
export function misfit({ issues }: z.ZodError): HTTPException {
  const errors = issues
    .slice(0, MOST_ERRORS)
    .map(({ path, message }) => ({ field: path.length > 0 ? path.map(String).join('.') : 'body', message }));
  const [first] = errors;
  return problem(400, 'misfit', `${first?.field ?? 'body'}: ${first?.message ?? 'does not fit'}`, {
    fields: { errors },
  });
}
