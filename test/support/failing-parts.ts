/** A program of parts that end in every way, for the test of `run-parts.ts`. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runParts } from './run-parts.ts';

const PARTS: Readonly<Record<string, () => void>> = {
  throws() {
    throw new Error('its own words');
  },
  breaks: () => void setTimeout(() => void Promise.reject(new Error('too late')), 10),
  hangs() {
    const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    console.log(`left ${left.pid ?? 0}`);
  },
  holds: () => console.log('held'),
};

const [name = '', alone] = process.argv.slice(2);
if (alone === '--alone') PARTS[name]?.();
else {
  const failed = await runParts({
    program: fileURLToPath(import.meta.url),
    names: Object.keys(PARTS),
    withinMs: 5_000,
  });
  console.log(`failed: ${failed.join(', ')}`);
}
