import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, createProfile, type Guest, type Profile, QUIET } from '../support/chromium.ts';
import type { DirectCalls, Signal } from '../support/direct-page/calls.ts';
import { buildPage, servePage, type BuiltPage, type PageServer } from '../support/page-server.ts';

/** The lower id offers. */
const ONE = 'AAAAAAAAAAAAAAAAAAAAAA';
const TWO = 'BBBBBBBBBBBBBBBBBBBBBA';
const MEGABYTE = 1024 * 1024;

let page: BuiltPage;
let server: PageServer;

/**
 * A browser of the household: its tabs, and whether what it says to the other one comes through.
 */
interface Browser {
  readonly deviceId: string;
  readonly profile: Guest;
  readonly context: BrowserContext;
  tab: Page;
}
const browsers = new Map<string, Browser>();
let relayed = true;
/** Of the second browser, which a test kills. */
let mortal: Profile;

async function start(deviceId: string, profile: Guest): Promise<Browser> {
  const context = await profile.open(QUIET);
  await context.exposeFunction('passSignal', async ({ from, to, data }: Signal) => {
    if (relayed) await call(browser(to), 'hearSignal', from, data);
  });
  const started: Browser = { deviceId, profile, context, tab: await context.newPage() };
  browsers.set(deviceId, started);
  return started;
}
function browser(deviceId: string): Browser {
  const found = browsers.get(deviceId);
  if (!found) throw new Error(`${deviceId} is not open.`);
  return found;
}
const address = (deviceId: string, household: string) =>
  `${server.url}/?${encodeURIComponent(JSON.stringify({ household, deviceId }))}`;

function call<Name extends keyof DirectCalls>(
  { tab }: Browser,
  name: Name,
  ...args: Parameters<DirectCalls[Name]>
): Promise<ReturnType<DirectCalls[Name]>> {
  return tab.evaluate(
    ({ name, args }) => {
      const call = window.direct.call as (name: string, ...args: unknown[]) => Promise<unknown>;
      return call(name, ...args);
    },
    { name, args: args as unknown[] },
  ) as Promise<ReturnType<DirectCalls[Name]>>;
}
const sendFrames = ({ tab }: Browser, count: number, length: number) =>
  tab.evaluate(([count, length]) => window.direct.sendFrames(count, length), [count, length] as const);
const connections = ({ tab }: Browser) => tab.evaluate(() => window.direct.connections());
const connectionsOf = (at: Browser) => expect.poll(() => call(at, 'connections'), { interval: 50 });

async function exchanges(one: Browser, two: Browser) {
  for (const [from, to] of [
    [one, two],
    [two, one],
  ] as const) {
    const sent = await sendFrames(from, 1, 300);
    await expect.poll(() => call(to, 'received'), { interval: 20 }).toEqual(expect.arrayContaining([...sent]));
  }
}

beforeAll(async () => {
  page = await buildPage('direct-page');
  server = await servePage(page);
  mortal = await createProfile();
  await Promise.all([start(ONE, createGuest()), start(TWO, mortal)]);
});
afterAll(async () => {
  await Promise.all([...browsers.values()].map(({ profile }) => profile.remove()));
  await server.close();
});

describe('two browsers that a relay introduces', () => {
  const household = 'HHHHHHHHHHHHHHHHHHHHHA';

  // SPEC 10.1
  it('open one line, and exchange both ways', async () => {
    const [one, two] = [browser(ONE), browser(TWO)];
    await Promise.all([one.tab.goto(address(ONE, household)), two.tab.goto(address(TWO, household))]);
    await Promise.all([call(one, 'setOnline', [TWO]), call(two, 'setOnline', [ONE])]);
    await connectionsOf(one).toEqual([TWO]);
    await connectionsOf(two).toEqual([ONE]);
    await exchanges(one, two);
  });

  it('continue without the relay, with five megabytes at once and little memory', async () => {
    const [one, two] = [browser(ONE), browser(TWO)];
    relayed = false;
    await Promise.all([call(one, 'setOnline', []), call(two, 'setOnline', [])]);
    const before = (await call(two, 'received')).length;
    const sent = [...(await sendFrames(one, 16, 256 * 1024)), ...(await sendFrames(one, 1, MEGABYTE))];
    await expect.poll(async () => (await call(two, 'received')).slice(before), { interval: 50 }).toEqual(sent);
    await expect.poll(async () => (await call(one, 'waiting')).buffered, { interval: 50 }).toBe(0);
    expect((await call(one, 'waiting')).mostBuffered).toBeLessThan(2 * MEGABYTE + 1);
    relayed = true;
  });

  it('continue when the carrying tab is closed and another one is open', async () => {
    const [one, two] = [browser(ONE), browser(TWO)];
    await Promise.all([call(one, 'setOnline', [TWO]), call(two, 'setOnline', [ONE])]);
    const other = await one.context.newPage();
    await other.goto(address(ONE, household));
    expect(await other.evaluate(() => window.direct.connections())).toBe(0);
    const closed = one.tab;
    one.tab = other;
    await closed.close();
    await expect.poll(() => connections(one), { interval: 50 }).toBe(1);
    await connectionsOf(one).toEqual([TWO]);
    await connectionsOf(two).toEqual([ONE]);
    await exchanges(one, two);
    await expect.poll(() => connections(two), { interval: 50 }).toBe(1);
  });
});

describe('two browsers without a relay', () => {
  const household = 'IIIIIIIIIIIIIIIIIIIIIA';

  // SPEC 11.2, 11.3
  it('connect by one text carried each way', async () => {
    const [one, two] = [browser(ONE), browser(TWO)];
    relayed = false;
    await Promise.all([one.tab.goto(address(ONE, household)), two.tab.goto(address(TWO, household))]);
    await expect.poll(() => call(two, 'makeOffer').catch(() => ''), { interval: 50 }).toMatch(/^ROOST-DIRECT1\./);
    const offer = await call(two, 'makeOffer');
    const answer = await call(one, 'takeText', offer.replace(/(.{60})/g, '$1\n'));
    expect(answer).toMatch(/^ROOST-DIRECT1\./);
    expect(await call(two, 'takeText', answer ?? '')).toBeNull();
    await connectionsOf(one).toEqual([TWO]);
    await connectionsOf(two).toEqual([ONE]);
    await exchanges(one, two);
  });

  it('notice when one of them is killed, and leave nothing open', async () => {
    const one = browser(ONE);
    await mortal.kill();
    await connectionsOf(one).toEqual([]);
    expect(await connections(one)).toBe(0);
  });
});
