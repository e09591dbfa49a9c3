/** Limits of agents' commands. Times in ms. */
export const SHELL_LIMITS = {
  /** For a background command. The person sets the limit of one that is waited for. */
  backgroundMs: 1_800_000,
  /** Characters of a command, and of output that is returned at once. */
  command: 20_000,
  shown: 30_000,
  /** Per agent: running commands, and finished ones whose output is stored. */
  running: 3,
  kept: 10,
} as const;
export type ShellLimits = { readonly [Name in keyof typeof SHELL_LIMITS]: number };
