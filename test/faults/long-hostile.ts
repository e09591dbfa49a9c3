/**
 * Every attack at once over two households, beside somebody who is honest: each of their calls is
 * answered rightly, and in time.
 */
import { percentile } from '../bench/figures.ts';
import { openMix, type Mix, type Timed } from './hostile/mix.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

/** ms of one seed; fifty make ten minutes. */
const SEED_MS = 12_000;
/**
 * Seeds in a row share two households and a relay; a seed is run again with those before it there.
 */
const IN_A_ROW = 5;
/** ms of each such row before the attacks: what the same calls take on this machine just now. */
const CALM_MS = 6_000;
/**
 * ms that 99 of 100 honest calls may take; or so many times what they take without attacks, on a
 * machine that is busy by itself.
 */
const LIMIT = { ms: 200, times: 3 };

const shown = (what: string, values: readonly number[]) => {
  const at = (share: number) => `${Math.round(percentile(values, share))} ms`;
  return `${values.length} ${what}, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
};

export const hostilePart: LongPart = {
  name: 'hostile',
  short: ['attacks/hostile.test.ts'],
  with: (seed) => {
    const first = seed - ((seed - 1) % IN_A_ROW);
    return Array.from({ length: seed - first + 1 }, (_none, i) => first + i);
  },
  async run(seeds) {
    const calm: Timed[] = [];
    const attacked: Timed[] = [];
    let [mix, rounds, calls]: [Mix | null, number, number] = [null, 0, 0];
    try {
      for (const [at, seed] of seeds.entries())
        await withSeed('hostile', seed, async () => {
          if ((seed - 1) % IN_A_ROW === 0 || mix === null) {
            await mix?.close();
            mix = null;
            mix = await openMix();
            calm.push(await mix.calm(CALM_MS));
          }
          const given = await mix.attack(seed, SEED_MS);
          attacked.push(given);
          for (const made of Object.values(given.made)) {
            rounds += made.rounds;
            calls += Object.values(made.answers).reduce((sum, count) => sum + count, 0);
          }
          console.log(
            `seed ${seed}: ${shown('honest calls', given.times)}; database ${given.outage}, ${given.repeated} asked again; relay ${Math.round(given.memoryMb)} MB`,
          );
          if (at === seeds.length - 1) {
            const last = mix;
            mix = null;
            await last.close();
          }
        });
    } finally {
      await (mix as Mix | null)?.close().catch(() => undefined);
    }
    const [alone, beside] = [calm, attacked].map((list) => list.flatMap(({ times }) => times)) as [number[], number[]];
    console.log(
      `without attacks: ${shown('honest calls', alone)}; ${shown(
        'answers',
        calm.flatMap(({ answers }) => answers),
      )}`,
    );
    console.log(
      `beside attacks: ${shown('honest calls', beside)}; ${shown(
        'answers',
        attacked.flatMap(({ answers }) => answers),
      )}`,
    );
    const most = Math.max(LIMIT.ms, LIMIT.times * percentile(alone, 0.99));
    const p99 = percentile(beside, 0.99);
    if (p99 > most)
      throw new Error(`99 of 100 honest calls took up to ${Math.round(p99)} ms; ${Math.round(most)} ms are the most.`);
    return `${rounds} attacks with ${calls} calls and more besides; every honest call was answered rightly, 99 of 100 within ${Math.round(p99)} ms`;
  },
};
