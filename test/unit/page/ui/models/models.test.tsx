import { screen, waitFor, within } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { DEFAULT_PRICES } from '../../../../../src/shared/domain/prices.ts';
import type { Connection } from '../../../../../src/shared/protocol/models.ts';
import { NOW, runningSession, said, team } from '../../support/household.ts';
import { type AskedCall, configAnswer, json, refused } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

const KEY = 'sk-ant-planted-77c1';
const claude = (more: Partial<Connection> = {}): Connection => ({
  connectionId: 'c1',
  kind: 'claude',
  address: null,
  hasKey: true,
  models: [{ id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5' }],
  leadModel: 'claude-opus-5-5',
  agentModel: 'claude-sonnet-5-5',
  state: { kind: 'answers', at: 0, ms: 812 },
  ...more,
});
const REFUSED = claude({ state: { kind: 'fails', at: 0, why: 'key', message: 'It did not accept the key.' } });

describe('Connecting a model', () => {
  test('sends the key once, says how it answers, and holds the key nowhere on the page', async () => {
    const page = await openPage({ docs: team(1), path: '/connect' });
    page.reach.on('POST /api/models', () => {
      page.reach.on('GET /api/models', { connections: [claude()], may: 'any' });
      return json(claude(), 201);
    });
    await page.user.type(await screen.findByLabelText('Your key'), KEY);
    expect(screen.getByLabelText<HTMLInputElement>('Your key').type).toBe('password');
    // Not even while it stands in the field.
    expect(document.body.innerHTML).not.toContain(KEY);
    await page.user.click(screen.getByRole('button', { name: 'Connect' }));
    expect(await screen.findByText('Claude answers, 0.8 s.')).toBeDefined();
    expect(page.reach.bodies('POST /api/models')).toEqual([{ kind: 'claude', key: KEY }]);
    expect(document.body.innerHTML).not.toContain(KEY);
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain(KEY);
  });

  test('says why a model is not connected, and keeps the typed text', async () => {
    const page = await openPage({ docs: team(1), path: '/connect' });
    page.reach.on('POST /api/models', () => refused('api.anthropic.com did not accept the key.', 422));
    await page.user.type(await screen.findByLabelText('Your key'), KEY);
    await page.user.click(screen.getByRole('button', { name: 'Connect' }));
    expect((await screen.findByRole('alert')).textContent).toContain('did not accept the key');
    expect(screen.getByLabelText<HTMLInputElement>('Your key').value).toBe(KEY);
  });

  test('asks for whom an ACP agent is once it is connected, and sets that agent at once', async () => {
    const program = { programId: 'p1', name: 'Claude Code', where: 'claude-agent-acp', variables: [] };
    const page = await openPage({
      docs: team(2),
      path: '/connect',
      prepare({ reach }) {
        const programs = [{ ...program, throughRelay: false, state: { kind: 'untried' }, running: [] }];
        reach.on('GET /api/agent-programs', { programs, found: [], allowed: true });
        reach.on('GET /v1/agents/agent-2/config', configAnswer({ coordination: {} }));
        reach.on('PUT /v1/agents/agent-2/config', ({ body }: AskedCall) => json(configAnswer(body as object)));
      },
    });
    await page.user.click(await screen.findByRole('radio', { name: /^Claude Code, Codex, Gemini/ }));
    await page.user.selectOptions(await screen.findByLabelText('Claude Code is connected. For whom?'), 'Wren');
    await screen.findByText('Wren: Claude Code saved. It applies now.');
    expect(page.reach.bodies('PUT /v1/agents/agent-2/config')).toMatchObject([{ coordination: { mind: 'p1' } }]);
  });

  test('finds servers of the machine when it opens, and connects the one that is chosen', async () => {
    const models = ['a', 'qwen3'].map((id) => ({ id, name: id }));
    const page = await openPage({
      docs: team(1),
      path: '/connect',
      prepare: ({ reach }) => {
        reach.on('GET /api/models', { connections: [], may: 'any' });
        reach.on('POST /api/models/find', {
          found: [{ program: 'Ollama', address: 'http://127.0.0.1:11434', models }],
        });
      },
    });
    page.reach.on('POST /api/models', () => json(claude(), 201));
    expect((await screen.findByRole<HTMLInputElement>('radio', { name: 'A local server Ollama' })).checked).toBe(true);
    const found = await screen.findByRole('list', { name: 'Found on the relay’s machine' });
    await page.user.selectOptions(within(found).getByLabelText('Model: Ollama'), 'qwen3');
    await page.user.click(within(found).getByRole('button', { name: 'Connect' }));
    expect(page.reach.bodies('POST /api/models')).toEqual([
      { kind: 'server', address: 'http://127.0.0.1:11434', model: 'qwen3' },
    ]);
  });

  test('asks which of several models to use before the first request, with a filter', async () => {
    const page = await openPage({ docs: team(1), path: '/connect' });
    const models = Array.from({ length: 420 }, (_none, i) => ({ id: `vendor/model-${i}`, name: `Vendor: Model ${i}` }));
    page.reach.on('POST /api/models', () =>
      json(
        { type: 'about:roost/choose-model', title: 'Refused', status: 422, detail: 'It has 420 models.', models },
        422,
      ),
    );
    await page.user.click(await screen.findByRole('radio', { name: /^Another server or key/ }));
    await page.user.type(screen.getByLabelText(/^Address/), 'https://models.example.org/api/v1');
    await page.user.type(screen.getByLabelText(/^Key/), KEY);
    await page.user.click(screen.getByRole('button', { name: 'Connect' }));
    const choice = await screen.findByRole('form', { name: 'Pick a model' });
    // One form and one button: nothing of the demo, no other door.
    expect(screen.getAllByRole('button', { name: 'Connect' })).toHaveLength(1);
    expect(screen.queryByText(/You’re in the demo/)).toBeNull();
    expect(screen.queryByRole('radiogroup')).toBeNull();
    expect(within(choice).getAllByRole('option')).toHaveLength(420);
    await page.user.type(within(choice).getByLabelText('Find a model'), 'vendor 137');
    expect(within(choice).getAllByRole('option')).toHaveLength(1);
    page.reach.on('POST /api/models', () =>
      json(claude({ kind: 'server', state: { kind: 'answers', at: 0, ms: 90, tools: false } }), 201),
    );
    await page.user.click(within(choice).getByRole('button', { name: 'Connect' }));
    expect(await screen.findByText('This model cannot use tools. Agents can only talk.')).toBeDefined();
    const given = { kind: 'server', address: 'https://models.example.org/api/v1', key: KEY };
    expect(page.reach.bodies('POST /api/models')).toEqual([given, { ...given, model: 'vendor/model-137' }]);
  });

  test('shows a refused key in the header, to be changed there', async () => {
    const page = await openPage({
      docs: team(1),
      prepare: ({ relay, reach }) => {
        relay.mind = 'anthropic';
        reach.on('GET /api/models', { connections: [REFUSED], may: 'any' });
      },
    });
    page.reach.on('PUT /api/models/c1/key', () => {
      page.reach.on('GET /api/models', { connections: [claude()], may: 'any' });
      return json(claude());
    });
    await page.user.click((await screen.findAllByRole('link', { name: 'Change the key' }))[0] ?? document.body);
    const card = await screen.findByRole('article', { name: 'Claude' });
    await page.user.type(within(card).getByLabelText('Your key'), KEY);
    await page.user.click(within(card).getByRole('button', { name: 'Change the key' }));
    expect(await within(card).findByText('answers, 0.8 s')).toBeDefined();
    expect(page.reach.bodies('PUT /api/models/c1/key')).toEqual([{ key: KEY }]);
    // A key that is gone is brought back by no undo: it is asked first.
    page.reach.on('DELETE /api/models/c1', () => new Response(null, { status: 204 }));
    await page.user.click(within(card).getByRole('button', { name: 'Remove' }));
    expect(page.reach.times('DELETE /api/models/c1')).toBe(0);
    await page.user.click(
      within(screen.getByRole('dialog', { name: /^Remove / })).getByRole('button', { name: 'Remove' }),
    );
    await waitFor(() => expect(page.reach.times('DELETE /api/models/c1')).toBe(1));
  });

  test("shows the environment's model as such, and offers nothing impossible", async () => {
    await openPage({
      docs: team(1),
      path: '/connect',
      prepare: ({ reach }) =>
        reach.on('GET /api/models', { connections: [claude({ connectionId: 'environment' })], may: 'any' }),
    });
    const card = await screen.findByRole('article', { name: 'Claude' });
    expect(card.textContent).toContain('Set at the relay’s start');
    expect(within(card).queryByRole('button', { name: 'Remove' })).toBeNull();
    expect(within(card).queryByRole('button', { name: 'Change the key' })).toBeNull();
  });
});

test('shows in the header what is connected and that it answers', async () => {
  await openPage({
    docs: team(1),
    prepare: ({ relay, reach }) => {
      relay.mind = 'anthropic';
      reach.on('GET /api/models', { connections: [claude()], may: 'any' });
    },
  });
  expect(await screen.findAllByRole('button', { name: /^Claude · Sonnet 5\.5\s*answers, 0\.8 s$/ })).not.toEqual([]);
});

describe('What to say first', () => {
  const BORN = [...team(2), said('agent-1', 'agent-1', 'I am Lyra.', NOW)];
  const DINNERS = 'Plan five dinners for this week, with a shopping list.';
  test('the conversation with a newborn offers three examples of work, and a press puts one into the field', async () => {
    const mind = { kind: 'anthropic', leadModel: 'a', agentModel: 'a' } as const;
    const page = await openPage({
      docs: BORN,
      path: '/agent/agent-1',
      snapshot: runningSession({ awake: ['agent-1'], mind }),
    });
    const first = await screen.findByRole('region', { name: 'Ask Lyra, for example' });
    expect(within(first).getAllByRole('listitem')).toHaveLength(3);
    expect(within(first).getByRole('button', { name: 'Share this birth' })).toBeDefined();
    await page.user.click(within(first).getByRole('button', { name: DINNERS }));
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: /^Write to Lyra/ }).value).toBe(DINNERS);
  });

  test('suggests what the demo can do, and no greeting to somebody just introduced', async () => {
    await openPage({ docs: BORN, path: '/agent/agent-1', snapshot: runningSession({ awake: ['agent-1'] }) });
    const first = await screen.findByRole('region', { name: 'In this demo you can try' });
    expect(within(first).getByRole('button', { name: 'Remember this: the bridge is blue.' })).toBeDefined();
    expect(screen.queryByText(/Who are you/)).toBeNull();
  });
});

describe('Choosing a model', () => {
  const OLLAMA = claude({
    connectionId: 'c2',
    kind: 'server',
    address: 'http://127.0.0.1:11434',
    models: [{ id: 'qwen3:8b', name: 'qwen3:8b' }],
  });
  const both = { connections: [claude(), OLLAMA], may: 'any' };
  const field = () => screen.findByLabelText<HTMLSelectElement>('Model of the agents');
  const open = (models: unknown, path = '/settings/minds') =>
    openPage({
      docs: team(2),
      path,
      prepare: ({ relay, reach }) => {
        relay.mind = 'anthropic';
        reach.on('GET /api/models', models);
      },
    });

  test('chooses from all connected models, saves at once, and can be undone', async () => {
    const page = await open(both);
    const select = await field();
    expect([...select.querySelectorAll('optgroup')].map(({ label }) => label)).toEqual(['Claude', 'Ollama']);
    expect(select.options[0]?.text).toBe('Default: Sonnet 5.5');
    await page.user.selectOptions(select, 'qwen3:8b');
    expect(page.state.household.store.getState().settings.agentModel).toBe('qwen3:8b');
    await page.user.click(await screen.findByRole('button', { name: 'Undo' }));
    expect((await field()).value).toBe('');
  });

  test('says how a model without a price is counted, and links the prices', async () => {
    const page = await open(both);
    page.reach.on('GET /api/prices', { prices: DEFAULT_PRICES, version: 1 });
    await page.hear({ kind: 'changed', time: NOW, what: 'costs', agentId: null });
    await page.user.selectOptions(await field(), 'qwen3:8b');
    const note = await screen.findByText(/^No price is known for qwen3:8b\./);
    expect(note.textContent).toContain('Roost counts it as $25.00 for a million tokens read and $125.00');
    expect(within(note).getByRole('link', { name: 'Set its price' }).getAttribute('href')).toBe(
      '/settings/models/costs',
    );
    await page.user.selectOptions(await field(), '');
    await waitFor(() => expect(screen.queryByText(/^No price is known/)).toBeNull());
  });

  test('asks the servers again on demand, and says why they cannot be asked', async () => {
    const page = await open(both);
    page.reach.on('POST /api/models/list', () => {
      const more = [...OLLAMA.models, { id: 'llama4', name: 'llama4' }];
      page.reach.on('GET /api/models', { ...both, connections: [claude(), { ...OLLAMA, models: more }] });
      return json(both);
    });
    const [refresh] = await screen.findAllByRole('button', { name: 'Refresh the list' });
    await page.user.click(refresh ?? document.body);
    expect(await within(await field()).findByRole('option', { name: 'llama4' })).toBeDefined();
    page.reach.on('POST /api/models/list', () => refused('The relay is busy.', 503));
    await page.user.click(refresh ?? document.body);
    expect((await screen.findByRole('alert')).textContent).toContain('The relay is busy.');
  });

  test('says where none is connected, where one does not answer, and where the list could not be read', async () => {
    const none = await open({ connections: [], may: 'any' });
    expect(await screen.findByText('Demo: no model connected', { selector: '.setting-hint > span' })).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Refresh the list' })).toBeNull();
    none.unmount();
    const refusing = await open({ connections: [REFUSED], may: 'any' });
    expect((await screen.findAllByText(/Claude: key refused/)).length).toBeGreaterThan(0);
    refusing.unmount();
    await open(() => refused('The store is closed.', 503));
    expect((await screen.findAllByText(/Could not load this/)).length).toBeGreaterThan(0);
  });

  test("sets one agent's own model for the next session, and keeps the team’s for the others", async () => {
    const page = await open(both, '/agent/agent-2/change');
    await page.user.selectOptions(await screen.findByLabelText('Model'), 'qwen3:8b');
    expect(page.state.household.store.getState().roster.byId.get('agent-2')?.model).toBe('qwen3:8b');
    await page.user.click(screen.getByRole('button', { name: 'Close' }));
    await page.user.click(screen.getByRole('button', { name: 'WAKE' }));
    expect(page.relay.started.at(-1)?.settings).toMatchObject({
      agentModel: '',
      agentModels: { 'agent-2': 'qwen3:8b' },
    });
  });
});

describe('Choosing a model from the header', () => {
  const TWO = claude({
    models: [
      { id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5' },
      { id: 'claude-opus-5-5', name: 'Claude Opus 5.5' },
    ],
  });
  const opened = async (path = '/', isRunning = true) =>
    await openPage({
      docs: team(2),
      path,
      snapshot: isRunning ? runningSession({ awake: ['agent-1'] }) : null,
      prepare: ({ relay, reach }) => {
        relay.mind = 'anthropic';
        reach.on('GET /api/models', { connections: [TWO], may: 'any' });
        reach.on('PUT /api/sessions/current/settings', () => new Response(null, { status: 204 }));
      },
    });
  const PUT = 'PUT /api/sessions/current/settings';
  /** There is one in the header, and one under the grid for small screens. */
  const chip = async () => {
    const [inHeader] = await screen.findAllByRole('button', { name: /^Claude · / });
    if (!inHeader) throw new Error('There is no chip.');
    return inHeader;
  };

  test('the chip of the header sets the model of everybody, from the next message on', async () => {
    const page = await opened();
    await page.user.click(await chip());
    const dialog = await screen.findByRole('dialog', { name: 'Model' });
    expect(within(dialog).getAllByRole('radio', { name: /Everybody|Julian|Lyra/ })).toHaveLength(2);
    await page.user.click(within(dialog).getByRole('radio', { name: 'Opus 5.5' }));
    await screen.findByText('Everybody: Opus 5.5 from the next message on.');
    expect(page.reach.bodies(PUT)).toMatchObject([{ leadModel: 'claude-opus-5-5', agentModel: 'claude-opus-5-5' }]);
    expect(screen.queryByRole('dialog', { name: 'Model' })).toBeNull();
  });

  test('beside an agent it sets the model of that agent alone', async () => {
    const page = await opened('/agent/agent-1');
    await page.user.click(await chip());
    const dialog = await screen.findByRole('dialog', { name: 'Model' });
    expect(within(dialog).getByRole<HTMLInputElement>('radio', { name: 'Lyra' }).checked).toBe(true);
    await page.user.click(within(dialog).getByRole('radio', { name: 'Opus 5.5' }));
    await waitFor(() =>
      expect(page.reach.bodies(PUT)).toMatchObject([
        { leadModel: '', agentModel: '', agentModels: { 'agent-1': 'claude-opus-5-5' } },
      ]),
    );
  });

  test('a choice in the settings reaches the running session, and none is asked where none runs', async () => {
    const running = await opened('/settings/minds');
    await running.user.selectOptions(await screen.findByLabelText('Model of the lead'), 'claude-sonnet-5-5');
    await screen.findByText('Model of the lead saved. It applies now.');
    expect(running.reach.bodies(PUT)).toMatchObject([{ leadModel: 'claude-sonnet-5-5', agentModel: '' }]);
    running.unmount();
    const asleep = await opened('/settings/minds', false);
    await asleep.user.selectOptions(await screen.findByLabelText('Model of the lead'), 'claude-sonnet-5-5');
    await screen.findByText('Model of the lead saved. It applies now.');
    expect(asleep.reach.times(PUT)).toBe(0);
  });

  test('a number of a session reaches the running one, and a text says what waits for the next one', async () => {
    const page = await opened('/settings/advanced');
    const set = async (label: string, value: string) => {
      const field = await screen.findByRole('textbox', { name: new RegExp(`^${label}`) });
      await page.user.clear(field);
      await page.user.type(field, value);
      await page.user.tab();
    };
    await set('Longest answer', '5000');
    await screen.findByText('Longest answer saved. It applies now.');
    expect(page.reach.bodies(PUT)).toMatchObject([{ maxAnswerTokens: 5_000 }]);
    await set('Remembered of the last conversation', '50');
    await screen.findByText(/^Remembered of the last conversation saved. It applies from the next session.$/);
    expect(page.reach.times(PUT)).toBe(1);
  });

  test('shows in place that the session refuses a choice', async () => {
    const page = await opened('/settings/minds');
    page.reach.on(PUT, () => refused('The relay is closing.', 503));
    await page.user.selectOptions(await screen.findByLabelText('Model of the lead'), 'claude-sonnet-5-5');
    expect(await screen.findByText(/the running session refused the change/)).toBeDefined();
  });
});
