import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SOCKET_PATH } from '../../server/sync/settings.ts';
import { CALLS } from '../../src/protocol/calls/index.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';

const SERVER = new URL('../../server/', import.meta.url);
const paths = [...new Set(CALLS.map((call) => call.path))];
const methodsOf = (path: string) => CALLS.filter((call) => call.path === path).map((call) => call.method);

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
});
afterAll(async () => {
  await relay.stop();
});

describe('the table of calls', () => {
  it.each(paths)('names every method of %s', async (path) => {
    const response = await relay.fetch(path.replaceAll(/\{\w+\}/g, 'lead'), { method: 'PATCH' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(methodsOf(path).sort());
  });

  it('names every path that the relay answers under', () => {
    const files = [
      'app.ts',
      ...readdirSync(SERVER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('routes.ts')),
    ];
    const source = files
      .map((file) => readFileSync(new URL(file, SERVER), 'utf8'))
      .join('\n')
      .replaceAll('SOCKET_PATH', `'${SOCKET_PATH}'`);
    const routed = [...source.matchAll(/(?:(?<!\.)\b(?:route|add)|app\.get)\('([^']+)'/g)].map(([, path = '']) =>
      path.replace(/:(\w+)/g, '{$1}'),
    );
    expect([...new Set(routed)].sort()).toEqual([...paths].sort());
  });

  it.each(CALLS.filter((call) => call.open !== true && call.method !== 'DELETE'))(
    '$method $path wants the cookie',
    async ({ method, path }) => {
      const response = await fetch(new URL(path.replaceAll(/\{\w+\}/g, 'lead'), relay.url), { method });
      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
    },
  );
});
