import { beforeEach, describe, expect, it } from 'vitest';
import { createProfile, QUIET } from '../support/chromium.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';
import { readRelay } from './evidence.ts';
import { createHouse, type House } from './household.ts';
import { wakeAll } from './relay-kill.ts';
import { deviceOf, pair } from '../support/devices.ts';
import { shared } from '../support/shared.ts';
import { letIn } from '../support/sign-in.ts';

/**
 * Times that each is tried: two clicks meet differently each time, `npm run faults -- one-wake`.
 */
const TIMES = Number(process.env['ROOST_WAKES'] ?? 1);

const asleep = shared(
  async () => {
    const made = await createHouse(1, QUIET);
    await wakeAll(made);
    await made.visitor().press('End session');
    await made.visitor().untilAll('sleeping');
    return made;
  },
  (made) => made.close(),
);
let house: House;
beforeEach(async () => {
  house = await asleep();
});

const wakesOf = async () =>
  (await readRelay(house.relay())).filter(({ event }) => event.kind === 'call-started' && event.call === 'wake').length;

/** ms until all click, long enough to tell every page. */
const TOGETHER_IN_MS = 500;

/**
 * Two clicks in one go, before the page can paint in between; by every visitor at the same moment.
 * The buttons are found before: what one click does takes the button off the other pages.
 */
async function clickTwice(visitors: readonly Visitor[]): Promise<void> {
  const buttons = await Promise.all(
    visitors.map(({ page }) => page.getByRole('button', { name: 'WAKE', exact: true }).elementHandle()),
  );
  const at = Date.now() + TOGETHER_IN_MS;
  await Promise.all(
    buttons.map((button) =>
      button?.evaluate(async (found, moment) => {
        await new Promise((resolve) => setTimeout(resolve, moment - Date.now()));
        if (!(found instanceof HTMLElement)) throw new Error('that is no button');
        found.click();
        found.click();
      }, at),
    ),
  );
}

/** What the minds were asked since `from`. */
function asked(from: number): { calls: number; greetings: number[] } {
  const requests = house.model.requests.slice(from);
  return {
    calls: requests.filter((request) => request.seat === null && request.last.startsWith('[WAKE AGENTS]')).length,
    greetings: requests
      .flatMap((request) => (request.seat !== null && request.last.startsWith('You are waking.') ? [request.seat] : []))
      .sort((a, b) => a - b),
  };
}
const ONCE = { calls: 1, greetings: [1, 2, 3, 4, 6, 7, 8, 9] };

/**
 * Everyone clicks; everyone is awake on every page; the minds were asked once; nobody is told of a
 * failure.
 */
async function oneWake(visitors: readonly Visitor[]): Promise<void> {
  const before = await wakesOf();
  for (let time = 0; time < TIMES; time++) {
    const from = house.model.requests.length;
    await clickTwice(visitors);
    for (const visitor of visitors) await visitor.untilAll('awake');
    const [first] = visitors;
    if (!first) throw new Error('nobody clicks');
    for (const { page } of visitors) {
      expect(await page.getByRole('alert').allInnerTexts()).toEqual([]);
      expect(await page.locator('.notice[data-tone="error"]').allInnerTexts()).toEqual([]);
    }
    // A page behind another one is painted once a second.
    await first.page.bringToFront();
    await first.press('End session');
    for (const visitor of visitors) await visitor.untilAll('sleeping');
    expect(asked(from)).toEqual(ONCE);
  }
  expect((await wakesOf()) - before).toBe(TIMES);
}

describe('WAKE, pressed more than once', () => {
  it('wakes once: a double click', () => oneWake([house.visitor()]));

  it('wakes once: two tabs of one browser, both twice', async () => {
    const first = house.visitor();
    const second = await createVisitor(first.page.context(), house.relay().url);
    await second.untilAll('sleeping');
    await oneWake([first, second]);
    await second.page.close();
  });

  it('wakes once: two browsers that know the same team', async ({ onTestFinished }) => {
    const other = await createProfile();
    onTestFinished(() => other.remove());
    const context = await other.open(QUIET);
    await letIn(context, house.relay().url, await house.relay().signIn());
    const first = house.visitor();
    const second = await createVisitor(context, house.relay().url);
    await pair(deviceOf(house.profile, first.page.context(), first.page), deviceOf(other, context, second.page));
    await second.untilAll('sleeping');
    await oneWake([first, second]);
  });
});
