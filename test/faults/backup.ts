/**
 * A backup while a device writes, restored into an empty home. The restored relay must have every
 * entry that was acknowledged before the backup began, and the device gives it the rest.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createHome, runRelayCommand, startRelay, type TestRelay } from '../support/relay.ts';
import { newTestDevice, newTestHousehold } from '../support/sync-device.ts';
import { createTestReplica, noise, type TestReplica } from '../support/sync-replica.ts';

const WITH = { ROOST_BACKUP_PASSPHRASE: 'a passphrase for tests' };
/** ms between two entries, and the most ms before the backup begins. */
const PAUSE_MS = 2;
const BEFORE_MS = 400;
/** Bytes of an entry. */
const ENTRY = 2_000;
/** Entries that a device sends without an answer. */
const AHEAD = 50;
const PATIENCE_MS = 60_000;

interface BackedUp {
  /** Entries that were acknowledged before the backup, those that were restored, and all. */
  readonly before: number;
  readonly restored: number;
  readonly all: number;
}

async function until(what: string, is: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!is()) {
    if (performance.now() > end) throw new Error(`${what} did not happen`);
    await setTimeout(5);
  }
}

async function run(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runRelayCommand(args, WITH);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${stdout}${stderr}`);
}

/** Writes until `stop` aborts. Resolves with the number of entries. */
async function writeOn(replica: TestReplica, stop: AbortSignal): Promise<number> {
  let written = 0;
  while (!stop.aborted) {
    if (written - replica.acknowledged() < AHEAD) {
      replica.write(noise(ENTRY));
      written += 1;
    }
    await setTimeout(PAUSE_MS);
  }
  return written;
}

const countersOf = ({ store }: TestReplica, writer: string) => new Set(store.all.get(writer)?.keys());

export async function backUpUnderLoad(random: () => number): Promise<BackedUp> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-backup-'));
  const [file, to, home] = [join(folder, 'home.age'), join(folder, 'restored'), await createHome({ store: 'sqlite' })];
  const household = newTestHousehold();
  const [one, other] = [createTestReplica(household, newTestDevice()), createTestReplica(household, newTestDevice())];
  let relay: TestRelay | null = await startRelay({ home });
  try {
    await one.connect(relay);
    const stop = new AbortController();
    const writing = writeOn(one, stop.signal);
    await setTimeout(random() * BEFORE_MS);
    await until('an acknowledgement', () => one.acknowledged() > 0);
    const before = one.acknowledged();
    await run('backup', file, '--home', home);
    stop.abort();
    const all = await writing;
    await until('the last acknowledgement', () => one.acknowledged() === all);
    const signIn = await relay.signIn();
    await relay.stop();
    relay = null;

    await run('restore', file, '--home', to);
    relay = await startRelay({ home: to, signIn });
    await other.connect(relay);
    const acknowledged = Array.from({ length: before }, (_none, i) => i + 1);
    await until(`a copy of the ${before} entries from before the backup`, () => {
      const there = countersOf(other, one.writer);
      return acknowledged.every((counter) => there.has(counter));
    });
    const restored = countersOf(other, one.writer);
    await one.connect(relay);
    await until('the rest, from the device,', () => countersOf(other, one.writer).size === all);
    return { before, restored: restored.size, all };
  } finally {
    await Promise.all([one.close(), other.close()]);
    await relay?.stop();
    for (const path of [folder, home]) await rm(path, { recursive: true, force: true });
  }
}
