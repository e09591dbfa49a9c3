/**
 * A forge that means no good: answers that are huge, endless, deep, no JSON, lies, or lead on. It
 * is the server of a second household’s repository, and gets that household’s own token alone.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuardedFetch, type GuardedFetch } from '../../server/platform/guarded-fetch.ts';
import { createForges } from '../../server/tools/task-work/forge.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const MB = 1_000_000;
let forge: Server;
let trap: Server;
let trapped = 0;
let answer: Answer;
let guarded: GuardedFetch;
let sentMb = 0;
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const listening = (server: Server) => new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
beforeAll(async () => {
  forge = createServer((request, response) => {
    request.resume();
    answer(response, request);
  });
  trap = createServer((_request, response) => response.end()).on('connection', () => (trapped += 1));
  await Promise.all([listening(forge), listening(trap)]);
  guarded = createGuardedFetch('any');
});
afterAll(async () => {
  await guarded.close();
  for (const server of [forge, trap]) {
    server.close();
    server.closeAllConnections();
  }
});

const open = async (how: Answer) => {
  answer = how;
  const repository = `http://127.0.0.1:${portOf(forge)}/owner/name.git`;
  const pull = { branch: 'work', base: 'main', title: 'T', body: 'B' };
  return await createForges({ fetch: guarded.fetch }).open({ kind: 'gitea', repository, token: 'secret' }, pull);
};
const json = (response: ServerResponse, value: unknown, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
/** Writes until nobody reads any more. */
function endless(response: ServerResponse, begin: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).write(begin);
  const piece = Buffer.alloc(MB, 0x20);
  const more = () => {
    if (response.destroyed || sentMb > 200) return void response.destroy();
    sentMb += 1;
    response.write(piece, () => setImmediate(more));
  };
  more();
}

describe('a forge', () => {
  it.each<readonly [string, Answer]>([
    ['that never ends its answer', (response) => endless(response, '[')],
    ['whose answer lies deep', (response) => void response.end('['.repeat(100_000))],
    ['whose answer is no JSON', (response) => void response.end('<html>')],
    ['that lists what is no list', (response) => json(response, { number: 1 })],
    ['that breaks off', (response) => void response.destroy()],
    [
      'that leads on',
      (response) => void response.writeHead(302, { location: `http://127.0.0.1:${portOf(trap)}/` }).end(),
    ],
    [
      'that leads on with the call',
      (response) => void response.writeHead(308, { location: `http://127.0.0.1:${portOf(trap)}/` }).end(),
    ],
    ['that refuses with words without end', (response) => json(response, { message: 'x'.repeat(5 * MB) }, 400)],
  ])('%s is told of as such, and nothing else comes of it', async (_, how) => {
    sentMb = 0;
    const error: unknown = await open(how).then(
      () => null,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(Error);
    const words = error instanceof Error ? error.message : '';
    expect(words.length).toBeLessThan(1_000);
    expect(words).not.toContain('secret');
    expect(trapped).toBe(0);
    expect(sentMb).toBeLessThan(50);
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'https://1.1.1.1\\@inside/x', 'no address', ' https://x/'])(
    'that gives %j as the address of a request has it left out',
    async (html_url) => {
      const how: Answer = (response, { method }) =>
        json(response, method === 'GET' ? [] : { number: 1, html_url, head: { ref: 'work' } });
      await expect(open(how)).rejects.toThrow();
    },
  );
});
