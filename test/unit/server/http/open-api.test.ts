import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../../../server/http/open-api.ts';
import { ENDPOINTS } from '../../../../src/shared/protocol/endpoints/index.ts';
import type { Endpoint } from '../../../../src/shared/protocol/endpoints/endpoint.ts';

const document = await openApi(ENDPOINTS, '1.2.3');
const all = Object.entries<Endpoint>(ENDPOINTS);

describe('The OpenAPI document', () => {
  it('is a valid OpenAPI document of version 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...document });
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('lists every endpoint under its path and its aliases, and nothing else', () => {
    const expected = all.flatMap(([, { method, path, aliases = [] }]) =>
      [path, ...aliases].map((each) => `${method} ${each}`),
    );
    const there = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(there.toSorted()).toEqual(expected.toSorted());
  });

  it('names a parameter for each brace of a path', () => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const { parameters = [] } of Object.values(methods)) {
        const named = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
        expect(named).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      }
  });

  it('says the bounds of a number in a query', () => {
    const [hours] = document.paths['/v1/pulses/timeline']?.['get']?.parameters ?? [];
    expect(hours).toMatchObject({ name: 'hours', schema: { type: 'integer', minimum: 1, maximum: 168 } });
  });

  it('states the caller of each endpoint: a browser, a credential with a scope, or anyone', () => {
    const of = (path: string, method: string) => document.paths[path]?.[method]?.security;
    const browser = { session: [], pageKey: [] };
    expect(of('/api/health', 'get')).toEqual([]);
    expect(of('/v1/pulse-routines', 'get')).toEqual([browser, { credential: ['read'] }, { credential: ['schedules'] }]);
    expect(of('/api/models', 'get')).toEqual([browser]);
  });

  it('describes what a call takes and what it answers', () => {
    const start = document.paths['/api/sessions']?.['post'];
    expect(start?.requestBody?.content['application/json']?.schema).toMatchObject({ type: 'object' });
    expect(start?.responses['201']?.content?.['application/json']?.schema).toMatchObject({
      properties: { sessionId: { type: 'string' } },
    });
    expect(start?.responses['409']?.content).toHaveProperty('application/problem+json');
  });
});
