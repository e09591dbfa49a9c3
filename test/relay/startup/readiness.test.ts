/** `/health/ready` and `/health/live`, for programs that watch the relay. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { openEventSource } from '../../support/event-source.ts';
import { openTestRelay, type OpenRelay } from '../../support/open-relay.ts';

let pageFolder: string;
let relay: OpenRelay;
beforeEach(async () => {
  pageFolder = await mkdtemp(join(tmpdir(), 'roost-page-'));
});
afterEach(async () => {
  await relay.close();
  await rm(pageFolder, { recursive: true });
});
const probe = (name: string) => fetch(`${relay.url}/health/${name}`);

describe('A relay', () => {
  it('is ready once store, page and log have served, and sends one event for that', async () => {
    await writeFile(join(pageFolder, 'index.html'), '<!doctype html><html lang="en"></html>');
    relay = await openTestRelay({ pageFolder });
    for (let i = 0; i < 3; i++) expect(await (await probe('ready')).json()).toEqual({ status: 'ok' });
    const browser = await relay.signIn();
    const stream = await openEventSource((signal) => browser.fetch('/api/events', { signal }));
    const all = await stream.until((seen) => seen.some(({ event }) => event === 'snapshot'));
    stream.close();
    expect(all.filter(({ event }) => event === 'changed')).toHaveLength(1);
  });

  it('is alive without a built page, and names the page as missing', async () => {
    relay = await openTestRelay({ pageFolder });
    expect(await (await probe('live')).json()).toEqual({ status: 'ok' });
    const answer = await probe('ready');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    expect(problemSchema.parse(await answer.json())).toMatchObject({
      type: 'about:roost/not-serving',
      detail: 'The page cannot be rendered.',
    });
  });
});
