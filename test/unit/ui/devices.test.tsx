import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { SYNC } from '../../../src/protocol/sync/settings.ts';
import type { Joining } from '../../../src/protocol/sync/page.ts';
import { device, LAPTOP, OFFER, sharedStatus, SIX } from './support/devices.ts';
import { NOW, team } from './support/household.ts';
import { openPage, type Page } from './support/render.tsx';

type Sync = Page['owner']['sync'];
const devices = (sync: Sync, more: Partial<Parameters<typeof openPage>[0]> = {}) =>
  openPage({ docs: team(2), path: '/settings/devices', ...more, prepare: (parts) => void (parts.owner.sync = sync) });
const press = async (page: Page, name: string | RegExp) => page.user.click(await screen.findByRole('button', { name }));
const until = NOW + SYNC.offerMs;
const words = () => within(screen.getByRole('list', { name: 'The six words' })).getAllByRole('listitem').map((item) => item.textContent);

test('whoever shares nothing is told what that means, and what to do about it', async () => {
  await devices({});
  expect(await screen.findByText('Who lives here lives in this browser alone.')).toBeDefined();
  expect(screen.getByRole('button', { name: 'Add a device' })).toBeDefined();
  expect(screen.getByRole('button', { name: 'Join from another device' })).toBeDefined();
});

test('where it is not known how it stands, the reason is said, and it can be asked again', async () => {
  const page = await devices({
    syncStatus: () => {
      throw new Error('The keys could not be read.');
    },
  });
  expect(screen.getByRole('alert').textContent).toContain('The keys could not be read.');
  page.owner.sync = {};
  await press(page, 'Ask again');
  expect(screen.getByText('Who lives here lives in this browser alone.')).toBeDefined();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('devices are listed with this one first, and when the others were seen', async () => {
  const phone = device('Phone', { online: true, direct: true });
  await devices({ syncStatus: () => sharedStatus({ devices: [device('Attic'), phone, LAPTOP, device('New', { lastSeen: null, addedAt: NOW })] }) });
  const rows = within(screen.getByRole('region', { name: 'Your devices' })).getAllByRole('listitem');
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringMatching(/^Laptopthis deviceadded Wednesday/),
    expect.stringMatching(/^Phonethere now · direct line/),
    expect.stringMatching(/^Atticlast seen yesterday 06:55 · added Wednesday/),
    expect.stringMatching(/^Newnot seen yet · added today/),
  ]);
});

test('before the first device is added, the person agrees that sealed entries leave this browser', async () => {
  const page = await devices({});
  const shared: string[] = [];
  page.owner.sync.shareHousehold = ({ deviceName }) => {
    shared.push(deviceName);
    queueMicrotask(() => page.owner.say({ news: 'sync', status: sharedStatus() }));
    return null;
  };
  await press(page, 'Add a device');
  const name = await screen.findByLabelText<HTMLInputElement>('What this device is called');
  expect(screen.queryByLabelText('The text under the code')).toBeNull();
  await page.user.clear(name);
  await page.user.type(name, ' Laptop ');
  await press(page, 'Go on');
  expect(shared).toEqual(['Laptop']);
  expect(screen.getByLabelText('The text under the code')).toBeDefined();
});

test('a device is added by its text: the words are compared, and the new one is named', async () => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  const asked: unknown[] = [];
  page.owner.sync.beginInvite = ({ offer }) => {
    asked.push(offer);
    return { words: SIX };
  };
  page.owner.sync.answerInvite = ({ same }) => {
    asked.push(same);
    return { joined: true };
  };
  await press(page, 'Add a device');
  await page.user.type(screen.getByLabelText('The text under the code'), `Take this: ${OFFER}`);
  await press(page, 'Take it');
  expect(words()).toEqual(SIX);
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Are these the same on both?' }));
  await press(page, 'Yes, all six');
  expect(asked).toEqual([`Take this: ${OFFER}`, true]);
  await page.say({ news: 'sync', status: sharedStatus({ devices: [LAPTOP, device('Phone')] }) });
  expect(screen.getByText('Phone is one of yours now.')).toBeDefined();
});

test('what is no offer is not handed on, and is said to be none', async () => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  await press(page, 'Add a device');
  await page.user.type(screen.getByLabelText('The text under the code'), 'hello');
  await press(page, 'Take it');
  expect(screen.getByRole('alert').textContent).toContain('not an offer of Roost');
  expect(page.owner.calls).not.toContain('beginInvite');
});

test('an offer that is refused says why, and can be taken again', async () => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  page.owner.sync.beginInvite = () => {
    throw new Error('This offer was used already.');
  };
  await press(page, 'Add a device');
  await page.user.type(screen.getByLabelText('The text under the code'), OFFER);
  await press(page, 'Take it');
  expect(screen.getByRole('alert').textContent).toContain('This offer was used already. What is here has not changed.');
  page.owner.sync.beginInvite = () => ({ words: SIX });
  await press(page, 'Try again');
  expect(words()).toEqual(SIX);
});

test('whoever finds the words different says no, and nothing is sent', async () => {
  const page = await devices({ syncStatus: () => sharedStatus(), beginInvite: () => ({ words: SIX }) });
  const answers: boolean[] = [];
  page.owner.sync.answerInvite = ({ same }) => {
    answers.push(same);
    return { joined: false };
  };
  await press(page, 'Add a device');
  await page.user.type(screen.getByLabelText('The text under the code'), OFFER);
  await press(page, 'Take it');
  await press(page, 'No');
  expect(answers).toEqual([false]);
  expect(screen.getByRole('alert').textContent).toContain('Nothing was sent, and nothing has changed.');
});

test('leaving while words are compared ends the invitation', async () => {
  const page = await devices({ syncStatus: () => sharedStatus(), beginInvite: () => ({ words: SIX }) });
  const answers: boolean[] = [];
  page.owner.sync.answerInvite = ({ same }) => {
    answers.push(same);
    return { joined: false };
  };
  await press(page, 'Add a device');
  await page.user.type(screen.getByLabelText('The text under the code'), OFFER);
  await press(page, 'Take it');
  await page.user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Close' }));
  expect(answers).toEqual([false]);
  await press(page, 'Add a device');
  expect(screen.getByLabelText<HTMLTextAreaElement>('The text under the code').value).toBe('');
});

test('a new device shows its offer, then the words, then waits, and then has a team', async () => {
  const page = await devices({});
  const joining = (now: Joining | null) => page.say({ news: 'sync', status: { kind: 'alone', joining: now } });
  const asked: unknown[] = [];
  page.owner.sync.beginJoin = ({ deviceName }) => {
    asked.push(deviceName);
    return null;
  };
  page.owner.sync.answerJoin = ({ same }) => {
    asked.push(same);
    return null;
  };
  await press(page, 'Join from another device');
  await press(page, 'Show the code');
  await joining({ step: 'offering', offer: OFFER, until });
  expect(screen.getByRole('img', { name: /QR code of the offer/ })).toBeDefined();
  expect(screen.getByLabelText('The offer as text').textContent).toBe(OFFER);
  expect(screen.getByRole('timer').textContent).toBe('5:00');
  expect(screen.getByRole('timer').getAttribute('aria-live')).toBe('off');
  await joining({ step: 'comparing', words: SIX, until });
  expect(words()).toEqual(SIX);
  await press(page, 'Yes, all six');
  await joining({ step: 'waiting', words: SIX, until });
  expect(screen.getByText(/Say yes there too/)).toBeDefined();
  expect(asked).toEqual([expect.any(String), true]);
  await page.say({ news: 'sync', status: sharedStatus() });
  expect(location.pathname).toBe('/');
  expect(screen.getByText(/This device is one of yours now/)).toBeDefined();
});

test('two teams that meet are spoken of before they do', async () => {
  const page = await devices({}, { docs: team(3) });
  await press(page, 'Join from another device');
  expect(screen.getByRole('note').textContent).toContain('3 agents live here already.');
  expect(screen.getByRole('note').textContent).toContain('the one who was born first sits');
});

test('an offer that has run out is replaced by a new one', async () => {
  const page = await devices({ beginJoin: () => null });
  await press(page, 'Join from another device');
  await page.say({ news: 'sync', status: { kind: 'alone', joining: { step: 'offering', offer: OFFER, until: NOW } } });
  expect(screen.getByRole('alert').textContent).toContain('This offer has run out.');
  await press(page, 'Make a new offer');
  expect(page.owner.calls.filter((name) => name === 'beginJoin')).toHaveLength(1);
});

test('why joining failed is said, with the way to begin anew', async () => {
  const page = await devices({});
  await press(page, 'Join from another device');
  await page.say({ news: 'sync', status: { kind: 'alone', joining: { step: 'failed', reason: 'The other device said no.' } } });
  expect(screen.getByRole('alert').textContent).toContain('The other device said no. Nothing has changed.');
  expect(screen.getByRole('button', { name: 'Show the code' })).toBeDefined();
});
