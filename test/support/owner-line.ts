/**
 * A line of a test's own to the owner of a real page: the page's built worker is asked as its tabs
 * ask it, for what a person would have to look for on many screens.
 */
import type { Page } from 'playwright-core';
import type { WorkerCallName, WorkerCalls, WorkerNews } from '../../src/shared/protocol/worker.ts';

export interface OwnerLine {
  call<Name extends WorkerCallName>(
    name: Name,
    ...args: Parameters<WorkerCalls[Name]>
  ): Promise<ReturnType<WorkerCalls[Name]>>;
  /** Everything the owner said on this line since it was opened. */
  news(): Promise<readonly WorkerNews[]>;
  /** Every document in the ledger, by id. */
  documents(): Promise<ReadonlyMap<string, unknown>>;
}

declare global {
  interface Window {
    ownerLine?: { call(name: string, args: readonly unknown[]): Promise<unknown>; readonly news: unknown[] };
  }
}

/** `page` must have been painted. After a reload the line is opened anew. */
export function createOwnerLine(page: Page): OwnerLine {
  async function ready() {
    await page.evaluate(async () => {
      if (window.ownerLine) return;
      // The worker's address stands in the page's own script.
      const own = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.src ?? '';
      const [address] = /\/assets\/worker-[\w-]+\.js/.exec(await (await fetch(own)).text()) ?? [];
      if (address === undefined) throw new Error('The page does not name its worker.');
      const { port } = new SharedWorker(address, { type: 'module', name: 'roost-owner' });
      const open = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
      const news: unknown[] = [];
      port.addEventListener(
        'message',
        ({
          data,
        }: MessageEvent<readonly { reply?: string; ok?: boolean; value?: unknown; error?: { message: string } }[]>) => {
          for (const message of data) {
            // Nothing that was asked is answered any more; the next call opens a line to the next
            // owner.
            if ('news' in message && message.news === 'restarting') {
              delete window.ownerLine;
              for (const { reject } of open.values()) reject(new Error('The owner begins anew.'));
              port.close();
            }
            if (message.reply === undefined) news.push(message);
            else if (message.ok) open.get(message.reply)?.resolve(message.value);
            else open.get(message.reply)?.reject(new Error(message.error?.message));
          }
        },
      );
      port.start();
      const tab = crypto.randomUUID();
      void navigator.locks.request(`roost-tab-${tab}`, () => {
        port.postMessage({ from: tab, hello: true });
        return new Promise(() => undefined);
      });
      window.ownerLine = {
        news,
        call: (name, args) =>
          new Promise((resolve, reject) => {
            const id = crypto.randomUUID();
            open.set(id, { resolve, reject });
            port.postMessage([{ call: name, id, args }]);
          }),
      };
    });
  }

  const line: OwnerLine = {
    async call(name, ...args) {
      await ready();
      const value: unknown = await page.evaluate(([named, given]) => window.ownerLine?.call(named, given), [
        name,
        args,
      ] as const);
      // The owner's answer to `name` is of its type.
      return value as ReturnType<WorkerCalls[typeof name]>;
    },
    async news() {
      await ready();
      return (await page.evaluate(() => window.ownerLine?.news ?? [])) as readonly WorkerNews[];
    },
    async documents() {
      const found = new Map<string, unknown>();
      for (let after: string | null = null; ;) {
        const part: ReturnType<WorkerCalls['documents']> = await line.call('documents', {
          after,
          limit: 2_000,
          agentId: null,
        });
        for (const doc of part.docs) found.set(doc._id, doc);
        after = part.after;
        if (after === null) return found;
      }
    },
  };
  return line;
}
