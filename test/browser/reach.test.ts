/**
 * How agents reach each other, as a person sees it: the real page, relay and rehearsal mind, and a
 * client that nobody here wrote.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1280, height: 800 };

let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
const names: string[] = [];
const nameOf = (seat: number) => names[seat - 1] ?? '';

beforeAll(async () => {
  // How long a rehearsal takes over its words is not what is tried here.
  relay = await startRelay({ args: ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })] });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: DESK, ...QUIET }), relay.link);
  await visitor.begin();
  await visitor.press('SUMMON');
  for (const seat of await visitor.untilAll('awake')) names[seat.seat - 1] = seat.name ?? '';
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
});

const go = (path: string) => goWithin(visitor.page, path);
/** Tells the agent in this seat, and waits for what it says of it. */
async function tell(seat: number, text: string): Promise<string> {
  await go('/');
  await visitor.open(seat);
  return visitor.ask(text);
}
/** Makes a credential for the agent in this seat, as a person does, and reads its secret. */
async function credentialFor(seat: number): Promise<string> {
  const { page } = visitor;
  await go('/settings/clients');
  await page.getByRole('combobox', { name: /^For/ }).selectOption({ label: nameOf(seat) });
  await page.getByRole('button', { name: 'Create a credential' }).click();
  const secret = /roost_[\w-]{43}/.exec((await page.getByRole('dialog').textContent()) ?? '')?.[0] ?? '';
  expect(secret).not.toBe('');
  return secret;
}
async function clientWith(secret: string): Promise<Client> {
  const client = new Client({ name: 'somebody', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', relay.url), {
      requestInit: { headers: { authorization: `Bearer ${secret}` } },
    }),
  );
  return client;
}
const feed = () => visitor.page.getByRole('tabpanel');

describe('A team whose agents reach each other', { timeout: 240_000 }, () => {
  it('leaves messages that wait, shows how many, and shows them in the conversation when they are read', async () => {
    const { page } = visitor;
    expect(await tell(1, `Tell ${nameOf(2)} that the bridge holds.`)).toContain(`Delivered to ${nameOf(2)}’s inbox`);
    await page
      .getByRole('list', { name: 'The team' })
      .getByText('1 message waiting to be read')
      .waitFor({ state: 'attached' });
    await visitor.open(2);
    await page
      .getByRole('list', { name: `Inbox of ${nameOf(2)}` })
      .getByText('the bridge holds.')
      .waitFor();
    await visitor.ask('What did you hear?');
    await visitor.untilRead(new RegExp(`from\\s*${nameOf(1)}[\\s\\S]*the bridge holds\\.`));
    expect(await visitor.axe()).toEqual([]);
  });

  it('wakes one another within limits, and shows what became of it and why', async () => {
    expect(await tell(1, `Wake ${nameOf(3)}: come and see`)).toContain('Granted');
    expect(await tell(4, `Wake ${nameOf(3)}: and again`)).toContain('Suppressed');
    await go('/activity/wakes');
    const rows = feed().getByRole('button');
    await rows.filter({ hasText: `${nameOf(4)} asked for ${nameOf(3)}` }).click();
    await rows
      .filter({ hasText: /too soon/ })
      .first()
      .waitFor();
    expect(await visitor.axe()).toEqual([]);
    await visitor.picture('reach-wakes');
  });

  it('stops all wakes at once, and says so until they are allowed again', async () => {
    const { page } = visitor;
    await go('/schedule');
    await page.getByRole('switch', { name: 'Pause all' }).click();
    await page.getByRole('switch', { name: 'Pause all', checked: true }).waitFor();
    expect(await tell(1, `Wake ${nameOf(6)}: now`)).toContain('All waking is switched off');
    await go('/schedule');
    await page.getByRole('switch', { name: 'Pause all', checked: true }).click();
    await page.getByRole('switch', { name: 'Pause all', checked: false }).waitFor();
  });

  it('puts an agent to sleep in its cell, wakes it there, and delivers waiting messages once', async () => {
    const { page } = visitor;
    await go('/');
    await visitor.open(7);
    await page
      .getByRole('button', { name: /^(Let .* sleep|Sleep)$/ })
      .first()
      .click();
    await visitor.untilSeats('one asleep', (seats) => seats[5]?.seat === 7 && seats[5].state === 'sleeping');
    await visitor.say('Are you there?');
    await page.waitForTimeout(500);
    expect(await visitor.reading()).not.toContain('You ask');
    await page
      .getByRole('button', { name: new RegExp(`^Wake ${nameOf(7)}|^Wake$`) })
      .first()
      .click();
    await visitor.untilSeats('everyone awake', (seats) => seats.every((seat) => seat.state === 'awake'));
    await visitor.untilRead(/You ask: “Are you there\?”/);
  });

  it('talks in threads in which the person reads and writes', async () => {
    const { page } = visitor;
    await go('/threads/new');
    await page.getByLabel('Title').fill('The bridge');
    for (const seat of [1, 2]) await page.getByRole('checkbox', { name: new RegExp(nameOf(seat)) }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Begin', exact: true }).click();
    const box = page.getByRole('textbox', { name: 'Write in The bridge' });
    await box.fill(`@${nameOf(2)} which pier first?`);
    await box.press('Escape');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByLabel('Messages in The bridge').getByText('which pier first?').waitFor();
    expect(await visitor.axe()).toEqual([]);
    await visitor.picture('reach-thread');
  });

  it('opens a thread where new begins, and knows in every tab that it was read', async () => {
    const { page } = visitor;
    const secret = await credentialFor(1);
    const client = await clientWith(secret);
    await go('/threads');
    const line = (tab: Page) =>
      tab.getByRole('navigation', { name: 'Threads' }).getByRole('link', { name: /The bridge/ });
    await line(page).waitFor();
    expect(await line(page).textContent()).not.toContain('not read');
    const threadId = decodeURIComponent((await line(page).getAttribute('href'))?.split('/').at(-1) ?? '');
    // More than a page of the thread, so that it is read back to where new begins.
    const send = async (n: number) => {
      const message = `pier ${n} holds`;
      const sent = await client.callTool({ name: 'send_message_to_thread', arguments: { threadId, message } });
      expect(sent.isError ?? false).toBe(false);
    };
    await send(1);
    await Promise.all(Array.from({ length: 58 }, (_none, i) => send(i + 2)));
    await send(60);
    await client.close().catch(() => undefined);
    await expect.poll(() => line(page).textContent()).toContain('60 not read yet');
    const other = await page.context().newPage();
    await other.goto(new URL('/threads', relay.url).href);
    await expect.poll(() => line(other).textContent()).toContain('60 not read yet');
    await line(page).click();
    const log = page.getByLabel('Messages in The bridge');
    const begins = log.getByRole('separator', { name: 'New messages' });
    await begins.waitFor();
    const above = async () => ((await begins.boundingBox())?.y ?? 0) - ((await log.boundingBox())?.y ?? 0);
    expect(await above()).toBeGreaterThanOrEqual(0);
    expect(await above()).toBeLessThan(200);
    await expect(log.getByText('pier 1 holds', { exact: true }).isVisible()).resolves.toBe(true);
    await expect.poll(() => line(other).textContent()).not.toContain('not read');
    await other.close();
    await go('/threads');
    await line(page).waitFor();
    expect(await line(page).textContent()).not.toContain('not read');
    await line(page).click();
    await log.getByText('pier 60 holds', { exact: true }).waitFor();
    expect(await begins.count()).toBe(0);
  });

  it('lets a foreign client take a seat, by a secret that is shown once and can be revoked', async () => {
    const { page } = visitor;
    const secret = await credentialFor(8);
    const client = await clientWith(secret);
    const sent = await client.callTool({
      name: 'message_agent',
      arguments: { to: nameOf(9), message: 'from outside' },
    });
    expect(JSON.stringify(sent.content)).toContain(`Delivered to ${nameOf(9)}`);
    await page.reload();
    expect(await page.content()).not.toContain(secret);
    await page
      .getByRole('listitem')
      .filter({ hasText: nameOf(8) })
      .getByRole('button', { name: /^Revoke / })
      .click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await expect
      .poll(
        async () =>
          (
            await fetch(new URL('/mcp', relay.url), {
              method: 'POST',
              headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
              body: '{}',
            })
          ).status,
      )
      .toBe(401);
    await client.close().catch(() => undefined);
  });

  it('shows a cost of nothing in the demo', async () => {
    await go('/activity/costs');
    await visitor.page.getByText('nothing costs anything').waitFor();
    expect(await visitor.axe()).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  });
});
