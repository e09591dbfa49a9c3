/** How long a thread was busy in one piece, by the processor that it took: what else this machine does is not in it. */
import type { BrowserContext } from 'playwright-core';
import { z } from 'zod';

/** One task of a thread, as Chromium traces it; µs. `tdur`: of the processor. */
const eventSchema = z.looseObject({
  name: z.string(),
  ph: z.string(),
  pid: z.number(),
  tid: z.number(),
  dur: z.number().optional(),
  tdur: z.number().optional(),
  args: z.looseObject({ name: z.unknown() }).partial().optional(),
});
type TraceEvent = z.output<typeof eventSchema>;

/** Categories of Chromium's trace: every task of every thread, and the threads' names. */
const CATEGORIES = ['toplevel', '__metadata'];
/** As Chromium names them. */
const THREADS = { page: 'CrRendererMain', owner: 'SharedWorker thread' } as const;

function longestTask(events: readonly TraceEvent[], thread: keyof typeof THREADS): number {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const named = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args?.name === THREADS[thread]).map(threadOf),
  );
  const tasks = events.filter(
    (event) => event.ph === 'X' && event.name.endsWith('RunTask') && named.has(threadOf(event)),
  );
  if (tasks.length === 0) throw new Error(`The trace has no task of the ${thread}.`);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

/** Begins to watch; the function that it answers ends that, and gives ms of the longest task of such threads. One watch at a time. */
export async function watchBusy(context: BrowserContext): Promise<() => Promise<(of: keyof typeof THREADS) => number>> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be reached.');
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) events.push(eventSchema.parse(event));
  });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { recordMode: 'recordAsMuchAsPossible', includedCategories: CATEGORIES },
  });
  return async () => {
    const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await complete;
    await session.detach();
    return (of) => longestTask(events, of);
  };
}
