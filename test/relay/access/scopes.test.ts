/** What an application's credential lets it do: what the person ticked, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { agentConfigSchema } from '../../../src/shared/protocol/config.ts';
import { ENDPOINTS } from '../../../src/shared/protocol/endpoints/index.ts';
import type { Endpoint } from '../../../src/shared/protocol/endpoints/endpoint.ts';
import { madeCredentialSchema } from '../../../src/shared/protocol/team.ts';
import { SCOPES, type Scope } from '../../../src/shared/protocol/scopes.ts';
import { startRelay, type TestRelay } from '../../support/relay.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay();
  const member = (agentId: string, name: string, position: number) => ({ agentId, name, position, retired: false });
  await relay.fetch('/api/team', {
    method: 'PUT',
    json: { agents: [member('lead', 'Julian', 4), member('a1', 'Lyra', 0), member('a2', 'Orion', 1)] },
  });
});
afterAll(() => relay.stop());

const make = (body: object) => relay.fetch('/api/credentials', { method: 'POST', json: body });
async function credential(scopes: readonly Scope[] | undefined, label = 'Watch'): Promise<string> {
  const made = await make({ agentId: null, label, ...(scopes === undefined ? {} : { scopes }) });
  expect(made.status).toBe(201);
  return madeCredentialSchema.parse(await made.json()).secret;
}
const call = (secret: string, method: string, path: string, body?: unknown) =>
  fetch(new URL(path, relay.url), {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const statusOf = async (secret: string, method: string, path: string, body?: unknown) =>
  (await call(secret, method, path, body)).status;

const ROUTINE = {
  kind: 'routine',
  agentId: 'Lyra',
  name: 'Round',
  instructions: 'Look around.',
  timing: { kind: 'every', minutes: 30 },
  enabled: false,
};
/** One call of each scope, with what it answers where it is let in. */
const CALLS: Readonly<Record<Scope, readonly (readonly [string, string, unknown, number])[]>> = {
  team: [['GET', '/api/team', undefined, 200]],
  read: [
    ['GET', '/v1/config', undefined, 200],
    ['GET', '/v1/agents/Lyra/wake-stats', undefined, 200],
    ['GET', '/v1/agents/a2/schedule', undefined, 200],
    ['GET', '/v1/pulses/timeline', undefined, 200],
    ['GET', '/v1/runs', undefined, 200],
  ],
  sleep: [['PUT', '/api/v1/sessions/current/Lyra/sleeping', { sleeping: true }, 404]],
  wake: [['PUT', '/sessions/current/Lyra/sleeping', { sleeping: false }, 404]],
  threads: [['GET', '/api/threads', undefined, 200]],
  sessions: [['POST', '/api/sessions', { agents: [] }, 409]],
  schedules: [['POST', '/v1/pulse-routines', ROUTINE, 201]],
  limits: [['PUT', '/v1/agents/Lyra/config', { coordination: { wakes_enabled: true } }, 200]],
};

/** Fields of an agent's settings that the scope `limits` sets, with a value for each. */
const OF_LIMITS: Readonly<Record<string, unknown>> = {
  'coordination.wakes_enabled': false,
  'coordination.max_concurrent_pulse_sessions': 1,
  'coordination.wake_guardrails': { max_wakes_per_day: 2 },
  'coordination.blackouts': [],
  'coordination.sleep_events': [],
  'coordination.wake_events': [],
  pulse_container_timeout_ms: 600_000,
  pulse_busy_wait_ms: 60_000,
  pulse_max_consecutive_skips: 4,
  pulse_max_turns: 9,
  pulse_blackouts: [],
};
/** Those that need `schedules`, too. */
const OF_SCHEDULES: Readonly<Record<string, unknown>> = {
  pulse_enabled: false,
  pulse_interval_minutes: 77,
  pulse_offset_minutes: 3,
};
const OF_PERSON = [
  ...['toolsets', 'tools', 'mind', 'network', 'command_seconds', 'workspace_megabytes', 'shell_without_sandbox'],
  ...['allowed_commands', 'daily_budget_usd', 'may_put_others_to_sleep', 'may_propose_routines'],
  ...['dreams', 'dream_hour', 'note_before_sleep', 'note_cents'],
].map((field) => `coordination.${field}`);
OF_PERSON.push('pulse_columns', 'pulse_transitions_to', 'planning_model', 'executor_model');

const OF_SCRIPTS = ['script', 'sha256', 'hosts', 'own_hosts', 'on_failure', 'overlap'];
const OF_TIMING = ['minutes', 'offset', 'cron', 'zone', 'days', 'time', 'at'].map((field) => `timing.${field}`);
const OF_ROUTINES = [
  ...['kind', 'agentId', 'name', 'instructions', 'message', 'timing.kind', ...OF_TIMING, 'when', 'enabled', 'color'],
  ...['model', 'planningModel', 'executorModel', 'tools', 'columns', 'pulse_columns', 'timeoutMs', 'maxConcurrent'],
  ...['maxTurns', 'context', 'catch_up'],
];
const OF_SETTINGS = [
  ...['leadModel', 'agentModel', 'agentModels', 'maxAnswerTokens', 'contextTokens', 'wakeTimeoutMs', 'birthTimeoutMs'],
  ...['idleMs', 'wakeTemplate'],
].map((field) => `settings.${field}`);
/**
 * Fields of the calls of the other scopes. What an application may not set of them is tested below:
 * all of a session but its agents, and scripts.
 */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  putSleeping: ['sleeping'],
  postSleeping: ['sleeping'],
  createThread: ['title', 'participants'],
  sendToThread: ['text', 'mentions', 'clientId'],
  addToThread: ['agentId', 'version'],
  closeThread: ['summary', 'version'],
  startSession: [
    ...['agents.agent', 'agents.sleepEvents', 'agents.wakeEvents', 'human.name', 'human.language', 'after', 'ahead'],
    ...['lead.name', 'lead.soul', 'lead.transcript', 'lead.asleepSince', 'lead.sleptFrom', ...OF_SETTINGS],
  ],
  addSchedule: [...OF_ROUTINES, ...OF_SCRIPTS],
  changeSchedule: [...OF_ROUTINES, ...OF_SCRIPTS, 'version'],
};

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
}
/** The fields of a body, and of what is in it, in order. */
function fieldsOf(body: z.ZodType): readonly string[] {
  function within({ properties = {}, items, anyOf = [], oneOf = [], allOf = [] }: Shape, at: string): string[] {
    const own = Object.entries(properties).flatMap(([name, shape]) => {
      const inner = within(shape, `${at}${name}.`);
      return inner.length > 0 ? inner : [`${at}${name}`];
    });
    const others = [...anyOf, ...oneOf, ...allOf, ...(items ? [items] : [])];
    return [...own, ...others.flatMap((shape) => within(shape, at))];
  }
  const shape = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as unknown as Shape;
  return [...new Set(within(shape, ''))].toSorted();
}

/** Who sets something may see it. */
const ALSO: Partial<Record<Scope, readonly Scope[]>> = { read: ['schedules', 'limits'] };

describe('A scope', () => {
  it.each(SCOPES)('“%s” allows what it says, and no other scope does', async (scope) => {
    const has = await credential([scope]);
    const without = [scope, ...(ALSO[scope] ?? [])];
    const lacks = await credential(SCOPES.filter((each) => !without.includes(each)));
    for (const [method, path, body, status] of CALLS[scope]) {
      expect(await statusOf(has, method, path, body), path).toBe(status);
      const refused = await call(lacks, method, path, body);
      expect(refused.status, path).toBe(403);
      expect(await refused.json()).toMatchObject({
        type: 'about:roost/no-scope',
        detail: expect.stringContaining(`“${scope}”`) as unknown,
      });
    }
  });

  it('allows nothing without scopes, and with all of them only what they name', async () => {
    const none = await credential([]);
    for (const calls of Object.values(CALLS))
      for (const [method, path, body] of calls) expect(await statusOf(none, method, path, body), path).toBe(403);
    const all = await credential(SCOPES);
    for (const [method, path] of [
      ['GET', '/api/credentials'],
      ['GET', '/api/costs'],
      ['GET', '/api/events'],
      ['PUT', '/v1/config'],
      ['POST', '/api/messages'],
      ['GET', '/api/agent-snapshots'],
      ['GET', '/api/agents/a1/inbox'],
      ['GET', '/api/calls'],
    ] as const)
      expect(await statusOf(all, method, path, method === 'GET' ? undefined : {}), path).toBe(401);
  });

  it('accepts a scope for an application only, and demands a name for writing in threads', async () => {
    expect((await make({ agentId: 'a1', label: 'x', scopes: ['threads'] })).status).toBe(400);
    const nameless = await make({ agentId: null, label: '', scopes: ['threads'] });
    expect(await nameless.json()).toMatchObject({ errors: [{ field: 'label' }] });
    expect((await make({ agentId: null, label: 'x', scopes: ['everything'] })).status).toBe(400);
    // Whoever names none gets what applications always had.
    const usual = await credential(undefined);
    expect(await statusOf(usual, 'GET', '/v1/agents/a1/wake-stats')).toBe(200);
    expect(await statusOf(usual, 'GET', '/api/team')).toBe(403);
  });
});

describe('An application', () => {
  it('sees the threads that it began and no other, and never speaks as the person', async () => {
    const mine = await relay.fetch('/api/threads', { method: 'POST', json: { title: 'Ours', participants: ['Lyra'] } });
    const { threadId: ours } = (await mine.json()) as { threadId: string };
    const [tides, other] = [await credential(['threads'], 'Tides'), await credential(['threads'], 'Other')];
    const opened = await call(tides, 'POST', '/api/threads', { title: 'Theirs', participants: ['Lyra', 'Orion'] });
    expect(opened.status).toBe(201);
    const { threadId } = (await opened.json()) as { threadId: string };
    expect(await (await call(tides, 'GET', '/api/threads')).json()).toMatchObject({
      threads: [{ threadId, createdBy: 'app:Tides', participants: ['a1', 'a2'] }],
    });
    for (const [secret, thread] of [
      [tides, ours],
      [other, threadId],
      [other, ours],
    ] as const) {
      expect(await statusOf(secret, 'GET', `/api/threads/${thread}/messages`)).toBe(404);
      const said = { text: 'It is me.', clientId: 'c' };
      expect(await statusOf(secret, 'POST', `/api/threads/${thread}/messages`, said)).toBe(404);
      expect(await statusOf(secret, 'POST', `/api/threads/${thread}/close`, {})).toBe(404);
    }
    const said = await call(tides, 'POST', `/api/threads/${threadId}/messages`, {
      text: 'High water?',
      clientId: 'c1',
    });
    expect(await said.json()).toMatchObject({ from: 'app:Tides', text: 'High water?' });
    // Another of the same name goes on where the first was: the person gave both that name.
    const again = await credential(['threads'], 'Tides');
    expect(await statusOf(again, 'GET', `/api/threads/${threadId}/messages`)).toBe(200);
    const inbox = await (await relay.fetch('/api/agents/a1/inbox')).json();
    expect(inbox).toMatchObject({
      messages: [
        { from: 'app:Tides', threadId },
        { from: 'relay', threadId: ours },
      ],
    });
  });

  it('sets limits of wakes, and nothing that lets an agent do or spend more', async () => {
    const secret = await credential(['limits']);
    const put = (json: object) => call(secret, 'PUT', '/v1/agents/Orion/config', json);
    expect((await put({ coordination: { wake_guardrails: { max_wakes_per_day: 3 } } })).status).toBe(200);
    for (const coordination of [
      { toolsets: { shell: 'allow' } },
      { daily_budget_usd: 100 },
      { mind: 'claude-code' },
      { network: 'all' },
      { may_put_others_to_sleep: true },
    ]) {
      const refused = await put({ coordination });
      expect([400, 403], JSON.stringify(coordination)).toContain(refused.status);
    }
    // A pulse sets an agent to work: it is a routine.
    expect((await put({ pulse_enabled: true })).status).toBe(403);
    const both = await credential(['limits', 'schedules']);
    const pulses = { pulse_enabled: true, pulse_interval_minutes: 60 };
    expect(await statusOf(both, 'PUT', '/v1/agents/Orion/config', pulses)).toBe(200);
  });

  it('sets of an agent’s settings the fields that its scopes name, and no other of them all', async () => {
    const [limits, both] = [await credential(['limits']), await credential(['limits', 'schedules'])];
    const coordination = Object.keys(agentConfigSchema.shape.coordination.unwrap().shape);
    const fields = [
      ...coordination.map((field) => `coordination.${field}`),
      ...Object.keys(agentConfigSchema.shape).filter((field) => field !== 'coordination'),
      ...['pulse_enabled', 'pulse_interval_minutes', 'pulse_offset_minutes', 'pulse_blackouts'],
    ];
    expect(fields.sort()).toEqual([...Object.keys(OF_LIMITS), ...Object.keys(OF_SCHEDULES), ...OF_PERSON].sort());
    const put = (secret: string, field: string, value: unknown) => {
      const name = field.replace('coordination.', '');
      const json = name === field ? { [name]: value } : { coordination: { [name]: value } };
      return statusOf(secret, 'PUT', '/v1/agents/Orion/config', json);
    };
    for (const [field, value] of Object.entries(OF_LIMITS))
      expect([field, await put(limits, field, value)]).toEqual([field, 200]);
    for (const [field, value] of Object.entries(OF_SCHEDULES)) {
      expect([field, await put(limits, field, value)]).toEqual([field, 403]);
      expect([field, await put(both, field, value)]).toEqual([field, 200]);
    }
    const before = await (await relay.fetch('/v1/agents/Orion/config')).json();
    // One of these fits each field that there is.
    const values = [
      true,
      7,
      77,
      'x',
      ['x'],
      'all',
      'propose',
      { shell: 'allow' },
      [],
      { x: { y: 'allow' } },
      ['example.org'],
    ];
    for (const field of OF_PERSON) {
      const statuses = new Set<number>();
      for (const value of values) statuses.add(await put(both, field, value));
      expect([field, [...statuses].filter((status) => status !== 400)]).toEqual([field, [403]]);
    }
    // Nor by leaving out what the person has set.
    const whole = { planning_model: 'big', pulse_columns: ['ready'] };
    expect((await relay.fetch('/v1/agents/Lyra/config', { method: 'PUT', json: whole })).status).toBe(200);
    expect(await statusOf(both, 'PUT', '/v1/agents/Lyra/config', { whole: true, coordination: {} })).toBe(403);
    expect(await (await relay.fetch('/v1/agents/Orion/config')).json()).toEqual(before);
  });

  it('shows an application exactly these fields of other calls, so that a new field is decided on', () => {
    const names = ['sleep', 'wake', 'threads', 'sessions', 'schedules'] as const;
    const found = Object.entries<Endpoint>(ENDPOINTS).flatMap(([name, { scopes = [], body }]) =>
      body && names.some((scope) => scopes.includes(scope)) ? [[name, fieldsOf(body)] as const] : [],
    );
    const expected = Object.entries(FIELDS).map(([name, fields]) => [name, fields.toSorted()]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  it('sets no scripts, and starts none', async () => {
    const secret = await credential(['schedules', 'read']);
    const script = {
      kind: 'script',
      agentId: 'a1',
      name: 'Look',
      script: 'look.sh',
      timing: ROUTINE.timing,
      enabled: false,
    };
    expect(await statusOf(secret, 'POST', '/v1/pulse-routines', script)).toBe(403);
    const set = await relay.fetch('/v1/pulse-routines', { method: 'POST', json: script });
    expect(set.status).toBe(201);
    const { scheduleId } = (await set.json()) as { scheduleId: string };
    for (const [method, path, body] of [
      ['PUT', '', { ...ROUTINE, name: 'Look' }],
      ['DELETE', '', undefined],
      ['POST', '/toggle', undefined],
      ['POST', '/trigger', undefined],
      ['POST', '/duplicate', undefined],
    ] as const)
      expect(await statusOf(secret, method, `/v1/pulse-routines/${scheduleId}${path}`, body), path).toBe(403);
  });

  it('starts a session with nothing of its own but agents', async () => {
    const secret = await credential(['sessions']);
    const lead = { name: 'Julian', soul: 'I am another.', transcript: null };
    for (const body of [{ human: { name: 'Ada' }, lead }, { settings: { wakeTemplate: 'Obey.' } }, { lead }])
      expect(await statusOf(secret, 'POST', '/api/sessions', body)).toBe(400);
    // To wake somebody is a scope of its own.
    const wakes = { agents: [{ agent: 'Lyra' }] };
    expect(await statusOf(secret, 'POST', '/api/sessions', wakes)).toBe(403);
    for (const agents of [[{ agent: 'nobody' }], [{ agent: 'lead' }], [{ agent: 'Lyra' }, { agent: 'a1' }]])
      expect(await statusOf(secret, 'POST', '/api/sessions', { agents })).toBe(400);
    // A session of the person's is not its to end.
    const started = await relay.fetch('/api/sessions', { method: 'POST', json: { human: { name: 'Ada' }, lead } });
    expect(started.status).toBe(201);
    expect(await statusOf(secret, 'DELETE', '/api/sessions/current')).toBe(403);
    expect((await relay.fetch('/api/sessions/current', { method: 'DELETE' })).status).toBe(204);
  });
});

describe('Wake stats', () => {
  it('finds wake stats by name, seat and id', async () => {
    const secret = await credential(['read']);
    for (const who of ['Lyra', 'lyra', '1', 'a1'])
      expect(await statusOf(secret, 'GET', `/v1/agents/${who}/wake-stats`), who).toBe(200);
    expect(await statusOf(secret, 'GET', '/v1/agents/nobody/wake-stats')).toBe(404);
  });
});
