/** How long the event loop of a relay under test is held: what every other call has to wait. */
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';

const PROBE = new URL('loop-probe.mjs', import.meta.url).href;

export interface LoopLag {
  /** The environment of the relay that is looked at. */
  readonly env: Readonly<Record<string, string>>;
  /** ms for which the loop was held at most since this was last called. */
  longest(): Promise<number>;
}

export function createLoopLag(): LoopLag {
  const file = join(tmpdir(), `roost-loop-${randomUUID()}`);
  let url: string | null = null;
  return {
    env: { NODE_OPTIONS: `--import ${PROBE}`, LOOP_PROBE: file },
    async longest() {
      url ??= `http://127.0.0.1:${await readFile(file, 'utf8')}`;
      return Number(await (await fetch(url)).text());
    },
  };
}
