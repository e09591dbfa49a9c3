/**
 * Settings of an agent as people and programs send them: in parts, pasted from elsewhere, and by
 * other names.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { occurrenceSchema } from '../../../../src/shared/protocol/schedules.ts';
import { startRelay, type TestRelay } from '../../../support/relay.ts';
import { SNAPSHOT } from '../../../support/schedules.ts';
import { startScriptedModel, type ScriptedModel } from '../../../support/scripted-model.ts';
import { z } from 'zod';

let model: ScriptedModel;
let relay: TestRelay;
const AGENTS = ['Lyra', 'Orion', 'Vega', 'Sage'];
beforeAll(async () => {
  model = await startScriptedModel(() => 'silent');
  relay = await startRelay({
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
  });
  const member = (agentId: string, name: string, position: number) => ({ agentId, name, position, retired: false });
  await relay.fetch('/api/team', {
    method: 'PUT',
    json: {
      agents: [member('lead', 'Julian', 4), ...AGENTS.map((name, position) => member(`a${position}`, name, position))],
    },
  });
});
afterAll(async () => {
  await relay.stop();
  await model.close();
});

type Config = Record<string, unknown>;
const pathOf = (who: string) => `/v1/agents/${who}/config`;
const read = async (who: string) => (await (await relay.fetch(pathOf(who))).json()) as Config;
const put = (who: string, json: object) => relay.fetch(pathOf(who), { method: 'PUT', json });
const paste = (who: string, body: string) =>
  relay.fetch(pathOf(who), { method: 'PUT', body, headers: { 'content-type': 'application/yaml' } });

const NIGHT = [{ label: 'night', start_time: '22:00', end_time: '06:00', type: 'recurring', days: [] }];

describe('A setting that a call leaves out', () => {
  it('stays as it is, whatever the call sets', async () => {
    await put('Lyra', {
      coordination: { blackouts: NIGHT, wake_guardrails: { cooldown_seconds: 60 }, toolsets: { files: 'allow' } },
      pulse_max_consecutive_skips: 7,
      planning_model: 'thinker',
    });
    for (const part of [
      {},
      { coordination: {} },
      { coordination: { wakes_enabled: false } },
      { coordination: { wake_guardrails: { max_wakes_per_day: 3 } } },
      { pulse_interval_minutes: 45 },
      { sleepEvents: ['agent_started'] },
    ])
      expect((await put('Lyra', part)).status, JSON.stringify(part)).toBe(200);
    expect(await read('Lyra')).toMatchObject({
      own: {
        coordination: {
          blackouts: NIGHT,
          wake_guardrails: { cooldown_seconds: 60, max_wakes_per_day: 3 },
          toolsets: { files: 'allow' },
          wakes_enabled: false,
          sleep_events: ['agent_started'],
        },
        pulse_max_consecutive_skips: 7,
        planning_model: 'thinker',
      },
      pulse_blackouts: NIGHT,
      pulse_interval_minutes: 45,
    });
    // A list that is said is said whole.
    await put('Lyra', { coordination: { blackouts: [] } });
    expect(await read('Lyra')).toMatchObject({ pulse_blackouts: [] });
  });

  it('follows the defaults where the call says that it is the whole, as YAML that was copied out does', async () => {
    await put('Orion', { coordination: { blackouts: NIGHT, wakes_enabled: false } });
    expect((await put('Orion', { whole: true, coordination: { wakes_enabled: false } })).status).toBe(200);
    expect((await read('Orion'))['own']).toEqual({ coordination: { wakes_enabled: false } });
    const yaml = await relay.fetch(pathOf('Orion'), { headers: { accept: 'application/yaml' } });
    const text = await yaml.text();
    expect((await paste('Orion', text.replace(/^ *wakes_enabled:.*\n/m, ''))).status).toBe(200);
    expect(await read('Orion')).toMatchObject({ coordination: { wakes_enabled: true } });
  });

  it('stays for the household too', async () => {
    const set = (json: object) => relay.fetch('/v1/config', { method: 'PUT', json });
    await set({ daily_budget_usd: 5, coordination: { blackouts: NIGHT } });
    await set({ time_zone: 'Europe/Berlin' });
    const answer = (await (await relay.fetch('/v1/config')).json()) as Config;
    expect(answer['own']).toMatchObject({
      daily_budget_usd: 5,
      time_zone: 'Europe/Berlin',
      coordination: { blackouts: NIGHT },
    });
    await set({ whole: true });
  });
});

/** As DjinnBot's documentation has it (docs: agent anatomy, pulse mode). */
const SEED = `pulse_enabled: true
pulse_interval_minutes: 30
pulse_columns:              # Which kanban columns this agent checks
  - Backlog
  - Ready
pulse_container_timeout_ms: 120000
pulse_max_consecutive_skips: 5
pulse_offset_minutes: 3     # Stagger to avoid all agents waking simultaneously
pulse_blackouts:
  - label: Nighttime
    start_time: '23:00'
    end_time: '07:00'
    type: recurring
pulse_transitions_to:       # Allowed kanban transitions
  - planning
  - ready
  - in_progress
pulse_one_offs: []

coordination:
  max_concurrent_pulse_sessions: 2    # Max containers at once
  wake_guardrails:
    cooldown_seconds: 300              # Minimum time between wakes
    max_daily_session_minutes: 120     # Daily runtime cap
    max_wakes_per_day: 12              # Daily wake limit
    max_wakes_per_pair_per_day: 5      # Prevent agent-to-agent loops

# Model overrides for plan+execute delegation
planning_model: openrouter/anthropic/claude-sonnet-4
executor_model: openrouter/x-ai/grok-4.1-fast
`;

describe('A config.yml of another program', () => {
  it('is accepted unchanged, and returns its project settings as they were', async () => {
    const answer = await paste('Vega', SEED);
    expect(await answer.text()).not.toContain('errors');
    expect(answer.status).toBe(200);
    expect(await read('Vega')).toMatchObject({
      pulse_enabled: true,
      pulse_interval_minutes: 30,
      pulse_offset_minutes: 3,
      pulse_columns: ['Backlog', 'Ready'],
      pulse_transitions_to: ['planning', 'ready', 'in_progress'],
      pulse_blackouts: [{ label: 'Nighttime', start_time: '23:00', end_time: '07:00' }],
      planning_model: 'openrouter/anthropic/claude-sonnet-4',
      executor_model: 'openrouter/x-ai/grok-4.1-fast',
      coordination: { max_concurrent_pulse_sessions: 2, wake_guardrails: { max_wakes_per_day: 12 } },
    });
  });

  it('may be pasted in parts, with its own names of days and moments', async () => {
    for (const part of ['planning_model: other\n', 'pulse_columns: []\n', 'coordination:\n  wakes_enabled: false\n'])
      expect((await paste('Vega', part)).status, part).toBe(200);
    const odd = `pulse_blackouts:
  - { label: Holidays, type: one_off, start: '2026-12-24T18:00', end: '2026-12-27T08:00' }
  - { label: Weekend, type: recurring, start_time: '00:00', end_time: '00:00', days_of_week: [0, 6] }
`;
    expect((await paste('Vega', odd)).status).toBe(200);
    expect(await read('Vega')).toMatchObject({
      planning_model: 'other',
      executor_model: 'openrouter/x-ai/grok-4.1-fast',
      pulse_columns: [],
      pulse_blackouts: [
        { start_time: '2026-12-24T18:00', end_time: '2026-12-27T08:00' },
        { label: 'Weekend', days: [0, 6] },
      ],
    });
  });

  it('is refused whole with the name of an invalid field', async () => {
    for (const [body, field] of [
      ['pulse_columns: Ready\n', 'pulse_columns'],
      ['planning_model: 7\n', 'planning_model'],
      ['pulse_container_timeout_ms: 10\n', 'pulse_container_timeout_ms'],
      ['pulse_one_offs: ["2026-12-24T18:00"]\n', 'pulse_one_offs'],
      ['thinking_level: off\n', 'thinking_level'],
    ] as const) {
      const answer = await paste('Vega', `pulse_interval_minutes: 99\n${body}`);
      expect(answer.status, body).toBe(400);
      expect(await answer.text()).toContain(field);
    }
    expect(await read('Vega')).toMatchObject({ pulse_interval_minutes: 30 });
  });
});

describe('pulse_container_timeout_ms', () => {
  it("limits a run's time, while the wait for its agent has its own setting", async () => {
    const left = await relay.fetch('/api/agent-snapshots/a3', {
      method: 'PUT',
      json: { version: '000001764000000-1-a', snapshot: { ...SNAPSHOT, name: 'Sage', position: 3 } },
    });
    expect(left.status).toBe(204);
    expect((await put('Sage', { pulse_container_timeout_ms: 1_000, pulse_busy_wait_ms: 90_000 })).status).toBe(200);
    const added = await relay.fetch('/v1/pulse-routines', {
      method: 'POST',
      json: {
        kind: 'routine',
        agentId: 'Sage',
        name: 'Round',
        instructions: 'Look.',
        timing: { kind: 'every', minutes: 600 },
      },
    });
    expect(added.status).toBe(201);
    const { scheduleId } = (await added.json()) as { scheduleId: string };
    await relay.fetch(`/v1/pulse-routines/${scheduleId}/trigger`, { method: 'POST' });
    const history = async () => {
      const answer = await relay.fetch(`/v1/pulse-routines/${scheduleId}/history`);
      return z.object({ occurrences: z.array(occurrenceSchema) }).parse(await answer.json()).occurrences;
    };
    await expect.poll(async () => (await history())[0]?.endedAt ?? null, { timeout: 20_000 }).not.toBeNull();
    expect(await history()).toMatchObject([{ detail: expect.stringContaining('1 s') as unknown }]);
    expect(await read('Sage')).toMatchObject({ pulse_container_timeout_ms: 1_000, pulse_busy_wait_ms: 90_000 });
  });
});
