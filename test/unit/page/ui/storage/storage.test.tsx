import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { StorageStatus, VolumeStatus } from '../../../../../src/shared/protocol/worker.ts';
import { NOW, team } from '../../support/household.ts';
import { refused } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const storage = (change: Partial<StorageStatus> = {}) =>
  openPage({
    docs: team(2),
    path: '/settings/data/storage',
    prepare: ({ owner }) => (owner.storage = { ...owner.storage, ...change }),
  });
const block = (name: string) => screen.findByRole('region', { name });
const volume = (i: number, change: Partial<VolumeStatus> = {}): VolumeStatus => ({
  name: `volume-${i}`,
  documents: 2000,
  state: 'sealed',
  checkedAt: NOW - 3_600_000,
  faults: [],
  ...change,
});

test('says when a household has no copy, and leads to the first', async () => {
  const page = await storage();
  const copy = await block('Last export');
  expect(copy.textContent).toContain('Never.');
  await page.user.click(within(copy).getByRole('link', { name: 'Export' }));
  expect(location.pathname).toBe('/settings/data/exports');
});

test('the last copy is named with its day, its size and whether it is sealed', async () => {
  await storage({ lastExport: { time: NOW - 86_400_000, documents: 400, sealed: true } });
  expect((await block('Last export')).textContent).toMatch(
    /^Last exportYesterday 08:55: 400 entries, with a passphrase\./,
  );
});

test('a copy that is long ago is worth another', async () => {
  await storage({ lastExport: { time: NOW - 45 * 86_400_000, documents: 400, sealed: false } });
  expect(within(await block('Last export')).getByRole('link', { name: 'Export' }).className).toContain('solid');
});

const GB = 1_000_000_000;
const ROOM = { bytes: 17_123_456, free: 40 * GB, keepFree: GB / 2, part: null };

test('shows the size of the relay’s home in one line, once known', async () => {
  const page = await openPage({
    docs: team(1),
    path: '/settings/storage',
    prepare: ({ reach }) => reach.on('GET /api/room', ROOM),
  });
  await waitFor(async () => expect((await block('Space used')).textContent).toContain('On the relay: 17 MB'));
  expect(page.reach.times('GET /api/room')).toBe(1);
  expect((await block('Space used')).textContent).not.toMatch(/left|may at this relay/);
});

test('warns plainly of a nearly full disk and a nearly full household', async () => {
  await openPage({
    docs: team(1),
    path: '/settings/storage',
    prepare: ({ reach }) =>
      reach.on('GET /api/room', { ...ROOM, free: GB / 10, part: { bytes: 3.8 * GB, most: 4 * GB } }),
  });
  await waitFor(async () =>
    expect((await block('Space used')).textContent).toContain(
      'The relay’s disk has 100 MB left, so agents cannot store anything there. Your messages are still stored.',
    ),
  );
  expect((await block('Space used')).textContent).toContain(
    'Your household uses 3.8 GB of its 4.0 GB at this relay. Your devices store everything all the same.',
  );
});

test('warns across the page of a nearly full disk, once, until there is room', async () => {
  const page = await openPage({
    docs: team(1),
    prepare: ({ reach }) => reach.on('GET /api/room', { ...ROOM, free: GB / 10 }),
  });
  const banner = await screen.findByText(/^The relay’s disk has 100 MB left, so agents cannot store anything there/);
  expect(banner.parentElement?.getAttribute('role')).toBe('status');
  expect(screen.queryByRole('alert')).toBeNull();
  await page.user.click(within(banner.parentElement ?? document.body).getByRole('link', { name: 'Show' }));
  await waitFor(async () =>
    expect((await block('Space used')).textContent).toContain('The relay’s disk has 100 MB left'),
  );
  expect(screen.getAllByText(/^The relay’s disk has 100 MB left/)).toHaveLength(1);
  page.reach.on('GET /api/room', ROOM);
  await page.user.click(screen.getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(page.reach.times('GET /api/room')).toBeGreaterThan(2));
  await waitFor(() => expect(screen.queryByText(/^The relay’s disk/)).toBeNull());
});

test('shows nothing when the relay reports no storage', async () => {
  const page = await openPage({
    docs: team(1),
    path: '/settings/storage',
    prepare: ({ reach }) => reach.on('GET /api/room', () => refused('The store is closed.', 503)),
  });
  await waitFor(() => expect(page.reach.times('GET /api/room')).toBe(1));
  expect((await block('Space used')).textContent).not.toContain('relay');
});

test('names each fault of a damaged volume, and offers a rebuild', async () => {
  await storage({
    volumes: [
      volume(0, { state: 'damaged', faults: ['2 documents cannot be read.'] }),
      ...Array.from({ length: 6 }, (_, i) => volume(i + 1)),
    ],
  });
  const note = (await screen.findByText('2 documents cannot be read.')).closest('.wrong-note');
  expect(note?.textContent).toContain('The storage is damaged. Rebuild repairs what it can.');
});

test("shows a rebuild's progress in every tab, and its result", async () => {
  const page = await storage();
  let finish: () => void = () => undefined;
  page.owner.rebuilding = new Promise((resolve) => (finish = resolve));
  page.owner.report = { documents: 412, volumes: 1, repaired: 3, faults: [] };
  await page.user.click(await screen.findByRole('button', { name: 'Rebuild' }));
  await page.say({ news: 'progress', progress: { task: 'rebuild', done: 103, of: 412 } });
  const bar = screen.getByRole<HTMLProgressElement>('progressbar', { name: 'Rebuild' });
  expect([bar.value, bar.max]).toEqual([103, 412]);
  await page.user.click(screen.getByRole('button', { name: 'Working…' }));
  finish();
  await page.say({ news: 'progress', progress: null });
  expect(await screen.findByText(/412 entries checked, 3 repaired\./)).toBeDefined();
  expect(screen.queryByRole('progressbar')).toBeNull();
  expect(page.owner.calls.filter((call) => call === 'rebuild')).toHaveLength(1);
});

test('a rebuild of another tab holds the button', async () => {
  const page = await storage();
  await screen.findByRole('button', { name: 'Rebuild' });
  await page.say({ news: 'progress', progress: { task: 'rebuild', done: 0, of: 0 } });
  await page.user.click(screen.getByRole('button', { name: 'Working…' }));
  expect(page.owner.calls).not.toContain('rebuild');
});

test('names what a rebuild could not read, and what may help', async () => {
  const page = await storage();
  page.owner.report = { documents: 410, volumes: 1, repaired: 0, faults: ['2 documents of volume-1 are unreadable.'] };
  await page.user.click(await screen.findByRole('button', { name: 'Rebuild' }));
  expect(await screen.findByText('2 documents of volume-1 are unreadable.')).toBeDefined();
  expect(screen.getByText(/Import an exported copy/)).toBeDefined();
});

test('says when the storage cannot be read, and reads it again', async () => {
  const page = await openPage({ docs: team(1), path: '/settings/storage' });
  await block('Space used');
  page.owner.broken = 'the ledger is closed.';
  expect((await screen.findByRole('alert')).textContent).toContain('the ledger is closed.');
  page.owner.broken = null;
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
});
