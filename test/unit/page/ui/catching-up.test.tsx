/** Waking while the team is shared: who is not whole on this device yet sleeps on. */
import { act, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { sharedStatus, type SharedStatus } from '../support/devices.ts';
import { NO_SESSION_SNAPSHOT, runningSession, team } from '../support/household.ts';
import { openPage, type Page } from '../support/render.tsx';

const called = (page: Page) =>
  page.relay.posted.flatMap(({ text }) => [...text.matchAll(/<agent name="([^"]*)"/g)].map(([, name]) => name));
const wake = (page: Page) => page.user.click(screen.getByRole('button', { name: 'WAKE' }));

async function open(status: Partial<SharedStatus>, late: readonly string[], asked: unknown[] = []): Promise<Page> {
  return openPage({
    docs: team(3),
    prepare: ({ owner }) =>
      void (owner.sync = {
        syncStatus: () => sharedStatus(status),
        caughtUp: (request) => {
          asked.push(request);
          return { arriving: late, compared: true, fetching: false };
        },
      }),
  });
}

test('waits with a wake for messages from elsewhere, the lead’s too, and wakes all agents', async () => {
  const asked: unknown[] = [];
  const page = await open({ arriving: ['agent-2'] }, [], asked);
  await wake(page);
  expect(asked).toEqual([{ agentIds: ['lead', 'agent-1', 'agent-2', 'agent-3'], patience: 4_000 }]);
  expect(called(page)).toEqual(['Lyra', 'Wren', 'Sable']);
});

test('leaves agents asleep whose messages are still on the way, and says how many', async () => {
  const page = await open({}, ['agent-2']);
  await wake(page);
  expect(called(page)).toEqual(['Lyra', 'Sable']);
  expect(screen.getByText(/^Some agents are still on the way to this device/)).toBeDefined();
});

test('starts no session while all agents are still on the way', async () => {
  const page = await open({}, ['agent-1', 'agent-2', 'agent-3']);
  await wake(page);
  expect(page.relay.started).toEqual([]);
  expect(screen.getByText(/^Some agents are still on the way to this device/)).toBeDefined();
  expect(screen.getByRole('button', { name: 'WAKE' })).toBeDefined();
});

test('a lead whose last words are on the way is not begun with unasked', async () => {
  const page = await open({ arriving: ['lead'] }, ['lead']);
  await wake(page);
  expect(page.relay.started).toEqual([]);
  expect(screen.getByText(/^The latest messages are not on this device yet\./)).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Continue' }));
  expect(called(page)).toEqual(['Lyra', 'Wren', 'Sable']);
});

test('asks the person when it is unknown whether more is on the way', async () => {
  const page = await open({}, []);
  page.owner.sync.caughtUp = () => ({ arriving: [], compared: false, fetching: false });
  await wake(page);
  expect(page.relay.started).toEqual([]);
  await page.user.click(screen.getByRole('button', { name: 'Continue' }));
  expect(called(page)).toEqual(['Lyra', 'Wren', 'Sable']);
});

test('waits a little for the connection to other devices to return', async () => {
  const asked: unknown[] = [];
  const page = await open({ link: 'lost' }, [], asked);
  await wake(page);
  expect(asked).toEqual([expect.objectContaining({ patience: 4_000 })]);
});

test('keeps asking while the relay delivers, and leaves no agent behind', async () => {
  const page = await open({}, []);
  const answers = [
    { arriving: [], compared: false, fetching: true },
    { arriving: ['agent-2'], compared: true, fetching: true },
    { arriving: [], compared: true, fetching: false },
  ];
  page.owner.sync.caughtUp = () => answers.shift() ?? { arriving: [], compared: false, fetching: false };
  await wake(page);
  expect(answers).toEqual([]);
  expect(called(page)).toEqual(['Lyra', 'Wren', 'Sable']);
});

test('lets the person end a longer wait and go on without what is missing', async () => {
  const page = await open({ arriving: ['agent-2'] }, []);
  page.owner.sync.caughtUp = () => new Promise(() => undefined);
  // The offer comes at once.
  const { after } = page.device;
  Object.assign(page.device, { after: (_ms: number, task: () => void) => after(0, task) });
  await wake(page);
  expect(page.relay.started).toEqual([]);
  await page.user.click(await screen.findByRole('button', { name: 'Continue' }));
  await waitFor(() => expect(called(page)).toEqual(['Lyra', 'Sable']));
  expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
});

test('waits until the data worker says whether there are other devices', async () => {
  let say: (status: SharedStatus) => void = () => undefined;
  const page = await openPage({
    docs: team(1),
    prepare({ owner }) {
      owner.sync.syncStatus = () => new Promise((resolve) => void (say = resolve));
      owner.sync.caughtUp = () => ({ arriving: [], compared: true, fetching: false });
    },
  });
  await wake(page);
  expect(screen.getByText('Starting the session…')).toBeDefined();
  expect(page.relay.started).toEqual([]);
  await act(async () => {
    say(sharedStatus());
    await Promise.resolve();
  });
  await waitFor(() => expect(called(page)).toEqual(['Lyra']));
  expect(page.owner.calls).toContain('caughtUp');
});

test('reconnects first after a short loss, and fetches the messages', async () => {
  const page = await openPage({ docs: team(1), link: { kind: 'lost', reason: 'unreachable' } });
  await wake(page);
  expect(page.owner.calls).toContain('reconnect');
  await page.say({ news: 'link', link: { kind: 'connecting' }, snapshot: null });
  expect(page.relay.started).toEqual([]);
  await page.say({ news: 'link', link: { kind: 'live' }, snapshot: NO_SESSION_SNAPSHOT });
  await waitFor(() => expect(called(page)).toEqual(['Lyra']));
  expect(page.owner.calls).toContain('received');
});

test('does not wait for a relay that stays away, and says so', async () => {
  const page = await openPage({ docs: team(1), link: { kind: 'lost', reason: 'unreachable' } });
  await wake(page);
  await page.say({ news: 'link', link: { kind: 'lost', reason: 'unreachable' }, snapshot: null });
  await waitFor(() => expect(page.relay.started).toHaveLength(1));
});

test('asks the person when this device cannot save what the relay sent', async () => {
  const page = await open({}, []);
  page.owner.canStore = false;
  await wake(page);
  expect(page.relay.started).toEqual([]);
  expect(screen.getByText(/^The latest messages are not on this device yet/)).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Continue' }));
  expect(called(page)).toEqual(['Lyra', 'Wren', 'Sable']);
});

test('waits for nothing and asks nothing without the relay, or when it may not hold synced data', async () => {
  const asked: unknown[] = [];
  const page = await open({ link: 'off' }, [], asked);
  page.owner.sync.caughtUp = (request) => {
    asked.push(request);
    return { arriving: [], compared: false, fetching: false };
  };
  await wake(page);
  expect(asked).toEqual([expect.objectContaining({ patience: 0 })]);
  expect(called(page)).toEqual(['Lyra', 'Wren', 'Sable']);
  expect(document.querySelectorAll('.notice')).toHaveLength(0);
});

test('a browser that shares nothing asks nobody', async () => {
  const page = await openPage({ docs: team(1) });
  await wake(page);
  expect(page.owner.calls).not.toContain('caughtUp');
  expect(called(page)).toEqual(['Lyra']);
});

test('uses the last known state of other devices when it cannot ask', async () => {
  const page = await open({ arriving: ['agent-3'] }, []);
  page.owner.sync.caughtUp = () => {
    throw new Error('out of order');
  };
  await wake(page);
  expect(called(page)).toEqual(['Lyra', 'Wren']);
});

test('shows progress under the button while it fetches', async () => {
  const page = await open({}, []);
  page.owner.sync.caughtUp = () => new Promise(() => undefined);
  await wake(page);
  expect(screen.getByText('Starting the session…')).toBeDefined();
});

test('says in the cell of an agent, also to screen readers, that it is on its way', async () => {
  const page = await open({ arriving: ['agent-1'] }, []);
  const cell = screen.getByRole('button', { name: 'Lyra, seat 1, on its way here' });
  const seat = within(cell.closest('li') ?? cell);
  expect(seat.getByText('on its way here')).toBeDefined();
  expect(cell.closest('li')?.textContent).toContain('WAKE leaves it asleep until then');
  expect(screen.getByText(/3 sleeping · 1 on the way/)).toBeDefined();
  await page.say({ news: 'sync', status: sharedStatus() });
  expect(seat.queryByText('on its way here')).toBeNull();
});

test('shows agents of the running session as awake, wherever their messages are', async () => {
  await openPage({
    docs: team(1),
    snapshot: runningSession({ awake: ['agent-1'] }),
    prepare: ({ owner }) => void (owner.sync.syncStatus = () => sharedStatus({ arriving: ['agent-1'] })),
  });
  expect(screen.queryByText('on its way here')).toBeNull();
});

test('disables the choice of an agent on its way', async () => {
  const page = await open({ arriving: ['agent-2'] }, []);
  await page.user.click(screen.getByRole('button', { name: 'More ways to wake' }));
  await page.user.click(screen.getByRole('menuitem', { name: 'Wake only some…' }));
  expect((await screen.findByRole<HTMLInputElement>('checkbox', { name: /Wren/ })).disabled).toBe(true);
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Lyra' }).disabled).toBe(false);
});

test('shows fetching in the header once it takes a while, and not before', async () => {
  const page = await openPage({
    docs: team(1),
    prepare: ({ owner }) => void (owner.sync.syncStatus = () => sharedStatus({ backlog: { done: 1, of: 4 } })),
  });
  expect(screen.queryByText(/^Catching up/)).toBeNull();
  expect(await screen.findByRole('link', { name: 'Catching up 25 %' })).toBeDefined();
  await page.say({ news: 'sync', status: sharedStatus() });
  expect(screen.queryByText(/^Catching up/)).toBeNull();
});
