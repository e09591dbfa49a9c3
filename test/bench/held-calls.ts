/**
 * A thousand MCP calls of an agent that sleeps, held by one relay: what they cost it in memory, and
 * how soon all of them are answered once the agent is woken. Next to a bare Hono server that holds
 * as many requests and does nothing else. Both are processes of their own; the clients are here.
 */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { median, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';
import type { BenchRelay } from './place.ts';

const MEMORY_LIMIT_MB = 100;
const RELEASE_LIMIT_MS = 1_000;
/**
 * Calls at once, and rounds of each kind; looks at the memory while the calls are held, and ms
 * between two.
 */
const FULL = { calls: 1_000, rounds: 3, checks: 5, checkEveryMs: 200 };
const SMOKE: typeof FULL = { calls: 3, rounds: 1, checks: 1, checkEveryMs: 10 };
type Sizes = typeof FULL;
const BARE_SERVER = fileURLToPath(new URL('bare-server.mjs', import.meta.url));
const AGENT_ID = 'agent-1';
const REVISION = '2026-07-28';

interface Pending {
  /** The server has taken it: its first byte was here. */
  readonly taken: Promise<void>;
  /** The whole answer. */
  readonly answer: Promise<string>;
}

function post(agent: Agent, url: string, headers: Readonly<Record<string, string>>, body: string): Pending {
  let take = () => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const answer = new Promise<string>((resolve, reject) => {
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        take();
      });
      response.on('end', () => resolve(text)).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
  return { taken, answer };
}

/** MB of a process, as the system counts it. */
async function residentMb(pid: number): Promise<number> {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (kb === undefined) throw new Error(`the memory of process ${pid} is not known`);
  return Number(kb) / 1_000;
}

interface Round {
  readonly mb: number;
  readonly releaseMs: number;
}

/** What a server does with the calls: both kinds are measured alike. */
interface Holder {
  readonly pid: number;
  /** Before a round: from now on it holds. */
  begin(): Promise<void>;
  hold(agent: Agent, count: number): readonly Pending[];
  /** Resolves when all are held. */
  allHeld(calls: readonly Pending[]): Promise<void>;
  release(): Promise<void>;
  readonly isRight: (answer: string) => boolean;
}

async function round(
  holder: Holder,
  { calls: count, checks: looks, checkEveryMs: lookEveryMs }: Sizes,
): Promise<Round> {
  const agent = new Agent({ maxSockets: Infinity });
  await holder.begin();
  const before = await residentMb(holder.pid);
  const calls = holder.hold(agent, count);
  await holder.allHeld(calls);
  let most = 0;
  for (let check = 0; check < looks; check += 1) {
    await sleep(lookEveryMs);
    most = Math.max(most, await residentMb(holder.pid));
  }
  const from = performance.now();
  const [answers] = await Promise.all([Promise.all(calls.map(({ answer }) => answer)), holder.release()]);
  const releaseMs = performance.now() - from;
  agent.destroy();
  const wrong = answers.filter((answer) => !holder.isRight(answer));
  if (wrong.length > 0) throw new Error(`${wrong.length} calls were answered wrong, such as ${wrong[0]}`);
  return { mb: most - before, releaseMs };
}

async function roundsOf(holder: Holder, sizes: Sizes): Promise<readonly Round[]> {
  const all: Round[] = [];
  for (let i = 0; i < sizes.rounds; i += 1) all.push(await round(holder, sizes));
  return all;
}

async function ok(relay: BenchRelay, path: string, method: string, json: unknown): Promise<unknown> {
  const response = await relay.fetch(path, { method, json });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.status === 204 ? null : await response.json();
}

/**
 * What is called: something that asks the store nothing, so that the release itself is measured,
 * and a tool that does.
 */
const KINDS = {
  read: {
    method: 'resources/read',
    name: 'roost://agent/instructions',
    params: { uri: 'roost://agent/instructions' },
    says: 'You are Lyra',
  },
  tool: { method: 'tools/call', name: 'list_team', params: { name: 'list_team', arguments: {} }, says: 'Lyra (you)' },
} as const;
type Kind = keyof typeof KINDS;

/** With the envelope of the stateless protocol, by a client that wants to hear of progress. */
const callOf = (kind: Kind, id: number) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: KINDS[kind].method,
    params: {
      ...KINDS[kind].params,
      _meta: {
        progressToken: id,
        'io.modelcontextprotocol/protocolVersion': REVISION,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  });

async function relayHolders(relay: BenchRelay): Promise<(kind: Kind) => Holder> {
  await ok(relay, '/api/team', 'PUT', { agents: [{ agentId: AGENT_ID, name: 'Lyra', position: 1, retired: false }] });
  const { secret } = z
    .object({ secret: z.string() })
    .parse(await ok(relay, '/api/credentials', 'POST', { agentId: AGENT_ID }));
  const { sessionId } = z.object({ sessionId: z.string() }).parse(
    await ok(relay, '/api/sessions', 'POST', {
      human: { name: 'Ada' },
      lead: { name: 'Julian', soul: null, transcript: null },
    }),
  );
  const headers = {
    authorization: `Bearer ${secret}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': REVISION,
  };
  const call = (agent: Agent, kind: Kind, id: number) =>
    post(
      agent,
      `${relay.url}/mcp`,
      { ...headers, 'mcp-method': KINDS[kind].method, 'mcp-name': KINDS[kind].name },
      callOf(kind, id),
    );
  const flag = (sleeping: boolean) =>
    ok(relay, `/api/v1/sessions/${sessionId}/${AGENT_ID}/sleeping`, 'PUT', { sleeping });

  // The first call brings the agent into the session.
  const agent = new Agent({ maxSockets: Infinity });
  for (let some = 0; some < 20; some += 1) await call(agent, some % 2 === 0 ? 'read' : 'tool', some).answer;
  agent.destroy();
  return (kind) => ({
    pid: relay.pid,
    async begin() {
      await flag(true);
    },
    hold: (clients, count) => Array.from({ length: count }, (_, id) => call(clients, kind, id)),
    async allHeld(calls) {
      await Promise.all(calls.map(({ taken }) => taken));
    },
    async release() {
      await flag(false);
    },
    isRight: (answer) => answer.includes('notifications/progress') && answer.includes(KINDS[kind].says),
  });
}

async function bareHolder(): Promise<Holder & { stop(): void }> {
  const child = spawn(process.execPath, [BARE_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.stdout.setEncoding('utf8').once('data', (line: string) => resolve(line.trim()));
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    pid: child.pid ?? 0,
    begin: () => Promise.resolve(),
    hold: (agent, count) =>
      Array.from({ length: count }, (_, id) =>
        post(agent, `${url}/hold`, { 'content-type': 'application/json' }, callOf('tool', id)),
      ),
    async allHeld(calls) {
      const countSchema = z.object({ held: z.number() });
      while (countSchema.parse(await (await fetch(`${url}/count`)).json()).held < calls.length) await sleep(20);
    },
    async release() {
      await fetch(`${url}/release`, { method: 'POST' });
    },
    isRight: (answer) => answer === 'released',
    stop: () => void child.kill(),
  };
}

const worstMb = (all: readonly Round[]) => Math.max(...all.map(({ mb }) => mb));

/** About half a minute. */
export const heldCalls = definePart({
  name: 'held-calls',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: (sizes, place) =>
    withOpened(async (keep) => {
      const relay = keep(await place.startRelay(), (one) => one.stop());
      const bare = keep(await bareHolder(), (one) => one.stop());
      const holderOf = await relayHolders(relay);
      const reads = await roundsOf(holderOf('read'), sizes);
      const tools = await roundsOf(holderOf('tool'), sizes);
      const peers = await roundsOf(bare, sizes);
      const releaseOf = (all: readonly Round[]) => median(all.map(({ releaseMs }) => releaseMs));
      const mb = worstMb([...reads, ...tools]);
      const figures: Figure[] = [
        {
          what: 'memory, more than before',
          value: mb,
          unit: 'MB',
          beside: { kind: 'limit', what: 'while they wait', value: MEMORY_LIMIT_MB },
        },
        {
          what: '  the same',
          value: mb,
          unit: 'MB',
          beside: { kind: 'peer', what: 'a bare Hono server', value: worstMb(peers) },
        },
        {
          what: 'woken, to the last answer',
          value: releaseOf(reads),
          unit: 'ms',
          beside: { kind: 'limit', what: 'of resource reads that ask the store nothing', value: RELEASE_LIMIT_MS },
        },
        {
          what: '  the same',
          value: releaseOf(reads),
          unit: 'ms',
          beside: { kind: 'peer', what: 'a bare Hono server', value: releaseOf(peers) },
        },
        {
          what: '  of a tool that asks the store',
          value: releaseOf(tools),
          unit: 'ms',
          beside: { kind: 'peer', what: 'of resource reads', value: releaseOf(reads) },
        },
      ];
      return {
        title: `${sizes.calls.toLocaleString('en')} waiting MCP calls of a sleeping agent`,
        method: `${sizes.rounds} rounds of each kind by one relay: the most resident memory, the median time; each call on a connection of its own, with progress`,
        figures,
      };
    }),
});
