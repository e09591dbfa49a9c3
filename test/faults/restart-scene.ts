/**
 * A whole relay with two agents, a scripted model and the person’s calls, that is killed (`kill
 * -9`) and started again on its home, at once or hours later by its clock; and what must hold after
 * any start, whatever the relay was at.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { attemptsSchema } from '../../src/shared/protocol/attempts.ts';
import { toolCallSchema } from '../../src/shared/protocol/approvals.ts';
import { projectSchema, tasksSchema } from '../../src/shared/protocol/projects.ts';
import { occurrenceSchema, scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { clockAhead } from '../support/moved-clock.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { SNAPSHOT } from '../support/schedules.ts';
import { startScriptedModel, type Part, type Script, type ScriptedModel } from '../support/scripted-model.ts';
import { Fault } from './checks.ts';

export const AGENTS = ['a1', 'a2'] as const;
export type AgentOfScene = (typeof AGENTS)[number];

/** ms that anything may take after a start: longer than any lease. */
const SETTLES_MS = 60_000;
const LOOK_MS = 50;
/** Commands that agents leave running sleep for so many seconds, by which they are found. */
export const LONG_SLEEP = 'sleep 7654321';

/** What a page reads when it opens. */
const LISTS = [
  ...['team', 'approvals', 'calls', 'threads', 'inbox', 'wakes', 'mcp-servers', 'agent-programs', 'models', 'webhooks'],
  ...['costs', 'notifications', 'credentials', 'records/approvals', 'agent-snapshots', 'room', 'home', 'health'],
].map((name) => `/api/${name}`);
const NEWER_LISTS = ['projects', 'pulse-routines', 'routine-proposals', 'runs', 'attempts?hours=168', 'config'].map(
  (name) => `/v1/${name}`,
);

export interface Scene {
  /** For repositories and files of programs. */
  readonly folder: string;
  readonly model: ScriptedModel;
  relay(): TestRelay;
  call(method: string, path: string, json?: unknown): Promise<Response>;
  /** A call that succeeds; resolves with its body. */
  good(method: string, path: string, json?: unknown): Promise<unknown>;
  /** The agent works alone once, with these turns; after them its model never answers again. */
  begins(agentId: AgentOfScene, turns: readonly (readonly Part[])[], instructions?: string): Promise<void>;
  /** As `begins`, to its end. Resolves with what its calls answered. */
  works(agentId: AgentOfScene, turns: readonly (readonly Part[])[]): Promise<readonly string[]>;
  /** Resolves when the running agent has been given a result with this text. */
  untilGiven(text: string): Promise<void>;
  grant(agentId: AgentOfScene, coordination: object): Promise<void>;
  waiting(): Promise<readonly z.infer<typeof toolCallSchema>[]>;
  kill(): Promise<void>;
  /** Starts the relay again, with its clock so many ms later than before. */
  start(laterMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Waits until it is so; the faults that are left otherwise. */
export async function until<Value>(
  what: string,
  look: () => Promise<Value>,
  isSo: (value: Value) => boolean,
): Promise<Value> {
  for (const end = Date.now() + SETTLES_MS; ; await sleep(LOOK_MS)) {
    const value = await look();
    if (isSo(value)) return value;
    if (Date.now() > end) throw new Fault(what, [JSON.stringify(value)?.slice(0, 2_000) ?? 'nothing']);
  }
}

/** Processes whose command line has this, by id. */
export function processesWith(text: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (line.includes(text)) found.set(Number(name), line);
    } catch {
      // It has ended.
    }
  return found;
}
function isBelow(pid: number, above: number): boolean {
  for (let at = pid; at > 1;)
    try {
      if (at === above) return true;
      at = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${at}/stat`, 'utf8'))?.[1] ?? 0);
    } catch {
      return true;
    }
  return false;
}

export async function openScene(store: 'sqlite' | undefined = 'sqlite'): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'roost-restart-'));
  const model = await startScriptedModel(() => [{ say: 'Done.' }]);
  const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' };
  const home = await createHome({ store });
  const args = ['--scripts', '--households', '1000', '--rate', '100000', '--burst', '1000000'];
  let ahead = 0;
  let relay = await startRelay({ home, env, args });
  let work = 0;
  let first = 0;

  const call: Scene['call'] = (method, path, json) =>
    relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  async function good(method: string, path: string, json?: unknown): Promise<unknown> {
    const answer = await call(method, path, json);
    const text = await answer.text();
    if (answer.status >= 300) throw new Fault(`${method} ${path}`, [`${answer.status} ${text}`]);
    return text === '' ? null : JSON.parse(text);
  }
  async function trigger(agentId: AgentOfScene, script: Script, instructions: string): Promise<string> {
    model.follow(script);
    first = model.requests.length;
    const added = await good('POST', '/v1/pulse-routines', {
      ...{ kind: 'routine', agentId, name: `Work ${++work}`, instructions },
      timing: { kind: 'weekly', days: [1], time: '07:30' },
    });
    const { scheduleId } = scheduledSchema.parse(added);
    await good('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
    return scheduleId;
  }
  const turnOf = (body: { readonly messages: readonly { readonly role: string }[] }) =>
    body.messages.filter(({ role }) => role === 'assistant').length;
  await good('PUT', '/api/team', {
    agents: AGENTS.map((agentId, position) => ({ agentId, name: `Name of ${agentId}`, position, retired: false })),
  });
  for (const agentId of AGENTS)
    await good('PUT', `/api/agent-snapshots/${agentId}`, {
      version: 'v1',
      snapshot: { ...SNAPSHOT, name: `Name of ${agentId}` },
    });
  const scene: Scene = {
    folder,
    model,
    relay: () => relay,
    call,
    good,
    async begins(agentId, turns, instructions = 'Work.') {
      await trigger(agentId, ({ body }) => turns[turnOf(body)] ?? 'silent', instructions);
    },
    async works(agentId, turns) {
      const scheduleId = await trigger(agentId, ({ body }) => turns[turnOf(body)] ?? [{ say: 'Done.' }], 'Work.');
      const before = first;
      await until(
        `A run of ${agentId} ends`,
        () => good('GET', `/v1/pulse-routines/${scheduleId}/history`),
        (history) => JSON.stringify(history).includes('"done"'),
      );
      await good('DELETE', `/v1/pulse-routines/${scheduleId}`);
      return model.requests.slice(before).flatMap(({ results }) => results);
    },
    async untilGiven(text) {
      await until(
        `The agent is given ${text}`,
        () => Promise.resolve(model.requests.slice(first).flatMap(({ results }) => results)),
        (results) => results.some((result) => result.includes(text)),
      );
    },
    async grant(agentId, coordination) {
      await good('PUT', `/v1/agents/${agentId}/config`, {
        whole: true,
        coordination: {
          wake_guardrails: { cooldown_seconds: 0, max_daily_session_minutes: 1_440 },
          toolsets: { shell: 'allow', files: 'allow', attached: 'allow' },
          ...coordination,
        },
      });
    },
    waiting: async () =>
      z.object({ waiting: z.array(toolCallSchema) }).parse(await good('GET', '/api/approvals')).waiting,
    async kill() {
      await relay.signIn();
      await relay.kill('SIGKILL');
      model.follow(() => [{ say: 'Done.' }]);
    },
    async start(laterMs) {
      ahead += laterMs;
      relay = await startRelay({ home, env: { ...env, ...clockAhead(ahead) }, args, signIn: await relay.signIn() });
    },
    async close() {
      await relay.stop();
      await model.close();
      for (const path of [home, folder]) rmSync(path, { recursive: true, force: true });
    },
  };
  for (const agentId of AGENTS) await scene.grant(agentId, {});
  return scene;
}

/** The errors that the relay has written into its log, from this line on. */
export const linesOfLog = ({ relay }: Scene): readonly string[] => {
  try {
    return readFileSync(join(relay().home, 'logs', 'relay.log'), 'utf8').split('\n');
  } catch {
    return [];
  }
};

const occurrencesSchema = z.object({ occurrences: z.array(occurrenceSchema) });

/** What is still open, although nobody is at work any more. */
async function leftOpen(scene: Scene): Promise<string[]> {
  const { good } = scene;
  const open: string[] = [];
  for (const agentId of AGENTS)
    for (const { name, state, endedAt } of occurrencesSchema.parse(await good('GET', `/v1/agents/${agentId}/schedule`))
      .occurrences)
      if (endedAt === null) open.push(`${name} of ${agentId} is ${state}`);
  const { projects } = z.object({ projects: z.array(projectSchema) }).parse(await good('GET', '/v1/projects'));
  for (const { projectId, name } of projects)
    for (const task of tasksSchema.parse(await good('GET', `/v1/projects/${projectId}/tasks?limit=1000`)).tasks) {
      if (task.claim !== null) open.push(`${task.title} of ${name} is claimed`);
      const path = `/v1/projects/${projectId}/tasks/${task.taskId}/attempts`;
      for (const { endedAt, kind } of attemptsSchema.parse(await good('GET', path)).attempts)
        if (endedAt === null) open.push(`${task.title} of ${name} has an attempt (${kind}) under way`);
    }
  for (const line of processesWith(LONG_SLEEP).values()) open.push(`a process is left: ${line}`);
  for (const [pid, line] of processesWith(scene.folder))
    if (!isBelow(pid, scene.relay().pid) && pid !== process.pid) open.push(`a process is left: ${line}`);
  return open;
}

/** The rules of all parts: throws where one is broken. */
export async function holdRules(scene: Scene, logBefore: number): Promise<void> {
  await until(
    'Nothing is left open',
    () => leftOpen(scene),
    (open) => open.length === 0,
  );
  const faults: string[] = [];
  for (const path of [...LISTS, ...NEWER_LISTS]) {
    const answer = await scene.call('GET', path);
    if (answer.status !== 200) faults.push(`${path}: ${answer.status} ${await answer.text()}`);
  }
  // No card is dead: each that waits can be answered.
  for (const { callId, question } of await scene.waiting()) {
    const answered = await scene.call('POST', `/api/approvals/${callId}/answer`, { answer: 'no', words: '' });
    if (answered.status !== 200)
      faults.push(`${question ? 'a form' : 'a card'} cannot be answered: ${answered.status}`);
  }
  for (const agentId of AGENTS) await scene.works(agentId, []);
  faults.push(
    ...linesOfLog(scene)
      .slice(logBefore)
      .filter((line) => /^\S+ error /.test(line)),
  );
  if (faults.length > 0) throw new Fault('After the start', faults);
}
