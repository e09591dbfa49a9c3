import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Webhook } from '../../../../../src/shared/protocol/webhooks.ts';
import { NOW, team } from '../../support/household.ts';
import { oneProject } from '../../support/projects.ts';
import { type AskedCall, json } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

const SECRET = 'SECRET-of-the-webhook-wxyz';
const webhook = (webhookId: string, change: Partial<Webhook> = {}): Webhook => ({
  webhookId,
  name: 'Website',
  target: { kind: 'project', projectId: 'trip', column: 'backlog', githubLabel: null },
  ...{ signed: false, hint: 'wxyz', createdAt: NOW - 86_400_000, usedAt: null },
  ...change,
});

/** The webhooks of a project, as its settings open them. The relay keeps what is changed. */
async function openWebhooks(first: readonly Webhook[]): Promise<Page> {
  let webhooks = first;
  const page = await openPage({
    docs: team(2),
    path: '/projects/trip/settings',
    prepare({ reach }) {
      oneProject(reach);
      reach.on('GET /api/webhooks', () => json({ webhooks }));
      reach.on('POST /api/webhooks', ({ body }: AskedCall) => {
        const { name, target, signed } = body as Pick<Webhook, 'name' | 'target' | 'signed'>;
        const made = webhook('new', { name, target, signed });
        webhooks = [...webhooks, made];
        return json({ webhook: made, secret: SECRET, signingSecret: signed ? 'signing-secret' : null }, 201);
      });
      reach.on('POST /api/webhooks/one/renew', () =>
        json({ webhook: first[0], secret: 'SECRET-renewed', signingSecret: null }),
      );
      reach.on('DELETE /api/webhooks/one', () => {
        webhooks = webhooks.filter(({ webhookId }) => webhookId !== 'one');
        return new Response(null, { status: 204 });
      });
    },
  });
  await page.user.click(await screen.findByRole('button', { name: 'Webhooks' }));
  return page;
}
const dialog = () => screen.findByRole('dialog', { name: /^Webhooks of “/ });

test('the webhooks of a project are listed with what they do, and those of others are not', async () => {
  await openWebhooks([
    webhook('one', { usedAt: NOW - 60_000 }),
    webhook('two', {
      name: 'GitHub',
      signed: true,
      target: { kind: 'project', projectId: 'trip', column: 'ready', githubLabel: 'roost' },
    }),
    webhook('of another', {
      name: 'Elsewhere',
      target: { kind: 'project', projectId: 'other', column: 'ready', githubLabel: null },
    }),
    webhook('of a routine', { name: 'Nightly', target: { kind: 'routine', scheduleId: 's1' } }),
  ]);
  const list = await within(await dialog()).findByRole('list', { name: 'Webhooks' });
  expect(
    within(list)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual([
    expect.stringContaining('Backlog: you check them first · made yesterday · last used today 08:54'),
    expect.stringContaining(
      'Ready: agents may take them, of GitHub only issues with “roost” · signed · made yesterday · never',
    ),
  ]);
});

test('a webhook is made with a name and a column, and its address is shown once', async () => {
  const page = await openWebhooks([]);
  const open = await dialog();
  await page.user.click(await within(open).findByRole('button', { name: 'Create a webhook' }));
  expect(within(open).getByRole('alert').textContent).toBe('It needs a name.');
  await page.user.type(within(open).getByLabelText('Name'), 'GitHub');
  await page.user.selectOptions(within(open).getByLabelText('Tasks go to'), 'ready');
  await page.user.type(within(open).getByLabelText(/^GitHub label/), 'roost');
  await page.user.click(within(open).getByLabelText(/^Require GitHub’s signature/));
  await page.user.click(within(open).getByRole('button', { name: 'Create a webhook' }));
  expect((await within(open).findByLabelText('Address')).textContent).toBe(`${location.origin}/hooks/${SECRET}`);
  expect(within(open).getByLabelText('The secret').textContent).toBe('signing-secret');
  expect(page.reach.bodies('POST /api/webhooks')).toEqual([
    {
      name: 'GitHub',
      target: { kind: 'project', projectId: 'trip', column: 'ready', githubLabel: 'roost' },
      signed: true,
    },
  ]);
  // An accidental Escape does not lose it.
  await page.user.keyboard('{Escape}');
  expect(screen.getByText(new RegExp(SECRET))).toBeDefined();
  await page.user.click(within(await dialog()).getByRole('button', { name: 'I have copied what I need' }));
  expect(screen.queryByText(new RegExp(SECRET))).toBeNull();
  expect(await within(await dialog()).findByRole('button', { name: 'Renew GitHub, wxyz' })).toBeDefined();
});

test('a webhook is renewed, with its new address, and deleted, each after a question', async () => {
  const page = await openWebhooks([webhook('one')]);
  await page.user.click(await screen.findByRole('button', { name: 'Renew Website, wxyz' }));
  await page.user.click(
    await within(await screen.findByRole('dialog', { name: /^Renew/ })).findByRole('button', { name: 'Renew' }),
  );
  expect((await screen.findByLabelText('Address')).textContent).toContain('/hooks/SECRET-renewed');
  await page.user.click(screen.getByRole('button', { name: 'I have copied what I need' }));
  await page.user.click(await screen.findByRole('button', { name: 'Delete Website, wxyz' }));
  await page.user.click(await screen.findByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Delete Website, wxyz' })).toBeNull());
  expect(page.reach.times('DELETE /api/webhooks/one')).toBe(1);
});
