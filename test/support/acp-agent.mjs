/**
 * An ACP agent over its input and output, with the agent side of the protocol's own library: it
 * does what stands as JSON behind `DO` in its newest prompt. The first argument is a log of what it
 * was given; the second, how it behaves at its start.
 */
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable, Writable } from 'node:stream';
import { URL } from 'node:url';
import { agent, methods, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';

const [, , log, way = 'good'] = process.argv;
/** It has run before: it is tried when it is added, and what it does later is another thing. */
const again = existsSync(log);
const note = (what, value) => appendFileSync(log, `${JSON.stringify({ what, value, at: Date.now() })}\n`);
note('pid', process.pid);
note('env', Object.keys(process.env).sort());
if (way === 'exit') {
  process.stderr.write('No configuration was found.\n');
  process.exit(3);
}
if (way === 'nonsense') for (let i = 0; i < 100; i++) process.stdout.write('Welcome! What shall we do today?\n');
if (way === 'deaf') for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => undefined);

let servers = [];
let cancelled = false;
/** It opens a session from before, and answers no prompt in it. */
let mute = false;
let over = () => undefined;
/** Why its turns end by themselves. */
let stops = 'end_turn';
let sessionId = `session-${process.pid}`;

/** Roost's own MCP server. */
async function roost() {
  const [{ url, headers }] = servers;
  // Most agents call none of its tools, and it takes as long to load as all the rest.
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const mcp = new Client({ name: 'acp-agent', version: '1' });
  const requestInit = { headers: Object.fromEntries(headers.map((each) => [each.name, each.value])) };
  await mcp.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return mcp;
}

/** What it does in its birth, by the way it behaves. */
function atBirth(texts) {
  const all = texts.join('\n');
  const seat = /you sit in seat (\d)/i.exec(all)?.[1];
  const chooses = { mcp: { name: 'choose_name', arguments: { name: `Name${seat}` } } };
  if (/Answer with the name alone/.test(all)) return [{ say: `**Name${process.pid}**` }];
  if (!all.includes('You are new.')) return null;
  const words = { say: `I am somebody quiet in seat ${seat}.` };
  switch (way) {
    case 'hatches':
      return [{ list: null }, { mcp: 'read_inbox' }, { resource: 'roost://agent/state' }, words, chooses];
    case 'asking':
      return [{ model: null }, words, chooses];
    case 'wordy':
      return [words];
    case 'nameless':
      return [{ list: null }, words];
    case 'endless':
      return [{ list: null }, chooses, words, { wait: null }];
    default:
      return null;
  }
}

async function perform(step, client, own = sessionId) {
  const update = (value) => client.notify(methods.client.session.update, { sessionId: own, update: value });
  const [[kind, value]] = Object.entries(step);
  const text = (words) => ({ type: 'text', text: words });
  switch (kind) {
    case 'say':
      return update({ sessionUpdate: 'agent_message_chunk', content: text(value) });
    case 'think':
      return update({ sessionUpdate: 'agent_thought_chunk', content: text(value) });
    case 'plan':
      return update({
        sessionUpdate: 'plan',
        entries: value.map((content) => ({ content, priority: 'medium', status: 'pending' })),
      });
    case 'cost':
      return update({ sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount: value, currency: 'USD' } });
    case 'tool': {
      // What is long is not sent here as it is.
      const { around } = value.rawInput ?? {};
      if (around?.repeat) value.rawInput.around = 'x'.repeat(around.repeat);
      await update({ sessionUpdate: 'tool_call', status: 'pending', ...value });
      return update({ sessionUpdate: 'tool_call_update', toolCallId: value.toolCallId, status: 'completed' });
    }
    case 'end':
      return update({ sessionUpdate: 'tool_call_update', ...value });
    case 'ask': {
      const { then, options, sessionId: as = own, ...toolCall } = value;
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId: as,
        toolCall,
        options: options ?? [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ],
      });
      note('asked', outcome);
      if (outcome.optionId === 'yes') for (const next of then ?? []) await perform(next, client);
      return;
    }
    case 'both':
      return Promise.all(value.map((each) => perform(each, client)));
    case 'write':
      return client
        .request(methods.client.fs.writeTextFile, { sessionId: own, ...value })
        .then(() => note('wrote', value.path))
        .catch((error) => note('refused', error.message));
    case 'read':
      return client
        .request(methods.client.fs.readTextFile, { sessionId: own, ...value })
        .then(({ content }) => note('read', content))
        .catch((error) => note('refused', error.message));
    case 'mcp': {
      const mcp = await roost();
      const { content } = await mcp.callTool(typeof value === 'string' ? { name: value, arguments: {} } : value);
      note('mcp', content.map((part) => part.text).join(''));
      return mcp.close();
    }
    case 'resource': {
      const mcp = await roost();
      await mcp.readResource({ uri: value }).then(
        ({ contents }) => note('resource', contents[0].text),
        (error) => note('resource', error.message),
      );
      return mcp.close();
    }
    case 'model': {
      const { ANTHROPIC_BASE_URL: base = '' } = process.env;
      const { status } = await globalThis.fetch(`${base}/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
        body: JSON.stringify({ model: 'qwen3:8b', max_tokens: 50, messages: [{ role: 'user', content: 'Hello?' }] }),
      });
      return note('model', status);
    }
    case 'list': {
      const mcp = await roost();
      note(
        'list',
        (await mcp.listTools()).tools.map(({ name }) => name),
      );
      return mcp.close();
    }
    case 'secret':
      return note('secret', servers[0].headers[0].value);
    case 'child': {
      const child = spawn('sleep', ['600'], { stdio: 'ignore', ...value });
      return note('child', child.pid);
    }
    case 'wait':
      return new Promise((resolve) => (over = resolve));
    case 'sleep':
      return sleep(value);
    case 'as':
      return perform(value.step, client, value.session);
    case 'flood':
      for (let i = 0; i < value; i++) await perform({ say: 'x'.repeat(100) }, client);
      return;
    case 'raw':
      return process.stdout.write(typeof value === 'string' ? value : 'x'.repeat(value.repeat));
    case 'exit':
      return process.exit(value);
    case 'mode':
      return update({ sessionUpdate: 'current_mode_update', currentModeId: value });
    case 'stop':
      stops = value;
      return;
    default:
      throw new Error(`What is ${kind}?`);
  }
}

/**
 * As Claude Code begins a session: with the hooks that lie in its folder, and a look at the state
 * of git.
 */
function trust(cwd) {
  for (const name of ['settings.json', 'settings.local.json'])
    for (const folder of readdirSync(cwd).filter((each) => each.toLowerCase() === '.claude')) {
      const file = join(cwd, folder, name);
      const { hooks } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
      for (const { hooks: all } of hooks?.SessionStart ?? [])
        for (const { command } of all) spawnSync('sh', ['-c', command], { cwd });
    }
  spawnSync('git', ['status'], { cwd });
}

/** As the file beside the log says: it dies of the session, has it no more, or goes on with it. */
async function goOn(params) {
  note('resume', params.sessionId);
  const how = existsSync(`${log}-resume`) ? readFileSync(`${log}-resume`, 'utf8') : '';
  if (how === 'dies') process.exit(5);
  if (how === 'hangs') await sleep(600_000);
  mute = how === 'mute';
  if (how === 'lost') throw RequestError.invalidParams({ sessionId: params.sessionId });
  ({ sessionId, mcpServers: servers } = params);
  return {};
}

agent({ name: 'acp-agent' })
  .onRequest(methods.agent.initialize, async ({ params }) => {
    note('initialize', params);
    if (way === 'hang' || (way === 'later-hang' && again)) await sleep(600_000);
    const resuming = {
      resumes: { sessionCapabilities: { resume: {} } },
      loads: { loadSession: true },
    }[way];
    const able = way === 'able' ? { promptCapabilities: { image: true, embeddedContext: true } } : {};
    if (way === 'null-hello') return null;
    return {
      protocolVersion: 1,
      // Those of this name take instructions beside the conversation.
      agentInfo: {
        name:
          { able: 'like-claude', gemini: 'gemini-cli', codex: '@agentclientprotocol/codex-acp' }[way] ?? 'acp-agent',
        version: '1.0',
      },
      agentCapabilities: { mcpCapabilities: { http: true }, ...able, ...resuming },
    };
  })
  .onRequest(methods.agent.session.new, async ({ params }) => {
    if (way === 'signed-out') throw RequestError.authRequired();
    note('new', {
      cwd: params.cwd,
      servers: params.mcpServers.map(({ name, url }) => ({ name, url })),
      instructions: params._meta?.systemPrompt?.append ?? null,
    });
    if (way === 'trusting') trust(params.cwd);
    if (way === 'mute' || (way === 'later-mute' && again)) await sleep(600_000);
    if (way === 'slow' && again) await sleep(400);
    note('opened', process.pid);
    servers = params.mcpServers;
    if (way === 'null-session') return null;
    // As Codex's adapter: in the third, in which it begins, a model decides instead of the person.
    const codex = ['read-only', 'workspace-write', 'agent', 'agent-full-access'];
    const availableModes = (way === 'codex' ? codex : ['acceptEdits', 'default']).map((id) => ({
      id,
      name: `“${id}”`,
    }));
    return { sessionId, modes: { currentModeId: way === 'codex' ? 'agent' : 'acceptEdits', availableModes } };
  })
  .onRequest(methods.agent.session.resume, ({ params }) => goOn(params))
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    await perform({ say: 'This was said before.' }, client, params.sessionId);
    return goOn(params);
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    note('mode', params.modeId);
    return {};
  })
  .onNotification(methods.agent.session.cancel, () => {
    note('cancel', null);
    cancelled = true;
    over();
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    cancelled = false;
    const texts = params.prompt.map(
      ({ type, text, mimeType, resource }) => text ?? `${type} ${mimeType ?? resource.mimeType}`,
    );
    note('prompt', texts);
    if (mute) throw RequestError.internalError({ details: 'The session is broken.' });
    const [first = ''] = texts;
    const asked = [texts.at(-1) ?? '', first.startsWith('<instructions>') ? first : ''];
    const steps = asked.map((words) => /DO (\[.*\])$/m.exec(words)?.[1]).find(Boolean);
    const plan = steps ? JSON.parse(steps) : (atBirth(texts) ?? [{ say: 'I am here.' }]);
    for (const step of plan) await perform(step, client);
    if (stops === null) return null;
    return { stopReason: cancelled ? 'cancelled' : stops };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
process.stdin.on('close', () => way !== 'deaf' && process.exit(0));
