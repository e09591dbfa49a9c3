import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import { Agent, fetch } from 'undici';
import { slowAnswer } from '../../../../server/http/slow-answer.ts';

/** ms after which the client gives up. */
const PATIENCE_MS = 1_500;
const EVERY_MS = 200;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A client that gives up early asks for what takes so long. */
async function asked(work: () => Promise<object>, everyMs: number): Promise<unknown> {
  const listener = getRequestListener(async () => {
    const given = await slowAnswer(work(), everyMs);
    return given instanceof Response ? given : Response.json(given);
  });
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  const dispatcher = new Agent({ headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  closers.push(
    () => dispatcher.destroy(),
    () => server.close(),
  );
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { dispatcher });
  return await answer.json();
}
const slowly = async () => {
  await sleep(3 * PATIENCE_MS);
  return { outcome: 'complete' };
};

describe('an answer that takes longer than the patience of its client', () => {
  it("receives an answer that takes longer than the client's time-out", { timeout: 30_000 }, async () => {
    expect(await asked(slowly, EVERY_MS)).toEqual({ outcome: 'complete' });
    await expect(asked(slowly, 60_000)).rejects.toThrow(/fetch failed/);
  });

  it('breaks off where it fails late, and is no value', async () => {
    const fails = async (): Promise<object> => {
      await sleep(3 * EVERY_MS);
      throw new Error('late');
    };
    await expect(asked(fails, EVERY_MS)).rejects.toThrow();
  });
});

it('an answer in time is the value itself', async () => {
  const value = { outcome: 'complete' };
  expect(await slowAnswer(Promise.resolve(value))).toBe(value);
  await expect(slowAnswer(Promise.reject(new Error('early')))).rejects.toThrow('early');
});
