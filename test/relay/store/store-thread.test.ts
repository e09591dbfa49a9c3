import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import { createHome, startRelay, type TestRelay } from '../../support/relay.ts';

const HOOK = fileURLToPath(new URL('../../support/end-store-thread.mjs', import.meta.url));
const listSchema = z.object({ credentials: z.array(z.object({ label: z.string() })) });

let home: string | null = null;
afterEach(async () => {
  if (home !== null) await rm(home, { recursive: true, force: true });
  home = null;
});

/** Writes one row after the other until the relay is gone. The labels of those it acknowledged. */
async function writeUntilGone(relay: TestRelay): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  for (let i = 0; i < 1_000; i++) {
    const label = `row ${i}`;
    const answer = await relay
      .fetch('/api/credentials', { method: 'POST', json: { agentId: LEAD_ID, label } })
      .catch(() => null);
    if (answer === null) return acknowledged;
    if (answer.ok) acknowledged.push(label);
    if (acknowledged.length === 10) process.kill(relay.pid, 'SIGUSR2');
  }
  throw new Error('The relay goes on without its store');
}

async function expectStored(acknowledged: readonly string[], before: TestRelay): Promise<void> {
  const relay = await startRelay({ home: before.home, signIn: await before.signIn() });
  try {
    const { credentials } = listSchema.parse(await (await relay.fetch('/api/credentials')).json());
    const labels = new Set(credentials.map(({ label }) => label));
    expect(acknowledged.length).toBeGreaterThanOrEqual(10);
    expect(acknowledged.filter((label) => !labels.has(label))).toEqual([]);
  } finally {
    await relay.stop();
  }
}

async function startHooked(way: 'terminate' | 'throw' | 'memory'): Promise<TestRelay> {
  home = await createHome({ store: 'sqlite' });
  return await startRelay({ home, env: { NODE_OPTIONS: `--import ${HOOK}`, END_STORE: way } });
}

it.each(['terminate', 'throw'] as const)(
  'ends in one line when the thread of its store ends (%s), and keeps all that it acknowledged',
  async (way) => {
    const relay = await startHooked(way);
    const acknowledged = await writeUntilGone(relay);
    const { code, stderr } = await relay.ended;
    expect(code).toBe(1);
    const lines = stderr.trim().split('\n');
    expect(lines.filter((line) => line.includes('store'))).toEqual([lines.at(-1)]);
    expect(lines.at(-1)).toMatch(
      /^The store failed \(.+\), and Roost ends\. What was answered is stored\. Start it again/,
    );
    expect(stderr).not.toMatch(/Closing failed|^\s+at /m);
    await expectStored(acknowledged, relay);
  },
);

it('keeps all that it acknowledged when the thread runs out of memory, which ends the process', async () => {
  const relay = await startHooked('memory');
  const acknowledged = await writeUntilGone(relay);
  expect((await relay.ended).code).not.toBe(0);
  await expectStored(acknowledged, relay);
});
