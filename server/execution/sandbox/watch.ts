/**
 * Watches a sandbox's resources and reports the first excess. It always watches the disk, and the
 * memory where no control group limits it.
 *
 * A process can hide what it holds from a cheap count, for example in a deleted file. It cannot
 * hide what the whole machine has lost. So the watch compares that loss with what the sandbox may
 * still take. A larger loss triggers a close measurement of every process. If the sandbox is then
 * within its limits, another program caused the loss, and the watch starts afresh.
 *
 * Another program may also release as much as the sandbox takes, and then the machine loses
 * nothing. So a close measurement follows now and then in any case.
 */
import { stat, statfs } from 'node:fs/promises';
import { memoryLeft } from '../../platform/processes/index.ts';
import type { Room } from '../../files/workspaces/index.ts';
import { estimateOf, memoryOf, unlinkedOf, watchingOf, type Kin } from './held.ts';
import type { SandboxLimits } from './settings.ts';

/** The free room in the folder that a sandbox writes in. */
export interface Space {
  /** At the start. */
  readonly left: Room;
  /** Counts again. */
  count(): Promise<Room>;
}

/** The resource that a sandbox took too much of. */
export type Excess = 'memory' | 'room' | 'files' | 'watchers';

export interface WatchDeps {
  readonly kin: Kin;
  /** Whether memory has run out in the control group. Null: there is no group. */
  readonly ranOut: (() => Promise<boolean>) | null;
  /** On the disk. Null: the sandbox writes in none. */
  readonly folder: string | null;
  /** Left out: only the disk bounds what the sandbox writes. */
  readonly space?: Space | undefined;
  /** All sandboxes that write in the same folder now, including this one. */
  readonly together: () => readonly Kin[];
  readonly limits: SandboxLimits;
  readonly everyMs: number;
  readonly onExcess: (what: Excess) => void;
}

/**
 * Runs `work` at most every `everyMs`, and rests `rest` times as long as the last run took. Null:
 * not due, or no excess.
 */
function paced<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<Excess | null>,
  everyMs: number,
  rest: number,
): (...given: Given) => Promise<Excess | null> {
  let next = -Infinity;
  return async (...given) => {
    const began = performance.now();
    if (began < next) return null;
    try {
      return await work(...given);
    } finally {
      const ended = performance.now();
      next = Math.max(began + everyMs, ended + rest * (ended - began));
    }
  };
}

/**
 * Measures a loss from the maximum seen. So a process cannot hide a loss by releasing something
 * first.
 */
function createLoss(first: number): { of(now: number): number; forget(now: number): void } {
  let most = first;
  return {
    of(now) {
      most = Math.max(most, now);
      return most - now;
    },
    forget(now) {
      most = now;
    },
  };
}

type Check = () => Promise<Excess | null>;

async function watchMemory({ kin, limits }: WatchDeps): Promise<Check> {
  const bytesLeft = () => memoryLeft().then(({ available, swap }) => available + swap);
  const first = await memoryLeft();
  const loss = createLoss(first.available + first.swap);
  const reserved = Math.min(limits.keptMemory, first.available / 2);
  /** What the sandbox held when the loss was last reset. */
  let before = 0;
  /** Consecutive measurements above the limit. */
  let agree = 0;
  async function closely(): Promise<Excess | null> {
    const memory = await memoryOf(kin, limits.unreadMappings);
    const now = await bytesLeft();
    agree = memory > limits.memory ? agree + 1 : 0;
    // Processes that fork while they are read count shared pages twice. Then the machine has lost
    // less than was counted.
    const isSure = before + loss.of(now) > limits.memory || agree === limits.memoryChecks;
    if (agree > 0) return isSure ? 'memory' : null;
    before = memory;
    loss.forget(now);
    return null;
  }
  const atOnce = paced(closely, 0, limits.restTimes);
  const inTime = paced(closely, limits.countMs, limits.restTimes);
  return async () => {
    const { available, swap } = await memoryLeft();
    if (available < reserved) return 'memory';
    const isMuch =
      agree > 0 || before + loss.of(available + swap) > limits.memory || (await estimateOf(kin)) > limits.memory;
    return await (isMuch ? atOnce() : inTime());
  };
}

async function watchDisk({ limits, space, together }: WatchDeps, folder: string): Promise<Check> {
  const freeSpace = () =>
    statfs(folder).then(({ bavail, bsize, ffree }) => ({ bytes: bavail * bsize, entries: ffree }));
  const { dev } = await stat(folder);
  const first = await freeSpace();
  const bytes = createLoss(first.bytes);
  const entries = createLoss(first.entries);
  let roomLeft = space?.left ?? null;
  /** A folder that was too full at the start may stay so, but not grow. */
  const least = Math.min(0, space?.left.bytes ?? 0);
  const countless = (space?.left.entries ?? 0) < 0;

  async function count(now: Room): Promise<Excess | null> {
    if (!space || roomLeft === null) return null;
    const room = await space.count();
    if (room.entries < 0 && !countless) return 'files';
    const { bytes: unlinked, hidden } = await unlinkedOf(together(), dev);
    if (room.bytes - unlinked < least) return 'room';
    // The disk lost more than the count shows, and a process hides files: it has them.
    if (hidden && bytes.of(now.bytes) > roomLeft.bytes) return 'room';
    roomLeft = { bytes: room.bytes - unlinked, entries: room.entries };
    bytes.forget(now.bytes);
    entries.forget(now.entries);
    return null;
  }
  const atOnce = paced(count, 0, limits.restAtOnce);
  const inTime = paced(count, limits.countMs, limits.restTimes);
  return async () => {
    const now = await freeSpace();
    if (now.bytes < limits.keptFree) return 'room';
    if (roomLeft === null) return null;
    const isMuch = bytes.of(now.bytes) > roomLeft.bytes || entries.of(now.entries) > roomLeft.entries;
    return await (isMuch ? atOnce(now) : inTime(now));
  };
}

function watchDescriptors({ kin, limits }: WatchDeps): Check {
  return paced(
    async () => {
      const { inotify, epollPairs } = await watchingOf(kin);
      return inotify > limits.inotify || epollPairs > limits.epollPairs ? 'watchers' : null;
    },
    limits.descriptorsMs,
    limits.restTimes,
  );
}

async function checksOf(deps: WatchDeps): Promise<readonly Check[]> {
  const { ranOut, folder } = deps;
  return [
    ranOut === null ? await watchMemory(deps) : async () => ((await ranOut()) ? 'memory' : null),
    ...(folder === null ? [] : [await watchDisk(deps, folder)]),
    watchDescriptors(deps),
  ];
}

/** Returns a function that ends the watch. */
export function watch(deps: WatchDeps): () => void {
  const checks = checksOf(deps);
  checks.catch(() => undefined);
  /** A long count of files delays no check of the memory. */
  const busy = new Set<Check>();
  async function run(check: Check): Promise<void> {
    if (busy.has(check)) return;
    busy.add(check);
    try {
      const what = await check();
      if (what !== null) deps.onExcess(what);
    } catch {
      // The folder may be gone. The next check comes soon.
    } finally {
      busy.delete(check);
    }
  }
  const timer = setInterval(() => {
    checks.then(
      (all) => all.forEach((check) => void run(check)),
      () => undefined,
    );
  }, deps.everyMs);
  return () => clearInterval(timer);
}
