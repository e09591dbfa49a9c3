/**
 * `npm run faults -- --seeds 50`: the long form of every part. `npm run faults -- ledger --seeds
 * 100` runs one part, `npm run faults -- ledger --seed K` runs one seed again (or several: `--seed
 * K --seed L`), with those before it that each needs. `--only NAME` leaves out the other attacks of
 * `hostile`. A part that fails says why, and the others go on; the run has failed then.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runParts } from '../support/run-parts.ts';
import { BY_NAME, PARTS } from './parts.ts';

const SEEDS = 50;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    alone: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    seed: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
  },
});
const wholeNumber = (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`"${text}" is no whole number above 0`);
  return value;
};
const partNamed = (name: string) => {
  const part = [...PARTS, ...BY_NAME].find((each) => each.name === name);
  if (!part)
    throw new Error(
      `There is no part "${name}"; there are ${[...PARTS, ...BY_NAME].map((each) => each.name).join(', ')}.`,
    );
  return part;
};

const chosen = positionals.length > 0 ? positionals.map(partNamed) : PARTS;
const count = wholeNumber(values.seeds ?? String(SEEDS));
const again = values.seed?.map(wholeNumber);

if (values.alone) {
  for (const part of chosen) {
    const seeds = again
      ? [...new Set(again.flatMap((seed) => part.with(seed)))]
      : Array.from({ length: count }, (_none, i) => i + 1);
    const started = performance.now();
    console.log(
      `${part.name}: ${await part.run(seeds, values.only)}. ${((performance.now() - started) / 1_000).toFixed(1)} s`,
    );
  }
} else {
  const failed = await runParts({
    program: fileURLToPath(import.meta.url),
    names: chosen.map(({ name }) => name),
    args: [
      ...(again ? again.flatMap((seed) => ['--seed', String(seed)]) : ['--seeds', String(count)]),
      ...(values.only ?? []).flatMap((name) => ['--only', name]),
    ],
  });
  if (failed.length > 0) {
    console.error(`${failed.length} of ${chosen.length} parts failed: ${failed.join(', ')}`);
    process.exitCode = 1;
  }
}
