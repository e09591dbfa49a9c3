import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withWarmMind } from '../../../../server/agents/minds/index.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';
import { teamScript } from '../../../support/scripted-model.ts';
import { openSessionBench, team, type Bench, type Household } from '../../../support/session.ts';
import { USUAL_STORES } from '../../../support/stores.ts';

it('a relay warms itself after its start, unless it is told not to', async () => {
  const open = (told: '0' | '1') => startRelay({ env: { ROOST_NO_WARM_UP: told }, args: ['--log-level', 'debug'] });
  const cold = await open('1');
  const warm = await open('0');
  const logOf = ({ home }: TestRelay) => readFile(join(home, 'logs/relay.log'), 'utf8');
  try {
    await expect.poll(() => logOf(warm), { timeout: 20_000 }).toContain('A made-up wake has been run.');
    expect(await logOf(warm)).not.toContain('could be warmed');
    // It has had longer.
    expect(await logOf(cold)).not.toContain('made-up wake');
  } finally {
    await Promise.all([warm.stop(), cold.stop()]);
  }
});

describe.each(USUAL_STORES)('a relay on %s that has just started', (kind) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());

  it('runs a wake of nobody, of which nothing is left: no event, no wake, no money, no question to the model', async () => {
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
