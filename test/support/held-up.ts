/**
 * For how long a thread was held up: by the clock, and by the processor's time, which a busy
 * machine does not stretch.
 */
import { readFileSync } from 'node:fs';
import type { BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';

/** ms; what takes longer is felt. */
const FELT = 50;
/** Categories of Chromium's trace: every task of every thread, and the threads' names. */
const CATEGORIES = ['toplevel', '__metadata'];
/** Of the pages, and of the worker that owns the ledger, as Chromium names them. */
const THREADS = { page: 'CrRendererMain', owner: 'SharedWorker thread' } as const;

/**
 * A task of over 50 ms by the clock; ms. The rest of `clock` the thread waited, mostly for a free
 * core.
 */
export interface Block {
  readonly clock: number;
  readonly cpu: number;
}

export interface HeldUp {
  readonly blocks: readonly Block[];
  /**
   * ms for which the pages' threads were ready to run and had no core, by Linux's count; null
   * elsewhere, and for the owner.
   */
  readonly waited: number | null;
  /** ms of the processor's time that the longest task took. */
  readonly longest: number;
}

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

/**
 * ms for which this thread has waited for a core, from its start. Source: proc_pid_schedstat of the
 * Linux kernel's documentation, whose second field counts ns on the run queue.
 */
function waitedForCore(pid: number): number | null {
  try {
    const [, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waited) / 1e6;
  } catch {
    return null;
  }
}

/**
 * Begins to watch all such threads of the browser; the function that it answers ends that. One
 * watch at a time.
 */
export async function watchHeldUp(
  context: BrowserContext,
  thread: keyof typeof THREADS = 'page',
): Promise<() => Promise<HeldUp>> {
  const session = await context.browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The page is in no browser of ours.');
  // A renderer's main thread has the number of its process.
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const waitedBefore = new Map(
    processInfo.flatMap(({ type, id }) => (type === 'renderer' ? [[id, waitedForCore(id)] as const] : [])),
  );
  /** By thread. A minute has a million tasks: none is kept. */
  const names = new Map<string, unknown>();
  const seen = new Map<string, { readonly blocks: Block[]; longest: number }>();
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value) {
      const { name, ph, pid, tid, dur = 0, tdur = 0, args } = eventSchema.parse(event);
      const id = `${pid} ${tid}`;
      if (name === 'thread_name') names.set(id, args?.name);
      if (ph !== 'X' || !name.endsWith('RunTask')) continue;
      const held = seen.get(id) ?? { blocks: [], longest: 0 };
      seen.set(id, held);
      held.longest = Math.max(held.longest, tdur / 1_000);
      if (dur > FELT * 1_000) held.blocks.push({ clock: dur / 1_000, cpu: tdur / 1_000 });
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
    const waits = [...waitedBefore].map(([id, before]) => {
      const after = waitedForCore(id);
      return before === null || after === null ? null : after - before;
    });
    const of = [...seen].filter(([id]) => names.get(id) === THREADS[thread]).map(([, held]) => held);
    if (of.length === 0) throw new Error(`The trace has no task of the ${thread}.`);
    return {
      blocks: of.flatMap(({ blocks }) => blocks),
      waited: thread === 'owner' || waits.includes(null) ? null : waits.reduce<number>((sum, ms) => sum + (ms ?? 0), 0),
      longest: Math.max(...of.map(({ longest }) => longest)),
    };
  };
}

/** Does it, and watches the main threads of the browser's pages meanwhile. */
export async function heldUp<T>(
  page: Page,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly held: HeldUp }> {
  const end = await watchHeldUp(page.context());
  const done = await act().then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  const held = await end();
  if ('error' in done) throw done.error;
  return { ...done, held };
}
