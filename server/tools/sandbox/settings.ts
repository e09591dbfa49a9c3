/** What runs in the sandbox may take at most. Times in ms, sizes in bytes. */
export const SANDBOX_LIMITS = {
  /** Of all its processes together. */
  memory: 2_000_000_000,
  /** Of addresses that one process reserves. */
  addresses: 8_000_000_000,
  processes: 128,
  /** Of one file. */
  file: 1_000_000_000,
  openFiles: 512,
  /** In memory: for `/tmp`, and for `/dev/shm`. */
  temporary: 256_000_000,
  shared: 64_000_000,
  /** Of what its TCP connections hold, where the kernel counts that apart (cgroup v1). */
  tcp: 128_000_000,
  /**
   * Where no control group counts it: of one segment of shared memory (System V), and semaphores of
   * one set.
   */
  segment: 16_384,
  semaphores: 32,
  /**
   * Of what a user of the machine has only so many, for all of their programs: instances of
   * inotify, and pairs of a descriptor and an epoll instance that could watch it.
   */
  inotify: 32,
  /** Bytes of its message queues (POSIX). */
  queues: 100_000,
  epollPairs: 500_000,
  /**
   * Of what it writes to its output, after which it is ended; and so much of its beginning and its
   * end is kept.
   */
  output: 50_000_000,
  keptOutput: 500_000,
  /** Left free on the disk; and of the machine's memory, where no control group bounds it. */
  keptFree: 500_000_000,
  keptMemory: 500_000_000,
  /**
   * Looks at the memory that must find too much, one after the other, where the machine has not
   * lost as much.
   */
  memoryLooks: 20,
  /** Between two looks at what it takes. */
  watchMs: 250,
  /** The same for a program that goes on: it may run for weeks. */
  watchProgramMs: 2_000,
  /**
   * Between two looks at its descriptors, and two counts of its folder where the disk gives no
   * reason for one.
   */
  descriptorsMs: 1_000,
  countMs: 3_000,
  /**
   * A look or a count that took long is made again after so many times as long; where the machine
   * has lost much, sooner.
   */
  restTimes: 5,
  restAtOnce: 1,
  /** For the first look whether there is a sandbox at all. */
  probeMs: 10_000,
} as const;
export type SandboxLimits = { readonly [Name in keyof typeof SANDBOX_LIMITS]: number };

/** Where its own folder is seen from within. */
export const WITHIN = '/workspace';
