import { DEFAULT_TOOLSETS } from '../../../../../src/shared/domain/toolsets.ts';
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { DEFAULT_PRICES } from '../../../../../src/shared/domain/prices.ts';
import type { Costs } from '../../../../../src/shared/protocol/costs.ts';
import { NOW, runningSession, said, team } from '../../support/household.ts';
import { NOTHING, report, spent } from '../../support/costs.ts';
import { configAnswer, json, refused, VERSION, type MemoryReach } from '../../support/reach.ts';
import { openPage, type Page } from '../../support/render.tsx';

/** What is set, beside the little of what holds that the page reads. */
function configs(reach: MemoryReach, own: { household?: object; agent?: object } = {}) {
  const coordination = {
    wakes_enabled: true,
    max_concurrent_pulse_sessions: 2,
    wake_guardrails: {
      cooldown_seconds: 300,
      max_daily_session_minutes: 120,
      max_wakes_per_day: 12,
      max_wakes_per_pair_per_day: 5,
      max_wakes_per_session: 3,
    },
    blackouts: [],
    sleep_events: [],
    wake_events: [],
    may_put_others_to_sleep: false,
    toolsets: DEFAULT_TOOLSETS,
    tools: {},
    network: 'none' as const,
    command_seconds: 120,
    workspace_megabytes: 2_000,
    shell_without_sandbox: false,
    allowed_commands: [],
    mind: null,
    may_propose_routines: false,
    note_before_sleep: true,
    note_cents: 50,
    dreams: 'off' as const,
    dream_hour: 3,
    daily_budget_usd: null,
  };
  const effective = {
    coordination,
    wakes_enabled: true,
    time_zone: 'UTC',
    flood_guard: { max_wakes: 5, window_seconds: 60 },
    daily_budget_usd: null,
    sleep_wait_seconds: 600,
    programs_at_once: 3,
    pulse_container_timeout_ms: 120_000,
    pulse_busy_wait_ms: 120_000,
    pulse_max_consecutive_skips: 5,
    pulse_max_turns: 25,
  };
  reach.on('GET /v1/config', configAnswer({ coordination: {}, ...own.household }, effective));
  for (const id of ['lead', 'agent-1', 'agent-2'])
    reach.on(
      `GET /v1/agents/${id}/config`,
      configAnswer({ coordination: { wakes_enabled: false, ...own.agent } }, effective),
    );
  const set = ({ body }: { body: object }) => json(configAnswer(body, effective));
  reach.on('PUT /v1/config', set);
  reach.on('PUT /v1/agents/agent-1/config', set);
}

interface Open {
  readonly path: string;
  readonly costs?: Partial<Costs>;
  readonly own?: Parameters<typeof configs>[1];
  readonly prepare?: (reach: MemoryReach) => void;
  readonly docs?: ReturnType<typeof team>;
}
const openCosts = ({ path, costs = {}, own = {}, prepare, docs = team(2) }: Open): Promise<Page> =>
  openPage({
    docs,
    path,
    snapshot: runningSession(),
    prepare({ reach, relay }) {
      relay.mind = 'anthropic';
      reach.on('GET /api/costs', report(costs));
      reach.on('GET /api/prices', { prices: DEFAULT_PRICES, version: 3 });
      configs(reach, own);
      prepare?.(reach);
    },
  });

test('shows today, the rest of the budget, and each day, agent and session in figures', async () => {
  await openCosts({ path: '/activity/costs' });
  const today = await screen.findByRole('region', { name: 'Today' });
  expect(today.textContent).toContain('$0.41');
  expect(today.textContent).toContain('$1.59 of $2.00 left today');
  expect(screen.getByRole('meter').getAttribute('aria-valuetext')).toBe('$0.41 of $2.00');
  const sheets = screen.getAllByRole('region', { name: 'By day' });
  const table = sheets.find((region) => region.tabIndex === 0) ?? document.body;
  expect(
    within(table)
      .getAllByRole('row')
      .slice(1)
      .map((row) => row.textContent),
  ).toEqual(['Today31.2K300500$0.41', '19 Nov31.2K300500≈ $1.25']);
  expect(screen.getByText(/^≈ At most/)).toBeDefined();
  const agent = screen.getAllByRole('row').find((row) => row.textContent?.startsWith('Lyra'));
  expect(agent?.textContent).toBe('Lyra$0.40$1.602K$1.00');
  const alone = screen.getAllByRole('row').map((row) => row.textContent);
  // By kind, and each below its own.
  expect(alone.join(' | ')).toContain(
    [
      'Routines131.5K≈ $0.15',
      'Morning roundLyra121.2K≈ $0.12',
      'The weekLyra1300$0.03',
      'Woken by others1300$0.01',
      'Every wakeLyra1300$0.01',
    ].join(' | '),
  );
  expect(screen.getAllByRole('row').some((row) => row.textContent?.startsWith('Running now'))).toBe(true);
});

test('sums up what is not listed one by one', async () => {
  await openCosts({
    path: '/activity/costs',
    costs: {
      sessions: [{ sessionId: 'session-1', lastAt: Date.UTC(2026, 10, 20, 10, 30), spent: spent(410_000) }],
      rest: {
        routines: { count: 7, runs: 40, tokens: 4_000, costMicroUsd: 20_000, estimated: true },
        sessions: { count: 12, spent: spent(3_000_000) },
      },
    },
  });
  const row = async (begin: RegExp) => (await screen.findByRole('row', { name: begin })).textContent;
  // Of a session whose beginning no conversation here tells.
  expect(await row(/^until .*2026/)).toMatch(/\$0\.41$/);
  expect(await row(/^7 more/)).toBe('7 more404K≈ $0.02');
  expect(await row(/^12 earlier sessions/)).toMatch(/\$3\.00$/);
});

test('keeps the old figures until another period is loaded', async () => {
  const page = await openCosts({ path: '/activity/costs' });
  await screen.findByText('$1.59 of $2.00 left today');
  await page.user.click(screen.getByRole('radio', { name: '90 days' }));
  expect(screen.getByText('$1.59 of $2.00 left today')).toBeDefined();
  await waitFor(() =>
    expect(page.reach.asked.filter(({ path }) => path === '/api/costs').map(({ query }) => query.get('days'))).toEqual([
      '30',
      '90',
    ]),
  );
});

test('says across the page that a budget is used up and what to do, until it is not', async () => {
  const page = await openCosts({
    path: '/',
    costs: {
      stopped: [
        { scope: 'agent', agentId: 'agent-1', message: 'Used up.', until: new Date('2026-11-22T00:00:00').getTime() },
      ],
    },
  });
  const banner = await screen.findByText(/Today’s budget of Lyra is used up/);
  expect(banner.parentElement?.textContent).toContain('It continues at 00:00');
  page.reach.on('GET /api/costs', report());
  await page.hear({ kind: 'changed', time: NOW, what: 'config', agentId: null });
  await waitFor(() => expect(screen.queryByText(/is used up/)).toBeNull());
});

test('says that everything is free in the demo', async () => {
  await openPage({
    docs: team(1),
    path: '/activity/costs',
    prepare: ({ reach }) => reach.on('GET /api/costs', report({ today: NOTHING, days: [], dailyBudgetUsd: null })),
  });
  expect(await screen.findByText(/no model is connected, and nothing costs anything/)).toBeDefined();
});

test('costs that cannot be read say so and can be asked for again', async () => {
  const page = await openCosts({
    path: '/activity/costs',
    prepare: (reach) => reach.on('GET /api/costs', () => refused('The store is closed.', 503)),
  });
  expect((await screen.findByText(/Could not load this/)).parentElement?.textContent).toContain(
    'Could not load this. The store is closed.',
  );
  page.reach.on('GET /api/costs', report());
  await page.user.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('$1.59 of $2.00 left today')).toBeDefined();
});

test('a budget is set without touching what else is set', async () => {
  const page = await openCosts({ path: '/settings/costs', own: { household: { time_zone: 'Europe/Berlin' } } });
  await page.user.type(await screen.findByLabelText('Budget a day, all agents together'), '2,50{Enter}');
  await waitFor(() =>
    expect(page.reach.bodies('PUT /v1/config')).toEqual([
      { coordination: {}, time_zone: 'Europe/Berlin', daily_budget_usd: 2.5, version: VERSION, whole: true },
    ]),
  );
  await page.user.type(await screen.findByLabelText('Budget a day ($): Lyra'), '0.5{Enter}');
  await waitFor(() =>
    expect(page.reach.bodies('PUT /v1/agents/agent-1/config')).toEqual([
      { coordination: { wakes_enabled: false, daily_budget_usd: 0.5 }, version: VERSION, whole: true },
    ]),
  );
  const [undo = document.body] = await screen.findAllByRole('button', { name: 'Undo' });
  await page.user.click(undo);
  await waitFor(() => expect(page.reach.bodies('PUT /v1/config').at(-1)).toMatchObject({ daily_budget_usd: null }));
});

test("removes an agent's own budget when its field is emptied", async () => {
  const page = await openCosts({ path: '/settings/costs', own: { agent: { daily_budget_usd: 3 } } });
  const field = await screen.findByLabelText<HTMLInputElement>('Budget a day ($): Lyra');
  expect(field.value).toBe('3');
  await page.user.clear(field);
  await page.user.type(field, '{Enter}');
  await waitFor(() =>
    expect(page.reach.bodies('PUT /v1/agents/agent-1/config')).toEqual([
      { coordination: { wakes_enabled: false }, version: VERSION, whole: true },
    ]),
  );
});

test.each(['-1', 'two', '100001', '1e3'])('a budget of %j is refused with the bounds', async (text) => {
  const page = await openCosts({ path: '/settings/costs' });
  const field = await screen.findByLabelText('Budget a day, all agents together');
  fireEvent.change(field, { target: { value: text } });
  expect(screen.getByText('Give an amount from 0 to $100,000.00, or nothing.')).toBeDefined();
  fireEvent.submit(field);
  expect(page.reach.times('PUT /v1/config')).toBe(0);
});

test('a price is changed, a model added, and Roost’s own come back', async () => {
  const page = await openCosts({
    path: '/settings/costs',
    prepare: (reach) =>
      reach.on('PUT /api/prices', (call: { body: unknown }) =>
        json(
          Array.isArray(Object(call.body).prices) && Object(call.body).prices.length > 0
            ? { ...Object(call.body), version: 4 }
            : { prices: DEFAULT_PRICES, version: 5 },
        ),
      ),
  });
  const input = await screen.findByLabelText('Input, claude-sonnet-');
  expect(screen.queryByRole('button', { name: 'Restore the default prices' })).toBeNull();
  fireEvent.change(input, { target: { value: '4' } });
  await page.user.click(screen.getByRole('button', { name: 'Add a model' }));
  expect(screen.getByRole('alert').textContent).toContain('A row needs a model’s name');
  fireEvent.change(screen.getByLabelText('Model new'), { target: { value: 'qwen' } });
  for (const title of ['Input', 'Output', 'Cache read', 'Cache write'])
    fireEvent.change(screen.getByLabelText(`${title}, qwen`), { target: { value: '0' } });
  const step = screen.getByLabelText('Above tokens, qwen');
  fireEvent.change(step, { target: { value: 'many' } });
  expect(screen.getByRole('alert').textContent).toContain('give a whole number of tokens');
  fireEvent.change(step, { target: { value: '128,000' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await page.user.click(await screen.findByRole('button', { name: 'Restore the default prices' }));
  await waitFor(() => expect(page.reach.times('PUT /api/prices')).toBe(2));
  const [first, second] = page.reach.bodies('PUT /api/prices');
  expect(first).toMatchObject({
    prices: expect.arrayContaining([
      expect.objectContaining({ model: 'claude-sonnet-', input: 4 }),
      { model: 'qwen', above: 128_000, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      expect.objectContaining({ model: 'claude-sonnet-4-5', above: 200_000, input: 6 }),
    ]),
  });
  expect(second).toEqual({ prices: [], version: 4 });
});

test('keeps typed prices, and overwrites no prices that another page has saved meanwhile', async () => {
  const theirs = { prices: [{ ...DEFAULT_PRICES[0], model: 'theirs-' }], version: 9 };
  const page = await openCosts({
    path: '/settings/costs',
    prepare: (reach) =>
      reach.on('PUT /api/prices', ({ body }: { body: { version: number } }) =>
        body.version === 9
          ? json({ ...body, version: 10 })
          : refused('It was changed.', 409, 'changed-elsewhere', { current: theirs }),
      ),
  });
  fireEvent.change(await screen.findByLabelText('Input, claude-sonnet-'), { target: { value: '4' } });
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  expect((await screen.findByRole('alert')).textContent).toMatch(/^Somebody has changed this elsewhere meanwhile/);
  expect(screen.getByLabelText<HTMLInputElement>('Input, claude-sonnet-').value).toBe('4');
  // Once more says that the person means it. Or theirs is shown.
  await page.user.click(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(page.reach.bodies('PUT /api/prices')).toHaveLength(2));
  expect(page.reach.bodies('PUT /api/prices')).toMatchObject([{ version: 3 }, { version: 9 }]);
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
});

test('requests the costs of replies together, and shows each below its reply', async () => {
  const docs = [
    ...team(1),
    said('agent-1', 'agent-1', 'One.', NOW - 2000, { messageId: 'r1' }),
    said('agent-1', 'agent-1', 'Two.', NOW - 1000, { messageId: 'r2' }),
  ];
  const page = await openCosts({
    path: '/agent/agent-1',
    docs,
    prepare: (reach) =>
      reach.on('GET /api/costs/replies', {
        replies: { r1: { costMicroUsd: 12_300, estimated: false }, r2: { costMicroUsd: 0, estimated: false } },
      }),
  });
  expect((await screen.findByText('$0.0123')).textContent).toBe('Costs $0.0123');
  expect(screen.getByText('free')).toBeDefined();
  expect(
    page.reach.asked.filter(({ path }) => path === '/api/costs/replies').map(({ query }) => query.get('ids')),
  ).toEqual(['r1,r2']);
  const shown = () => screen.getByText('$0.0123').dataset['always'];
  expect(shown()).toBe('false');
  const beside = screen.getByRole('complementary', { name: 'About Lyra' });
  await page.user.click(within(beside).getByRole('link', { name: 'Costs' }));
  await page.user.click(await screen.findByRole('checkbox', { name: 'Show what each reply cost' }));
  await page.user.click(screen.getByRole('button', { name: 'Close' }));
  await waitFor(() => expect(shown()).toBe('true'));
});

test('a reply whose cost comes after it gets it when the relay says that costs changed', async () => {
  const docs = [...team(1), said('agent-1', 'agent-1', 'One.', NOW - 2000, { messageId: 'r1' })];
  const page = await openCosts({
    path: '/agent/agent-1',
    docs,
    prepare: (reach) => reach.on('GET /api/costs/replies', { replies: {} }),
  });
  await waitFor(() => expect(page.reach.times('GET /api/costs/replies')).toBe(1));
  page.reach.on('GET /api/costs/replies', { replies: { r1: { costMicroUsd: 200, estimated: true } } });
  await page.hear({ kind: 'changed', time: NOW, what: 'costs', agentId: 'agent-1' });
  expect(await screen.findByText('≈ $0.0002')).toBeDefined();
});
