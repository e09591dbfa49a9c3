import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Credential } from '../../../../../src/shared/protocol/team.ts';
import { NOW, team } from '../../support/household.ts';
import { json, refused, type MemoryReach } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const SECRET = 'roost_SECRET-abcd';
const credential = (credentialId: string, change: Partial<Credential> = {}): Credential => ({
  credentialId,
  agentId: 'agent-1',
  label: 'My laptop',
  readsSoul: false,
  scopes: [],
  hint: 'abcd',
  madeAt: NOW - 86_400_000,
  usedAt: null,
  revokedAt: null,
  ...change,
});

function openClients(
  credentials: readonly Credential[],
  prepare?: (reach: MemoryReach) => void,
  path = '/settings/clients',
): Promise<Page> {
  return openPage({
    docs: team(2),
    path,
    prepare({ reach }) {
      reach.on('GET /api/credentials', { credentials });
      prepare?.(reach);
    },
  });
}

test('lists a client with its place, its agent and its last use', async () => {
  await openClients([
    credential('a', { usedAt: NOW - 60_000 }),
    credential('b', { label: '', agentId: 'agent-2' }),
    credential('c', { revokedAt: NOW - 1000 }),
  ]);
  await screen.findByRole('button', { name: 'Revoke My laptop, abcd' });
  const items = screen.getAllByRole('listitem');
  const texts = items.map((item) => item.textContent);
  expect(
    texts.some(
      (text) => text?.includes('My laptop') && text.includes('Lyra · …abcd · made yesterday · last used today 08:54'),
    ),
  ).toBe(true);
  expect(texts.some((text) => text?.includes('Unnamed') && text.includes('Wren') && text.includes('never used'))).toBe(
    true,
  );
  expect(screen.getByText('1 revoked').closest('details')?.open).toBe(false);
});

test('a credential is made for an agent, its secret shown once, with the settings to paste', async () => {
  const page = await openClients([], (reach) =>
    reach.on('POST /api/credentials', () =>
      json({ credential: credential('new', { agentId: 'agent-2' }), secret: SECRET }, 201),
    ),
  );
  await page.user.selectOptions(await screen.findByLabelText('For'), 'Wren');
  await page.user.type(screen.getByLabelText('Name'), 'Claude Code');
  await page.user.click(screen.getByRole('button', { name: 'Create a credential' }));
  const dialog = await screen.findByRole('dialog', { name: 'A credential for Wren' });
  expect(page.reach.bodies('POST /api/credentials')).toEqual([
    { agentId: 'agent-2', label: 'Claude Code', readsSoul: false },
  ]);
  expect(within(dialog).getByLabelText('The secret').textContent).toBe(SECRET);
  const origin = location.origin;
  expect(
    within(dialog).getByText(
      `claude mcp add --transport http roost ${origin}/mcp --header "Authorization: Bearer ${SECRET}"`,
    ),
  ).toBeDefined();
  expect(dialog.textContent).toContain(`"url": "${origin}/mcp"`);
  expect(dialog.textContent).toContain(`ANTHROPIC_BASE_URL=${origin}/llm/${SECRET}`);
  await page.user.click(within(dialog).getByRole('button', { name: 'Copy: Claude Code: Roost’s tools' }));
  expect(await navigator.clipboard.readText()).toContain('claude mcp add');
  await page.user.click(within(dialog).getByRole('button', { name: 'I have copied what I need' }));
  expect(screen.queryByText(SECRET)).toBeNull();
});

test('a program can act as the lead, too, which stands behind the agents', async () => {
  const page = await openClients([], (reach) =>
    reach.on('POST /api/credentials', () =>
      json({ credential: credential('new', { agentId: 'lead' }), secret: SECRET }, 201),
    ),
  );
  const among = await screen.findByLabelText<HTMLSelectElement>('For');
  expect([...among.options].map(({ value }) => value)).toEqual(['agent-1', 'agent-2', 'lead', 'an application']);
  await page.user.selectOptions(among, 'lead');
  await page.user.click(screen.getByRole('button', { name: 'Create a credential' }));
  await screen.findByRole('dialog', { name: /^A credential for / });
  expect(page.reach.bodies('POST /api/credentials')).toMatchObject([{ agentId: 'lead' }]);
});

test("shows the model's name beside the address for another server's model", async () => {
  const page = await openClients([], (reach) => {
    reach.on('GET /api/models', {
      connections: [
        {
          ...{ connectionId: 'm1', kind: 'server', address: 'http://127.0.0.1:11434', hasKey: false },
          models: [{ id: 'qwen3:8b', name: 'qwen3:8b' }],
          ...{ leadModel: 'big one', agentModel: 'qwen3:8b', state: { kind: 'untried' } },
        },
      ],
      may: 'any',
    });
    reach.on('POST /api/credentials', () => json({ credential: credential('new'), secret: SECRET }, 201));
  });
  await page.user.selectOptions(await screen.findByLabelText('For'), 'Wren');
  await page.user.click(screen.getByRole('button', { name: 'Create a credential' }));
  const dialog = await screen.findByRole('dialog', { name: 'A credential for Wren' });
  expect(dialog.textContent).toContain(
    `/llm/${SECRET}\nexport ANTHROPIC_API_KEY=roost\nexport ANTHROPIC_MODEL=qwen3:8b`,
  );
});

test('lets only a ticked client read the soul, as the list says; an application has no such tick', async () => {
  const page = await openClients([credential('a', { readsSoul: true }), credential('b', { label: 'Desk' })], (reach) =>
    reach.on('POST /api/credentials', () => json({ credential: credential('new'), secret: SECRET }, 201)),
  );
  await screen.findByRole('button', { name: 'Revoke Desk, abcd' });
  expect(
    screen
      .getAllByRole('listitem')
      .filter((item) => item.textContent.includes('reads its agent’s soul and last conversation'))
      .map((item) => item.textContent.includes('My laptop')),
  ).toEqual([true]);
  const tick = () =>
    screen.queryByLabelText<HTMLInputElement>('May read and change its agent’s soul, and read its last conversation');
  expect(tick()?.checked).toBe(false);
  await page.user.click(screen.getByLabelText('May read and change its agent’s soul, and read its last conversation'));
  await page.user.selectOptions(screen.getByLabelText('For'), 'An application');
  expect(tick()).toBeNull();
  await page.user.selectOptions(screen.getByLabelText('For'), 'Wren');
  await page.user.click(screen.getByRole('button', { name: 'Create a credential' }));
  await screen.findByRole('dialog', { name: 'A credential for Wren' });
  expect(page.reach.bodies('POST /api/credentials')).toEqual([{ agentId: 'agent-2', label: '', readsSoul: true }]);
});

test('lets an application do what is ticked, as its row says', async () => {
  const page = await openClients(
    [credential('a', { agentId: null, label: 'Switch', scopes: ['sleep', 'wake'] })],
    (reach) =>
      reach.on('POST /api/credentials', () =>
        json({ credential: credential('new', { agentId: null, scopes: ['threads'] }), secret: SECRET }, 201),
      ),
  );
  await screen.findByRole('button', { name: 'Revoke Switch, abcd' });
  expect(
    screen
      .getAllByRole('listitem')
      .some((item) => item.textContent.includes('Put agents of the running session to sleep')),
  ).toBe(true);
  await page.user.selectOptions(screen.getByLabelText('For'), 'An application');
  const ticks = within(screen.getByRole('group', { name: 'It may' })).getAllByRole<HTMLInputElement>('checkbox');
  expect(ticks.map(({ checked }) => checked)).toEqual([false, true, true, true, false, false, false, false]);
  for (const name of [/^See limits/, /^Put agents/, /^Wake agents/, /^Open its own threads/])
    await page.user.click(screen.getByLabelText(name));
  await page.user.type(screen.getByLabelText('Name'), 'Tide watch');
  await page.user.click(screen.getByRole('button', { name: 'Create a credential' }));
  await screen.findByRole('dialog', { name: 'A credential for an application' });
  expect(page.reach.bodies('POST /api/credentials')).toEqual([
    { agentId: null, label: 'Tide watch', scopes: ['threads'] },
  ]);
});

test('warns before a stray Escape loses the secret', async () => {
  const page = await openClients([], (reach) =>
    reach.on('POST /api/credentials', () => json({ credential: credential('new'), secret: SECRET }, 201)),
  );
  await page.user.click(await screen.findByRole('button', { name: 'Create a credential' }));
  const dialog = await screen.findByRole('dialog', { name: 'A credential for Lyra' });
  await page.user.click(within(dialog).getByRole('button', { name: 'Close' }));
  expect(within(dialog).getByLabelText('The secret').textContent).toBe(SECRET);
  expect(within(dialog).getByText('This is shown once.', { selector: '[role=status]' })).toBeDefined();
});

test('revoking asks first, and what the relay refuses stays with the reason', async () => {
  const page = await openClients([credential('a')], (reach) =>
    reach.on('DELETE /api/credentials/a', () => refused('The store is closed.', 503)),
  );
  await page.user.click(await screen.findByRole('button', { name: 'Revoke My laptop, abcd' }));
  const dialog = screen.getByRole('dialog', { name: 'Revoke My laptop, abcd' });
  await page.user.click(within(dialog).getByRole('button', { name: 'Revoke' }));
  expect((await within(dialog).findByRole('alert')).textContent).toContain('The store is closed.');
  page.reach.on('DELETE /api/credentials/a', () => {
    page.reach.on('GET /api/credentials', { credentials: [credential('a', { revokedAt: NOW })] });
    return new Response(null, { status: 204 });
  });
  await page.user.click(within(dialog).getByRole('button', { name: 'Revoke' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(await screen.findByText('None')).toBeDefined();
});

test('an agent’s page makes one for this agent, without asking for whom', async () => {
  const page = await openClients(
    [credential('b', { agentId: 'agent-2', label: 'Of Wren' })],
    (reach) => reach.on('POST /api/credentials', () => refused('Retired.', 409)),
    '/agent/agent-1/more',
  );
  await page.user.click(await screen.findByText('Create a credential', { selector: 'summary' }));
  expect(screen.queryByText('Of Wren')).toBeNull();
  expect(screen.queryByLabelText('For')).toBeNull();
  await page.user.click(screen.getByRole('button', { name: 'Create a credential' }));
  expect((await screen.findByText(/Could not do this. Retired\./)).getAttribute('role')).toBe('alert');
  expect(page.reach.bodies('POST /api/credentials')).toEqual([{ agentId: 'agent-1', label: '', readsSoul: false }]);
});
