import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answer, checkWhole } from '../../../server/http/endpoint.ts';
import { endpoint, idText, named, type Endpoint } from '../../../src/shared/protocol/endpoints/endpoint.ts';
import { ENDPOINTS } from '../../../src/shared/protocol/endpoints/index.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';

const all = Object.values<Endpoint>(ENDPOINTS);
const paths = [...new Set(all.flatMap(({ path, aliases = [] }) => [path, ...aliases]))];
const methodsOf = (path: string) =>
  all.filter((each) => each.path === path || each.aliases?.includes(path)).map(({ method }) => method);

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(async () => {
  await relay.stop();
});

describe('the table of endpoints', () => {
  it.each(paths)('names every method of %s', async (path) => {
    const response = await relay.fetch(path.replaceAll(/\{\w+\}/g, 'lead'), { method: 'PATCH' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(methodsOf(path).sort());
  });

  it('stands below the prefixes that the relay guards', () => {
    for (const { path, access = 'page' } of all)
      if (access !== 'anyone' && access !== 'credential') expect(path).toMatch(/^\/(api|v1)\//);
  });

  it.each(
    all.filter(({ access = 'page', method }) => !['anyone', 'credential'].includes(access) && method !== 'DELETE'),
  )('$method $path wants the cookie', async ({ method, path }) => {
    const response = await fetch(new URL(path.replaceAll(/\{\w+\}/g, 'lead'), relay.url), { method });
    expect(response.status).toBe(401);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
  });
});

describe('an endpoint and its handler', () => {
  const greet = endpoint({
    method: 'GET',
    path: '/api/greetings/{agentId}',
    does: 'Greets.',
    params: { agentId: named(idText, 'whom') },
    answers: [{ status: 200, when: 'always', body: z.object({ greeting: z.string() }) }],
  });
  const table = { greet };
  const handlers = { greet: ({ agentId }: { agentId: string }) => ({ greeting: `Hello, ${agentId}` }) };

  it('rejects a missing or additional handler by its types', () => {
    // @ts-expect-error: a handler is missing
    expect(() => answer(table, {})).not.toThrow();
    // @ts-expect-error: a handler without an endpoint
    answer(table, { ...handlers, wave: () => null });
    // @ts-expect-error: it answers what the endpoint does not
    answer(table, { greet: () => ({ greeting: 7 }) });
    // @ts-expect-error: the path has no such parameter
    endpoint({ ...greet, path: '/api/greetings' });
    // @ts-expect-error: a parameter of the path is not described
    endpoint({ ...greet, path: '/api/{house}/{agentId}' });
  });

  it('refuses to start with a missing or additional handler', () => {
    const there = answer(table, handlers);
    expect(() => checkWhole(table, there)).not.toThrow();
    expect(() => checkWhole(table, [])).toThrow('GET /api/greetings/{agentId} has no handler');
    expect(() => checkWhole({}, there)).toThrow('stands in no table');
    expect(() => checkWhole(table, [...there, ...there])).toThrow('has two handlers');
  });
});
