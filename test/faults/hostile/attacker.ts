/** The process of `attackers.ts`. */
import { setPriority } from 'node:os';
import { createRandom } from '../../support/random.ts';
import { pick } from '../pick.ts';
import { createAttacker, type Attack } from './attack.ts';
import type { Findings, Orders } from './attackers.ts';
import { ATTACKS } from './attacks/index.ts';
import { openHostileServers } from './servers.ts';

// They would be other machines: what they take of this one is not the relay's to bear.
setPriority(10);

const servers = await openHostileServers();
const send = (message: object) => process.send?.(message);

/**
 * What each has to do first, so that each attack is made in each round; then whatever chance says.
 */
function dealt(attacks: readonly Attack[], seed: number, workers: number): readonly (readonly Attack[])[] {
  const random = createRandom(seed);
  const [inSession, others] = [attacks.filter((each) => each.inSession), attacks.filter((each) => !each.inSession)];
  const mixed = pick(random, others, others.length);
  return [
    pick(random, inSession, inSession.length),
    ...Array.from({ length: workers - 1 }, (_, at) => mixed.filter((_each, i) => i % (workers - 1) === at)),
  ];
}

async function attack({ target, seed, ms, workers, only }: Orders): Promise<Findings> {
  const attacks = ATTACKS.filter(({ name }) => only?.includes(name) ?? true);
  const found: string[] = [];
  const made: Record<string, { rounds: number; answers: Record<string, number> }> = {};
  const until = performance.now() + ms;
  await Promise.all(
    dealt(attacks, seed, workers).map(async (first, at) => {
      // No two workers of any two seeds have the same chance.
      let round = 0;
      const own = createRandom(seed * 1_000 + at);
      const all = attacks.filter((each) => (at === 0) === (each.inSession ?? false));
      while (round < first.length || performance.now() < until) {
        const next = first[round] ?? pick(own, all, 1)[0];
        if (!next) return;
        const count = (made[next.name] ??= { rounds: 0, answers: {} });
        count.rounds += 1;
        const attacker = createAttacker({
          target,
          servers,
          seed: Math.floor(own() * 2 ** 32),
          found: (sentence) => found.push(`${next.name}: ${sentence}`),
          onAnswer: (status) => (count.answers[status] = (count.answers[status] ?? 0) + 1),
        });
        try {
          await next.run(attacker);
        } catch (error) {
          found.push(`${next.name} broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        }
        round += 1;
      }
    }),
  );
  return { found, made };
}

process.on('message', (orders: Orders) => void attack(orders).then(send));
send({ modelUrl: servers.model.url, oddUrl: servers.oddUrl });
