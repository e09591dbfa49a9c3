/**
 * The whole page in two browsers of one household: the relay introduces them, goes away, and they
 * converge without it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SyncStatus } from '../../src/shared/protocol/sync/page.ts';
import { createGuest, STILL, type Guest } from '../support/chromium.ts';
import { messageDoc } from '../support/documents.ts';
import { createOwnerLine, type OwnerLine } from '../support/owner-line.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';
import { letIn } from '../support/sign-in.ts';

interface Browser {
  readonly profile: Guest;
  readonly visitor: Visitor;
  readonly owner: OwnerLine;
}

declare global {
  interface Window {
    /** Closes every peer connection of the page, as a network that goes would. */
    breakLines?: () => void;
  }
}

let relay: TestRelay;
let one: Browser;
let two: Browser;

async function start(): Promise<Browser> {
  const profile = createGuest();
  const context = await profile.open(STILL);
  await context.addInitScript(() => {
    const made: RTCPeerConnection[] = [];
    window.breakLines = () => made.splice(0).forEach((connection) => connection.close());
    window.RTCPeerConnection = class extends RTCPeerConnection {
      constructor(configuration?: RTCConfiguration) {
        super(configuration);
        made.push(this);
      }
    };
  });
  await letIn(context, relay.url, await relay.signIn());
  const visitor = await createVisitor(context, relay.url);
  return { profile, visitor, owner: createOwnerLine(visitor.page) };
}

beforeAll(async () => {
  relay = await startRelay({ args: ['--rehearsal', '{}'] });
  [one, two] = await Promise.all([start(), start()]);
});
afterAll(async () => {
  await Promise.all([one, two].map(({ profile }) => profile.remove()));
  await relay.stop();
});

async function status(browser: Browser): Promise<Extract<SyncStatus, { kind: 'shared' }>> {
  const said = await browser.owner.call('syncStatus');
  if (said.kind !== 'shared') throw new Error(`The household is not shared here: ${said.kind}.`);
  return said;
}
const directOf = async (browser: Browser) => (await status(browser)).devices.filter(({ direct }) => direct).length;
const idsOf = async (browser: Browser) => [...(await browser.owner.documents()).keys()].sort();

async function until<Value>(probe: () => Promise<Value | null>): Promise<Value> {
  for (;;) {
    const value = await probe();
    if (value !== null) return value;
    await new Promise<void>((resolve) => setTimeout(resolve, 50));
  }
}

async function pair() {
  await one.visitor.begin();
  await one.owner.call('shareHousehold', { deviceName: 'The first' });
  await two.owner.call('beginJoin', { deviceName: 'The second' });
  const offer = await until(async () => {
    const said = await two.owner.call('syncStatus');
    return said.kind === 'alone' && said.joining?.step === 'offering' ? said.joining.offer : null;
  });
  await one.owner.call('beginInvite', { offer });
  await until(async () => {
    const said = await two.owner.call('syncStatus');
    return said.kind === 'alone' && said.joining?.step === 'comparing' ? true : null;
  });
  await two.owner.call('answerJoin', { same: true });
  expect(await one.owner.call('answerInvite', { same: true })).toEqual({ joined: true });
  await until(async () => ((await two.owner.call('syncStatus')).kind === 'shared' ? true : null));
}

const append = (browser: Browser, ...numbers: number[]) =>
  browser.owner.call(
    'append',
    numbers.map((n) => messageDoc(n)),
  );

/** Both have all of these, and the same in all. */
async function converged(...numbers: number[]) {
  const ids = numbers.map((n) => `message:m${n}`);
  for (const browser of [one, two])
    await expect.poll(() => idsOf(browser), { interval: 100 }).toEqual(expect.arrayContaining(ids));
  await expect
    .poll(async () => [...(await one.owner.documents())].sort(), { interval: 100 })
    .toEqual([...(await two.owner.documents())].sort());
}

async function connected() {
  for (const browser of [one, two]) await expect.poll(() => directOf(browser), { interval: 50 }).toBe(1);
}

describe('two browsers of a household', () => {
  it('converge when the relay that introduced them is gone', async () => {
    await pair();
    await connected();
    await Promise.all(
      [one, two].map(({ visitor }) => visitor.page.evaluate(async () => void (await navigator.serviceWorker.ready))),
    );
    await relay.kill('SIGKILL');
    await Promise.all([append(one, 1, 2), append(two, 3, 4)]);
    await converged(1, 2, 3, 4);
  });

  it('says which step a pasted text is for, and connects two devices by the right ones', async () => {
    await one.visitor.page.evaluate(() => window.breakLines?.());
    for (const browser of [one, two]) await expect.poll(() => directOf(browser), { interval: 50 }).toBe(0);
    await Promise.all([append(one, 5), append(two, 6)]);
    expect(await idsOf(one)).not.toContain('message:m6');
    const { text } = await two.owner.call('makeDirectOffer');
    await expect(two.owner.call('takeDirectText', { text })).rejects.toThrow('for another device');
    const answer = await one.owner.call('takeDirectText', { text });
    expect(await two.owner.call('takeDirectText', { text: answer.text ?? '' })).toEqual({ text: null });
    await connected();
    await converged(1, 2, 3, 4, 5, 6);
  });

  it('converge by texts that a person carries, when both were closed and opened again without it', async () => {
    const pages = [one, two].map(({ visitor }) => visitor.page);
    await Promise.all(pages.map((page) => page.goto(`${relay.url}/settings/devices`)));
    await Promise.all(pages.map((page) => page.getByText('Without a relay', { exact: true }).click()));
    for (const browser of [one, two]) await expect.poll(() => directOf(browser), { interval: 50 }).toBe(0);
    await Promise.all([append(one, 7), append(two, 8)]);
    const [here, there] = [one.visitor.page, two.visitor.page];
    await one.visitor.press('Make the text');
    const offer = await here.getByLabel('Text for the second device', { exact: true }).innerText();
    await there.getByLabel('Text of the first device').fill(offer);
    await two.visitor.press('Answer');
    const answer = await there.getByLabel('Answer of the second device', { exact: true }).innerText();
    await here.getByLabel('Answer of the second device').fill(answer);
    await one.visitor.press('Open the connection');
    for (const page of pages) await page.getByText('there now · direct connection').waitFor();
    await converged(1, 2, 3, 4, 5, 6, 7, 8);
    expect([one, two].flatMap(({ visitor }) => visitor.complaints)).toEqual([]);
  });
});
