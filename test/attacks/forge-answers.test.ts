/**
 * A forge that means no good: answers that are huge, endless, deep, no JSON, lies, or lead on. It
 * is the server of a second household’s repository, and gets that household’s own token alone.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuardedFetch, type GuardedFetch } from '../../server/platform/guarded-fetch.ts';
import { createForges } from '../../server/projects/work/forge.ts';
import { apiAnswers, BAD_PAGES, type ForgeAnswer, pageAnswer } from '../support/forge-answers.ts';

const MOST_READ = 50_000_000;
let forge: Server;
let trap: Server;
let trapped = 0;
let answer: ForgeAnswer;
let guarded: GuardedFetch;
let sentBytes = 0;
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

const open = async (how: ForgeAnswer) => {
  answer = how;
  const repository = `http://127.0.0.1:${portOf(forge)}/owner/name.git`;
  const pull = { branch: 'work', base: 'main', title: 'T', body: 'B' };
  return await createForges({ fetch: guarded.fetch }).open({ kind: 'gitea', repository, token: 'secret' }, pull);
};

describe('a forge', () => {
  it.each(Object.keys(apiAnswers('')))('names %s in a short error, and reaches nothing else', async (name) => {
    sentBytes = 0;
    const answers = apiAnswers(`http://127.0.0.1:${portOf(trap)}`, (bytes) => (sentBytes += bytes));
    const error: unknown = await open(answers[name] as ForgeAnswer).then(
      () => null,
      (failure: unknown) => failure,
    );
    expect(error).toBeInstanceOf(Error);
    const words = error instanceof Error ? error.message : '';
    expect(words.length).toBeLessThan(1_000);
    expect(words).not.toContain('secret');
    expect(trapped).toBe(0);
    expect(sentBytes).toBeLessThan(MOST_READ);
  });

  it.each(BAD_PAGES)('leaves out %j as the address of a request', async (address) => {
    await expect(open(pageAnswer(address, 'work'))).rejects.toThrow();
  });
});
