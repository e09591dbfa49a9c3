/** How long the owner is busy in one piece: what asks it something meanwhile waits for so long. */
import type { BrowserContext } from 'playwright-core';
import { z } from 'zod';
import { openOwnerTarget } from './owner-target.ts';

/** ms between two turns of the worker that are looked at; browsers do not come again sooner. */
const TURN_MS = 4;
/** ms: gaps under this are no block; the least that a worker of the page's counts. */
const LEAST_MS = 10;
/** Runs in the worker. A turn that comes late says that something else had the worker until then. */
const WATCH = `(() => {
  const blocks = (globalThis.benchBlocks = []);
  let last = performance.now();
  globalThis.benchTurn = setInterval(() => {
    const now = performance.now();
    const late = now - last - ${TURN_MS};
    if (late > ${LEAST_MS}) blocks.push(late);
    last = now;
  }, ${TURN_MS});
})()`;
const READ = '(() => { clearInterval(globalThis.benchTurn); return globalThis.benchBlocks.splice(0); })()';

const resultSchema = z.object({ result: z.object({ value: z.unknown().optional() }) });
const blocksSchema = z.array(z.number());

/** Watches from now on; the function that it answers ends that, and gives the blocks of over 10 ms, each in ms. */
export async function watchBlocks(context: BrowserContext): Promise<() => Promise<readonly number[]>> {
  const { call, close } = await openOwnerTarget(context);
  const evaluate = async (expression: string) =>
    resultSchema.parse(await call('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  await evaluate(WATCH);
  return async () => {
    const blocks = blocksSchema.parse(await evaluate(READ));
    await close();
    return blocks;
  };
}
