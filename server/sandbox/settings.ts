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
  /** Of what it writes to its output, after which it is ended; and so much of its beginning and its end is kept. */
  output: 50_000_000,
  keptOutput: 500_000,
  /** Left free on the disk. */
  keptFree: 500_000_000,
  /** Between two looks at what it takes. */
  watchMs: 250,
  /** The same for a program that goes on: it may run for weeks. */
  watchProgramMs: 2_000,
  /** For the first look whether there is a sandbox at all. */
  probeMs: 10_000,
} as const;
export type SandboxLimits = { readonly [Name in keyof typeof SANDBOX_LIMITS]: number };

/** Where its own folder is seen from within. */
export const WITHIN = '/workspace';
