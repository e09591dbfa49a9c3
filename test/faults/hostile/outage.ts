/** The database of a scene, away for a while: frozen, or killed and started anew. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openHealthSchema } from '../../../src/shared/protocol/http.ts';
import type { Scene } from './scene.ts';

export interface Outage {
  /** Whether the database was away at any time since then; `performance.now()`. */
  since(then: number): boolean;
  /** It is away for so many ms; resolves when the relay has it again. */
  happen(how: 'frozen' | 'killed', ms: number): Promise<void>;
}

/** ms in which what had waited for it is done. */
const CAUGHT_UP_MS = 500;

export function createOutage({ postgres, honest }: Pick<Scene, 'postgres' | 'honest'>): Outage {
  let [away, last] = [false, -Infinity];
  const reached = async () => {
    const answer = await honest.fetch('/api/health');
    return openHealthSchema.parse(await answer.json()).database.awayMs === null;
  };
  return {
    since: (then) => away || last >= then,
    async happen(how, ms) {
      away = true;
      try {
        if (how === 'frozen') postgres.freeze();
        else await postgres.crash();
        await sleep(ms);
        if (how === 'frozen') postgres.thaw();
        else await postgres.resume();
        while (!(await reached())) await sleep(100);
        await sleep(CAUGHT_UP_MS);
      } finally {
        [away, last] = [false, performance.now()];
      }
    },
  };
}
