/**
 * One window of jsdom for all files that a worker runs: React, its testing library and the virtual
 * list hold the first window that they meet, and to load them anew for each file took more than
 * most files' own tests.
 */
import { builtinEnvironments, type Environment } from 'vitest/runtime';

const { jsdom } = builtinEnvironments;
const kept = globalThis as { oneWindow?: ReturnType<NonNullable<Environment['setup']>> };

export default {
  name: 'one-window',
  viteEnvironment: 'client',
  async setup(global, options) {
    await (kept.oneWindow ??= jsdom.setup(global, options));
    return { teardown: () => undefined };
  },
} satisfies Environment;
