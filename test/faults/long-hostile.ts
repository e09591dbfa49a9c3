/**
 * Every attack at once over two households, beside somebody who is honest: each of their calls is
 * answered rightly, and in time. `--only NAME` makes that attack alone, `--only each` one after the
 * other, to see which of them takes how much of what.
 */
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { percentile } from '../bench/figures.ts';
import { ATTACKS } from './hostile/attacks/index.ts';
import { openMix, type Attacked, type Mix, type Timed } from './hostile/mix.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

/** ms of one seed; fifty make ten minutes. */
const SEED_MS = 12_000;
/** ms of one attack alone. */
const ALONE_MS = 8_000;
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

/** In `--only`: those that are named beside it, or all, one after the other. */
const EACH = 'each';

const ms = (value: number) => `${Math.round(value)} ms`;
const shown = (what: string, values: readonly number[]) => {
  const at = (share: number) => ms(percentile(values, share));
  return `${values.length} ${what}, p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
};
/** The machine’s part, and what each has taken of the processor. */
function beside({ times, floor, lateMs, taken }: Omit<Timed, 'answers'>): string {
  const [own, bare] = [percentile(times, 0.99), percentile(floor, 0.99)];
  const seconds = Object.entries(taken).map(([whose, each]) => `${whose} ${(each / 1_000).toFixed(1)} s`);
  return `bare server p99 ${ms(bare)} (× ${(own / bare).toFixed(1)}); loop late ${ms(lateMs)}; ${seconds.join(', ')}`;
}
function together(all: readonly Timed[]): Timed {
  const sum = (of: keyof Timed['taken']) => all.reduce((so, { taken }) => so + taken[of], 0);
  return {
    times: all.flatMap(({ times }) => times),
    answers: all.flatMap(({ answers }) => answers),
    floor: all.flatMap(({ floor }) => floor),
    lateMs: Math.max(...all.map(({ lateMs }) => lateMs)),
    taken: {
      relay: sum('relay'),
      programs: sum('programs'),
      attackers: sum('attackers'),
      others: sum('others'),
    },
  };
}

/** Each attack of these names alone, at one relay. */
async function runEach(seeds: readonly number[], names: readonly string[]): Promise<string> {
  const mix = await openMix();
  const faults: unknown[] = [];
  const fault = (error: unknown) => void faults.push(error);
  try {
    const calm = await mix.calm(CALM_MS);
    console.log(`none: ${shown('calls', calm.times)}; ${beside(calm)}`);
    for (const name of names) {
      const attacked: Attacked[] = [];
      for (const seed of seeds) await mix.attack(seed, ALONE_MS, [name]).then((given) => attacked.push(given), fault);
      const given = together(attacked);
      const made = attacked.map((each) => JSON.stringify(each.made[name]?.answers ?? {})).join(' ');
      console.log(`${name}: ${shown('calls', given.times)}; ${beside(given)}; answered ${made}`);
    }
  } finally {
    await mix.close().catch(fault);
  }
  if (faults.length > 0) throw new AggregateError(faults, faults.map(errorMessage).join('\n'));
  return `${names.length} attacks, one after the other`;
}

export const hostilePart: LongPart = {
  name: 'hostile',
  short: ['attacks/hostile.test.ts'],
  with: (seed) => {
    const first = seed - ((seed - 1) % IN_A_ROW);
    return Array.from({ length: seed - first + 1 }, (_none, i) => first + i);
  },
  async run(seeds, only) {
    const names = only?.filter((name) => name !== EACH) ?? [];
    const unknown = names.find((name) => !ATTACKS.some((each) => each.name === name));
    if (unknown !== undefined)
      throw new Error(`There is no attack "${unknown}"; there are ${ATTACKS.map(({ name }) => name).join(', ')}.`);
    if (only?.includes(EACH)) return await runEach(seeds, names.length > 0 ? names : ATTACKS.map(({ name }) => name));
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
          const given = await mix.attack(seed, SEED_MS, only);
          attacked.push(given);
          for (const made of Object.values(given.made)) {
            rounds += made.rounds;
            calls += Object.values(made.answers).reduce((sum, count) => sum + count, 0);
          }
          console.log(
            `seed ${seed}: ${shown('honest calls', given.times)}; ${beside(given)}; database ${given.outage}, ${given.repeated} asked again; relay ${Math.round(given.memoryMb)} MB`,
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
    const [alone, all] = [together(calm), together(attacked)];
    for (const [when, given] of [
      ['without attacks', alone],
      ['beside attacks', all],
    ] as const) {
      console.log(`${when}: ${shown('honest calls', given.times)}; ${shown('answers', given.answers)}`);
      console.log(`  ${shown('calls of a bare server', given.floor)}; ${beside(given)}`);
    }
    const most = Math.max(LIMIT.ms, LIMIT.times * percentile(alone.times, 0.99));
    const p99 = percentile(all.times, 0.99);
    if (p99 > most)
      throw new Error(
        `99 of 100 honest calls took up to ${ms(p99)}; ${ms(most)} are the most. Those of a bare server took ${ms(percentile(all.floor, 0.99))}.`,
      );
    return `${rounds} attacks with ${calls} calls and more besides; every honest call was answered rightly, 99 of 100 within ${ms(p99)}`;
  },
};
