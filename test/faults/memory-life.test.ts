import { expect, it } from 'vitest';
import { liveMemoryLife } from './memory-life.ts';

/** ms; a fifth of a minute on a quiet machine. */
const TIMEOUT = 240_000;

it(
  'an agent, and the lead, wake with every fact of their last real conversation, within the room, and nothing twice',
  { timeout: TIMEOUT },
  async () => {
    const report = await liveMemoryLife({ seed: 3, sessions: 7 });
    expect(report.sessions).toBe(7);
    expect(report.facts).toBeGreaterThan(0);
  },
);
