import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { createDeferred } from '../../../../../src/shared/domain/platform/deferred.ts';
import { team } from '../../support/household.ts';
import { openPage } from '../../support/render.tsx';

test('the first visit asks two names, and begins with a lead and an empty grid', async () => {
  const page = await openPage({ docs: [] });
  expect(screen.getByLabelText<HTMLInputElement>("Lead's name").value).toBe('Julian');
  await page.user.type(screen.getByLabelText('Your name'), '  Marcus ');
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  expect(await screen.findByRole('button', { name: /^Julian, lead/ })).toBeDefined();
  expect(screen.getAllByRole('button', { name: /, empty$/ })).toHaveLength(8);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'SUMMON' }));
  expect(page.state.household.store.getState().settings).toMatchObject({ humanName: 'Marcus', leadName: 'Julian' });
  expect(page.owner.docs.map((doc) => doc.type)).toEqual(['setting', 'setting', 'agent-identity']);
});

test('keeps the names when Begin was pressed in another tab too, and says so', async () => {
  const page = await openPage({ docs: [] });
  const { beginHome } = page.relay;
  const answered = createDeferred();
  const late: typeof beginHome = (given) => answered.promise.then(() => beginHome(given));
  Object.assign(page.relay, { beginHome: late });
  await page.user.type(screen.getByLabelText('Your name'), 'Second');
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  await page.say({ news: 'documents', docs: team(0) });
  answered.resolve();
  await screen.findByText(/^Another tab has already started\./);
  expect(page.owner.docs).toEqual([]);
  expect(page.state.household.store.getState().settings.humanName).toBe('Marcus');
});

test('refuses to begin without a name, and says what is missing', async () => {
  const page = await openPage({ docs: [] });
  await page.user.clear(screen.getByLabelText("Lead's name"));
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  expect(page.owner.docs).toEqual([]);
  expect(screen.getByLabelText('Your name').getAttribute('aria-invalid')).toBe('true');
  expect(screen.getAllByText('It needs a name.')[0]).toBeDefined();
});

test('shows nothing as begun before it is stored', async () => {
  const page = await openPage({ docs: [] });
  await page.user.type(screen.getByLabelText('Your name'), 'Marcus');
  page.owner.broken = 'the disk is full';
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  expect(screen.getByRole('alert').textContent).toContain('the disk is full');
  expect(screen.queryByRole('button', { name: /^Julian, lead/ })).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>('Your name').value).toBe('Marcus');
});

test('says that no model is connected, and how to connect one there', async () => {
  const page = await openPage({ docs: [] });
  expect(screen.getByText(/You’re in the demo/)).toBeDefined();
  await page.user.click(screen.getAllByRole('link', { name: 'Connect a model' }).at(-1) ?? document.body);
  expect(await screen.findByLabelText('Your key')).toBeDefined();
});

test('names the connected model', async () => {
  await openPage({ docs: [], prepare: ({ relay }) => (relay.mind = 'anthropic') });
  expect(screen.getByText('Connected: claude-sonnet')).toBeDefined();
  expect(screen.queryByText(/no model is connected/)).toBeNull();
});

test('does not take an unreadable household for a first visit', async () => {
  const page = await openPage({ docs: [], prepare: ({ owner }) => (owner.broken = 'the database is locked') });
  expect(screen.queryByRole('button', { name: 'Begin' })).toBeNull();
  expect(screen.getByText(/could not be read from this device/).closest('[role=alert]')?.textContent).toContain(
    'the database is locked',
  );
  expect(screen.queryByText(/nobody in them yet/)).toBeNull();
  page.owner.broken = null;
  await page.user.click(screen.getAllByRole('button', { name: 'Try again' })[0] ?? document.body);
  expect(await screen.findByRole('button', { name: 'Begin' })).toBeDefined();
});

const OTHERS = { begun: false, lived: false, others: 1 };

test('asks how to begin where others live at the relay: join, only look, or a household beside them', async () => {
  const page = await openPage({ docs: [], prepare: ({ relay }) => (relay.status = OTHERS) });
  expect(await screen.findByRole('heading', { name: 'This relay already has a team' })).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Begin' })).toBeNull();
  expect(screen.getByRole('button', { name: 'I have Roost on another device' })).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Start my household' }));
  await page.user.type(screen.getByLabelText('Your name'), 'Ben');
  expect(page.relay.asked).toEqual([]);
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  expect(await screen.findByRole('button', { name: /^Julian, lead/ })).toBeDefined();
  expect(page.relay.asked).toContain('begin beside');
});

test('tells a browser without data that its team lives at the relay, before anything begins', async () => {
  const OWN = { begun: true, lived: true, others: 0 };
  const page = await openPage({ docs: [], prepare: ({ relay }) => (relay.status = OWN) });
  expect(await screen.findByRole('heading', { name: 'Your team is on this relay' })).toBeDefined();
  expect(screen.getByRole('button', { name: 'I have a recovery phrase' })).toBeDefined();
  await page.user.click(screen.getByRole('button', { name: 'Start my household' }));
  await page.user.type(screen.getByLabelText('Your name'), 'Ben');
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  expect(await screen.findByRole('button', { name: /^Julian, lead/ })).toBeDefined();
  expect(page.relay.asked).toContain('begin anew');
});

test('asks when others have begun at the same moment, and stores nothing', async () => {
  const page = await openPage({ docs: [] });
  await page.user.type(screen.getByLabelText('Your name'), 'Ben');
  page.relay.status = OTHERS;
  await page.user.click(screen.getByRole('button', { name: 'Begin' }));
  expect(await screen.findByRole('heading', { name: 'This relay already has a team' })).toBeDefined();
  expect(page.owner.docs).toEqual([]);
});
