/**
 * Two browsers that are not paired, at one relay: the real page in two profiles of Chromium, each
 * let in by a link of its own.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { browserOf, openTestRelay, type OpenRelay } from '../support/open-relay.ts';
import { signInOf } from '../support/sign-in.ts';
import { newTestDevice, newTestHousehold, register } from '../support/sync-device.ts';
import { createVisitor, type SeatState, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1280, height: 800 };
const profiles: Guest[] = [];
let relay: OpenRelay;

async function visit(): Promise<Visitor> {
  const profile = createGuest();
  profiles.push(profile);
  return await createVisitor(await profile.open({ viewport: DESK, ...QUIET }), await relay.link());
}
/** Waits for the one agent of a household: each has one, since eight would show the same. */
const until = (visitor: Visitor, one: number, state: SeatState) =>
  visitor.untilSeats(`seat ${one} ${state}`, (seats) =>
    seats.some((seat) => seat.seat === one && seat.state === state),
  );

beforeAll(async () => {
  relay = await openTestRelay({
    args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 }), '--retention-hours', '0'],
  });
});
afterAll(async () => {
  await Promise.all(profiles.map((profile) => profile.remove()));
  await relay.close();
});

describe('two browsers that are not paired, at one relay', { timeout: 240_000 }, () => {
  it('asks the second browser, gives it a household of its own, and keeps both apart', async () => {
    const early = await visit();
    const ada = await visit();
    await ada.begin('Noa', 'Sol');
    const hatched = await ada.hatch(1);

    // It was on the welcome page before anybody began: it is not taken for a beginning of its own.
    await early.page.getByLabel('Your name').fill('Ben');
    await early.page.getByRole('button', { name: 'Begin' }).click();
    await early.page.getByRole('heading', { name: 'This relay already has a team' }).waitFor();

    await ada.open('lead');
    await ada.ask('The boat is called Marigold.');
    expect(await early.page.getByText('Marigold').count()).toBe(0);

    await early.page.getByRole('button', { name: 'Start my household' }).click();
    await early.begin('Ben', 'Lua');
    await early.hatch(2);
    await early.open('lead');
    await early.ask('The cellar key is under the fern.');
    expect(await early.page.getByText('Marigold').count()).toBe(0);

    // Ada's goes on, with her own people, and ends for her alone.
    await ada.open('lead');
    await ada.ask('Are you still there?');
    expect(await ada.page.getByText('fern').count()).toBe(0);
    await ada.press('End session');
    await until(ada, 1, 'sleeping');
    expect((await early.seats())[1]).toMatchObject({ seat: 2, state: 'awake' });
    await early.press('End session');
    await until(early, 2, 'sleeping');
    await early.press(/^WAKE/);
    await until(early, 2, 'awake');
    expect((await ada.seats()).map(({ name }) => name)).toEqual(hatched.map(({ name }) => name));

    // A device of another household, which has its home here already, proves it by the sign-in of
    // Ada's browser while her session runs: the browser takes nothing of what it hears then, and
    // comes home by a sign-in of its own.
    await ada.press(/^WAKE/);
    await until(ada, 1, 'awake');
    const household = newTestHousehold();
    expect((await register(await relay.signIn(), household, newTestDevice())).status).toBe(200);
    await ada.page.evaluate(() =>
      new MutationObserver(() => {
        if (document.body.innerText.includes('cannot be reached')) document.body.dataset['lost'] = 'seen';
      }).observe(document.body, { childList: true, subtree: true }),
    );
    const hers = browserOf(relay.url, await signInOf(ada.page.context(), relay.url));
    expect((await register(hers, household, newTestDevice())).status).toBe(200);
    await ada.page.getByText('This browser shares its sign-in with another household').first().waitFor();
    await until(ada, 1, 'sleeping');
    await ada.press('Get a separate sign-in');
    await until(ada, 1, 'awake');
    expect(await ada.page.evaluate(() => document.body.dataset['lost'])).toBeUndefined();

    for (const { complaints } of [ada, early]) expect(complaints.filter((line) => !line.includes('409'))).toEqual([]);
  });
});
