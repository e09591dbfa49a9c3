/**
 * Keys of models that pages connect: planted, and looked for wherever a relay writes or answers.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectionSchema } from '../../src/shared/protocol/models.ts';
import { eventsOf, startSession, talk, teamOfLead } from '../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { searchFor } from '../support/planted-words.ts';
import { createHome } from '../support/relay.ts';
import { startScriptedModel, type ScriptedModel } from '../support/scripted-model.ts';

const KEYS = {
  good: 'sk-planted-good-7f3a91d2c4',
  refused: 'sk-planted-refused-5be0c7a1',
  next: 'sk-planted-next-c2d9e8f016',
  odd: 'sk-planted-odd"\\\\{}9d81ac',
} as const;
const all = Object.values(KEYS);

let home: string;
let relay: OpenRelay;
let model: ScriptedModel;
let ada: Browser;
const answers: string[] = [];
/** What stood at the terminal. */
const said: string[] = [];
beforeAll(async () => {
  model = await startScriptedModel(({ headers }) => {
    const key = String(headers['x-api-key'] ?? '');
    // The worst of servers: it says the key back, in refusals and in answers.
    if (key === KEYS.refused)
      return { fail: { status: 401, type: 'authentication_error', message: `no such key: ${key}` } };
    return [{ say: `You came with ${key}, in base64 ${Buffer.from(key).toString('base64')}.` }];
  });
  home = await createHome();
  relay = await openTestRelay({ args: ['--log-level', 'debug'], home, say: (line) => void said.push(line) });
  ada = await relay.signIn();
  await ada.fetch('/api/team', { method: 'PUT', json: teamOfLead('Sol') });
});
afterAll(async () => {
  await model.close();
  await rm(home, { recursive: true, force: true });
});

async function call(path: string, init?: RequestInit & { json?: unknown }): Promise<Response> {
  const response = await ada.fetch(path, init);
  answers.push(await response.clone().text(), JSON.stringify([...response.headers]));
  return response;
}

it('a key is found in no answer, event, log or row, nor in any file of the relay’s home, whatever became of it', async () => {
  const connect = (json: object) => call('/api/models', { method: 'POST', json });
  expect((await connect({ kind: 'server', address: model.url, key: KEYS.refused })).status).toBe(422);
  expect((await connect({ kind: 'server', address: model.url, key: KEYS.odd })).status).toBe(201);
  const made = await connect({ kind: 'server', address: model.url, key: KEYS.good });
  const { connectionId } = connectionSchema.parse(await made.json());
  // What does not fit is answered with what is wrong, and not with what was said.
  expect((await connect({ kind: 'server', address: 'ftp://x', key: KEYS.good })).status).toBe(400);
  expect((await connect({ kind: 'server', address: `http://me:${KEYS.good}@127.0.0.1:9` })).status).toBe(400);
  expect((await connect({ kind: 'claude', key: `${KEYS.good} with spaces` })).status).toBe(400);
  expect((await connect({ kind: KEYS.good })).status).toBe(400);
  await startSession(ada, 'Sol');
  await talk(ada, 'Which key did you see?');
  await call(`/api/models/${connectionId}/key`, { method: 'PUT', json: { key: KEYS.refused } });
  await call(`/api/models/${connectionId}/key`, { method: 'PUT', json: { key: KEYS.next } });
  await talk(ada, 'And now?');
  for (const path of ['/api/models', '/api/health', '/api/team', '/api/costs', '/v1/config', '/api/credentials'])
    await call(path);
  await call('/api/models/list', { method: 'POST' });
  answers.push(JSON.stringify(await eventsOf(ada)));
  await ada.fetch('/api/sessions/current', { method: 'DELETE' });
  expect(answers.join('\n')).toContain('You came with [key]');
  expect(model.requests.map(({ headers }) => headers['x-api-key'])).toContain(KEYS.next);

  const search = searchFor(all);
  expect(search.inBytes(Buffer.from(answers.join('\n')), 'answers')).toEqual([]);
  expect(said.join('\n')).toContain('An event was written.');
  expect(search.inBytes(Buffer.from(said.join('\n')), 'the terminal')).toEqual([]);
  await relay.restart();
  expect(await search.inFolder(home)).toEqual([]);
  const { mode } = await stat(join(home, 'sealing.key'));
  expect(mode & 0o777).toBe(0o600);

  // Started anew it knows the key still; removed, it is gone for good.
  const again = await relay.signIn();
  await again.fetch(`/api/models/${connectionId}`, { method: 'DELETE' });
  await relay.close();
  expect(await search.inFolder(home)).toEqual([]);
});
