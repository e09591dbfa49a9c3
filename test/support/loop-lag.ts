/** How long the event loop of a relay under test is held: what every other call has to wait. */
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

const PROBE = new URL('loop-probe.mjs', import.meta.url).href;

export interface LoopLag {
  /** The environment of the relay that is looked at. */
  readonly env: Readonly<Record<string, string>>;
  /** ms for which the loop was held at most since one of these two was last called. */
  longest(): Promise<number>;
  /** ms by which the loop was late at most, 99 times of 100, likewise. */
  late(): Promise<number>;
}

export function createLoopLag(): LoopLag {
  const file = join(tmpdir(), `roost-loop-${randomUUID()}`);
  const schema = z.object({ longest: z.number(), late: z.number() });
  let url: string | null = null;
  async function ask() {
    url ??= `http://127.0.0.1:${await readFile(file, 'utf8')}`;
    return schema.parse(await (await fetch(url)).json());
  }
  return {
    env: { NODE_OPTIONS: `--import ${PROBE}`, LOOP_PROBE: file },
    longest: async () => (await ask()).longest,
    late: async () => (await ask()).late,
  };
}
