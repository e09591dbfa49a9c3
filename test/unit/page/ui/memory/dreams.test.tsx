import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Dream } from '../../../../../src/shared/protocol/dreams.ts';
import { NOW, team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';
import { json, refused } from '../../support/reach.ts';

const dream = (more: Partial<Dream> = {}): Dream => ({
  ...{ dreamId: 'd1', agentId: 'agent-1', night: null, state: 'proposed', madeAt: NOW, changedAt: NOW },
  ...{ runId: 'r1', bytesBefore: 20, bytesAfter: 24, said: 'I noted the move.', detail: null },
  ...{ tokens: 4_000, costMicroUsd: 21_000, estimated: false },
  changes: [{ memoryId: 'm1', path: 'notes.md', pathBefore: 'notes.md', before: 'Lyon\n', after: 'Paris\n' }],
  ...more,
});

async function open(dreams: Dream[]) {
  const page = await openPage({
    docs: team(2),
    path: '/agent/agent-1/about',
    prepare({ reach }) {
      reach.on('GET /api/dreams', () => json({ dreams }));
      reach.on('POST /api/dreams/d1/adopt', () => {
        dreams[0] = dream({ state: 'adopted' });
        return json(dreams[0]);
      });
      reach.on('POST /api/dreams', () => {
        dreams.unshift(dream({ dreamId: 'd2', state: 'running', changes: [], said: null, tokens: null }));
        return json(dreams[0], 201);
      });
    },
  });
  return { page, section: await screen.findByRole('region', { name: 'Dreams' }) };
}

test('shows what a dream would change and its cost, and adopts it with one press', async () => {
  const { page, section } = await open([dream()]);
  const card = await within(section).findByRole('article');
  expect(card.textContent).toContain('− Lyon');
  expect(card.textContent).toContain('+ Paris');
  expect(card.textContent).toContain('$0.021');
  await page.user.click(within(card).getByRole('button', { name: 'Adopt' }));
  await within(section).findByText(/adopted/);
  expect(within(section).queryByRole('article')).toBeNull();
});

test('a dream that the memory refuses stays, and a notice says why', async () => {
  const { page, section } = await open([dream()]);
  page.reach.on('POST /api/dreams/d1/adopt', () => refused('The file was changed meanwhile.', 409));
  await page.user.click(await within(section).findByRole('button', { name: 'Adopt' }));
  await screen.findByText(/changed meanwhile/);
  await within(section).findByRole('article');
});

test('says when a dream changed nothing, and another can be started', async () => {
  const { page, section } = await open([dream({ state: 'unchanged', changes: [], said: 'All is well.' })]);
  await within(section).findByText(/Nothing was changed./);
  await page.user.click(within(section).getByRole('button', { name: 'Dream now' }));
  await within(section).findByText(/dreams now/);
  expect(within(section).queryByRole('button', { name: 'Dream now' })).toBeNull();
});

test('the inbox counts a dream that waits, and leads to it', async () => {
  const page = await openPage({
    docs: team(2),
    path: '/inbox',
    prepare: ({ reach }) => reach.on('GET /api/dreams', { dreams: [dream()] }),
  });
  await waitFor(() => expect(page.container.textContent).toContain('1 dream'));
  await page.user.click(await screen.findByRole('link', { name: 'Open' }));
  await screen.findByRole('region', { name: 'Dreams' });
});

test('says when a dream is left with the model’s server, and can cancel it', async () => {
  const dreams = [dream({ state: 'submitted', changes: [], said: null, tokens: null })];
  const { page, section } = await open(dreams);
  await within(section).findByText(/at half the price/);
  expect(within(section).queryByRole('button', { name: 'Dream now' })).toBeNull();
  page.reach.on('POST /api/dreams/d1/cancel', () => {
    dreams[0] = dream({
      state: 'failed',
      changes: [],
      said: null,
      detail: 'Stopped.',
    });
    return json(dreams[0]);
  });
  await page.user.click(within(section).getByRole('button', { name: 'Cancel' }));
  await within(section).findByText('Stopped.');
});
