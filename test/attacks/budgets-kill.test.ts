/**
 * A relay that is killed while requests are under way: what they may have cost is spent, on both
 * kinds of store.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { costsSchema } from '../../src/shared/protocol/costs.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';

/** Thinks for ever. */
async function startSilentModel(): Promise<{ readonly url: string; asked(): number; close(): Promise<void> }> {
  let asked = 0;
  const server: Server = createServer((request) => {
    request.resume().on('end', () => (asked += 1));
    request.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}

describe.each(['sqlite', 'postgres'] as const)('A relay on %s, killed with requests under way', (kind) => {
  let model: Awaited<ReturnType<typeof startSilentModel>>;
  let home: string;
  let relay: TestRelay;
  const start = async (more: Parameters<typeof startRelay>[0] = {}) => {
    relay = await startRelay({
      home,
      env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household' },
      ...more,
    });
  };
  beforeAll(async () => {
    model = await startSilentModel();
    home = await createHome({ store: kind });
    await start();
  }, 180_000);
  afterAll(async () => {
    await relay.stop();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });

  it('counts each request once, at its highest possible cost, after the restart', { timeout: 180_000 }, async () => {
    await relay.fetch('/api/team', {
      method: 'PUT',
      json: { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] },
    });
    const made = await relay.fetch('/api/credentials', { method: 'POST', json: { agentId: 'a1' } });
    const { secret } = madeCredentialSchema.parse(await made.json());
    const ask = () =>
      fetch(`${relay.url}/llm/${secret}/v1/messages`, {
        method: 'POST',
        body: JSON.stringify({
          model: 'claude-opus-5-5',
          max_tokens: 10_000,
          messages: [{ role: 'user', content: 'Good morning.' }],
        }),
      }).catch(() => null);
    const under = [ask(), ask(), ask()];
    await expect.poll(model.asked).toBe(3);
    const signIn = await relay.signIn();
    await relay.kill('SIGKILL');
    await Promise.all(under);
    for (let time = 0; time < 2; time++) {
      await start({ signIn });
      const { today } = costsSchema.parse(await (await relay.fetch('/api/costs?days=1')).json());
      expect(today).toMatchObject({ requests: 3, outputTokens: 30_000, estimated: true });
      expect(today.costMicroUsd).toBeGreaterThan(3 * 10_000 * 20);
      await relay.kill('SIGKILL');
    }
  });
});
