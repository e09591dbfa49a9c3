/**
 * The start of a relay in an empty home, and of the same home again: time to the link and memory.
 * Beside it: a bare Node process that opens a SQLite file of its own.
 * Beside them stand the figures of PGlite, the embedded store before.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRelay } from '../support/relay.ts';
import { type Figure, median } from './figures.ts';
import { definePart, withOpened } from './part.ts';

/** Homes, and ms of rest before the memory is read. */
const FULL = { homes: 5, restMs: 5_000 };
const SMOKE: typeof FULL = { homes: 1, restMs: 0 };
/** Most ms and MB of a first start. */
const MOST_MS = 3_000;
const MOST_MB = 150;

/** Measured once, on two cores that did other work too, 10 s after the link. */
const PGLITE = { first: { ms: 6_800, megabytes: 434 }, later: { ms: 3_800, megabytes: 300 } } as const;

const SQLITE = createRequire(import.meta.url).resolve('@photostructure/sqlite');
const BARE = `
  const { DatabaseSync } = require(${JSON.stringify(SQLITE)});
  new DatabaseSync(process.argv[1]).exec('pragma journal_mode = wal; create table one (id integer)');
  console.log('open');
  setInterval(() => {}, 1000);
`;

async function megabytesOf(pid: number): Promise<number> {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kb === undefined) throw new Error(`The memory of process ${pid} is not known`);
  return Number(kb) / 1_000;
}

interface Start {
  readonly ms: number;
  readonly megabytes: number;
}

async function startBare(file: string, restMs: number): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, ['-e', BARE, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const ms = performance.now() - began;
  await sleep(restMs);
  const megabytes = await megabytesOf(child.pid ?? 0);
  child.kill();
  await once(child, 'close');
  return { ms, megabytes };
}

async function startIn(home: string, restMs: number): Promise<Start> {
  const began = performance.now();
  const relay = await startRelay({ home, from: 'built' });
  const ms = performance.now() - began;
  await sleep(restMs);
  const megabytes = await megabytesOf(relay.pid);
  await relay.stop();
  return { ms, megabytes };
}

export const start = definePart({
  name: 'start',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: ({ homes, restMs }) =>
    withOpened(async (keep) => {
      const folder = keep(await mkdtemp(join(tmpdir(), 'roost-bench-start-')), (made) => rm(made, { recursive: true }));
      const starts: Record<'bare' | 'first' | 'later', Start[]> = { bare: [], first: [], later: [] };
      for (let i = 0; i < homes; i++) {
        const home = join(folder, `home-${i}`);
        starts.bare.push(await startBare(join(folder, `bare-${i}`), restMs));
        starts.first.push(await startIn(home, restMs));
        starts.later.push(await startIn(home, restMs));
      }
      const of = (name: keyof typeof starts, what: keyof Start) => median(starts[name].map((each) => each[what]));
      const limit = (value: number) => ({ kind: 'limit', what: 'the limit', value }) as const;
      const before = (value: number) => ({ kind: 'peer', what: 'with PGlite', value }) as const;
      const same = (name: keyof typeof PGLITE, what: keyof Start, unit: 'ms' | 'MB'): Figure => ({
        what: '  the same',
        value: of(name, what),
        unit,
        beside: before(PGLITE[name][what]),
      });
      const figures: readonly Figure[] = [
        { what: 'a bare Node that opens SQLite', value: of('bare', 'ms'), unit: 'ms', beside: null },
        { what: 'a first start', value: of('first', 'ms'), unit: 'ms', beside: limit(MOST_MS) },
        same('first', 'ms', 'ms'),
        { what: 'a later start', value: of('later', 'ms'), unit: 'ms', beside: limit(MOST_MS) },
        same('later', 'ms', 'ms'),
        { what: 'memory of the bare Node', value: of('bare', 'megabytes'), unit: 'MB', beside: null },
        { what: 'memory after a first start', value: of('first', 'megabytes'), unit: 'MB', beside: limit(MOST_MB) },
        same('first', 'megabytes', 'MB'),
        { what: 'memory after a later start', value: of('later', 'megabytes'), unit: 'MB', beside: limit(MOST_MB) },
        same('later', 'megabytes', 'MB'),
      ];
      return {
        title: 'The start of a relay',
        method: `${homes} homes, medians; the time until the link is printed, the memory ${restMs / 1_000} s later`,
        figures,
      };
    }),
});
