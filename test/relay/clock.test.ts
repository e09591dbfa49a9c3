import { QUOTAS } from '../../server/platform/quotas.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, follow, startSession, talk, textsOf } from '../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';

const DAY = 24 * 3_600_000;
const OFFERS_AT_ONCE = QUOTAS.offersBySignIn.open;
const newOffer = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');

describe('a relay whose wall clock jumps', () => {
  let relay: OpenRelay;
  let browser: Browser;
  beforeAll(async () => {
    // On a Postgres server its clock is the server's: see clock-postgres.test.ts.
    relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":1}'], store: 'sqlite' });
    browser = await relay.signIn();
    await startSession(browser, 'Sol');
    await talk(browser, 'Before.');
  });
  afterAll(() => relay.close());

  it.each([
    ['back a day', -DAY],
    ['forward two days', 2 * DAY],
    ['back again', -DAY],
  ])('%s: calls pass, streams live, and the session goes on', async (name, by) => {
    const stream = await follow(browser);
    await stream.until((all) => all.some(({ event }) => event === 'snapshot'));
    relay.jump(by);
    // More than a burst has time for where every call waits.
    for (let i = 0; i < 5; i++) expect((await browser.fetch('/api/team')).status).toBe(200);
    await talk(browser, `Said ${name}.`);
    await stream.until((all) => textsOf(all).join().includes(`Said ${name}.`));
    stream.close();
    expect(textsOf(await eventsOf(browser)).join()).toContain(`Said ${name}.`);
    expect((await eventsOf(browser)).some(({ event }) => event === 'session-ended')).toBe(false);
    expect((await browser.fetch('/api/home')).status).toBe(200);
  });

  it('expires earlier offers to join when the clock jumps back a day, and accepts new ones', async () => {
    const make = async () =>
      (await browser.fetch(`/api/sync/offers/${newOffer()}`, { method: 'PUT', json: {} })).status;
    for (let i = 0; i < OFFERS_AT_ONCE; i++) expect(await make()).toBe(200);
    expect(await make()).toBe(429);
    relay.jump(-DAY);
    expect(await make()).toBe(200);
  });
});
