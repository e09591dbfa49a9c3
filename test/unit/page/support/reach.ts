/**
 * The relay's calls about how agents reach each other: the real client, over answers that a test
 * has put down.
 */
import { DEFAULT_TOOLSETS } from '../../../../src/shared/domain/toolsets.ts';
import type { ToolCall } from '../../../../src/shared/protocol/approvals.ts';
import type { EffectiveConfig } from '../../../../src/shared/protocol/config.ts';
import type { WakeDecision, WakeStats } from '../../../../src/shared/protocol/wakes.ts';
import { createDeferredClient, type DeferredClient } from '../../../../src/shared/relay-client/deferred-client.ts';
import type { CallRelay } from '../../../../src/page/state/call-relay.ts';
import { NOW } from './household.ts';

export interface AskedCall {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** JSON as it was read, or the text where it was none. */
  readonly body: unknown;
  readonly type: string | null;
  readonly accept: string | null;
}
type Answer = (call: AskedCall) => Response;

export interface MemoryReach {
  readonly asked: AskedCall[];
  readonly client: DeferredClient;
  readonly port: CallRelay;
  /**
   * From now on `call` ("GET /api/inbox", without a query) is answered with this, or with what it
   * makes.
   */
  on(call: string, answer: unknown): void;
  /** How often this call was made. */
  times(call: string): number;
  /** What these calls carried, oldest first. */
  bodies(call: string): unknown[];
}

const isAnswer = (answer: unknown): answer is Answer => typeof answer === 'function';

export const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });
export const refused = (detail: string, status = 400, name = 'refused', more: object = {}): Response =>
  json({ type: `about:roost/${name}`, title: 'Refused', status, detail, ...more }, status);

export const EFFECTIVE: EffectiveConfig = {
  coordination: {
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
    network: 'none',
    command_seconds: 120,
    workspace_megabytes: 2_000,
    shell_without_sandbox: false,
    allowed_commands: [],
    mind: null,
    note_before_sleep: true,
    note_cents: 50,
    dreams: 'off',
    dream_hour: 3,
    may_propose_routines: false,
    daily_budget_usd: null,
  },
  wakes_enabled: true,
  time_zone: 'Europe/Berlin',
  flood_guard: { max_wakes: 5, window_seconds: 60 },
  daily_budget_usd: null,
  sleep_wait_seconds: 600,
  programs_at_once: 3,
  pulse_container_timeout_ms: 120_000,
  pulse_busy_wait_ms: 120_000,
  pulse_max_consecutive_skips: 5,
  pulse_max_turns: 25,
};

export const STATS: WakeStats = {
  wakesToday: 0,
  maxWakesPerDay: 12,
  cooldownSeconds: 300,
  lastWakeTime: null,
  maxDailySessionMinutes: 120,
  minutesToday: 0,
  bySource: {},
  running: 0,
  nextWakeTime: null,
  stoppedBy: null,
};

/** A decision of the gate, `n` minutes ago. */
export const wake = (n: number, more: Partial<WakeDecision> = {}): WakeDecision => ({
  decisionId: `w${n}`,
  callId: null,
  time: NOW - n * 60_000,
  target: 'agent-2',
  source: { kind: 'agent', agentId: 'agent-1' },
  way: 'wake_agent',
  reason: 'blocker',
  messageId: `m${n}`,
  outcome: 'granted',
  check: null,
  until: null,
  detail: 'It passed.',
  ...more,
});

/** What the relay names the configuration that it has. */
export const VERSION = 7;
/**
 * As the relay answers both kinds of configuration, asked for or sent: then with the version that
 * it was made from.
 */
export const configAnswer = (own: object, effective: EffectiveConfig = EFFECTIVE): object => ({
  ...effective,
  pulse_enabled: false,
  pulse_interval_minutes: 30,
  pulse_offset_minutes: null,
  pulse_columns: [],
  pulse_transitions_to: null,
  planning_model: null,
  executor_model: null,
  pulse_blackouts: effective.coordination.blackouts,
  own: { ...own, version: undefined, whole: undefined },
  effective,
  version: VERSION,
});

/** A question of an agent, as the relay lists it. */
export const WAITING_CALL: ToolCall = {
  callId: 'call-1',
  agentId: 'agent-1',
  tool: 'run_command',
  input: '{"command":"make"}',
  state: 'asked',
  where: 'run',
  askedAt: NOW,
  answeredAt: null,
  endedAt: null,
  allowedBy: null,
  words: null,
  outcome: null,
  isError: false,
  bytes: null,
  later: false,
};

/** A relay on which nothing has happened yet. */
function quiet({ method, path }: AskedCall): Response {
  if (method !== 'GET') return refused('There is nothing here.', 404);
  if (path.endsWith('/inbox')) return json({ messages: [], more: false });
  if (path.endsWith('/wake-stats')) return json(STATS);
  if (path.endsWith('/config')) return json(configAnswer({}));
  if (path === '/api/wakes') return json({ wakes: [], more: false });
  return refused('There is nothing here.', 404);
}

export function memoryReach(): MemoryReach {
  const answers = new Map<string, Answer>();
  const asked: AskedCall[] = [];
  const fetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const url = new URL(String(input), 'http://relay.test');
    const headers = new Headers(init?.headers);
    const type = headers.get('content-type');
    const text = typeof init?.body === 'string' ? init.body : null;
    const call: AskedCall = {
      method: init?.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      body: text !== null && type === 'application/json' ? JSON.parse(text) : text,
      type,
      accept: headers.get('accept'),
    };
    asked.push(call);
    const answer = answers.get(`${call.method} ${call.path}`);
    return Promise.resolve(answer ? answer(call) : quiet(call));
  };
  const client = createDeferredClient({ fetch, baseUrl: '' });
  const reach: MemoryReach = {
    asked,
    client,
    port: (call) => call(client),
    on: (call, answer) => void answers.set(call, isAnswer(answer) ? answer : () => json(answer)),
    times: (name) => reach.bodies(name).length,
    bodies: (name) => asked.filter(({ method, path }) => `${method} ${path}` === name).map(({ body }) => body),
  };
  reach.on('PUT /api/team', () => new Response(null, { status: 204 }));
  reach.on('GET /api/inbox', { unread: {} });
  reach.on('GET /api/dreams', { dreams: [] });
  reach.on('GET /api/exams', { exams: [] });
  reach.on('GET /v1/find', { tasks: [], files: [], more: false });
  reach.on('GET /api/models', { connections: [], may: 'any' });
  return reach;
}
