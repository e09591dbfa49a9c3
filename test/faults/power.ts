/**
 * A writer on a disk of its own; the power goes at random moments, and each disk that is left is
 * started from.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEventLog } from '../../server/log/index.ts';
import { openStore } from '../../server/store/index.ts';
import { createDiskImage, type DiskImage } from '../support/disk-image.ts';
import { demand } from './checks.ts';

const WRITER = fileURLToPath(new URL('../support/log-writer.ts', import.meta.url));
/** ms between two cuts at most. */
const BETWEEN_MS = 400;
/** ms until the writer has begun; a busy machine is not a failure. */
const BEGIN_MS = 120_000;

export interface PowerCuts {
  readonly cuts: number;
  /** Events that had been acknowledged when the power went, over all cuts. */
  readonly acknowledged: number;
}

interface Said {
  readonly events: readonly number[];
  /** Client ids, with the event that each became. */
  readonly clients: ReadonlyMap<string, number>;
}

function parseSaid(text: string): Said {
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '));
  return {
    events: lines.flatMap(([what, id]) => (what === 'event' ? [Number(id)] : [])),
    clients: new Map(
      lines.flatMap(([what, name, id]) => (what === 'client' ? [[`client ${name ?? ''}`, Number(id)]] : [])),
    ),
  };
}

/** Starts a relay's log from the disk that was left, and holds it against what had been said. */
async function checkDisk(disk: DiskImage, said: Said, cut: number): Promise<void> {
  const store = await openStore({ folder: join(disk.folder, 'store'), databaseUrl: null });
  try {
    const log = await openEventLog({
      db: store.db,
      home: 'writer',
      now: Date.now,
      newId: () => 'another',
      onListenerError: () => undefined,
    });
    const ids = (await log.read(0, 1_000_000)).map(({ id }) => id);
    const kept = new Set(ids);
    const taken = await Promise.all(
      [...said.clients].map(async ([client, event]) =>
        (await log.written(client)) === event ? [] : [`${client} is not known`],
      ),
    );
    demand(`After power cut ${cut}`, [
      ...said.events
        .filter((id) => !kept.has(id))
        .map((id) => `event ${id} of ${log.head()} was acknowledged, and is gone`),
      ...taken.flat(),
      ...ids.flatMap((id, i) => (id === i + 1 ? [] : [`event ${id} stands in place ${i + 1}`])),
    ]);
    await log.append([{ kind: 'text', messageId: 'after', text: 'after' }]);
    await log.close();
  } finally {
    await store.close();
  }
}

/** `cuts` of the power while one writer writes. Rejects with what was lost. */
export async function cutPower(
  cuts: number,
  random: () => number,
  onCut: (cut: number, events: number) => void = () => undefined,
): Promise<PowerCuts> {
  const disk = await createDiskImage();
  await disk.sync();
  // Into a file: a pipe that nobody reads while a disk is checked would fill.
  const saying = await mkdtemp(join(tmpdir(), 'roost-said-'));
  const said = await open(join(saying, 'said'), 'a+');
  const writer = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), WRITER, join(disk.folder, 'store'), ''],
    { stdio: ['ignore', said.fd, 'inherit'] },
  );
  let gone = false;
  const ended = once(writer, 'close').then(() => (gone = true));
  let acknowledged = 0;
  try {
    for (const until = performance.now() + BEGIN_MS; (await said.stat()).size === 0; await sleep(50))
      if (performance.now() > until) throw new Error('The writer did not begin');
    for (let cut = 1; cut <= cuts; cut++) {
      await sleep(random() * BETWEEN_MS);
      if (gone) throw new Error('The writer ended by itself');
      writer.kill('SIGSTOP');
      const heard = parseSaid(await readFile(join(saying, 'said'), 'utf8'));
      const left = await disk.cut();
      try {
        await checkDisk(left, heard, cut);
      } finally {
        await left.remove();
      }
      writer.kill('SIGCONT');
      acknowledged += heard.events.length + heard.clients.size;
      onCut(cut, heard.events.length + heard.clients.size);
    }
  } finally {
    writer.kill('SIGKILL');
    await ended;
    await said.close();
    await rm(saying, { recursive: true });
    await disk.remove();
  }
  return { cuts, acknowledged };
}
