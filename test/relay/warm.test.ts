import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { readFileSync } from 'node:fs';
import { touchServer, withWarmMind } from '../../server/minds/index.ts';
import { WARM_SETTINGS } from '../../server/session/warm.ts';
import { teamScript } from '../support/scripted-model.ts';
import { openSessionBench, team, type Bench, type Household } from '../support/session.ts';
import { STORES } from '../support/stores.ts';
import { TLS_FILES } from '../support/tls.ts';

describe.each(STORES)('a relay on %s that has just started', (kind) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());

  it('runs wakes of nobody, of which nothing is left: no event, no wake, no money, no question to the model', async () => {
    const house = await bench.open({});
    await withWarmMind((mind) => house.team.warm(mind, new AbortController().signal));
    expect(house.stored).toEqual([]);
    expect(house.logged).toEqual([]);
    expect(house.model.requests).toEqual([]);
    expect((await house.team.gate.feed({ before: null, limit: 10, agentId: null })).wakes).toEqual([]);
    expect((await house.team.costs.report(1)).agents.every(({ total }) => total.requests === 0)).toBe(true);
    expect(house.host.sessionId()).toBeNull();
  });

  it('stops at once where it is closed meanwhile', async () => {
    const house = await bench.open({});
    const closing = new AbortController();
    closing.abort();
    await withWarmMind((mind) => house.team.warm(mind, closing.signal));
    expect(house.logged).toEqual([]);
  });

  it('answers a wake that comes while it warms itself', async () => {
    const house = await bench.open({});
    const warming = withWarmMind((mind) => house.team.warm(mind, new AbortController().signal));
    await house.start();
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length === 8);
    await warming;
    expect(house.of('agent-awake')).toHaveLength(8);
    expect(house.logged).toEqual([]);
  });

  it('asks nobody any more as soon as a session is started', async () => {
    const house = await bench.open({});
    const asked = { all: 0, once: 0 };
    const running = new AbortController().signal;
    await withWarmMind(async (mind) => {
      const counting = (count: 'all' | 'once', onAsked: () => void): typeof mind => ({
        ...mind,
        answer(request, listener) {
          asked[count] += 1;
          onAsked();
          return mind.answer(request, listener);
        },
      });
      await house.team.warm(
        counting('all', () => undefined),
        running,
      );
      const started: Promise<unknown>[] = [];
      await house.team.warm(
        counting('once', () => {
          if (started.length === 0) started.push(house.start());
        }),
        running,
      );
      await Promise.all(started);
    });
    // Each wake asks its agents and the lead.
    expect(asked.all).toBeGreaterThanOrEqual(WARM_SETTINGS.sizes.reduce((sum, size) => sum + size, 0));
    expect(asked.once).toBeLessThanOrEqual(3);
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length === 8);
    // Beside a session that runs, nobody is asked at all.
    await withWarmMind((mind) =>
      house.team.warm({ ...mind, answer: () => Promise.reject(new Error('asked')) }, running),
    );
    expect(house.logged).toEqual([]);
  });

  it('records a wake when all of its requests are on their way, and not between them', async () => {
    // On a busy machine too: nobody answers, and so no turn ends, before everybody is asked.
    const script = teamScript();
    const everybody = async () => {
      while (house.model.requests.filter(({ seat }) => seat !== null).length < 8)
        await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const house: Household = await bench.open({
      limits: { askedWithinMs: 10_000, askedLeaveMs: 2_000 },
      script: async (request) => (await everybody(), script(request)),
    });
    await house.start();
    const asked: number[] = [];
    const ask = house.team.gate.ask;
    Object.assign(house.team.gate, {
      ask: (request: Parameters<typeof ask>[0]) => {
        asked.push(house.model.requests.filter(({ seat }) => seat !== null).length);
        return ask(request);
      },
    });
    await house.wake(team());
    await house.until(() => asked.length === 8);
    expect(asked).toEqual(Array.from({ length: 8 }, () => 8));
  });
});

describe('the connection to the model’s own server', () => {
  const portOf = (server: { address(): AddressInfo | string | null }) => {
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  };
  const listening = (server: ReturnType<typeof createNetServer>) =>
    new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  it('is opened by TLS once, and nothing is asked on it', async () => {
    const { key, cert } = TLS_FILES.localhost;
    const heard: string[] = [];
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
      socket.on('data', (data) => heard.push(String(data)));
      socket.on('error', () => undefined);
    });
    let connections = 0;
    server.on('connection', () => (connections += 1));
    server.on('tlsClientError', () => undefined);
    await listening(server);
    // Its certificate is one that nobody trusts: whoever asks it something is told so then.
    await touchServer(`https://localhost:${portOf(server)}`, new AbortController().signal);
    expect([connections, heard]).toEqual([1, []]);
    const closed = new Promise((resolve) => server.close(resolve));
    await touchServer('https://127.0.0.1:9', new AbortController().signal);
    await closed;
  });

  it('is not waited for by a session that begins', async () => {
    const sockets = new Set<{ destroy(): void }>();
    // It takes the call, and says nothing.
    const server = createNetServer((socket) => void sockets.add(socket.on('error', () => undefined)));
    await listening(server);
    const leaving = new AbortController();
    const touched = touchServer(`https://127.0.0.1:${portOf(server)}`, leaving.signal);
    await expect.poll(() => sockets.size).toBe(1);
    leaving.abort();
    await touched;
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});
