import type { LaneLimits } from '../../platform/lanes.ts';

/** Commands and scripts in the sandbox at once. Those that wait have not begun. */
export const COMMAND_LANES: LaneLimits = { ofOne: 12, ofAll: 24, waiting: 200 };

/** Limits of the sandbox. Times in ms, sizes in bytes. */
export const SANDBOX_LIMITS = {
  /** Bytes of memory for all processes of a command together. */
  memory: 2_000_000_000,
  /** What a process counts whose list of mappings is too long to read. */
  unreadMappings: 8_000_000_000,
  processes: 128,
  /** Long-running programs, such as MCP servers, of all households at once. */
  programs: 100,
  /** Per file. */
  file: 1_000_000_000,
  openFiles: 512,
  /** File systems in memory: for `/tmp`, and for `/dev/shm`. */
  temporary: 256_000_000,
  shared: 64_000_000,
  /** Memory of its TCP connections, where the kernel counts that separately (cgroup v1). */
  tcp: 128_000_000,
  /**
   * Where no control group counts it: one segment of shared memory (System V), and semaphores per
   * set.
   */
  segment: 16_384,
  semaphores: 32,
  /**
   * Resources that all programs of a user share: inotify instances, and pairs of a descriptor and
   * an epoll instance that could watch it.
   */
  inotify: 32,
  /** Its message queues (POSIX). */
  queues: 100_000,
  epollPairs: 500_000,
  /**
   * Output after which a run is ended; and the part of its beginning and its end that is stored.
   */
  output: 50_000_000,
  keptOutput: 500_000,
  /**
   * Free space that must remain on the disk; and free memory of the machine, where no control group
   * limits the run.
   */
  keptFree: 500_000_000,
  keptMemory: 500_000_000,
  /**
   * Consecutive measurements that must exceed the limit where the machine's own memory loss does
   * not confirm them.
   */
  memoryChecks: 20,
  /** Between two checks of a run. */
  watchMs: 250,
  /** Between two checks of a long-running program, which may run for weeks. */
  watchProgramMs: 2_000,
  /**
   * Between two checks of its descriptors, and between two counts of its folder where the disk
   * shows no change.
   */
  descriptorsMs: 1_000,
  countMs: 3_000,
  /** A slow check rests so many times as long as it took; less where the machine has lost much. */
  restTimes: 5,
  restAtOnce: 1,
  /** Time for the first trial of a sandbox. */
  probeMs: 10_000,
} as const;
export type SandboxLimits = { readonly [Name in keyof typeof SANDBOX_LIMITS]: number };

/** Path of a run's folder inside the sandbox. */
export const WITHIN = '/workspace';
