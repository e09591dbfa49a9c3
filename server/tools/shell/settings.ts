/** Of commands that agents run. Times in ms. */
export const SHELL_LIMITS = {
  /** For one in the background; for one that is waited for, the person sets it. */
  backgroundMs: 1_800_000,
  /** Characters of a command, and of what is given back at once. */
  command: 20_000,
  shown: 30_000,
  /** Of one agent: that run at once, and whose output is kept when they are over. */
  running: 3,
  kept: 10,
} as const;
export type ShellLimits = { readonly [Name in keyof typeof SHELL_LIMITS]: number };
