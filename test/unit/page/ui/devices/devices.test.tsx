import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { DEVICE_CODES } from '../../../../../src/shared/protocol/device-code-settings.ts';
import { SYNC } from '../../../../../src/shared/protocol/sync/settings.ts';
import { modulesOf } from '../../../../../src/page/ui/devices/qr-code.tsx';
import type { Joining } from '../../../../../src/shared/protocol/sync/page.ts';
import { device, LAPTOP, OFFER, sharedStatus, SIX } from '../../support/devices.ts';
import { NOW, team } from '../../support/household.ts';
import { json, refused } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

type Sync = Page['owner']['sync'];
const CODE = { id: 'code-1', code: 'a-code', until: NOW + DEVICE_CODES.openMs, address: 'https://roost.example' };
type Parts = Parameters<NonNullable<Parameters<typeof openPage>[0]['prepare']>>[0];
const devices = (sync: Sync, more: Partial<Parameters<typeof openPage>[0]> = {}) =>
  openPage({
    docs: team(2),
    path: '/settings/devices',
    ...more,
    prepare: (parts) => {
      parts.owner.sync = sync;
      parts.reach.on('POST /api/device-codes', CODE);
      parts.reach.on('GET /api/device-codes/code-1', { state: 'open', offer: null });
      parts.reach.on('GET /api/tailnet', { address: null, canServe: false });
      for (const call of ['PUT /api/device-codes/code-1/guest', 'DELETE /api/device-codes/code-1'])
        parts.reach.on(call, () => new Response(null, { status: 204 }));
      more.prepare?.(parts);
    },
  });
const otherWay = async (page: Page) => page.user.click(await screen.findByText(/^The new device shows a code instead/));
const press = async (page: Page, name: string | RegExp) => page.user.click(await screen.findByRole('button', { name }));
const until = NOW + SYNC.offerMs;
const words = () =>
  within(screen.getByRole('list', { name: 'The six words' }))
    .getAllByRole('listitem')
    .map((item) => item.textContent);

test('says what it means to share nothing, and what to do', async () => {
  await devices({});
  expect(await screen.findByText('Your team exists only on this device.')).toBeDefined();
  expect(screen.getByRole('button', { name: 'Add a device' })).toBeDefined();
  expect(screen.getByRole('button', { name: 'Join from another device' })).toBeDefined();
});

test('says why the state is unknown, and can ask again', async () => {
  const page = await devices({
    syncStatus: () => {
      throw new Error('The keys could not be read.');
    },
  });
  expect(screen.getByRole('alert').textContent).toContain('The keys could not be read.');
  page.owner.sync = {};
  await press(page, 'Ask again');
  expect(screen.getByText('Your team exists only on this device.')).toBeDefined();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('devices are listed with this one first, and when the others were seen', async () => {
  const phone = device('Phone', { online: true, direct: true });
  await devices({
    syncStatus: () =>
      sharedStatus({
        devices: [
          device('Attic'),
          phone,
          LAPTOP,
          device('New', { lastSeen: null, addedAt: NOW, came: { kind: 'unsaid' } }),
        ],
      }),
  });
  const rows = within(screen.getByRole('region', { name: 'Devices' })).getAllByRole('listitem');
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringMatching(/^Laptopthis deviceadded Wednesday/),
    expect.stringMatching(/^Phonethere now · direct connection/),
    expect.stringMatching(/^Atticlast seen yesterday 06:55 · let in Wednesday by Laptop/),
    expect.stringMatching(/^Newnot seen yet · added today; none of the others says that it let this one in/),
  ]);
});

test('asks for consent before sealed entries leave this browser for the first time', async () => {
  const page = await devices({});
  const shared: string[] = [];
  page.owner.sync.shareHousehold = ({ deviceName }) => {
    shared.push(deviceName);
    queueMicrotask(() => page.owner.say({ news: 'sync', status: sharedStatus() }));
    return null;
  };
  await press(page, 'Add a device');
  const name = await screen.findByLabelText<HTMLInputElement>('Name of this device');
  expect(screen.queryByLabelText('The code as text')).toBeNull();
  await page.user.clear(name);
  await page.user.type(name, ' Laptop ');
  await press(page, 'Continue');
  expect(shared).toEqual(['Laptop']);
  await otherWay(page);
  expect(screen.getByLabelText('The code as text')).toBeDefined();
});

describe('one code for another device', () => {
  const states = (parts: Parts, ...next: readonly object[]) => {
    let at = 0;
    parts.reach.on('GET /api/device-codes/code-1', () => json(next[Math.min(at++, next.length - 1)]));
  };
  const offered = { state: 'offered', offer: OFFER };

  test('shows a picture and a link, compares the words, and admits the browser before the keys are sent', async () => {
    const asked: unknown[] = [];
    const page = await devices(
      {
        syncStatus: () => sharedStatus(),
        beginInvite: ({ offer }) => {
          asked.push(offer);
          return { words: SIX };
        },
        answerInvite: ({ same }) => {
          asked.push([same, page.reach.times('PUT /api/device-codes/code-1/guest')]);
          return { joined: true };
        },
      },
      { prepare: (parts) => states(parts, { state: 'open', offer: null }, offered) },
    );
    await press(page, 'Add a device');
    expect(await screen.findByRole('img', { name: /^QR code/ })).toBeDefined();
    expect(screen.getByText('https://roost.example/enter#join=a-code')).toBeDefined();
    await screen.findByRole('heading', { name: 'Are these the same on both?' });
    await press(page, 'Yes, all six');
    expect(asked).toEqual([OFFER, [true, 1]]);
    await press(page, 'Done');
    expect(page.reach.times('DELETE /api/device-codes/code-1')).toBe(0);
  });

  test('signs out a guest that took no keys', async () => {
    const page = await devices(
      {
        syncStatus: () => sharedStatus(),
        beginInvite: () => ({ words: SIX }),
        answerInvite: () => ({ joined: false }),
      },
      { prepare: (parts) => states(parts, offered) },
    );
    await press(page, 'Add a device');
    await press(page, 'Yes, all six');
    await screen.findByRole('button', { name: 'Begin again' });
    expect(page.reach.times('PUT /api/device-codes/code-1/guest')).toBe(1);
    expect(page.reach.times('DELETE /api/device-codes/code-1')).toBe(1);
  });

  test('signs out the guest when the words differ or the person leaves', async () => {
    const sync: Sync = {
      syncStatus: () => sharedStatus(),
      beginInvite: () => ({ words: SIX }),
      answerInvite: () => ({ joined: false }),
    };
    const page = await devices(sync, { prepare: (parts) => states(parts, offered) });
    await press(page, 'Add a device');
    await press(page, 'No');
    expect(page.reach.times('PUT /api/device-codes/code-1/guest')).toBe(0);
    expect(page.reach.times('DELETE /api/device-codes/code-1')).toBe(1);
    cleanup();
    const other = await devices(sync, { prepare: (parts) => states(parts, { state: 'opened', offer: null }) });
    await press(other, 'Add a device');
    await screen.findByText(/^A device has opened the code/);
    const dialog = within(screen.getByRole('dialog', { name: 'Add a device' }));
    await other.user.click(dialog.getByRole('button', { name: 'Close' }));
    expect(other.reach.times('DELETE /api/device-codes/code-1')).toBe(1);
  });

  test('sends no keys when the guest was signed out before the words were compared', async () => {
    const asked: boolean[] = [];
    const page = await devices(
      {
        syncStatus: () => sharedStatus(),
        beginInvite: () => ({ words: SIX }),
        answerInvite: ({ same }) => {
          asked.push(same);
          return { joined: false };
        },
      },
      {
        prepare: (parts) => {
          states(parts, offered);
          parts.reach.on('PUT /api/device-codes/code-1/guest', () => refused('There is no such code any more.', 404));
        },
      },
    );
    await press(page, 'Add a device');
    await press(page, 'Yes, all six');
    expect(asked).toEqual([false]);
    expect(screen.getByText('There is no such code any more.')).toBeDefined();
  });

  test('says when a phone cannot reach Roost, and when the code has expired', async () => {
    const page = await devices(
      { syncStatus: () => sharedStatus() },
      {
        prepare: (parts) => {
          parts.reach.on('POST /api/device-codes', { ...CODE, address: null });
          states(parts, { state: 'open', offer: null }, { state: 'over', offer: null });
        },
      },
    );
    await press(page, 'Add a device');
    expect(await screen.findByText('Your phone can’t reach this address yet.')).toBeDefined();
    expect(screen.getByText('Come back here for the last step.')).toBeDefined();
    expect(screen.queryByRole('img', { name: /^QR code/ })).toBeNull();
    expect(screen.getByText(`${location.origin}/enter#join=a-code`)).toBeDefined();
    expect((await screen.findByText('This code has expired.')).textContent).toBeDefined();
    await press(page, 'Make a new one');
    expect(page.reach.times('POST /api/device-codes')).toBe(2);
  });

  test('becomes reachable for a phone by one Tailscale button, or says why not', async () => {
    const page = await devices(
      { syncStatus: () => sharedStatus() },
      {
        prepare: ({ reach }) => {
          reach.on('POST /api/device-codes', { ...CODE, address: null });
          reach.on('GET /api/tailnet', { address: null, canServe: true });
          reach.on('PUT /api/tailnet', () => refused('Tailscale says: Access denied.', 409, 'no-tailnet'));
        },
      },
    );
    await press(page, 'Add a device');
    await press(page, 'Set it up');
    expect((await screen.findByRole('alert')).textContent).toBe('Tailscale says: Access denied.');
    page.reach.on('PUT /api/tailnet', { address: 'https://desk.tail1234.ts.net' });
    await press(page, 'Set it up');
    expect(await screen.findByRole('img', { name: /^QR code/ })).toBeDefined();
    expect(screen.getByText('https://desk.tail1234.ts.net/enter#join=a-code')).toBeDefined();
  });

  test('makes the offer of this device by itself when opened here, and tells the other device', async () => {
    sessionStorage.setItem(DEVICE_CODES.remembered, 'yes');
    const begun: string[] = [];
    const page = await openPage({
      docs: [],
      prepare: ({ owner, reach }) => {
        reach.on('POST /api/join-offer', () => new Response(null, { status: 204 }));
        owner.sync = {
          beginJoin: ({ deviceName }) => {
            begun.push(deviceName);
            return null;
          },
        };
      },
    });
    await vi.waitFor(() => expect(begun).toHaveLength(1));
    const joining: Joining = { step: 'offering', offer: OFFER, until };
    await page.say({ news: 'sync', status: { kind: 'alone', joining, kept: null } });
    expect(await screen.findByRole('heading', { name: 'Look at your other device' })).toBeDefined();
    expect(page.reach.bodies('POST /api/join-offer')).toEqual([{ offer: OFFER }]);
    expect(sessionStorage.getItem(DEVICE_CODES.remembered)).toBeNull();
  });
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
  await otherWay(page);
  await page.user.type(screen.getByLabelText('The code as text'), `Take this: ${OFFER}`);
  await press(page, 'Add');
  expect(words()).toEqual(SIX);
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Are these the same on both?' }));
  await press(page, 'Yes, all six');
  expect(asked).toEqual([`Take this: ${OFFER}`, true]);
  // Nobody came by the code that stood beside it, and nobody can.
  expect(page.reach.times('PUT /api/device-codes/code-1/guest')).toBe(0);
  expect(page.reach.times('DELETE /api/device-codes/code-1')).toBe(1);
  await page.say({ news: 'sync', status: sharedStatus({ devices: [LAPTOP, device('Phone')] }) });
  expect(screen.getByText('Device added')).toBeDefined();
});

test('refuses text that is no offer, and does not forward it', async () => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  await press(page, 'Add a device');
  await otherWay(page);
  await page.user.type(screen.getByLabelText('The code as text'), 'hello');
  await press(page, 'Add');
  expect(screen.getByText(/^This is not a Roost code\./)).toBeDefined();
  expect(page.owner.calls).not.toContain('beginInvite');
});

test('an offer that is refused says why, and can be taken again', async () => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  page.owner.sync.beginInvite = () => {
    throw new Error('This offer was used already.');
  };
  await press(page, 'Add a device');
  await otherWay(page);
  await page.user.type(screen.getByLabelText('The code as text'), OFFER);
  await press(page, 'Add');
  expect(screen.getByRole('alert').textContent).toContain('This offer was used already.');
  page.owner.sync.beginInvite = () => ({ words: SIX });
  await press(page, 'Try again');
  expect(words()).toEqual(SIX);
});

test('sends nothing when the person finds the words different', async () => {
  const page = await devices({ syncStatus: () => sharedStatus(), beginInvite: () => ({ words: SIX }) });
  const answers: boolean[] = [];
  page.owner.sync.answerInvite = ({ same }) => {
    answers.push(same);
    return { joined: false };
  };
  await press(page, 'Add a device');
  await otherWay(page);
  await page.user.type(screen.getByLabelText('The code as text'), OFFER);
  await press(page, 'Add');
  await press(page, 'No');
  expect(answers).toEqual([false]);
  expect(screen.getByRole('alert').textContent).toContain('Nothing was sent.');
});

test('leaving while words are compared ends the invitation', async () => {
  const page = await devices({ syncStatus: () => sharedStatus(), beginInvite: () => ({ words: SIX }) });
  const answers: boolean[] = [];
  page.owner.sync.answerInvite = ({ same }) => {
    answers.push(same);
    return { joined: false };
  };
  await press(page, 'Add a device');
  await otherWay(page);
  await page.user.type(screen.getByLabelText('The code as text'), OFFER);
  await press(page, 'Add');
  await page.user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Close' }));
  expect(answers).toEqual([false]);
  await press(page, 'Add a device');
  await otherWay(page);
  expect(screen.getByLabelText<HTMLTextAreaElement>('The code as text').value).toBe('');
});

test('a new device shows its offer, then the words, then waits, and then has a team', async () => {
  const page = await devices({});
  const joining = (now: Joining | null) =>
    page.say({ news: 'sync', status: { kind: 'alone', joining: now, kept: null } });
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
  expect(screen.getByRole('img', { name: /^QR code/ })).toBeDefined();
  expect(screen.getByLabelText('The code as text').textContent).toBe(OFFER);
  expect(screen.getByRole('timer').textContent).toBe('5:00');
  expect(screen.getByRole('timer').getAttribute('aria-live')).toBe('off');
  await joining({ step: 'comparing', words: SIX, until });
  expect(words()).toEqual(SIX);
  await press(page, 'Yes, all six');
  await joining({ step: 'waiting', words: SIX, until });
  expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Say yes on the other device too' }));
  expect(asked).toEqual([expect.any(String), true]);
  await page.say({ news: 'sync', status: sharedStatus() });
  expect(location.pathname).toBe('/');
  expect(screen.getByText(/This device has joined/)).toBeDefined();
});

test('two teams that meet are spoken of before they do', async () => {
  const page = await devices({}, { docs: team(3) });
  await press(page, 'Join from another device');
  expect(screen.getByRole('note').textContent).toContain('3 agents live here already.');
  expect(screen.getByRole('note').textContent).toContain('the younger waits for a seat');
});

test('an offer that has run out is replaced by a new one', async () => {
  const page = await devices({ beginJoin: () => null });
  await press(page, 'Join from another device');
  await page.say({
    news: 'sync',
    status: { kind: 'alone', joining: { step: 'offering', offer: OFFER, until: NOW }, kept: null },
  });
  expect(screen.getByRole('alert').textContent).toContain('This code has expired.');
  await press(page, 'Make a new one');
  expect(page.owner.calls.filter((name) => name === 'beginJoin')).toHaveLength(1);
});

test('says why joining failed, and how to start again', async () => {
  const page = await devices({});
  await press(page, 'Join from another device');
  await page.say({
    news: 'sync',
    status: { kind: 'alone', joining: { step: 'failed', reason: 'The other device said no.' }, kept: null },
  });
  expect(screen.getByRole('alert').textContent).toContain('The other device said no.');
  page.owner.sync.beginJoin = () => {
    page.owner.say({
      news: 'sync',
      status: { kind: 'alone', joining: { step: 'offering', offer: OFFER, until }, kept: null },
    });
    return null;
  };
  await press(page, 'Make a new one');
  expect(screen.getByLabelText('The code as text').textContent).toBe(OFFER);
});

const WORDS =
  'abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic acquire across act action actor actress actual'.split(
    ' ',
  );
const places = () =>
  screen
    .getAllByLabelText(/^Word \d+$/)
    .map((input) => Number(/\d+/.exec(input.closest('.device-field')?.textContent ?? '')?.[0]));
const answerDrill = async (page: Page, wordAt: (place: number) => string) => {
  for (const place of places()) {
    const field = screen.getByLabelText(`Word ${place}`);
    await page.user.clear(field);
    await page.user.type(field, wordAt(place));
  }
};

async function atDrill(sync: Sync = {}): Promise<Page> {
  const page = await devices({ syncStatus: () => sharedStatus(), makePhrase: () => ({ words: WORDS }), ...sync });
  await press(page, 'Make a recovery phrase');
  await press(page, 'Show');
  await press(page, 'I have written them down');
  return page;
}

test('a recovery phrase is shown numbered, drilled at three places, and then holds', async () => {
  const kept: unknown[] = [];
  const page = await devices({ syncStatus: () => sharedStatus(), makePhrase: () => ({ words: WORDS }) });
  page.owner.sync.keepPhrase = ({ answers }) => {
    kept.push(...answers);
    return null;
  };
  await press(page, 'Make a recovery phrase');
  await press(page, 'Show');
  expect(
    within(screen.getByRole('list', { name: 'Recovery phrase' }))
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual(WORDS);
  await press(page, 'I have written them down');
  const asked = places();
  expect(new Set(asked).size).toBe(3);
  expect(screen.queryByText(WORDS[0] ?? '')).toBeNull();
  await answerDrill(page, (place) => ` ${(WORDS[place - 1] ?? '').toUpperCase()} `);
  await press(page, 'Check');
  expect(kept).toEqual(asked.map((place) => ({ position: place, word: WORDS[place - 1] })));
  expect(screen.getByText('Your recovery phrase is active')).toBeDefined();
});

test('names a wrong word in the drill, and shows the words again', async () => {
  const page = await atDrill();
  const [first = 0] = places();
  await answerDrill(page, (place) => (place === first ? 'zebra' : (WORDS[place - 1] ?? '')));
  await press(page, 'Check');
  expect(screen.getByRole('alert').textContent).toContain(`Different from what was shown: word ${first}`);
  expect(screen.getByLabelText(`Word ${first}`).getAttribute('aria-invalid')).toBe('true');
  expect(page.owner.calls).not.toContain('keepPhrase');
  await press(page, 'Show');
  expect(screen.getByText('abandon')).toBeDefined();
});

test("shows the owner's error in the drill, and can try again", async () => {
  const page = await atDrill({
    keepPhrase: () => {
      throw new Error('The relay cannot be reached.');
    },
  });
  await answerDrill(page, (place) => WORDS[place - 1] ?? '');
  await press(page, 'Check');
  expect(screen.getByRole('alert').textContent).toContain('The relay cannot be reached.');
  page.owner.sync.keepPhrase = () => null;
  await press(page, 'Check');
  expect(screen.getByText('Your recovery phrase is active')).toBeDefined();
});

test('words that do not count yet are not thrown away by one press', async () => {
  const page = await atDrill();
  const dialog = screen.getByRole('dialog');
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  expect(screen.getByRole('alert').textContent).toContain('The phrase is not active yet.');
  await press(page, 'Cancel');
  expect(places()).toHaveLength(3);
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  await press(page, 'Discard');
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('a phrase is checked against the household’s', async () => {
  const page = await devices({
    syncStatus: () => sharedStatus({ phrase: true }),
    checkPhrase: ({ phrase }) => ({ good: phrase === WORDS.join(' ') }),
  });
  await press(page, 'Check my phrase');
  const field = await screen.findByLabelText('The 24 words');
  await page.user.click(field);
  await page.user.paste([...WORDS.slice(0, 23), 'zoo'].join(' '));
  expect(screen.getByText('24 of 24')).toBeDefined();
  await press(page, 'Check');
  expect(screen.getByText(/^This phrase is not your team’s/)).toBeDefined();
  await page.user.clear(field);
  await page.user.click(field);
  await page.user.paste(WORDS.join(' '));
  await press(page, 'Check');
  expect(screen.getByText('This is your phrase')).toBeDefined();
});

test('a new browser takes a phrase as people type it, and says which word is wrong', async () => {
  const asked: string[] = [];
  const page = await openPage({ docs: [] });
  page.owner.sync.restore = ({ phrase }) => {
    asked.push(phrase);
    if (phrase.includes('abel')) throw new Error('Word 3, “abel”, is not in the list. Did you mean able?');
    queueMicrotask(() => page.owner.say({ news: 'sync', status: sharedStatus({ backlog: { done: 3, of: 12 } }) }));
    return null;
  };
  await press(page, 'I have a recovery phrase');
  const field = await screen.findByLabelText('The 24 words');
  await page.user.click(field);
  await page.user.paste('1. Abandon, 2. ability\n3. abel');
  expect(screen.getByText('3 of 24')).toBeDefined();
  await press(page, 'Restore');
  expect(screen.getByText('Word 3, “abel”, is not in the list. Did you mean able?')).toBeDefined();
  await page.user.clear(field);
  await page.user.click(field);
  await page.user.paste(WORDS.join(' '));
  await press(page, 'Restore');
  expect(await screen.findByRole('heading', { name: 'Your team is arriving' })).toBeDefined();
  expect(screen.getByRole('progressbar', { name: /Loading/ }).getAttribute('value')).toBe('3');
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Begin' })).toBeNull();
});

test('shows the arriving team on a new device at once', async () => {
  const page = await openPage({
    docs: [],
    prepare: ({ owner }) => void (owner.sync.syncStatus = () => sharedStatus()),
  });
  expect(screen.getByRole('heading', { name: 'Your team is arriving' })).toBeDefined();
  await page.say({ news: 'documents', docs: team(2) });
  expect(screen.getByRole('button', { name: /^Lyra, seat 1, asleep/ })).toBeDefined();
});

test('says what removing a device does and does not, and waits for the relay', async () => {
  const page = await devices({
    syncStatus: () => sharedStatus({ devices: [LAPTOP, device('Phone')] }),
    removeDevice: () => {
      throw new Error('The relay cannot be reached.');
    },
  });
  await press(page, 'Remove Phone');
  const dialog = within(screen.getByRole('dialog', { name: 'Remove Phone' }));
  expect(dialog.getByText(/What it has already stays there/)).toBeDefined();
  await press(page, 'Remove');
  expect(dialog.getByRole('alert').textContent).toContain('The relay cannot be reached.');
  const removed: string[] = [];
  page.owner.sync.removeDevice = ({ deviceId }) => {
    removed.push(deviceId);
    return { removed: [deviceId] };
  };
  await press(page, 'Remove');
  expect(removed).toEqual(['device-phone']);
  expect(screen.queryByRole('dialog')).toBeNull();
});

test('removes with a device those that it admitted, unless the person keeps them', async () => {
  const [second, third] = [
    device('Second', { came: { kind: 'let-in', by: 'Phone', time: NOW } }),
    device('Third', { came: { kind: 'unsaid' }, addedAt: NOW }),
  ];
  const phone = device('Phone', { along: [second.deviceId, third.deviceId] });
  const asked: unknown[] = [];
  const page = await devices({
    syncStatus: () => sharedStatus({ devices: [LAPTOP, phone, second, third, device('Desk')] }),
    removeDevice: (said) => {
      asked.push(said);
      return { removed: [phone.deviceId, third.deviceId] };
    },
  });
  await press(page, 'Remove Phone');
  const along = within(screen.getByRole('group', { name: 'Also removed' }));
  expect(along.getAllByRole('checkbox')).toHaveLength(2);
  for (const box of along.getAllByRole<HTMLInputElement>('checkbox')) expect(box.checked).toBe(false);
  expect(along.getByLabelText('Third: added today; none of the others says that it let this one in')).toBeDefined();
  await page.user.click(along.getByLabelText('Second: let in today by Phone'));
  await press(page, 'Remove');
  expect(asked).toEqual([{ deviceId: phone.deviceId, keep: [second.deviceId] }]);
  expect(await screen.findByText('Phone and Third removed.')).toBeDefined();
  await press(page, 'Remove Desk');
  expect(screen.queryByRole('group', { name: 'Also removed' })).toBeNull();
});

test('this device is renamed, and cannot be removed from itself', async () => {
  const named: string[] = [];
  const page = await devices({ syncStatus: () => sharedStatus() });
  page.owner.sync.nameDevice = ({ name }) => {
    named.push(name);
    return null;
  };
  expect(screen.queryByRole('button', { name: /^Remove/ })).toBeNull();
  await press(page, 'Rename this device');
  const field = screen.getByLabelText('Name of this device');
  await page.user.clear(field);
  expect(screen.getByRole('button', { name: 'Save' }).hasAttribute('disabled')).toBe(true);
  await page.user.type(field, 'Study{Enter}');
  expect(named).toEqual(['Study']);
});

test("keeps a removed device's data, and says how to continue", async () => {
  const page = await devices({ syncStatus: () => ({ kind: 'removed', joining: null }) });
  expect(screen.getAllByText('This device was removed.').length).toBeGreaterThan(0);
  expect(screen.getByRole('link', { name: 'Export' }).getAttribute('href')).toBe('/settings/data/exports');
  expect((await screen.findByRole('link', { name: 'Removed' })).getAttribute('href')).toBe('/settings/data');
  await press(page, 'Join again');
  expect(await screen.findByRole('button', { name: 'Show the code' })).toBeDefined();
});

test('shows what is on the way to the relay, from elsewhere, from a newer Roost, and what was refused', async () => {
  await devices({
    syncStatus: () =>
      sharedStatus({
        link: 'lost',
        toSend: 12,
        backlog: { done: 40, of: 100 },
        arriving: ['agent-1'],
        newer: 1,
        refused: 2,
        trouble: 'The disk is full.',
      }),
  });
  const there = within(screen.getByRole('region', { name: 'On the way' }));
  expect(there.getByText('12 entries wait for the relay.')).toBeDefined();
  expect(there.getByText('40 of 100 entries')).toBeDefined();
  expect(there.getByText(/^Still arriving.*Lyra/)).toBeDefined();
  expect(there.getByText(/Another device runs a newer Roost/)).toBeDefined();
  expect(there.getByText('2 entries refused')).toBeDefined();
  expect(there.getByRole('alert').textContent).toBe('The disk is full.');
});

test('two devices without a relay are introduced by two texts', async () => {
  const taken: string[] = [];
  const page = await devices({
    syncStatus: () => sharedStatus(),
    makeDirectOffer: () => ({ text: 'ROOST-DIRECT1.first' }),
  });
  page.owner.sync.takeDirectText = ({ text }) => {
    taken.push(text);
    return { text: text.endsWith('first') ? 'ROOST-DIRECT1.answer' : null };
  };
  await page.user.click(screen.getByText('Without a relay'));
  await page.user.type(screen.getByLabelText('Text of the first device'), 'ROOST-DIRECT1.first');
  await press(page, 'Answer');
  expect(screen.getByLabelText('Answer of the second device').textContent).toBe('ROOST-DIRECT1.answer');
  cleanup();

  const first = await devices(page.owner.sync);
  await first.user.click(screen.getByText('Without a relay'));
  await press(first, 'Make the text');
  expect(screen.getByLabelText('Text for the second device').textContent).toBe('ROOST-DIRECT1.first');
  await first.user.type(screen.getByLabelText('Answer of the second device'), 'ROOST-DIRECT1.answer');
  await press(first, 'Open the connection');
  expect(screen.getByText(/Connected directly/)).toBeDefined();
  expect(taken).toEqual(['ROOST-DIRECT1.first', 'ROOST-DIRECT1.answer']);
});

/** A browser's camera, as far as asking for it goes. */
function standInCamera(getUserMedia: (() => Promise<MediaStream>) | null, secure = true) {
  vi.stubGlobal('isSecureContext', secure);
  vi.stubGlobal(
    'navigator',
    Object.assign(Object.create(navigator), { mediaDevices: getUserMedia && { getUserMedia } }),
  );
}
afterEach(() => vi.unstubAllGlobals());

test.each<[string, Parameters<typeof standInCamera>, string]>([
  ['the page came without encryption', [null, false], 'The camera needs https'],
  ['the browser has no way', [null], 'This device has no camera.'],
  [
    'the person refused it',
    [() => Promise.reject(new DOMException('no', 'NotAllowedError'))],
    'The camera is not allowed.',
  ],
  ['there is none', [() => Promise.reject(new DOMException('no', 'NotFoundError'))], 'This device has no camera.'],
  [
    'another program has it',
    [() => Promise.reject(new DOMException('no', 'NotReadableError'))],
    'Another program uses the camera',
  ],
])('offers another way than the camera where %s', async (_, camera, word) => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  standInCamera(...camera);
  await press(page, 'Add a device');
  await otherWay(page);
  expect(screen.queryByRole('alert')).toBeNull();
  await press(page, 'Scan with the camera');
  const said = (await screen.findByRole('alert')).textContent;
  expect(said).toContain(word);
  expect(screen.getByRole('button', { name: 'Scan with the camera' })).toBeDefined();
});

test('the camera is released when the page is left', async () => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  const stop = vi.fn();
  const stream: MediaStream = Object.assign(Object.create(null), { getTracks: () => [{ stop }] });
  HTMLMediaElement.prototype.play = () => Promise.resolve();
  standInCamera(() => Promise.resolve(stream));
  await press(page, 'Add a device');
  await otherWay(page);
  await press(page, 'Scan with the camera');
  expect(await screen.findByLabelText('Scan with the camera')).toBeDefined();
  expect(stop).not.toHaveBeenCalled();
  await page.user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Close' }));
  expect(stop).toHaveBeenCalledOnce();
});

/** What jsdom lacks: pictures. Every picture shows the code of `text`, or nothing. */
function standInPictures(text: string | null) {
  const modules = text === null ? [] : modulesOf(text);
  const scale = 4;
  const side = Math.max(40, modules.length * scale);
  const data = new Uint8ClampedArray(side * side * 4);
  for (let i = 0; i < side * side; i++) {
    const dark = modules[Math.floor(i / side / scale)]?.[Math.floor((i % side) / scale)] === true;
    data.set(dark ? [0, 0, 0, 255] : [255, 255, 255, 255], i * 4);
  }
  vi.stubGlobal('createImageBitmap', () => Promise.resolve({ width: side, height: side, close: () => undefined }));
  HTMLCanvasElement.prototype.getContext = () =>
    Object.assign(Object.create(null), {
      fillRect: () => undefined,
      drawImage: () => undefined,
      getImageData: () => ({ width: side, height: side, data }),
    });
}
const PICTURE = new File(['x'], 'code.png', { type: 'image/png' });

test('a picture of the code does as well as its text: chosen, or pasted', async () => {
  const asked: string[] = [];
  const page = await devices({ syncStatus: () => sharedStatus() });
  page.owner.sync.beginInvite = ({ offer }) => {
    asked.push(offer);
    return { words: SIX };
  };
  standInPictures(OFFER);
  await press(page, 'Add a device');
  await otherWay(page);
  await page.user.upload(await screen.findByLabelText('Choose a picture of the code'), PICTURE);
  await press(page, 'No');
  await press(page, 'Begin again');
  await otherWay(page);
  fireEvent.paste(document.body, { clipboardData: { files: [PICTURE] } });
  await screen.findByRole('heading', { name: 'Are these the same on both?' });
  expect(asked).toEqual([OFFER, OFFER]);
});

test.each<[string, string | null, RegExp]>([
  ['without a code', null, /No code found/],
  ['of another code', 'https://example.com', /This is not a Roost code/],
])('reports a picture %s as such', async (_, text, said) => {
  const page = await devices({ syncStatus: () => sharedStatus() });
  standInPictures(text);
  await press(page, 'Add a device');
  await otherWay(page);
  await page.user.upload(await screen.findByLabelText('Choose a picture of the code'), PICTURE);
  expect((await screen.findByRole('alert')).textContent).toMatch(said);
  expect(page.owner.calls).not.toContain('beginInvite');
});
