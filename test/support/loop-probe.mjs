/**
 * Loaded into a relay under test by `--import`. It says how long the event loop was held at most
 * since it was last asked: so long any other call had to wait for its turn. On Linux, that is the
 * time in which the relay's own thread worked: what else runs on a busy machine does not count. And
 * it says how late the loop was, 99 times of 100, whatever the reason.
 */
import { openSync, readSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Buffer } from 'node:buffer';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';
import { isMainThread } from 'node:worker_threads';

/** ms between two looks at the clock. */
const EVERY_MS = 2;
const file = process.env.LOOP_PROBE;

if (isMainThread && file) {
  const worked = workedMs();
  let last = { at: performance.now(), worked: worked() };
  let longest = 0;
  const delay = monitorEventLoopDelay({ resolution: EVERY_MS });
  delay.enable();
  const look = () => {
    const now = { at: performance.now(), worked: worked() };
    longest = Math.max(longest, Math.min(now.at - last.at - EVERY_MS, now.worked - last.worked));
    last = now;
  };
  setInterval(look, EVERY_MS).unref();
  const server = createServer((_request, response) => {
    look();
    response.end(JSON.stringify({ longest, late: Math.max(0, delay.percentile(99) / 1e6 - EVERY_MS) }));
    longest = 0;
    delay.reset();
  });
  server.listen(0, '127.0.0.1', () => writeFileSync(file, String(server.address().port))).unref();
}

/** Gives the ms for which this thread was on a processor. */
function workedMs() {
  if (process.platform !== 'linux') return () => performance.now();
  const schedule = openSync(`/proc/self/task/${process.pid}/schedstat`);
  const bytes = Buffer.alloc(100);
  return () => Number.parseInt(bytes.toString('latin1', 0, readSync(schedule, bytes, 0, bytes.length, 0)), 10) / 1e6;
}
