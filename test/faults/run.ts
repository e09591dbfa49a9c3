/**
 * `npm run faults -- --seeds 50`: the long form of every part. `npm run faults -- ledger --seeds 100` runs one
 * part, `npm run faults -- ledger --seed K` runs one seed again (or several: `--seed K --seed L`), with those before it that
 * each needs.
 */
import { parseArgs } from 'node:util';
import { devicesPart, restoredPart } from './long-devices.ts';
import { acpPart } from './long-acp.ts';
import { damagePart } from './long-damage.ts';
import { damageRestorePart } from './long-damage-restore.ts';
import { fullDiskPart } from './long-full-disk.ts';
import { growthPart } from './long-growth.ts';
import { hostilePart } from './long-hostile.ts';
import { ledgerPart } from './long-ledger.ts';
import { linePart } from './long-line.ts';
import { memoryPart } from './long-memory.ts';
import { nightPart } from './long-night.ts';
import { plainPart } from './long-plain.ts';
import { powerPart } from './long-power.ts';
import { relayPart } from './long-relay.ts';
import { longTests } from './long-tests.ts';
import { transactionsPart } from './long-transactions.ts';

export interface LongPart {
  readonly name: string;
  /** The seeds to run so that this one meets what it met. */
  with(seed: number): readonly number[];
  /** Runs the seeds and prints a line for each; answers with a line about all. Rejects with the seed that failed. */
  run(seeds: readonly number[]): Promise<string>;
}

const SEEDS = 50;
const PARTS: readonly LongPart[] = [
  relayPart,
  powerPart,
  fullDiskPart,
  growthPart,
  linePart,
  ledgerPart,
  transactionsPart,
  devicesPart,
  restoredPart,
  damagePart,
  damageRestorePart,
  memoryPart,
  nightPart,
  plainPart,
  hostilePart,
  ...longTests,
];
/** Only where they are named: what they need is large, and is installed at their first run. */
const BY_NAME: readonly LongPart[] = [acpPart];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: { type: 'string' }, seed: { type: 'string', multiple: true } },
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

for (const part of positionals.length > 0 ? positionals.map(partNamed) : PARTS) {
  const seeds =
    values.seed === undefined
      ? Array.from({ length: wholeNumber(values.seeds ?? String(SEEDS)) }, (_none, i) => i + 1)
      : [...new Set(values.seed.flatMap((seed) => part.with(wholeNumber(seed))))];
  const started = performance.now();
  console.log(`${part.name}: ${await part.run(seeds)}. ${((performance.now() - started) / 1_000).toFixed(1)} s`);
}
