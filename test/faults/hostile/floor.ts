/**
 * A bare server in a process of its own, asked as the honest person asks the relay and at the same
 * time. What its calls take is the machine's part of what theirs take.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../bench/bare-server.mjs', import.meta.url));

export interface Floor {
  /** ms of each call since this was asked for last. */
  times(): number[];
  close(): Promise<void>;
}

/** `pauseMs`: between two calls, at most. */
export async function openFloor(pauseMs: number, random: () => number): Promise<Floor> {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${String(line).trim()}/count`;
  let [times, isOver]: [number[], boolean] = [[], false];
  const asking = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await (await fetch(url)).text();
      times.push(performance.now() - asked);
      await sleep(random() * pauseMs);
    }
  })();
  return {
    times() {
      const given = times;
      times = [];
      return given;
    },
    async close() {
      isOver = true;
      await asking;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
