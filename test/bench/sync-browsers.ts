/**
 * Two real browsers and a real relay: how soon what one writes is on the other, and how soon a new
 * device has the agents, and everything else.
 */
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import type { Guest } from '../support/chromium.ts';
import { deviceOf, openDeviceIn, pair, untilEqual, type DeviceBrowser } from '../support/devices.ts';
import { AGENTS, generateHousehold } from '../support/household-generator.ts';
import { median, percentile } from './figures.ts';
import { definePart, withOpened } from './part.ts';

/**
 * Messages behind the first device, of them of each agent's last session; appends; ms after which
 * nothing more is under way.
 */
const FULL = { behind: 10_000, lastSession: 100, appends: 100, restMs: 3_000, afterMs: 1_000 };
const SMOKE: typeof FULL = { behind: 50, lastSession: 2, appends: 1, restMs: 0, afterMs: 1_000 };
/** Characters of a small document, as JSON. */
const SMALL = 240;

/** ms that filing a backlog is waited for. */
const FILED_MS = 180_000;

const seenLimit = 300;
const agentsLimit = 1_000;
const allLimit = 10_000;

function smallDocument(n: number): Doc {
  const time = Date.now();
  const doc = {
    _id: `queued:${n}`,
    schema: 1,
    at: formatStamp({ time, counter: 0, node: 'bench' }),
    type: 'queued-message',
    clientId: `bench-${n}`,
    agentId: LEAD_ID,
    text: '',
    time,
  } as const;
  return { ...doc, text: 'x'.repeat(SMALL - JSON.stringify(doc).length) };
}

/**
 * In the page of the one who waits: ms since the epoch at which each document was told of, by id.
 */
async function watchDocuments({ page, owner }: DeviceBrowser<Guest>) {
  await owner.news();
  await page.evaluate(() => {
    const seen: Record<string, number> = {};
    Object.assign(window, { seenAt: seen });
    const line = window.ownerLine;
    if (!line) throw new Error('no line');
    const push = line.news.push.bind(line.news);
    line.news.push = (...news: unknown[]) => {
      for (const item of news as { news: string; docs?: { _id: string }[] }[])
        for (const doc of item.docs ?? []) seen[doc._id] ??= Date.now();
      return push(...news);
    };
  });
  return async () =>
    (await page.evaluate(() => (window as unknown as { seenAt: Record<string, number> }).seenAt)) as Record<
      string,
      number
    >;
}

/** About two minutes. */
export const syncBrowsers = definePart({
  name: 'sync-browsers',
  needs: 'browser',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const relay = keep(await place.startRelay(), (one) => one.stop());
      const [first, second] = [await place.newProfile(), await place.newProfile()];
      keep(first, (one) => one.remove());
      keep(second, (one) => one.remove());
      const context = await first.open();
      const page = await context.newPage();
      await page.goto(relay.link);
      await page.waitForURL((url) => !url.pathname.startsWith('/enter'));
      await page.locator('#root > *').first().waitFor();
      const one = deviceOf(first, context, page);
      let behind = 0;
      for (const docs of generateHousehold({
        seed: 1,
        messages: sizes.behind - 8 * sizes.lastSession,
        lastSession: sizes.lastSession,
      }))
        behind += (await one.owner.call('append', docs)).written;
      await one.owner.call('shareHousehold', { deviceName: 'Laptop' });
      await one.until('everything handed over', ({ toSend, backlog }) => toSend === 0 && backlog === null);
      await page.waitForTimeout(sizes.restMs);

      const two = await openDeviceIn(second, relay.url, context);
      await pair(one, two);
      const began = Date.now();
      let agents = 0;
      for (;;) {
        const { identities } = await two.owner.call('household');
        if (agents === 0 && identities.length >= AGENTS.length) agents = Date.now() - began;
        const { backlog, arriving } = await two.status();
        if (
          agents > 0 &&
          backlog === null &&
          arriving.length === 0 &&
          (await two.owner.call('storage')).documents >= behind
        )
          break;
        await two.page.waitForTimeout(20);
      }
      const all = Date.now() - began;
      await untilEqual([one, two], behind);

      const seen = await watchDocuments(two);
      let written = 0;
      async function appends(): Promise<number[]> {
        const begunAt: Record<string, number> = {};
        for (let n = 0; n < sizes.appends; n++) {
          const doc = smallDocument(written++);
          begunAt[doc._id] = Date.now();
          await one.owner.call('append', [doc]);
          await page.waitForTimeout(30);
        }
        await two.page.waitForTimeout(sizes.afterMs);
        const at = await seen();
        return Object.entries(begunAt).map(([id, time]) => (at[id] ?? Infinity) - time);
      }
      const busy = await appends();
      // What came is filed into volumes for a while, which is not what an ordinary day is like.
      for (const end = Date.now() + FILED_MS; Date.now() < end && (await two.owner.call('storage')).journalRows > 0;)
        await two.page.waitForTimeout(500);
      const delays = await appends();
      return {
        title: 'Devices of one household',
        method: `two Chromium profiles and the relay on this machine; ${behind} documents behind the first; ${sizes.appends} documents of ${SMALL} characters, one every 30 ms`,
        figures: [
          { what: 'an append on one, told on the other, median', value: median(delays), unit: 'ms', beside: null },
          {
            what: '  p95',
            value: percentile(delays, 0.95),
            unit: 'ms',
            beside: { kind: 'limit', what: 'p95', value: seenLimit },
          },
          {
            what: '  while those that just came are filed there: median',
            value: median(busy),
            unit: 'ms',
            beside: null,
          },
          { what: '    p95', value: percentile(busy, 0.95), unit: 'ms', beside: null },
          {
            what: 'a new device: the agents are there',
            value: agents,
            unit: 'ms',
            beside: { kind: 'limit', what: 'after its keys', value: agentsLimit },
          },
          {
            what: '  everything is there',
            value: all,
            unit: 'ms',
            beside: { kind: 'limit', what: 'after its keys', value: allLimit },
          },
        ],
      };
    }),
});
