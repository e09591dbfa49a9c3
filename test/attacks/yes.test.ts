/**
 * A yes is to content. Files are swapped between a card and the person’s yes, and between a yes and
 * the next run: below the words of a command, in every way in which a command names a file, and
 * below a file tool. A real disk, a whole relay.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPins, isBounded } from '../../server/approvals/pins/index.ts';
import { createWorkspaces, type Workspaces } from '../../server/files/workspaces/index.ts';
import type { CallContent, CommandReach } from '../../src/shared/protocol/approvals.ts';
import { programAt } from '../../server/platform/processes/index.ts';
import { calls, startHands, type Hands } from '../support/hands.ts';
import { USUAL_STORES } from '../support/stores.ts';

const BARE: CommandReach = { sandboxed: false, network: 'none' };
const HELD: CommandReach = { sandboxed: true, network: 'none' };

describe('what a command’s pin is to', () => {
  let base: string;
  let workspaces: Workspaces;
  let folder: string;
  let reach = BARE;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'roost-yes-')));
    workspaces = createWorkspaces({ folder: join(base, 'workspaces'), elapsed: () => performance.now() });
    folder = workspaces.folderOf('a1');
    await mkdir(folder, { recursive: true });
    reach = BARE;
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  async function put(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
  }
  const pinnedBy = (command: string, tool = 'run_command') =>
    createPins({ workspaces, commandReach: () => Promise.resolve(reach) }).of({
      agentId: 'a1',
      tool,
      input: { command },
    });
  const pinOf = async (command: string) => (await pinnedBy(command))?.pin ?? null;

  it.each<readonly [string, string, Readonly<Record<string, string>>, string]>([
    ['an argument of an interpreter', 'bash build.sh', { 'build.sh': 'good' }, 'build.sh'],
    ['a program of the folder', './x --now', { x: 'good' }, 'x'],
    ['one that is not there yet', 'bash later.sh', {}, 'later.sh'],
    ['by its whole path', 'bash FOLDER/build.sh', { 'build.sh': 'good' }, 'build.sh'],
    ['by the path within the sandbox', 'bash /workspace/build.sh', { 'build.sh': 'good' }, 'build.sh'],
    ['by a way around', 'bash sub/../sub/./build.sh', { 'sub/build.sh': 'good' }, 'sub/build.sh'],
    ['in a folder that it enters', 'cd sub && cd deep; ./run', { 'sub/deep/run': 'good' }, 'sub/deep/run'],
    ['in quotation marks', `bash 'my script.sh'`, { 'my script.sh': 'good' }, 'my script.sh'],
    ['in pieces', `bash bui'ld'.s\\h`, { 'build.sh': 'good' }, 'build.sh'],
    ['in a command within', `sh -c 'echo 1; bash "build.sh"'`, { 'build.sh': 'good' }, 'build.sh'],
    ['deeper within', `env -i bash -lc "sh -c './x'"`, { x: 'good' }, 'x'],
    ['read by source', 'source env.sh && . ./other.sh', { 'env.sh': '', 'other.sh': 'good' }, 'other.sh'],
    ['from its input', 'bash < build.sh', { 'build.sh': 'good' }, 'build.sh'],
    ['by a pipe', 'cat build.sh | bash', { 'build.sh': 'good' }, 'build.sh'],
    ['in an option', 'node --require=./hook.js -e 1', { 'hook.js': 'good' }, 'hook.js'],
    ['in a short option', 'make -fother.mk', { 'other.mk': 'good' }, 'other.mk'],
    ['in a variable', 'BASH_ENV=hook.sh bash -c true', { 'hook.sh': 'good' }, 'hook.sh'],
    ['in a search path', 'PATH=tools:/usr/bin tool', { 'tools/tool': 'good' }, 'tools/tool'],
    ['a pattern', 'bash *.sh', { 'a.sh': 'good', 'b.sh': 'good' }, 'b.sh'],
    ['a choice', 'bash {a,b}.sh', { 'a.sh': 'good', 'b.sh': 'good' }, 'b.sh'],
    ['a variable of the shell', 'f=build.sh; bash $f', { 'build.sh': 'good' }, 'build.sh'],
    ['what another command says', 'bash "$(ls | tail -1)"', { 'build.sh': 'good' }, 'build.sh'],
    ['what is read line by line', 'bash <<END\n./x\nEND', { x: 'good' }, 'x'],
    ['a module', 'python3 -m pkg', { 'pkg/__main__.py': 'good', 'pkg/deep/part.py': 'good' }, 'pkg/deep/part.py'],
    ['a module in a package', 'python3 -m pkg.part', { 'pkg/__init__.py': '', 'pkg/part.py': 'good' }, 'pkg/part.py'],
    ['a folder', 'node server', { 'server/index.js': 'good', 'server/lib/x.js': 'good' }, 'server/lib/x.js'],
    ['a Makefile', 'make', { Makefile: 'all:\n\techo good' }, 'Makefile'],
    ['a Makefile’s own script', 'make all', { Makefile: 'all:\n\t./tools/go', 'tools/go': '#!/bin/sh\n' }, 'tools/go'],
    ['in a folder that make enters', 'make -C sub', { 'sub/Makefile': 'all:\n\techo good' }, 'sub/Makefile'],
    ['package.json', 'npm run x', { 'package.json': '{"scripts":{"x":"echo good"}}' }, 'package.json'],
    [
      'a script that package.json names',
      'npm test',
      { 'package.json': '{"scripts":{"test":"node t/all"}}', 't/all.js': 'good' },
      't/all.js',
    ],
    ['settings of a tool', 'npx vitest', { 'vitest.config.ts': 'good' }, 'vitest.config.ts'],
    ['a hook of git', 'git commit -am x', { '.git/hooks/pre-commit': 'good' }, '.git/hooks/pre-commit'],
    ['settings of git', 'git status', { '.git/config': 'good' }, '.git/config'],
    ['what a script reads', 'bash build.sh', { 'build.sh': '. "./lib/vars"\n', 'lib/vars': 'good' }, 'lib/vars'],
    ['what that reads in turn', 'bash a.sh', { 'a.sh': 'bash b.sh', 'b.sh': './c', c: '#!/bin/sh\ngood' }, 'c'],
    [
      'what a program imports',
      'node app.mjs',
      { 'app.mjs': `import './lib/util.mjs'`, 'lib/util.mjs': 'good' },
      'lib/util.mjs',
    ],
    [
      'a module without its ending',
      'node app.js',
      { 'app.js': `require('./lib')`, 'lib/index.js': 'good' },
      'lib/index.js',
    ],
    [
      'a module of Python',
      'python3 src/app.py',
      { 'src/app.py': 'import helper', 'src/helper.py': 'good' },
      'src/helper.py',
    ],
    ['one that hides another', 'python3 app.py', { 'app.py': 'import json' }, 'json.py'],
  ])('changes with %s', async (_how, words, files, swapped) => {
    await put(files);
    const command = words.replace('FOLDER', folder);
    const before = await pinOf(command);
    expect(await pinOf(command)).toBe(before);
    await put({ [swapped]: '#!evil' });
    const after = await pinOf(command);
    expect(after).not.toBe(before);
    expect((await pinnedBy(command))?.files.map(({ path }) => path)).toContain(swapped);
  });

  it('changes with what a link leads to, with the link, and with a file outside that it leads to', async () => {
    await put({ 'real.sh': 'good', 'sub/run.sh': 'good', 'other/run.sh': 'good' });
    await writeFile(join(base, 'outside.sh'), 'a secret');
    await symlink('real.sh', join(folder, 'link.sh'));
    await symlink('sub', join(folder, 'way'));
    await symlink(join(base, 'outside.sh'), join(folder, 'out.sh'));
    const command = 'bash link.sh && bash way/run.sh && bash out.sh';
    const pins = [await pinOf(command)];
    const seen = await pinnedBy(command);
    expect(seen?.files).toContainEqual(expect.objectContaining({ path: 'link.sh', leadsTo: 'real.sh', text: 'good' }));
    expect(JSON.stringify(seen)).not.toContain('a secret');
    for (const change of [
      () => writeFile(join(folder, 'real.sh'), 'evil'),
      () => writeFile(join(folder, 'sub/run.sh'), 'evil'),
      () => writeFile(join(base, 'outside.sh'), 'evil'),
      () => rm(join(folder, 'way')).then(() => symlink('other', join(folder, 'way'))),
      () => rm(join(folder, 'out.sh')),
    ]) {
      await change();
      pins.push(await pinOf(command));
    }
    expect(new Set(pins).size).toBe(pins.length);
  });

  it('is independent of what the command does not read: its output, notes, and other programs', async () => {
    await put({ 'build.sh': 'date > out.txt; echo done >> log.txt', 'notes.md': 'one', 'other.py': 'one' });
    const command = 'bash build.sh > result.txt 2>> errors.txt';
    const before = await pinOf(command);
    await put({
      'out.txt': 'x',
      'log.txt': 'x',
      'result.txt': 'x',
      'errors.txt': 'x',
      'notes.md': 'two',
      'other.py': 'two',
    });
    expect(await pinOf(command)).toBe(before);
    expect(await pinOf('date && echo hello')).toBeNull();
    await put({ 'package.json': '{}' });
    expect(await pinOf('echo hello > notes.md')).toBeNull();
    expect((await pinnedBy('cat notes.md'))?.files.map(({ path }) => path)).toEqual(['notes.md']);
  });

  it('covers only the named files when the sandbox holds the command without a network', async () => {
    reach = HELD;
    await put({ 'build.sh': '. ./lib.sh', 'lib.sh': 'good', Makefile: 'all:', 'sub/x': 'good' });
    expect((await pinnedBy('make && bash build.sh sub *'))?.files.map(({ path }) => path)).toEqual(['build.sh']);
    const wide: readonly CommandReach[] = [
      { sandboxed: true, network: 'all' },
      { sandboxed: true, network: ['a.test'] },
      BARE,
    ];
    for (const wider of wide) {
      expect(isBounded(wider)).toBe(false);
      reach = wider;
      expect((await pinnedBy('make && bash build.sh'))?.files.map(({ path }) => path).sort()).toEqual([
        'Makefile',
        'build.sh',
        'lib.sh',
      ]);
    }
  });

  it('shows texts up to a limit, and compares longer ones too', async () => {
    await put({ 'a.sh': '#'.repeat(60_000), 'b.sh': '#'.repeat(60_000), 'c.bin': 'x\0y' });
    const shown = (await pinnedBy('bash a.sh b.sh c.bin'))?.files.map(({ path, bytes, text }) => [
      path,
      bytes,
      text?.length,
    ]);
    expect(shown).toEqual([
      ['a.sh', 60_000, 60_000],
      ['b.sh', 60_000, undefined],
      ['c.bin', 3, undefined],
    ]);
    // More files than are named one by one.
    await put(Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`many/f${n}`, ''])));
    const many = await pinnedBy('ls many');
    expect([many?.files.length, many?.rest, many?.isWhole]).toEqual([2_000, 100, true]);
    await put({ 'many/f999': 'evil' });
    expect(await pinOf('ls many')).not.toBe(many?.pin);
  });

  it('is computed at once, however much a file names', async () => {
    const words = Array.from({ length: 200_000 }, (_, n) => `word${n}.thing${n}`).join(' ');
    await put({
      'build.sh': words.slice(0, 900_000),
      ...Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}.js`, ''])),
    });
    let longest = 0;
    let last = performance.now();
    const clock = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const pinned = await pinnedBy('bash build.sh');
    clearInterval(clock);
    // It names too much to be looked up: all of the folder counts.
    expect(pinned?.files.length).toBe(301);
    expect(longest).toBeLessThan(1_000);
  });
});

const command = (text: string, more: object = {}) => calls('run_command', { command: text, ...more });
const write = (path: string, content: string) => calls('write_file', { path, content });

/** A folder with the system's programs but the one that makes a sandbox. */
async function programsWithoutSandbox(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bin-'));
  for (const name of ['bash', 'sh', 'node', 'cat', 'sleep', 'echo', 'rm', 'mv', 'cp', 'touch', 'env'])
    await symlink(programAt(name) ?? name, join(folder, name));
  return folder;
}

/** What the person is asked, as their page shows it. */
function asking(hands: () => Hands) {
  const only = async () => {
    const [one, ...more] = await hands().waiting();
    if (!one || more.length > 0) throw new Error(`Not one question waits: ${more.length}`);
    return one;
  };
  const say = async (answer: 'once' | 'always-command' | 'always-tool' | 'no', callId: string, seen?: string) => {
    const body = { answer, ...(seen === undefined ? {} : { seen }) };
    const response = await hands().call('POST', `/api/approvals/${callId}/answer`, body);
    const { type = '', detail = '' } = (await response.json()) as { type?: string; detail?: string };
    return { status: response.status, type, detail };
  };
  const stateOf = async (callId: string) => (await hands().account()).find((each) => each.callId === callId)?.state;
  const done = (callId: string) => expect.poll(() => stateOf(callId), { timeout: 10_000 }).toBe('done');
  /** What lay there, and what lies there now. */
  const diffs = ({ before, files }: CallContent) =>
    (before ?? []).map(({ path, text }) => [path, text, files.find((each) => each.path === path)?.text ?? null]);
  return { only, say, stateOf, done, diffs };
}

describe.each(USUAL_STORES)('a yes to a command without a sandbox, on %s', (store) => {
  let hands: Hands;
  let programs: string;
  const { only, say, done, diffs } = asking(() => hands);
  const asks = { toolsets: { files: 'allow', shell: 'ask' }, shell_without_sandbox: true };
  beforeAll(async () => {
    programs = await programsWithoutSandbox();
    hands = await startHands(['--scripts'], { store, env: { PATH: programs } });
    expect(await (await hands.call('GET', '/api/approvals')).json()).toMatchObject({ sandbox: { available: false } });
  });
  beforeEach(() => hands.grant(asks));
  afterEach(async () => {
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    for (const name of ['build.sh', 'lib.sh', 'ran', 'evil', 'step.sh', 'swap.sh'])
      await hands.call('DELETE', `/api/workspaces/a1/file?path=${name}`);
  });
  afterAll(async () => {
    await hands.close();
    await rm(programs, { recursive: true, force: true });
  });

  it('runs an accepted command always, and asks again for a swapped script, with its changes', async () => {
    await hands.put('build.sh', '. ./lib.sh');
    await hands.put('lib.sh', 'echo good >> ran');
    await hands.works(command('bash build.sh'));
    const first = await only();
    expect(first.content?.files).toMatchObject([
      { path: 'build.sh', text: '. ./lib.sh', inTurn: false },
      { path: 'lib.sh', text: 'echo good >> ran', inTurn: true },
    ]);
    expect(await say('always-command', first.callId, first.content?.pin)).toMatchObject({ status: 200 });
    await done(first.callId);
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/Exit status 0/]);
    // Whatever it does not read changes nothing.
    expect(await hands.works(write('notes.md', 'x'), command('bash build.sh'))).toMatchObject([/./, /Exit status 0/]);
    for (const [path, content] of [
      ['build.sh', 'echo evil > evil'],
      ['lib.sh', 'echo evil > evil'],
    ] as const) {
      const own = (await hands.file(path)) ?? '';
      const [, swapped] = await hands.works(write(path, content), command('bash build.sh'));
      expect(swapped).toContain('it has not run');
      const asked = await only();
      expect(asked.content && diffs(asked.content)).toContainEqual([path, own, content]);
      expect(await say('no', asked.callId)).toMatchObject({ status: 200 });
      // Put back as it was agreed to, it runs again.
      expect(await hands.works(write(path, own), command('bash build.sh'))).toMatchObject([/./, /Exit status 0/]);
    }
    expect(await hands.file('evil')).toBeNull();
    expect(await hands.file('ran')).toBe('good\n'.repeat(5));
    // It holds after the relay was killed, and so does what it is to.
    await hands.restart();
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/Exit status 0/]);
    expect(await hands.works(write('lib.sh', 'echo evil > evil'), command('bash build.sh'))).toMatchObject([
      /./,
      /it has not run/,
    ]);
    // A yes to the new one is for always to the new one.
    const again = await only();
    expect(await say('always-command', again.callId, again.content?.pin)).toMatchObject({ status: 200 });
    await done(again.callId);
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/Exit status 0/]);
  });

  it('asks first when a command set by hand or on another machine reads from the folder', async () => {
    await hands.put('build.sh', 'echo evil > evil');
    await hands.grant({ ...asks, allowed_commands: ['bash build.sh', 'echo hello'] });
    expect(await hands.works(command('echo hello'), command('bash build.sh'))).toMatchObject([
      /Exit status 0/,
      /it has not run/,
    ]);
    expect(await hands.file('evil')).toBeNull();
  });

  it('covers only the script that was shown, and asks again when it changes before the run', async () => {
    await hands.put('build.sh', 'echo good > ran');
    await hands.works(command('bash build.sh'));
    const shown = await only();
    await hands.put('build.sh', 'echo evil > evil');
    for (const seen of [undefined, shown.content?.pin])
      expect(await say('once', shown.callId, seen)).toMatchObject({
        status: 409,
        type: 'about:roost/changed',
        detail: expect.stringContaining('so nothing was done'),
      });
    const now = await only();
    expect(now.callId).toBe(shown.callId);
    expect(now.content && diffs(now.content)).toEqual([['build.sh', 'echo good > ran', 'echo evil > evil']]);
    // Another device shows the card from before.
    expect(await say('always-command', shown.callId, shown.content?.pin)).toMatchObject({ status: 409 });
    expect([await hands.file('ran'), await hands.file('evil')]).toEqual([null, null]);
    // The question outlives the relay, with both.
    await hands.restart();
    const kept = await only();
    expect(kept.content).toEqual(now.content);
    await hands.put('build.sh', 'echo good > ran');
    const back = await only();
    expect([back.content?.pin, back.content?.before]).toEqual([shown.content?.pin, null]);
    expect(await say('once', back.callId, back.content?.pin)).toMatchObject({ status: 200 });
    await done(back.callId);
    expect(await hands.file('ran')).toBe('good\n');
  });

  it('does not cover a script that appears after the question', async () => {
    await hands.works(command('bash build.sh'));
    const { callId, content } = await only();
    expect(content).toBeUndefined();
    await hands.put('build.sh', 'echo evil > evil');
    for (const seen of [undefined, ''])
      expect(await say('once', callId, seen)).toMatchObject({ status: 409, type: 'about:roost/changed' });
    expect((await only()).content?.files).toMatchObject([{ path: 'build.sh', text: 'echo evil > evil' }]);
    expect(await hands.file('evil')).toBeNull();
  });

  it('freezes its input while it runs, so that its agent cannot swap the next step', async () => {
    const go = join(programs, `go-${randomUUID()}`);
    await hands.put('build.sh', `touch begun; until test -e ${go}; do sleep 0.1; done; bash step.sh`);
    await hands.put('step.sh', 'echo good > ran');
    await writeFile(go, '');
    await hands.works(command('bash build.sh', { background: true }));
    const asked = await only();
    expect(await say('always-command', asked.callId, asked.content?.pin)).toMatchObject({ status: 200 });
    await done(asked.callId);
    await expect.poll(() => hands.file('ran')).toBe('good\n');
    await rm(go);
    await hands.call('DELETE', '/api/workspaces/a1/file?path=ran');
    const [begun = '', swapped, moved, deleted, other] = await hands.works(
      command('bash build.sh', { background: true }),
      write('step.sh', 'echo evil > evil'),
      calls('move_file', { from: 'step.sh', to: 'aside.sh' }),
      calls('delete_file', { path: 'step.sh' }),
      write('notes.md', 'free'),
    );
    expect(begun).toMatch(/Command c\d+ is running/);
    for (const refused of [swapped, moved, deleted])
      expect(refused).toContain('step.sh cannot change while a command runs that the human allowed with it.');
    expect(other).toContain('notes.md is');
    await writeFile(go, '');
    await expect.poll(() => hands.file('ran')).toBe('good\n');
    expect(await hands.file('evil')).toBeNull();
    // Over, it is free again.
    await expect
      .poll(async () => (await hands.works(write('step.sh', 'echo new')))[0])
      .toContain('step.sh is replaced');
  });
});

describe.each(USUAL_STORES)('where there is a sandbox, on %s', (store) => {
  let hands: Hands;
  let programs: string;
  const { only, say, done, diffs } = asking(() => hands);
  beforeAll(async () => {
    programs = await programsWithoutSandbox();
    hands = await startHands(['--scripts'], { store });
  });
  afterEach(async () => {
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    for (const name of ['plan.md', 'new.md', 'trip', 'build.sh', 'ran'])
      await hands.call('DELETE', `/api/workspaces/a1/file?path=${name}`);
  });
  afterAll(async () => {
    await hands.close();
    await rm(programs, { recursive: true, force: true });
  });
  const shellAsks = { shell: 'ask' };
  const filesAsk = () => hands.grant({ toolsets: { files: 'ask' } });

  it.each<readonly [string, string, object]>([
    ['that writes it', 'write_file', { path: 'plan.md', content: 'The agent’s plan.' }],
    ['that changes a part of it', 'edit_file', { path: 'plan.md', old_text: 'Mine.', new_text: 'Ours.' }],
    ['that moves it', 'move_file', { from: 'plan.md', to: 'new.md' }],
    ['that moves something over it', 'move_file', { from: 'new.md', to: 'plan.md', replace: true }],
    ['that deletes it', 'delete_file', { path: 'plan.md' }],
  ])(
    'a yes to a change of a file, %s, does not touch words that were written after the card was made',
    async (_what, tool, input) => {
      await filesAsk();
      await hands.put('plan.md', 'Mine.');
      if (tool === 'move_file' && 'replace' in input) await hands.put('new.md', 'New.');
      await hands.works(calls(tool, input));
      const shown = await only();
      expect(shown.content?.files).toContainEqual(expect.objectContaining({ path: 'plan.md', text: 'Mine.' }));
      await hands.put('plan.md', 'Mine. And what I wrote since.');
      expect(await say('once', shown.callId, shown.content?.pin)).toMatchObject({
        status: 409,
        type: 'about:roost/changed',
      });
      expect(await hands.file('plan.md')).toBe('Mine. And what I wrote since.');
      const now = await only();
      expect(now.content && diffs(now.content)).toContainEqual(['plan.md', 'Mine.', 'Mine. And what I wrote since.']);
      expect(await say('once', now.callId, now.content?.pin)).toMatchObject({ status: 200 });
      await done(now.callId);
      expect(await hands.file('plan.md')).not.toBe('Mine. And what I wrote since.');
    },
  );

  it('a yes that makes a file does not write over one that has come, and one to a folder is to all that lies in it', async () => {
    await filesAsk();
    await hands.works(write('plan.md', 'The agent’s plan.'));
    const made = await only();
    expect(made.content?.files).toMatchObject([{ path: 'plan.md', kind: 'none' }]);
    await hands.put('plan.md', 'Mine.');
    expect(await say('always-tool', made.callId)).toMatchObject({ status: 409 });
    expect(await hands.file('plan.md')).toBe('Mine.');
    // Nothing was let for always by that.
    expect(await hands.works(write('new.md', 'x'))).toMatchObject([/it has not run/]);
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    await hands.put('trip/a.md', 'a');
    await hands.works(calls('delete_file', { path: 'trip', recursive: true }));
    const all = await only();
    expect(all.content?.files).toMatchObject([{ path: 'trip', kind: 'folder', entries: 1, bytes: 1 }]);
    await hands.put('trip/deep/b.md', 'b');
    expect(await say('once', all.callId, all.content?.pin)).toMatchObject({ status: 409 });
    expect(await hands.file('trip/a.md')).toBe('a');
    const now = await only();
    expect(now.content).toMatchObject({ files: [{ entries: 3, bytes: 2 }], before: [{ entries: 1, bytes: 1 }] });
    await say('once', now.callId, now.content?.pin);
    await done(now.callId);
    expect(await hands.file('trip/a.md')).toBeNull();
  });

  it('accepts the content at the time of the yes, and keeps later writes', async () => {
    await filesAsk();
    for (let round = 0; round < 8; round++) {
      await hands.put('plan.md', 'Mine.');
      await hands.works(write('plan.md', 'The agent’s.'));
      const shown = await only();
      const [, answered] = await Promise.all([
        hands.put('plan.md', `Mine, ${round}.`),
        say('once', shown.callId, shown.content?.pin),
      ]);
      if (answered.status === 409) {
        expect(await hands.file('plan.md')).toBe(`Mine, ${round}.`);
        await hands.answer(shown.callId, 'no');
        continue;
      }
      // It was let. Either it was written before mine, which is there; or it saw mine, and asks
      // again.
      await expect.poll(() => hands.file('plan.md')).toBe(`Mine, ${round}.`);
      for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    }
    expect(await readdir(join(hands.relay().home, 'workspaces'))).toHaveLength(1);
  });

  // The last one: it leaves the relay without its sandbox.
  it('lets a standing yes cover any script content without network: it can do only what its agent can', async () => {
    await hands.grant({ toolsets: shellAsks });
    await hands.put('build.sh', 'echo one >> ran');
    await hands.works(command('bash build.sh'));
    const asked = await only();
    expect(asked.content?.files).toMatchObject([{ path: 'build.sh' }]);
    await say('always-command', asked.callId, asked.content?.pin);
    await done(asked.callId);
    expect(await hands.works(write('build.sh', 'echo two >> ran'), command('bash build.sh'))).toMatchObject([
      /./,
      /Exit status 0/,
    ]);
    expect(await hands.file('ran')).toBe('one\ntwo\n');
    // With a network it could hand on what lies there: that is another thing than was let.
    await hands.grant({ toolsets: shellAsks, network: ['a.test'], allowed_commands: ['bash build.sh'] });
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/it has not run/]);
    const wider = await only();
    await say('always-command', wider.callId, wider.content?.pin);
    await done(wider.callId);
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/Exit status 0/]);
    expect(await hands.works(write('build.sh', 'echo evil > evil'), command('bash build.sh'))).toMatchObject([
      /./,
      /it has not run/,
    ]);
    await hands.answer((await only()).callId, 'no');
    await hands.put('build.sh', 'echo two >> ran');
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/Exit status 0/]);
    // More hosts than were let are more than was let; fewer are not.
    await hands.grant({
      toolsets: { shell: 'ask' },
      network: ['a.test', 'b.test'],
      allowed_commands: ['bash build.sh'],
    });
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/it has not run/]);
    await hands.answer((await only()).callId, 'no');
    expect(await hands.file('evil')).toBeNull();
    // Where the sandbox is gone it is another thing, too, also where the person insists on commands
    // without one.
    await hands.restart({ PATH: programs });
    const bare = { toolsets: shellAsks, shell_without_sandbox: true, allowed_commands: ['bash build.sh'] };
    await hands.grant(bare);
    expect(await hands.works(command('bash build.sh'))).toMatchObject([/it has not run/]);
  });
});
