/**
 * A board with thousands of tasks in real Chromium: from the press of its link until all tasks are
 * counted, beside one bare fetch of the same bytes in the same page, and what blocks the page while
 * a card is dragged or something changes elsewhere.
 */
import type { Page } from 'playwright-core';
import { PAGE_KEY } from '../../src/shared/protocol/page-key.ts';
import { projectSchema, taskSchema } from '../../src/shared/protocol/projects.ts';
import { heldUp } from '../support/held-up.ts';
import { createRandom } from '../support/random.ts';
import { storeSignIn } from '../support/sign-in.ts';
import { openBrowserCpu } from './browser-cpu.ts';
import { median, type Figure } from './figures.ts';
import { EMPTY_PATH } from './page-steps.ts';
import { definePart, withOpened } from './part.ts';
import { type BenchRelay, SMALL } from './place.ts';

/** `restMs`: how long the browser may take until it rests. */
const FULL = { tasks: 5_000, opens: 7, changes: 10, restMs: 120_000 };
const SMOKE: typeof FULL = { tasks: 40, opens: 1, changes: 1, restMs: 10_000 };
const LIMIT = { openMs: 500, ratio: 10, blockMs: 50 } as const;
const SEED = 1;
/** Tasks that are created at once. */
const AT_ONCE = 8;
/** ms for which blocks are still counted after an act: it goes on drawing. */
const AFTERWARDS_MS = 300;
/** A browser rests when it takes less than `cpuMs` of the processor in `everyMs`. */
const REST = { everyMs: 500, cpuMs: 50 } as const;
const COLUMNS = ['backlog', 'planning', 'ready', 'review', 'blocked', 'done'];
const PRIORITIES = ['low', 'normal', 'normal', 'normal', 'high', 'urgent'];

async function createBoard(relay: BenchRelay, count: number): Promise<string> {
  const random = createRandom(SEED);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const post = async (path: string, json: object) => {
    const answer = await relay.fetch(path, { method: 'POST', json });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as unknown;
  };
  const { projectId } = projectSchema.parse(await post('/v1/projects', { name: 'A large board' }));
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) {
        next += 1;
        await post(`/v1/projects/${projectId}/tasks`, {
          ...{ title: `Task ${next}: find out what it costs and who does it`, columnId: pick(COLUMNS) },
          ...{ priority: pick(PRIORITIES), labels: [pick(['sea', 'land', 'air'])] },
          description: 'What has to be done, in a few sentences. '.repeat(10),
          criteria: [{ text: 'It is cheap' }, { text: 'It is on time' }],
        });
      }
    }),
  );
  return projectId;
}

/** Runs in the list of projects: presses the link. ms until a card, and until all are counted. */
async function openBoard([path, all]: readonly [string, number]): Promise<{ first: number; whole: number }> {
  const link = document.querySelector<HTMLElement>(`a[href="${path}"]`);
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const counted = () =>
    [...document.querySelectorAll('.column-count')].reduce(
      (sum, { textContent }) => sum + Number(textContent?.replaceAll(/\D/g, '')),
      0,
    );
  const began = performance.now();
  link?.click();
  while (!document.querySelector('.task-card')) await frame();
  const first = performance.now() - began;
  while (counted() !== all) await frame();
  return { first, whole: performance.now() - began };
}

/** Runs in the same page: the same bytes, read and parsed, and nothing else. */
async function readBare([path, header, stored]: readonly [string, string, string]): Promise<{
  ms: number;
  bytes: number;
}> {
  const began = performance.now();
  const answer = await fetch(path, { headers: { [header]: localStorage.getItem(stored) ?? '' } });
  const text = await answer.text();
  JSON.parse(text);
  return { ms: performance.now() - began, bytes: text.length };
}

/** Waits until the worker has stored all tasks, each of which is a document, and the page rests. */
async function untilAtRest(page: Page, withinMs: number): Promise<void> {
  const { seconds, close } = await openBrowserCpu(page.context());
  const until = Date.now() + withinMs;
  for (let before = await seconds(); ;) {
    await page.waitForTimeout(REST.everyMs);
    const now = await seconds();
    if (1_000 * (now - before) < REST.cpuMs || Date.now() > until) break;
    before = now;
  }
  await close();
}

/** Drags the first card of the backlog over the board into the column that is ready. */
async function dragOver(page: Page): Promise<void> {
  const column = (name: string) => page.getByRole('region', { name: new RegExp(`^${name}: `) });
  const card = column('Backlog').locator('.task-card').first();
  const target = column('Ready');
  const [from, to] = [await card.boundingBox(), await target.boundingBox()];
  if (!from || !to) throw new Error('the board is not there');
  const ready = await target.getAttribute('aria-label');
  await page.mouse.move(from.x + from.width / 2, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + 60, { steps: 30 });
  await page.mouse.up();
  await page.waitForFunction(
    (before) => document.querySelector('.column[data-kind=ready]')?.getAttribute('aria-label') !== before,
    ready,
  );
  await page.waitForTimeout(AFTERWARDS_MS);
}

/** Half a minute, most of it to create the tasks. */
export const projects = definePart({
  name: 'projects',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: ({ tasks: count, opens, changes, restMs }, place) =>
    withOpened(async (keep) => {
      const { profile, port } = keep(await place.prepare(SMALL), (household) => household.profile.remove());
      const args = ['--rate', '100000', '--burst', '1000000'];
      const relay = keep(await place.startRelay({ port, args }), (one) => one.stop());
      const projectId = await createBoard(relay, count);
      const context = await profile.open({ viewport: { width: 1440, height: 900 } });
      await storeSignIn(context, relay.url, await relay.signIn(), EMPTY_PATH);
      const page = await context.newPage();
      const path = `/projects/${projectId}`;
      const board = `/v1/projects/${projectId}/board?limit=10000`;
      const [firsts, wholes, bares]: [number[], number[], number[]] = [[], [], []];
      let bytes = 0;
      await page.goto(new URL('/projects', relay.url).href);
      await page.locator(`a[href="${path}"]`).waitFor();
      const began = performance.now();
      await untilAtRest(page, restMs);
      const caughtUp = performance.now() - began;
      for (let i = 0; i <= opens; i += 1) {
        await page.goto(new URL('/projects', relay.url).href);
        await page.locator(`a[href="${path}"]`).waitFor();
        const bare = await page.evaluate(readBare, [board, PAGE_KEY.header, PAGE_KEY.stored] as const);
        const { first, whole } = await page.evaluate(openBoard, [path, count] as const);
        bytes = bare.bytes;
        // The first opening loads the code of the board, and is not counted where there are others.
        if (i === 0 && opens > 1) continue;
        firsts.push(first);
        wholes.push(whole);
        bares.push(bare.ms);
      }
      const dragged = (await heldUp(page, () => dragOver(page))).held;
      const elsewhere = await heldUp(page, async () => {
        for (let i = 0; i < changes; i += 1) {
          const json = { title: `From elsewhere ${i}`, columnId: 'review' };
          taskSchema.parse(
            await (await relay.fetch(`/v1/projects/${projectId}/tasks`, { method: 'POST', json })).json(),
          );
          await page.waitForTimeout(AFTERWARDS_MS);
        }
      });
      await page.close();
      const block = (what: string, longest: number): Figure => ({
        ...{ what, value: longest, unit: 'ms' },
        beside: { kind: 'limit', what: 'of the processor', value: LIMIT.blockMs },
      });
      return {
        title: `A board with ${count.toLocaleString('en')} tasks`,
        method: `medians of ${opens} openings from the list of projects; the board is ${Math.round(bytes / 1_000)} KB as JSON`,
        figures: [
          { what: 'a new browser until it has stored all', value: caughtUp, unit: 'ms', beside: null },
          { what: 'press to the first card', value: median(firsts), unit: 'ms', beside: null },
          {
            ...{ what: 'press to all tasks counted', value: median(wholes), unit: 'ms' },
            beside: { kind: 'limit', what: 'on this machine', value: LIMIT.openMs },
          },
          {
            ...{ what: '  against a bare fetch and JSON.parse', value: median(wholes) / median(bares), unit: '×' },
            beside: { kind: 'limit', what: `which takes ${Math.round(median(bares))} ms`, value: LIMIT.ratio },
          },
          block('longest block of the page while a card is dragged', dragged.longest),
          block('longest block of the page while tasks come from elsewhere', elsewhere.held.longest),
        ],
      };
    }),
});
