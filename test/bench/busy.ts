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

/** Categories of Chromium's trace: every task of every thread, and the threads' names. */
const CATEGORIES = ['toplevel', '__metadata'];
/** As Chromium names them. */
const THREADS = { page: 'CrRendererMain', owner: 'SharedWorker thread' } as const;

/** Begins to watch; the function that it answers ends that, and gives ms of the longest task of such threads. One watch at a time. */
export async function watchBusy(context: BrowserContext): Promise<() => Promise<(of: keyof typeof THREADS) => number>> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be reached.');
  /** By thread. A minute has a million tasks: none is kept. */
  const names = new Map<string, unknown>();
  const longest = new Map<string, number>();
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) {
      const { name, ph, pid, tid, tdur = 0, args } = eventSchema.parse(event);
      const thread = `${pid} ${tid}`;
      if (name === 'thread_name') names.set(thread, args?.name);
      if (ph === 'X' && name.endsWith('RunTask')) longest.set(thread, Math.max(longest.get(thread) ?? 0, tdur));
    }
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
    return (of) => {
      const tasks = [...longest].filter(([thread]) => names.get(thread) === THREADS[of]).map(([, tdur]) => tdur);
      if (tasks.length === 0) throw new Error(`The trace has no task of the ${of}.`);
      return Math.max(...tasks) / 1_000;
    };
  };
}
