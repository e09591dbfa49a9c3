import { liveMemoryLife } from './memory-life.ts';
import type { LongPart } from './long-part.ts';
import { withSeed } from './seeds.ts';

/** Sessions in a life. */
const SESSIONS = 100;

/** A seed is a life of its own. */
export const memoryPart: LongPart = {
  name: 'memory',
  short: ['faults/memory-life.test.ts'],
  with: (seed) => [seed],
  async run(seeds) {
    const sum = { sessions: 0, wakes: 0, facts: 0, kills: 0, turns: 0, sealed: 0 };
    for (const seed of seeds)
      await withSeed('memory', seed, async () => {
        const report = await liveMemoryLife({ seed, sessions: SESSIONS });
        for (const key of ['sessions', 'wakes', 'facts', 'kills', 'turns', 'sealed'] as const) sum[key] += report[key];
        console.log(
          `seed ${seed}: ${report.sessions} sessions, ${report.wakes} wakes, ${report.facts} facts, ${report.kills} kills, ${report.turns} turns of the devices, ${report.sealed} of them by sealed entries alone`,
        );
      });
    return `${sum.sessions} sessions, ${sum.wakes} wakes: every fact of the last conversation was in the prompt each time, nothing twice`;
  },
};
