/**
 * The packed package in an empty folder: room on disk, time to the link and memory, beside the
 * clone's, in turns.
 *
 * With PGlite, a clone took 749 MB on disk, 47 s to the first link (with its build), and 442 MB.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RelayOrigin, startRelay } from '../support/relay.ts';
import { type Figure, median } from './figures.ts';
import { definePart, withOpened } from './part.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Homes, and ms of rest before the memory is read. */
const FULL = { homes: 5, restMs: 5_000 };
const SMOKE: typeof FULL = { homes: 1, restMs: 0 };
/** Bars. */
const MOST = { diskMb: 120, ms: 3_000, memoryMb: 150 };

/** MB that a folder takes on disk. */
const diskMb = (folder: string): number =>
  (Number(/^\d+/.exec(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }))?.[0]) * 1_024) / 1_000_000;

async function memoryMb(pid: number): Promise<number> {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kb === undefined) throw new Error(`The memory of process ${pid} is not known`);
  return Number(kb) / 1_000;
}

/** Starts on a new home, and ends. */
async function startOnce(from: RelayOrigin, restMs: number): Promise<{ ms: number; memory: number }> {
  const began = performance.now();
  const relay = await startRelay({ from, store: 'sqlite' });
  const ms = performance.now() - began;
  await sleep(restMs);
  const memory = await memoryMb(relay.pid);
  await relay.stop();
  return { ms, memory };
}

export const packed = definePart({
  name: 'package',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: ({ homes, restMs }) =>
    withOpened(async (keep) => {
      const folder = keep(await mkdtemp(join(tmpdir(), 'roost-bench-package-')), (made) =>
        rm(made, { recursive: true }),
      );
      execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, stdio: 'ignore' });
      const [tarball = ''] = await readdir(folder);
      const flags = ['--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund'];
      execFileSync('npm', ['install', ...flags, join(folder, tarball)], { cwd: folder, stdio: 'ignore' });
      const main = join(folder, 'node_modules/roost/server/roost.mjs');
      const starts: Record<'packed' | 'clone', { ms: number; memory: number }[]> = { packed: [], clone: [] };
      for (let i = 0; i < homes; i++) {
        starts.packed.push(await startOnce({ main }, restMs));
        starts.clone.push(await startOnce('built', restMs));
      }
      const of = (name: keyof typeof starts, what: 'ms' | 'memory') => median(starts[name].map((each) => each[what]));
      const limit = (value: number) => ({ kind: 'limit', what: 'the limit', value }) as const;
      const figures: readonly Figure[] = [
        { what: 'on disk', value: diskMb(join(folder, 'node_modules')), unit: 'MB', beside: limit(MOST.diskMb) },
        { what: 'on disk, the clone’s packages', value: diskMb(join(ROOT, 'node_modules')), unit: 'MB', beside: null },
        { what: 'a first start', value: of('packed', 'ms'), unit: 'ms', beside: limit(MOST.ms) },
        { what: 'a first start of the built clone', value: of('clone', 'ms'), unit: 'ms', beside: null },
        { what: 'memory after a first start', value: of('packed', 'memory'), unit: 'MB', beside: limit(MOST.memoryMb) },
        { what: 'memory of the clone', value: of('clone', 'memory'), unit: 'MB', beside: null },
      ];
      return {
        title: 'The packed package',
        method: `${homes} homes, medians; installed from its tarball into an empty folder, the memory ${restMs / 1_000} s after the link`,
        figures,
      };
    }),
});
