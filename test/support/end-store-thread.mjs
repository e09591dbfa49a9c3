/**
 * Loaded into a relay before its own code (`--import`). On SIGUSR2 the thread of its store ends in
 * the way that `END_STORE` names: `terminate`, `throw`, or `memory` (it runs out of it).
 */
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const way = process.env.END_STORE;
/** MB of a thread that is to run out of memory. */
const LITTLE = 24;
const ROWS = 'with recursive n(x) as (select 1 union all select x + 1 from n limit 5000000) select x, hex(x) from n';
const { Worker } = threads;
let store = null;
threads.Worker = class extends Worker {
  constructor(code, options) {
    const isStore = options?.workerData?.sqlite !== undefined;
    super(
      code,
      isStore && way === 'memory' ? { ...options, resourceLimits: { maxOldGenerationSizeMb: LITTLE } } : options,
    );
    if (isStore) store = this;
  }
};
syncBuiltinESMExports();
process.on('SIGUSR2', () => {
  if (way === 'terminate') void store?.terminate();
  else if (way === 'memory') store?.postMessage({ way: 'alone', statements: [{ sql: ROWS, parameters: [] }] });
  else store?.postMessage({ way: 'no such way', statements: [] });
});
