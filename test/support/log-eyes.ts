/** What somebody sees of a long conversation, frame by frame. */
import type { Page } from 'playwright-core';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import type { FromDataWorker } from '../../src/shared/protocol/worker.ts';

/** The topmost message in sight, or the one asked for. */
export interface Place {
  readonly n: number;
  /** px of the window */
  readonly top: number;
  /** Which row of those that were read so far. */
  readonly row: number;
}

export interface Watched {
  /** Every number that was on the page, in order. */
  readonly all: number[];
  /** What followed upon what, where that was not the next. */
  readonly broken: string[];
  readonly frames: number;
  /** Frames with nothing to read in the middle. */
  readonly blank: number;
}

interface InPage {
  /** Numbers of the messages that are on the page, in its order. */
  onPage(): number[];
  placeOf(n?: number): Place;
  fromEnd(): number;
  fromTop(): number;
  watch(): void;
  watched(): Watched;
}

declare global {
  interface Window {
    eyes: InPage;
    appendDocuments(docs: readonly Doc[]): Promise<void>;
  }
}

export interface Eyes {
  onPage(): Promise<number[]>;
  placeOf(n?: number): Promise<Place>;
  /** px */
  fromEnd(): Promise<number>;
  fromTop(): Promise<number>;
  lowest(): Promise<number>;
  until(holds: (seen: number[]) => boolean): Promise<void>;
  /** Waits until the conversation has neither grown nor moved for a while. */
  settled(): Promise<void>;
  /** Looks at every frame from now on. */
  watch(): Promise<void>;
  /** What was seen since `watch`. */
  watched(): Promise<Watched>;
}

/** ms, and frames, in which nothing moves once all is drawn: a busy machine draws few. */
const STILL = { ms: 250, frames: 5 };

/** Runs in the page before anything of its own. */
function open() {
  const region = () => document.querySelector<HTMLElement>('.log');
  const rows = () => [...document.querySelectorAll<HTMLElement>('.log [data-kind="message"]')];
  const numberOf = (row: HTMLElement) => /\[\[(\d+)\]\]/.exec(row.textContent?.slice(0, 200) ?? '')?.[1];
  const seen = new Set<number>();
  const broken: string[] = [];
  let frames = 0;
  let blank = 0;

  const onPage = () =>
    rows().flatMap((row) => {
      const n = numberOf(row);
      return n === undefined ? [] : [Number(n)];
    });
  window.eyes = {
    onPage,
    placeOf(wanted) {
      const top = region()?.getBoundingClientRect().top ?? 0;
      for (const row of rows()) {
        const n = Number(numberOf(row) ?? NaN);
        const place = row.getBoundingClientRect().top;
        if (wanted === undefined ? n >= 0 && place > top : n === wanted)
          return { n, top: place, row: Number(row.closest('li')?.getAttribute('aria-posinset') ?? NaN) };
      }
      return { n: -1, top: NaN, row: NaN };
    },
    fromEnd() {
      const box = region();
      return box ? box.scrollHeight - box.scrollTop - box.clientHeight : NaN;
    },
    fromTop: () => region()?.scrollTop ?? NaN,
    watch() {
      seen.clear();
      broken.length = 0;
      frames = blank = 0;
      const check = () => {
        const now = onPage();
        for (const n of now) seen.add(n);
        const gap = now.findIndex((n, i) => i > 0 && n !== (now[i - 1] ?? NaN) + 1);
        if (gap >= 0) broken.push(`${now[gap - 1]} then ${now[gap]}`);
        const box = region()?.getBoundingClientRect();
        const middle = box && document.elementFromPoint(box.left + 100, box.top + box.height / 2);
        frames++;
        if (!middle?.closest('li')) blank++;
        next();
      };
      // After the frame, when all that belongs to it was done.
      const next = () => requestAnimationFrame(() => setTimeout(check));
      next();
    },
    watched: () => ({ all: [...seen].sort((a, b) => a - b), broken, frames, blank }),
  };

  // The connection to the owner, for writing past the page's own calls.
  let port: MessagePort | null = null;
  const Real = window.SharedWorker;
  window.SharedWorker = class extends Real {
    constructor(url: string | URL, options?: string | WorkerOptions) {
      super(url, options);
      port = this.port;
    }
  };
  window.appendDocuments = (docs) =>
    new Promise((resolve, reject) => {
      const id = `append-${Math.random()}`;
      const hear = ({ data }: MessageEvent<readonly FromDataWorker[]>) => {
        for (const message of data) {
          if (!('reply' in message) || message.reply !== id) continue;
          port?.removeEventListener('message', hear);
          if (message.ok) resolve();
          else reject(new Error(message.error.message));
        }
      };
      port?.addEventListener('message', hear);
      port?.postMessage([{ call: 'append', id, args: [docs] }]);
    });
}

/** Before the page is opened. */
export async function bindEyes(page: Page): Promise<Eyes> {
  await page.addInitScript(open);
  const eyes: Eyes = {
    onPage: () => page.evaluate(() => window.eyes.onPage()),
    placeOf: (n) => page.evaluate((wanted) => window.eyes.placeOf(wanted), n),
    fromEnd: () => page.evaluate(() => window.eyes.fromEnd()),
    fromTop: () => page.evaluate(() => window.eyes.fromTop()),
    lowest: async () => Math.min(...(await eyes.onPage())),
    async until(holds) {
      while (!holds(await eyes.onPage())) await page.waitForTimeout(20);
    },
    settled: () =>
      page.evaluate(
        ({ ms, frames }) =>
          new Promise<void>((resolve) => {
            let place = '';
            let since = 0;
            let same = 0;
            const check = () => {
              const box = document.querySelector('.log');
              const now = `${box?.scrollHeight} ${box?.scrollTop}`;
              if (now !== place) [place, since, same] = [now, performance.now(), 0];
              same += 1;
              if (same > frames && performance.now() - since > ms) resolve();
              else requestAnimationFrame(check);
            };
            check();
          }),
        STILL,
      ),
    watch: () => page.evaluate(() => window.eyes.watch()),
    watched: () => page.evaluate(() => window.eyes.watched()),
  };
  return eyes;
}
