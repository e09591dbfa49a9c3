/**
 * `npm run bench`: the figures of this machine, each beside a limit or a peer. Nothing here fails
 * on a time. `npm run bench -- ledger` runs the parts whose names begin so; `--smoke` has each run
 * at its smallest size, without figures that mean anything. A part that fails says why, and the
 * others go on; the run has failed then.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runParts } from '../support/run-parts.ts';
import { printed } from './figures.ts';
import { PARTS } from './parts.ts';

/** ms after which a part counts as hanging. A million messages take half on a busy machine. */
const WITHIN_MS = 3 * 60 * 60_000;

const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { alone: { type: 'boolean', default: false }, smoke: { type: 'boolean', default: false } },
});

if (values.alone) {
  const part = PARTS.find(({ name }) => name === asked[0]);
  if (!part) throw new Error(`There is no part "${asked.join(' ')}".`);
  console.log(printed(await (values.smoke ? part.smoke() : part.full())));
  // What a part has shared with others is open still.
  process.exit();
}

const chosen = PARTS.filter(({ name }) => asked.length === 0 || asked.some((one) => name.startsWith(one)));
if (chosen.length === 0)
  throw new Error(`There is no part "${asked.join(' ')}"; there are ${PARTS.map(({ name }) => name).join(', ')}.`);

console.log(
  `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, load ${(loadavg()[0] ?? 0).toFixed(1)} before\n`,
);
const failed = await runParts({
  program: fileURLToPath(import.meta.url),
  names: chosen.map(({ name }) => name),
  args: values.smoke ? ['--smoke'] : [],
  withinMs: WITHIN_MS,
});
if (failed.length > 0) {
  console.error(`${failed.length} of ${chosen.length} parts failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
