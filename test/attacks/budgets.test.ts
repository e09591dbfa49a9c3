/**
 * Whoever wants to spend more than the person allowed: many requests at once after small ones,
 * streams and whole answers, clients that leave before the answer begins or in its middle, servers
 * that cut and servers that are full, words to the lead and to agents in a session that are stopped
 * half-way: several agents and credentials, with a model's server that counts for itself, and goes
 * on counting where nobody listens any more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { MICRO_USD } from '../../src/shared/domain/money.ts';
import { startCountingModel, type Fate } from '../support/counting-model.ts';
import { createRandom } from '../support/random.ts';
import { openSpenders, type Spenders } from '../support/spenders.ts';
import { storeFor } from '../support/store-for.ts';

/** More with `BUDGET_SEEDS`, from `BUDGET_FIRST` on. */
const SEEDS = Number(process.env['BUDGET_SEEDS'] ?? 6);
const FIRST = Number(process.env['BUDGET_FIRST'] ?? 0);
const MODEL = 'claude-opus-5-5';

const store = storeFor();

/** One request of a client that may leave at any time, unless it stays. */
async function ask(
  base: string,
  random: () => number,
  maxTokens: number,
  over: AbortSignal,
  stays = false,
): Promise<void> {
  const leaving = new AbortController();
  const body = JSON.stringify({
    model: MODEL,
    max_tokens: maxTokens,
    stream: random() < 0.5,
    messages: [{ role: 'user', content: 'x'.repeat(Math.floor(random() * 20_000)) }],
  });
  const leavesAfter = random() < 0.4 ? random() * 60 : null;
  const timer = leavesAfter === null || stays ? undefined : setTimeout(() => leaving.abort(), leavesAfter);
  try {
    const response = await fetch(`${base}/v1/messages`, {
      method: 'POST',
      body,
      signal: AbortSignal.any([leaving.signal, over]),
    });
    await response.text();
  } catch {
    // Cut, or gone: that is what it is for.
  } finally {
    clearTimeout(timer);
  }
}

/** Words in the session, to anybody, now and then stopped. */
async function talk({ team, agentIds, say }: Spenders, random: () => number): Promise<void> {
  const to = random() < 0.4 ? undefined : agentIds[Math.floor(random() * agentIds.length)];
  await say('x'.repeat(1 + Math.floor(random() * 4_000)), to);
  await sleep(random() * 150);
  if (random() < 0.5) await team.host.stop(to ?? 'lead');
}

// Side by side, each with a household and a model's server of its own: most of a schedule is
// waiting.
it.concurrent.for(Array.from({ length: SEEDS }, (_none, i) => FIRST + i))(
  'never more than the budget and one request, and never more than was counted (seed %i)',
  { timeout: 240_000 },
  async (seed, { expect }) => {
    const random = createRandom(seed);
    const stopsWhenLeft = random() < 0.5;
    const kind = random();
    const fate = (): Fate => {
      const chance = random();
      // Some servers are steady, some break most of what they are sent, and some are full.
      if (chance < (kind < 0.3 ? 0.9 : kind < 0.6 ? 0.3 : 0.6)) return 'whole';
      return random() < 0.4 ? 'cut' : random() < 0.7 ? 'broken' : 'refused';
    };
    const model = await startCountingModel({ random, fate, stopsWhenLeft, wordy: random() < 0.5 });
    const spenders = await openSpenders(store(), model.url, { stopsWhenLeft });
    const { team, bases, agentIds } = spenders;
    const budget = 0.5 + random();
    const over = new AbortController();
    try {
      await spenders.budget(budget);
      if (random() < 0.5) await spenders.agentBudget(agentIds[0] ?? '', budget / 2);
      const base = () => bases[Math.floor(random() * bases.length)] ?? '';
      // Small ones first: a mean of these would say that a hundred large ones are cheap.
      for (let small = 0; small < 3; small++) await ask(base(), random, 10, over.signal);
      // However slow this machine is, something is spent.
      while (model.spent.length === 0) await ask(base(), random, 10, over.signal, true);
      if (random() < 0.8) await spenders.start(MODEL, 256 + Math.floor(random() * 8_000));
      const waves = 1 + Math.floor(random() * 3);
      for (let wave = 0; wave < waves; wave++) {
        const large = Array.from({ length: 5 + Math.floor(random() * 25) }, () =>
          random() < 0.6 ? ask(base(), random, Math.ceil(random() * 20_000), over.signal) : talk(spenders, random),
        );
        await Promise.race([Promise.all(large), sleep(700)]);
      }
      // Everybody leaves; what is under way ends, and is counted then.
      over.abort();
      await team.host.end('ended');
      await expect.poll(model.open).toBe(0);
      const counted = async () => (await team.costs.report(1)).today.costMicroUsd;
      await expect.poll(async () => (await counted()) - model.total(), { interval: 20 }).toBeGreaterThanOrEqual(0);
      const most = Math.max(...model.spent.map(({ microUsd }) => microUsd));
      expect(model.total()).toBeLessThanOrEqual(budget * MICRO_USD + most);
    } finally {
      await spenders.close();
      await model.close();
    }
    expect(spenders.errors).toEqual([]);
  },
);
