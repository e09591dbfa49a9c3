/** For how long a page was held up: by the clock, and by the processor's time, which a busy machine does not stretch. */
import type { Page } from 'playwright-core';
import { z } from 'zod';

/** ms; what takes longer is felt. */
const FELT = 50;

export interface HeldUp {
  /** ms by the clock of every task over 50 ms. */
  readonly blocks: readonly number[];
  /** ms of the processor's time that the longest task took. */
  readonly longest: number;
}

const traceSchema = z.object({
  traceEvents: z.array(
    z.looseObject({
      name: z.string(),
      ph: z.string(),
      pid: z.number(),
      tid: z.number(),
      dur: z.number().optional(),
      tdur: z.number().optional(),
      args: z.looseObject({ name: z.unknown().optional() }).optional(),
    }),
  ),
});

/** Does it, and watches the main threads of the browser's pages meanwhile. */
export async function heldUp<T>(
  page: Page,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly held: HeldUp }> {
  const browser = page.context().browser();
  if (!browser) throw new Error('The page is in no browser of ours.');
  await browser.startTracing(page, { categories: ['toplevel'] });
  let result: T;
  let trace: Buffer;
  try {
    result = await act();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = traceSchema.parse(JSON.parse(trace.toString('utf8')));
  const main = new Set(
    traceEvents.flatMap(({ name, args, pid, tid }) =>
      name === 'thread_name' && args?.name === 'CrRendererMain' ? [`${pid}.${tid}`] : [],
    ),
  );
  // Times of a trace are in µs.
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && main.has(`${pid}.${tid}`),
  );
  return {
    result,
    held: {
      blocks: tasks.flatMap(({ dur = 0 }) => (dur > FELT * 1000 ? [Math.round(dur / 1000)] : [])),
      longest: Math.round(tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1000),
    },
  };
}
