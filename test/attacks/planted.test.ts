/**
 * What an agent leaves in its folder for a program that runs there later without a sandbox:
 * settings of shells, Python and git, commands that npm finds, hooks of Claude Code. The agent
 * writes them with its file tools, which need no yes of the person.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seatColor } from '../../src/shared/domain/seat.ts';
import { writeWake } from '../../src/shared/domain/wake-payload.ts';
import { programSchema, programsSchema } from '../../src/shared/protocol/programs.ts';
import { createScripts } from '../../server/schedules/index.ts';
import { createWorkspaces } from '../../server/files/workspaces/index.ts';
import { startHands, type Hands } from '../support/hands.ts';
import { programOf } from '../support/relay-build.ts';

const AGENT = await programOf('test/support/acp-agent.mjs');

let base: string;
/** Where what was planted leaves its mark. */
let mark: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'roost-planted-'));
  mark = join(base, 'mark');
});
afterEach(() => rm(mark, { force: true }));
afterAll(() => rm(base, { recursive: true, force: true }));

async function plant(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { mode: 0o755 });
  }
}
const python = () =>
  spawnSync('python3', ['-c', 'import sys; print("python%d.%d" % sys.version_info[:2])']).stdout.toString().trim();
const repository = (folder: string) => spawnSync('git', ['init', '-q', folder]);

describe('A script that the person has set, where there is no sandbox, runs nothing that its agent has left', () => {
  it.each([
    ['for a login shell', 'bash -lc true', () => ({ '.bash_profile': `touch ${mark}`, '.profile': `touch ${mark}` })],
    [
      'for every start of Python',
      'python3 -c pass',
      () => ({ [`.local/lib/${python()}/site-packages/usercustomize.py`]: `open('${mark}', 'w')` }),
    ],
    ['under the name of a part of Python', 'python3 -c "import json"', () => ({ 'json.py': `open('${mark}', 'w')` })],
    ['for git, in its home', 'git status', () => ({ '.gitconfig': `[core]\n\tfsmonitor = touch ${mark}; false\n` })],
    [
      'for git, in its repository',
      'git status',
      () => ({ '.git/config': `[core]\n\tfsmonitor = touch ${mark}; false\n` }),
    ],
    [
      'for git, as a hook',
      'git commit -qm x --allow-empty',
      () => ({ '.git/hooks/pre-commit': `#!/bin/sh\ntouch ${mark}\n` }),
    ],
  ])('%s', async (_what, command, files) => {
    const folder = await mkdtemp(join(base, 'scripts-'));
    const scripts = createScripts(createWorkspaces({ folder, elapsed: () => performance.now() }));
    const own = join(folder, 'a1');
    await mkdir(own);
    repository(own);
    await plant(own, {
      'look.sh': `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b\n${command}; echo ran`,
      ...files(),
    });
    const file = await scripts.read('a1', 'look.sh');
    if (typeof file === 'string') throw new Error(file);
    const { output } = await scripts.run({ agentId: 'a1', script: 'look.sh', timeoutMs: 20_000 }, file.text);
    await scripts.close();
    expect(output).toContain('ran\n');
    expect(existsSync(mark)).toBe(false);
  });
});

describe('An ACP agent that is its agent’s mind', () => {
  let hands: Hands;
  let log: string;
  /** The agent’s folder. */
  let own = '';
  let nth = 0;
  const call: Hands['call'] = (...asked) => hands.call(...asked);
  const ok = async (answer: Promise<Response>) => {
    const response = await answer;
    expect(response.ok, await response.clone().text()).toBe(true);
    return response;
  };
  const noted = async (what: string) =>
    (await readFile(log, 'utf8').catch(() => '')).split('\n').filter((line) => line.startsWith(`{"what":"${what}"`))
      .length;
  const post = (text: string) => ok(call('POST', '/api/messages', { text, clientId: randomUUID() }));

  beforeAll(async () => {
    hands = await startHands(['--scripts']);
  });
  afterAll(() => hands.close());
  afterEach(async () => {
    await call('DELETE', '/api/sessions/current');
    await rm(own, { recursive: true, force: true });
  });

  /** A program is the mind of `a1`, and its folder is empty. */
  async function mind(command: string, args: readonly string[]): Promise<void> {
    log = join(base, `log-${++nth}`);
    const body = { name: `Agent ${nth}`, command, args: args.map((each) => (each === 'LOG' ? log : each)) };
    const { programId } = programSchema.parse(await (await ok(call('POST', '/api/agent-programs', body))).json());
    await rm(log, { force: true });
    await hands.grant({ mind: programId });
    await hands.put('there.md', 'x');
    const [household = ''] = await readdir(join(hands.relay().home, 'workspaces'));
    own = join(hands.relay().home, 'workspaces', household, 'a1');
  }
  async function wake(): Promise<void> {
    await ok(
      call('POST', '/api/sessions', {
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: null, transcript: null },
      }),
    );
    await post(
      writeWake([{ id: 'a1', name: 'Lyra', position: 0, ...seatColor(0), soul: 'I love herons.', transcript: null }]),
    );
  }
  const opened = (times = 1) => expect.poll(() => noted('opened'), { timeout: 20_000 }).toBe(times);
  const question = async () => {
    await expect.poll(async () => (await hands.waiting()).length, { timeout: 20_000 }).toBe(1);
    const [asked] = await hands.waiting();
    if (!asked) throw new Error('Nothing waits.');
    return asked;
  };
  it('does not start a program of the same name that the agent put where npx looks', async () => {
    const name = 'roost-test-agent';
    await mind('npx', ['--no-install', name, 'LOG']);
    const left = `#!/bin/sh\ntouch ${mark}\nexec ${process.execPath} ${AGENT} "$@"\n`;
    await plant(own, { 'package.json': '{}', [`node_modules/.bin/${name}`]: left });
    const shown = async () => {
      const { programs } = programsSchema.parse(await (await call('GET', '/api/agent-programs')).json());
      return programs.at(-1)?.state;
    };
    const before = await shown();
    await wake();
    await expect.poll(shown, { timeout: 20_000 }).not.toEqual(before);
    expect(await shown()).toMatchObject({ kind: 'fails' });
    expect([await noted('pid'), existsSync(mark)]).toEqual([0, false]);
  });

  const HOOK = (what = 'touch') =>
    JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `${what} ${mark}` }] }] } });
  const FSMONITOR = () => `[core]\n\tfsmonitor = touch ${mark}; false\n`;
  /** By what they are: files, and those of them that the person is shown. */
  const SETTINGS: Readonly<Record<string, readonly [files: Readonly<Record<string, () => string>>, shown: string]>> = {
    'hooks of Claude Code': [{ '.claude/settings.json': HOOK }, '.claude/settings.json'],
    'the same, in its local settings': [{ '.claude/settings.local.json': HOOK }, '.claude/settings.local.json'],
    'the same, in capitals': [{ '.Claude/settings.json': HOOK }, '.Claude/settings.json'],
    'servers for it': [{ '.mcp.json': () => '{}' }, '.mcp.json'],
    'settings for another': [{ '.gemini/settings.json': () => '{}' }, '.gemini/settings.json'],
    'variables for it': [{ '.env': () => 'NODE_OPTIONS=--require ./x.js' }, '.env'],
    'settings of git': [{ '.git/config': FSMONITOR }, '.git/config'],
    'settings of git on one line': [{ '.git/config': () => `[core]fsmonitor = touch ${mark}\n` }, '.git/config'],
    'settings of git that lie elsewhere': [
      { '.git/config': () => '[include]\n\tpath = ../own\n', own: FSMONITOR },
      '.git/config',
    ],
    'an address for git that is a command': [
      { '.git/config': () => `[remote "origin"]\n\turl = ext::sh -c touch% ${mark}\n` },
      '.git/config',
    ],
    'settings of a repository without a folder of its own': [
      { HEAD: () => 'ref: refs/heads/main\n', 'refs/x': () => '', 'objects/x': () => '', config: FSMONITOR },
      'config',
    ],
    'a hook of git': [
      { '.git/config': () => '', '.git/hooks/post-checkout': () => `touch ${mark}` },
      '.git/hooks/post-checkout',
    ],
    'settings of a repository in its repository': [
      { '.git/config': () => '', 'inner/.git/config': FSMONITOR },
      'inner/.git/config',
    ],
  };
  const nothingRan = async () => expect([await noted('pid'), existsSync(mark)]).toEqual([0, false]);

  it('does not start with any settings that the agent left before the person has seen them', async () => {
    await mind(process.execPath, [AGENT, 'LOG', 'trusting']);
    for (const [what, [files, path]] of Object.entries(SETTINGS)) {
      await rm(own, { recursive: true, force: true });
      await plant(own, Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text()])));
      await wake();
      const { callId, input } = await question();
      expect(input, what).toContain(`"path":"${path}"`);
      await nothingRan();
      await ok(hands.answer(callId, 'no'));
      await expect.poll(async () => (await hands.waiting()).length).toBe(0);
      await nothingRan();
      await call('DELETE', '/api/sessions/current');
    }
  });

  it.each([
    ['.claude', (folder: string) => symlink('elsewhere', join(folder, '.claude'))],
    ['.git', (folder: string) => writeFile(join(folder, '.git'), 'gitdir: elsewhere')],
    ['.git/commondir', (folder: string) => plant(folder, { '.git/HEAD': '', '.git/commondir': '../elsewhere' })],
  ])('does not start at all with settings that nobody can inspect, by %s', async (path, leave) => {
    await mind(process.execPath, [AGENT, 'LOG', 'trusting']);
    await plant(own, { 'elsewhere/settings.json': HOOK(), 'elsewhere/config': FSMONITOR() });
    await leave(own);
    await wake();
    const said = async () => await (await call('GET', '/api/agent-programs')).text();
    await expect.poll(said, { timeout: 20_000 }).toContain(`Roost cannot read some of them (${path})`);
    expect(await hands.waiting()).toEqual([]);
    await nothingRan();
  });

  it('starts with accepted settings, and asks again when they change', async () => {
    await mind(process.execPath, [AGENT, 'LOG', 'trusting']);
    await plant(own, { '.claude/settings.json': HOOK() });
    for (let times = 1; times <= 2; times++) {
      await wake();
      if (times === 1) await ok(hands.answer((await question()).callId, 'always-command'));
      await opened(times);
      expect(existsSync(mark)).toBe(true);
      await call('DELETE', '/api/sessions/current');
    }
    await rm(mark);
    await plant(own, { '.claude/settings.json': HOOK('echo 1 >') });
    await wake();
    await question();
    expect([await noted('opened'), existsSync(mark)]).toEqual([2, false]);
  });

  it('starts without a question in an ordinary repository, and beside texts for it', async () => {
    await mind(process.execPath, [AGENT, 'LOG', 'trusting']);
    repository(own);
    await plant(own, { 'CLAUDE.md': '# Herons', '.gitignore': 'node_modules' });
    await wake();
    await opened();
    expect(await hands.waiting()).toEqual([]);
  });
});
