import { expect, it } from 'vitest';
import { liveMemoryLife } from './memory-life.ts';

/** ms: two browsers and a relay, on a machine that is busy with other tests. */
const TIMEOUT = 240_000;

it(
  'an agent, and the lead, wake with every fact of their last real conversation, within the room, and nothing twice',
  { timeout: TIMEOUT },
  async () => {
    const report = await liveMemoryLife({ seed: 3, sessions: 5 });
    expect(report.sessions).toBe(5);
    expect(report.facts).toBeGreaterThan(0);
    expect(report.sealed).toBeGreaterThan(0);
  },
);
