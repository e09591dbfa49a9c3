import { watched } from '../../../../../server/execution/sandbox/bubble.ts';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { leftOutComment, type FileEntry } from '../../../../../src/shared/protocol/endpoints/workspaces.ts';
import { NOW, team } from '../../support/household.ts';
import { configAnswer, json, refused, type MemoryReach } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const entry = (name: string, more: Partial<FileEntry> = {}): FileEntry => ({
  name,
  kind: 'file',
  bytes: 1_234,
  changedAt: NOW - 3_600_000,
  ...more,
});
const ENTRIES = [
  entry('plan.md'),
  entry('a link', { kind: 'link', bytes: 0 }),
  entry('trip', { kind: 'folder', bytes: 3_000_000 }),
  entry('huge.log', { bytes: 40_000_000 }),
];
const API = '/api/workspaces/agent-1';
const folder = (entries: readonly FileEntry[], bytes = 1_000_000_000) => ({
  entries,
  more: 0,
  used: { bytes, entries: entries.length, most: 2_000_000_000 },
});
const open = (prepare: (reach: MemoryReach) => void, path = '/files/agent-1') =>
  openPage({ docs: team(3), path, prepare: ({ reach }) => prepare(reach) });

test("lists a folder with folders first, each entry's kind and the used room", async () => {
  await open((reach) => reach.on(`GET ${API}`, folder(ENTRIES)));
  const list = await screen.findByRole('list', { name: 'Files' });
  expect(
    within(list)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual([
    expect.stringMatching(/^trip, Folder3.0 MBtoday 07:55/),
    expect.stringMatching(/^a linka link/),
    expect.stringMatching(/^huge\.log40 MB/),
    expect.stringMatching(/^plan\.md1 KB/),
  ]);
  expect(within(list).getByRole('link').getAttribute('href')).toBe('/files/agent-1/trip');
  expect(screen.getByRole('meter', { name: 'Room that is used' }).getAttribute('aria-valuetext')).toBe(
    '1.0 GB of 2.0 GB',
  );
});

test('links each parent of a nested folder', async () => {
  const page = await open((reach) => reach.on(`GET ${API}`, folder([])), '/files/agent-1/trip/2026%20%26%20more');
  await screen.findByText(/^Nothing yet/);
  const trail = screen.getByRole('navigation', { name: 'Folder' });
  expect(
    within(trail)
      .getAllByRole('link')
      .map((link) => [link.textContent, link.getAttribute('href')]),
  ).toEqual([
    ['Lyra', '/files/agent-1'],
    ['trip', '/files/agent-1/trip'],
  ]);
  expect(page.reach.asked.find(({ path }) => path === API)?.query.get('path')).toBe('trip/2026 & more');
});

test('Back closes an opened file and keeps its folder', async () => {
  const page = await open((reach) => {
    reach.on(`GET ${API}`, folder(ENTRIES));
    reach.on(`GET ${API}/file`, () => new Response('Lisbon'));
  });
  await page.user.click(await screen.findByRole('button', { name: 'plan.md' }));
  await screen.findByRole('dialog', { name: 'plan.md' });
  history.back();
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(location.pathname).toBe('/files/agent-1');
});

test('shows text and Markdown, says what is too long or binary, and shows a scriptable picture as text', async () => {
  const page = await open((reach) => {
    reach.on(
      `GET ${API}`,
      folder([
        entry('plan.md'),
        entry('huge.log', { bytes: 40_000_000 }),
        entry('x.svg'),
        entry('b.bin'),
        entry('a.patch'),
      ]),
    );
    reach.on(`GET ${API}/file`, ({ query }: { query: URLSearchParams }) =>
      query.get('path') === 'b.bin'
        ? new Response(new Uint8Array([0, 255, 1]))
        : query.get('path') === 'a.patch'
          ? new Response('--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n same')
          : new Response('# Lisbon <svg onload=x>'),
    );
  });
  const opened = async (name: string) => {
    await page.user.click(await screen.findByRole('button', { name }));
    return await screen.findByRole('dialog', { name });
  };
  const close = async (dialog: HTMLElement) => {
    await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  };
  const plan = await opened('plan.md');
  await within(plan).findByText(/Lisbon/);
  await waitFor(() => expect(plan.textContent).not.toContain('# '));
  expect(plan.querySelector('svg[onload]')).toBeNull();
  await close(plan);
  const drawing = await opened('x.svg');
  await within(drawing).findByText('# Lisbon <svg onload=x>');
  await close(drawing);
  const change = await opened('a.patch');
  const lines = await within(change).findByRole('region', { name: 'Change in a.patch' });
  expect([...lines.children].map((line) => line.getAttribute('data-kind'))).toEqual([
    'head',
    'head',
    'head',
    'gone',
    'new',
    'same',
  ]);
  await close(change);
  const binary = await opened('b.bin');
  await within(binary).findByText(/This file is neither text nor a picture that can be shown/);
  await close(binary);
  await within(await opened('huge.log')).findByText(/It is 40 MB long, which is more than is shown here/);
  expect(page.reach.asked.some(({ query }) => query.get('path') === 'huge.log')).toBe(false);
});

test('a zip that lacks something says how much of it, and where that is named, until it was read', async () => {
  const saved = vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:zip');
  let comment = leftOutComment(12);
  const page = await open((reach) => {
    const used = { bytes: 5, entries: 100_000, most: 10, whole: false };
    reach.on(`GET ${API}`, { ...folder([entry('plan.md')]), used });
    reach.on(`GET ${API}/zip`, () => new Response(`PK of a zip ${comment}`));
  });
  await screen.findByText(/> 5 B of 10 B used/);
  const press = async () => page.user.click(await screen.findByRole('button', { name: 'Download' }));
  await press();
  await screen.findByText(
    /12 files or folders of “.+” could not be put into the zip as they are\. ROOST-LEFT-OUT\.txt in it says which, and why\./,
  );
  await page.user.click(screen.getByRole('button', { name: 'Dismiss' }));
  comment = leftOutComment(0);
  await press();
  await waitFor(() => expect(saved).toHaveBeenCalledTimes(2));
  expect(screen.queryByText(/could not be put into the zip/)).toBeNull();
});

test('uploads a file, and refuses a large one before it is sent', async () => {
  const page = await open((reach) => {
    reach.on(`GET ${API}`, folder([]));
    reach.on(`PUT ${API}/file`, () => new Response(null, { status: 204 }));
  });
  await screen.findByText(/Nothing yet/);
  const large = new File(['x'], 'film.mov');
  Object.defineProperty(large, 'size', { value: 40_000_000 });
  await page.user.upload(screen.getByLabelText('Choose files'), [new File(['hello'], 'a b.txt'), large]);
  await screen.findByText(/“film\.mov” was not added\. It is larger than 30 MB/);
  const sent = page.reach.asked
    .filter(({ method }) => method === 'PUT')
    .map(({ path, query }) => [path, query.get('path')]);
  expect(sent.filter(([path]) => path === `${API}/file`)).toEqual([[`${API}/file`, 'a b.txt']]);
});

test('asks before a deletion, and shows a refusal', async () => {
  const page = await open((reach) => {
    reach.on(`GET ${API}`, folder([entry('plan.md')]));
    reach.on(`DELETE ${API}/file`, () => refused('The disk is read only.', 409));
  });
  await page.user.click(await screen.findByRole('button', { name: 'More for plan.md' }));
  await page.user.click(await screen.findByRole('menuitem', { name: 'Delete' }));
  expect(page.reach.times(`DELETE ${API}/file`)).toBe(0);
  await page.user.click(screen.getByRole('button', { name: 'Delete' }));
  await screen.findByText(/The disk is read only\./);
  expect(page.reach.times(`DELETE ${API}/file`)).toBe(1);
});

test('gives an agent file tools when the person allows them', async () => {
  const page = await open(() => undefined, '/settings/advanced/of/agent-1');
  page.reach.on('PUT /v1/agents/agent-1/config', ({ body }: { body: object }) => json(configAnswer(body)));
  await page.user.selectOptions(
    await screen.findByRole('combobox', { name: 'Works with files in its folder Lyra' }),
    'Off',
  );
  await waitFor(() =>
    expect(page.reach.bodies('PUT /v1/agents/agent-1/config')).toMatchObject([
      { coordination: { toolsets: { files: 'off' } } },
    ]),
  );
});

test('limits commands to no network, listed hosts, or all, and refuses an invalid host', async () => {
  let own: object = {};
  const saved = () => page.reach.bodies('PUT /v1/agents/agent-1/config');
  const page = await open((reach) => {
    reach.on('GET /v1/agents/agent-1/config', () => json(configAnswer(own)));
    reach.on('PUT /v1/agents/agent-1/config', ({ body }: { body: { coordination: object } }) => {
      own = { coordination: body.coordination };
      return json(configAnswer(own));
    });
  }, '/settings/advanced/of/agent-1');
  const kind = await screen.findByRole('combobox', { name: 'Network of its commands Lyra' });
  await page.user.selectOptions(kind, 'Hosts that I name');
  const hosts = await screen.findByLabelText('Hosts that it reaches, one in a line');
  fireEvent.change(hosts, { target: { value: 'Example.org\nhttps://x.org' } });
  fireEvent.blur(hosts);
  expect(screen.getByText(/^https:\/\/x\.org is no host/)).toBeTruthy();
  fireEvent.change(hosts, { target: { value: 'Example.org\n*.x.org:8443 Example.org' } });
  fireEvent.blur(hosts);
  await waitFor(() =>
    expect(saved()).toMatchObject([
      { coordination: { network: [] } },
      { coordination: { network: ['example.org', '*.x.org:8443'] } },
    ]),
  );
});

test('enables commands without a sandbox for one agent alone, with a full warning', async () => {
  const without = (insist: boolean) =>
    json({ waiting: [], answered: [], sandbox: { available: false, why: 'There is none here.', insist } });
  const tick = () => screen.queryByRole('checkbox', { name: /^Runs commands without a sandbox/ });
  const agent = await open((reach) => reach.on('GET /api/approvals', () => without(true)), '/settings/limits/agent-1');
  agent.reach.on('PUT /v1/agents/agent-1/config', ({ body }: { body: object }) => json(configAnswer(body)));
  expect(await screen.findByText('There is none here.')).toBeTruthy();
  expect(screen.getByText(/^Its commands can read, change and delete everything/)).toBeTruthy();
  await agent.user.click(tick() ?? document.body);
  await waitFor(() =>
    expect(agent.reach.bodies('PUT /v1/agents/agent-1/config')).toMatchObject([
      { coordination: { shell_without_sandbox: true } },
    ]),
  );
  agent.unmount();
  const all = await open((reach) => reach.on('GET /api/approvals', () => without(true)), '/settings/limits');
  expect(
    await screen.findByText(/^There is none here\. To run commands without a sandbox, choose an agent/),
  ).toBeTruthy();
  expect(tick()).toBeNull();
  all.unmount();
  await open((reach) => reach.on('GET /api/approvals', () => without(false)), '/settings/limits/agent-1');
  expect(
    await screen.findByText(/^There is none here\. To run commands without a sandbox, start the relay with --scripts/),
  ).toBeTruthy();
  expect(tick()).toBeNull();
});

test('says when the kernel does not limit commands, instead of naming a limit', async () => {
  const sandbox = { available: true, why: null, watched: watched({ memory: 2_000_000_000, watchMs: 250 }) };
  await open(
    (reach) => reach.on('GET /api/approvals', () => json({ waiting: [], answered: [], sandbox })),
    '/settings/limits',
  );
  expect(await screen.findByText(/kernel does not limit the memory of commands.*checks every 0\.25 s/)).toBeTruthy();
});
