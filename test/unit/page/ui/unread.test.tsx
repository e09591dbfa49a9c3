import { screen, waitFor, within } from '@testing-library/react';
import { expect, onTestFinished, test } from 'vitest';
import type { RaisedNotification } from '../../../../src/shared/protocol/notifications.ts';
import { NOW, runningSession, said, settingDoc, team } from '../support/household.ts';
import { json, WAITING_CALL } from '../support/reach.ts';
import { openPage } from '../support/render.tsx';

const log = () => screen.getByRole('region', { name: /^Conversation with/ });
const read = said('agent-1', 'agent-1', 'Read.', NOW - 30);
const docs = [
  ...team(1),
  settingDoc('read:agent-1', read.at),
  read,
  said('agent-1', 'human', 'My own.', NOW - 20),
  said('agent-1', 'agent-1', 'First new.', NOW - 10),
  said('agent-1', 'agent-1', 'Second new.', NOW - 5),
];
const snapshot = runningSession({ awake: ['agent-1'] });

test('shows the number of new messages at the seat and a line where they begin, and marks seen ones', async () => {
  const page = await openPage({ docs, path: '/', snapshot });
  await waitFor(() => expect(page.container.querySelector('.seat-badge[data-kind="unread"]')?.textContent).toBe('2'));
  // The title counts only what waits for the person.
  expect(document.title).not.toMatch(/^\(/);
  await page.user.click(screen.getByRole('button', { name: /^Lyra/ }));
  const line = await within(log()).findByRole('separator', { name: 'New messages' });
  const words = log().textContent;
  expect(words.indexOf('My own.')).toBeLessThan(words.indexOf('New'));
  expect(line.compareDocumentPosition(screen.getByText('First new.')) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  await waitFor(() => expect(page.container.querySelector('.seat-badge[data-kind="unread"]')).toBeNull());
});

test('shows waiting questions in the title and as a dot on the icon, until answered', async () => {
  const icon = document.createElement('link');
  Object.assign(icon, { rel: 'icon', href: '/plain.svg' });
  document.head.append(icon);
  let waiting = [1, 2].map((n) => ({ ...WAITING_CALL, callId: `call-${n}` }));
  const page = await openPage({
    docs,
    path: '/settings/about',
    snapshot,
    prepare: ({ reach }) =>
      reach.on('GET /api/approvals', () => json({ waiting, answered: [], sandbox: { available: true, why: null } })),
  });
  await waitFor(() => expect(document.title).toMatch(/^\(2\) /));
  expect(decodeURIComponent(icon.href)).toMatch(/^data:image\/svg\+xml,<svg.*<circle/);
  waiting = [];
  page.state.changes.tell({ what: 'approvals', agentId: null });
  await waitFor(() => expect(document.title).not.toMatch(/^\(/));
  await waitFor(() => expect(icon.href).toMatch(/plain\.svg$/));
  icon.remove();
});

test('loads earlier messages until the line of new ones has its place', async () => {
  await openPage({ docs, path: '/agent/agent-1', snapshot, prepare: ({ owner }) => (owner.pageSize = 1) });
  await within(log()).findByRole('separator', { name: 'New messages' });
  expect(log().textContent).toContain('Read.');
});

test('a conversation in which nothing is new has no line', async () => {
  await openPage({ docs: docs.slice(0, -2), path: '/agent/agent-1', snapshot });
  expect(log().textContent).toContain('My own.');
  expect(screen.queryByRole('separator', { name: 'New messages' })).toBeNull();
});

/** What the system shows for this page, which is out of sight or not; jsdom has neither. */
function standInSystem() {
  const shown: { readonly tag: string; readonly title: string; close(): void }[] = [];
  const registration = {
    showNotification(title: string, { tag = '' }: NotificationOptions = {}) {
      const one = { tag, title, close: () => void shown.splice(shown.indexOf(one), 1) };
      shown.push(one);
      return Promise.resolve();
    },
    getNotifications: () => Promise.resolve([...shown]),
    pushManager: { getSubscription: () => Promise.resolve(null) },
  };
  const serviceWorker = Object.assign(new EventTarget(), {
    ready: Promise.resolve(registration),
    getRegistration: () => Promise.resolve(registration),
  });
  Object.defineProperty(navigator, 'serviceWorker', { configurable: true, value: serviceWorker });
  Object.assign(globalThis, { Notification: { permission: 'granted' } });
  let visible = true;
  Object.defineProperties(document, {
    hidden: { configurable: true, get: () => !visible },
    visibilityState: { configurable: true, get: () => (visible ? 'visible' : 'hidden') },
  });
  onTestFinished(() => {
    for (const name of ['hidden', 'visibilityState']) Reflect.deleteProperty(document, name);
    Reflect.deleteProperty(navigator, 'serviceWorker');
    Reflect.deleteProperty(globalThis, 'Notification');
  });
  return {
    titles: () => shown.map(({ title }) => title),
    view(at: boolean) {
      visible = at;
      document.dispatchEvent(new Event('visibilitychange'));
    },
  };
}
/** In the page's own words, whatever the relay calls it. */
const FIRST = 'Lyra has answered';
const SECOND = 'Lyra has a message for you';
const answered = (n: 1 | 2): RaisedNotification => ({
  key: `answer:m${n}`,
  kind: n === 1 ? 'answer' : 'mention',
  agentId: 'agent-1',
  path: `/agent/agent-1/at/m${n}`,
  title: 'As the relay has it',
  name: 'Lyra',
  raisedAt: NOW,
});
async function openTold(path: string, devices: readonly object[] = []) {
  const system = standInSystem();
  let open: readonly RaisedNotification[] = [];
  const page = await openPage({
    docs,
    path,
    snapshot,
    prepare({ reach }) {
      reach.on('GET /api/notifications', () =>
        json({ publicKey: 'key', contact: { subject: null, mail: null, fixed: false }, open, devices }),
      );
      reach.on('POST /api/notifications/seen', () => new Response(null, { status: 204 }));
    },
  });
  await waitFor(() => expect(page.reach.times('GET /api/notifications')).toBe(1));
  let time = NOW;
  Object.assign(page.device, { now: () => time });
  return {
    page,
    system,
    pass: (ms: number) => (time += ms),
    seen: () => page.reach.bodies('POST /api/notifications/seen').flatMap((body) => (body as { keys: string[] }).keys),
    async tell(...next: RaisedNotification[]) {
      const before = page.reach.times('GET /api/notifications');
      open = next;
      page.state.changes.tell({ what: 'notifications', agentId: null });
      await waitFor(() => expect(page.reach.times('GET /api/notifications')).toBe(before + 1));
    },
  };
}

test('notifies through the system when hidden, after quiet hours, and withdraws what is over elsewhere', async () => {
  const { page, system, pass, tell, seen } = await openTold('/settings/about');
  system.view(false);
  const hour = new Date(NOW).getHours() * 60;
  localStorage.setItem('roost-told', JSON.stringify({ quiet: { from: hour, to: (hour + 60) % 1_440 } }));
  await tell(answered(1));
  pass(10_000);
  system.view(false);
  // What would be shown is shown behind this.
  await new Promise((resolve) => setTimeout(resolve));
  expect(system.titles()).toEqual([]);
  pass(3_600_000);
  system.view(false);
  await waitFor(() => expect(system.titles()).toEqual([FIRST]));
  await tell();
  await waitFor(() => expect(system.titles()).toEqual([]));
  // In them too, a page that somebody looks at says it.
  pass(-3_600_000);
  system.view(true);
  await tell(answered(2));
  await screen.findByText(SECOND);
  expect([seen(), system.titles()]).toEqual([['answer:m2'], []]);
  // Where nobody is there it waits for them.
  pass(61_000);
  const { after } = page.device;
  const ends: number[] = [];
  Object.assign(page.device, { after: (...given: Parameters<typeof after>) => (ends.push(given[0]), after(...given)) });
  await tell(answered(2), answered(1));
  await screen.findByText(FIRST);
  expect([seen(), ends.filter((ms) => ms > 5_000)]).toEqual([['answer:m2'], []]);
  page.unmount();
});

test('withdraws notifications everywhere for what is read here, once somebody reads it', async () => {
  const { page, system, pass, tell, seen } = await openTold('/settings/about');
  system.view(false);
  await tell(answered(1));
  system.view(true);
  await screen.findByText(FIRST);
  expect(seen()).toEqual(['answer:m1']);
  await page.user.click(screen.getByRole('link', { name: 'Roost' }));
  await page.user.click(await screen.findByRole('button', { name: /^Lyra/ }));
  // The conversation is on the screen, and nobody has touched anything for a while.
  pass(120_000);
  await tell(answered(1), answered(2));
  expect(screen.queryByText(SECOND)).toBeNull();
  expect(seen()).toEqual(['answer:m1']);
  await page.user.keyboard('{Shift}');
  await waitFor(() => expect(seen()).toEqual(['answer:m1', 'answer:m2']));
  page.unmount();
});

test('a notice stays once the relay has closed its notification, and goes when the page shows its subject', async () => {
  const { page, tell, seen } = await openTold('/settings/about');
  await page.user.keyboard('{Shift}');
  await tell(answered(1));
  await screen.findByText(FIRST);
  await waitFor(() => expect(seen()).toEqual(['answer:m1']));
  await tell();
  expect(screen.getByText(FIRST)).toBeTruthy();
  await page.user.click(screen.getByRole('link', { name: 'Roost' }));
  expect(screen.getByText(FIRST)).toBeTruthy();
  await page.user.click(await screen.findByRole('button', { name: /^Lyra/ }));
  await waitFor(() => expect(screen.queryByText(FIRST)).toBeNull());
  page.unmount();
});

test('does not notify of a question in the open conversation, but elsewhere', async () => {
  const asked = (n: number): RaisedNotification => ({
    ...answered(1),
    ...{ key: `approval:c${n}`, kind: 'approval', path: '/inbox' },
  });
  const { page, tell, seen } = await openTold('/agent/agent-1');
  await page.user.keyboard('{Shift}');
  await tell(asked(1));
  await waitFor(() => expect(seen()).toEqual(['approval:c1']));
  expect(screen.queryByText('Lyra waits for your answer')).toBeNull();
  await page.user.click(screen.getByRole('link', { name: 'Roost' }));
  await page.user.keyboard('5');
  await waitFor(() => expect(location.pathname).toBe('/lead'));
  await tell(asked(1), asked(2));
  await screen.findByText('Lyra waits for your answer');
  page.unmount();
});

test('reports its use once a minute on a pushed device, and repeats no pushed notification', async () => {
  const { page, pass, tell } = await openTold('/settings/about', [
    {
      deviceId: 'd1',
      name: 'Here',
      here: true,
      pushed: true,
      endpoint: null,
      kinds: [],
      quiet: null,
      usedAt: NOW,
      refused: null,
    },
  ]);
  const used = () => page.reach.times('POST /api/notifications/seen');
  await page.user.keyboard('{Shift}');
  expect(used()).toBe(0);
  pass(61_000);
  await tell(answered(1));
  await page.user.keyboard('{Shift}{Shift}');
  await waitFor(() => expect(used()).toBe(1));
  await tell(answered(1), answered(2));
  await screen.findByText(SECOND);
  expect(screen.queryByText(FIRST)).toBeNull();
  page.unmount();
});

test('waits for a message that its notification preceded, and opens the conversation at its end', async () => {
  const late = said('agent-1', 'agent-1', 'Late.', NOW + 5);
  const page = await openPage({ docs, path: `/agent/agent-1/at/${late.messageId}`, snapshot });
  await within(log()).findByText('Second new.');
  expect(screen.queryByText('That message is gone.')).toBeNull();
  await page.say({ news: 'documents', docs: [late] });
  await within(log()).findByText('Late.');
  page.unmount();
});
