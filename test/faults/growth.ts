/**
 * Days in the life of a relay's store, by a clock of their own: what a thousand messages a day
 * leave behind.
 */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openEventLog } from '../../server/log/index.ts';
import { createStorePlace } from '../support/stores.ts';

const DAY_MS = 24 * 3_600_000;
const MESSAGES = 1_000;
/** Messages that come together. */
const TOGETHER = 50;
const WORDS = 'What was said stays in the browser, and leaves the relay after a day. '.repeat(6);

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true });
  const sizes = await Promise.all(
    entries.map(async (entry) =>
      entry.isDirectory() ? bytesIn(join(folder, entry.name)) : (await stat(join(folder, entry.name))).size,
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Answers with the bytes of the store at the end of each day. */
export async function liveDays(
  days: number,
  onDay: (day: number, bytes: number) => void = () => undefined,
): Promise<number[]> {
  const place = await createStorePlace('sqlite');
  const store = await place.open();
  try {
    let clock = 1_900_000_000_000;
    const now = () => clock;
    const log = await openEventLog({
      db: store.db,
      home: 'r',
      now,
      newId: () => 'log',
      onListenerError: () => undefined,
    });
    const bytes: number[] = [];
    for (let day = 1; day <= days; day++) {
      await log.append([{ kind: 'session-ended', sessionId: `s${day}`, reason: 'ended', time: clock }]);
      for (let i = 0; i < MESSAGES; i += TOGETHER) {
        await Promise.all(
          Array.from({ length: TOGETHER }, (_none, j) =>
            log.appendOnce(`${day}.${i + j}`, [{ kind: 'text', messageId: `m${day}.${i + j}`, text: WORDS }]),
          ),
        );
        await log.ack(log.head());
        clock += DAY_MS / (MESSAGES / TOGETHER);
      }
      bytes.push(await bytesIn(place.folder));
      onDay(day, bytes.at(-1) ?? 0);
    }
    await log.close();
    return bytes;
  } finally {
    await store.close();
    await place.remove();
  }
}
