/**
 * Descriptors that whoever started the relay had left open. One of `/` leads out of every sandbox
 * by openat(2), so none may reach a program that the relay starts: a command, a script, an MCP
 * server, an ACP agent.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { calls, startHands, type Hands } from '../support/hands.ts';

const SECRET = `secret-${randomBytes(8).toString('hex')}`;
const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const AGENT = support('acp-agent.mjs');
const SERVER = support('mcp-server.mjs');

let base: string;
let secret: string;
/**
 * A program of the shell: names every descriptor above its own, and writes what can be read through
 * it.
 */
let look: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'roost-inherited-'));
  secret = join(base, 'sealing.key');
  look = join(base, 'look.sh');
  await writeFile(secret, SECRET);
  await writeFile(
    look,
    `exec 2>&1
for f in /proc/$$/fd/*; do
  n=\${f##*/}
  at=$(readlink "$f") && [ "$n" -gt 4 ] && [ "$at" != "$0" ] || continue
  echo "open: $n $at"
  if [ -d "$f" ]; then cat "$f${secret}"; elif [ -f "$f" ]; then cat "$f"; fi
done
echo looked
`,
  );
});
afterAll(() => rm(base, { recursive: true, force: true }));

/**
 * Low ones, which Node closes by itself, and high ones with a gap before them, which it does not.
 */
const inherits = () => ({ 5: '/', 6: secret, 40: '/', 41: secret, 700: '/' });

function expectNothing(said: string | null): void {
  expect(said).toContain('looked');
  expect(said).not.toContain('open: ');
  expect(said).not.toContain(SECRET);
}

/** What it wrote, as its history has it. */
async function runScript(hands: Hands): Promise<string> {
  await hands.put('look.sh', await readFile(look));
  const added = await hands.call('POST', '/v1/pulse-routines', {
    ...{ kind: 'script', agentId: 'a1', name: 'Look', script: 'look.sh', timeoutMs: 20_000 },
    ...{ on_failure: 'wake_agent', overlap: 'skip', timing: { kind: 'weekly', days: [1], time: '07:30' } },
  });
  expect(added.status, await added.clone().text()).toBe(201);
  const { scheduleId } = scheduledSchema.parse(await added.json());
  await hands.call('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
  const history = async () => await (await hands.call('GET', `/v1/pulse-routines/${scheduleId}/history`)).text();
  await expect.poll(history, { timeout: 20_000 }).toMatch(/"(done|failed)"/);
  return await history();
}

describe('A descriptor that the relay was started with reaches', () => {
  let hands: Hands;
  beforeAll(async () => {
    hands = await startHands(['--scripts'], { inherits: inherits() });
    await hands.grant({ toolsets: { shell: 'allow' } });
  });
  afterAll(() => hands.close());

  it('reaches no command in the sandbox', async () => {
    const [said = ''] = await hands.works(calls('run_command', { command: await readFile(look, 'utf8') }));
    expectNothing(said);
  });

  it('reaches no script in the sandbox', async () => {
    expectNothing(await runScript(hands));
  });

  it.each(['free', 'held'])('reaches no program of an MCP server that runs %s', async (how) => {
    const place = join(base, how);
    await mkdir(place);
    await writeFile(join(place, 'ways.json'), JSON.stringify({ tools: [] }));
    const begin = 'sh "$1" > "$2/said"; exec "$3" "$4" "$2/ways.json"';
    const attachment = {
      kind: 'program',
      command: '/bin/sh',
      args: ['-c', begin, 'sh', look, place, process.execPath, SERVER],
      env: {},
      box: how === 'free' ? null : { folder: place, reads: [look, SERVER], network: 'none' },
    };
    const answer = await hands.call('POST', '/api/mcp-servers', { name: how, attachment });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ state: 'connected' });
    expectNothing(await readFile(join(place, 'said'), 'utf8'));
  });

  it('reaches no ACP agent', async () => {
    const [said, log] = [join(base, 'agent'), join(base, 'log')];
    const args = ['-c', 'sh "$1" > "$2"; shift 2; exec "$@"', 'sh', look, said, process.execPath, AGENT, log];
    const added = await hands.call('POST', '/api/agent-programs', { name: 'Agent', command: '/bin/sh', args });
    expect(await added.json()).toMatchObject({ state: { kind: 'answers' } });
    expectNothing(await readFile(said, 'utf8'));
  });
});

describe('Where there is no sandbox, a descriptor that the relay was started with reaches', () => {
  let hands: Hands;
  beforeAll(async () => {
    hands = await startHands(['--scripts'], { inherits: inherits(), env: { PATH: '/nowhere' } });
    await hands.grant({ toolsets: { shell: 'allow' }, shell_without_sandbox: true });
  });
  afterAll(() => hands.close());

  it('reaches no command without a sandbox', async () => {
    const command = `PATH=/usr/bin:/bin; ${await readFile(look, 'utf8')}`;
    const [said = ''] = await hands.works(calls('run_command', { command }));
    expectNothing(said);
  });

  it('reaches no script without a sandbox', async () => {
    expectNothing(await runScript(hands));
  });
});
