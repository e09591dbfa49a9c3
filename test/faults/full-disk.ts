/**
 * A store on a small disk that is filled and freed at random moments while events are written to
 * it.
 */
import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLog } from '../../server/log/index.ts';
import { openEventLog } from '../../server/log/index.ts';
import { openStore, storeTrouble } from '../../server/store/index.ts';
import { createSmallDisk } from '../support/disk-image.ts';
import { demand } from './checks.ts';

export const DISK_MB = 48;
/** ms between two changes of the disk at most. */
const BETWEEN_MS = 300;
/** ms within which the store goes on after room was made; a busy machine is not a failure. */
const GOES_ON_MS = 30_000;
const CHUNK = Buffer.alloc(64 * 1024, 1);
/** Bytes of an event, in hexadecimal digits. */
const EVENT_BYTES = 8_192;

export async function fill(file: string): Promise<void> {
  const filler = await open(file, 'a');
  try {
    for (;;) await filler.write(CHUNK);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    await filler.close();
  }
}

/** With the head as of the reading. */
async function readPatiently(log: EventLog, until: number) {
  for (;;) {
    try {
      return { upTo: log.head(), stored: await log.read(0, 1_000_000) };
    } catch (error) {
      if (performance.now() > until || storeTrouble(error) === null) throw error;
      await sleep(5);
    }
  }
}

export interface FullDisks {
  readonly rounds: number;
  readonly acknowledged: number;
  /** What writers were told while there was no room. */
  readonly refusals: ReadonlySet<string>;
}

/** Rejects with what was lost, or where the store stayed unusable. */
export async function fillDisk(
  rounds: number,
  random: () => number,
  onRound: (round: number, said: string) => void = () => undefined,
): Promise<FullDisks> {
  const disk = await createSmallDisk(DISK_MB);
  const folder = join(disk.folder, 'store');
  const store = await openStore({ folder, databaseUrl: null });
  const acknowledged: number[] = [];
  const refusals = new Set<string>();
  /** Which the relay would not have words for. */
  const unclear = new Set<string>();
  let refused = 0;
  let ending = false;
  try {
    const log = await openEventLog({
      db: store.db,
      home: 'r',
      now: Date.now,
      newId: () => 'log',
      onListenerError: () => undefined,
      retentionMs: 0,
      pruneEveryMs: 0,
    });
    const writer = (async () => {
      while (!ending) {
        try {
          const stored = await log.append([
            { kind: 'session-ended', sessionId: 's', reason: 'ended', time: 0 },
            { kind: 'text', messageId: 'm', text: randomBytes(EVENT_BYTES).toString('hex') },
          ]);
          acknowledged.push(...stored.map(({ id }) => id));
        } catch (error) {
          refused += 1;
          const message = error instanceof Error ? error.message : String(error);
          refusals.add(message);
          if (storeTrouble(error) === null) unclear.add(message);
          await sleep(10);
        }
      }
    })();
    for (let round = 1; round <= rounds; round++) {
      await sleep(random() * BETWEEN_MS);
      const before = refused;
      const countBefore = acknowledged.length;
      // Again and again: a checkpoint gives room back, and what finds room is rightly not refused.
      for (const until = performance.now() + GOES_ON_MS; refused === before && performance.now() < until;) {
        await fill(join(disk.folder, 'filler'));
        await sleep(10);
      }
      const whileFull = acknowledged.length - countBefore;
      await sleep(random() * BETWEEN_MS);
      await rm(join(disk.folder, 'filler'));
      const count = acknowledged.length;
      const freed = performance.now();
      const until = freed + GOES_ON_MS;
      while (acknowledged.length === count && performance.now() < until) await sleep(5);
      const { upTo, stored } = await readPatiently(log, until);
      const kept = new Set(stored.map(({ id }) => id));
      const oldest = Math.min(...kept);
      demand(`After the disk was full ${round} times`, [
        ...[...unclear].map((message) => `a writer was told "${message}"`),
        ...(refused === before ? [`nobody was refused, and ${whileFull} were acknowledged`] : []),
        ...(acknowledged.length === count
          ? [`nothing could be written after room was made: ${[...refusals].at(-1) ?? ''}`]
          : []),
        ...acknowledged
          .filter((id) => id >= oldest && id <= upTo && !kept.has(id))
          .map((id) => `event ${id} was acknowledged, and is gone`),
      ]);
      onRound(
        round,
        `went on ${Math.round(performance.now() - freed)} ms after room was made; ${whileFull} acknowledged until the first refusal`,
      );
      // What was written makes room itself, as it does where a browser has stored it.
      await log.ack(log.head() - 10);
    }
    ending = true;
    await writer;
    await log.close();
  } finally {
    ending = true;
    await store.close();
    await disk.remove();
  }
  return { rounds, acknowledged: acknowledged.length, refusals };
}
