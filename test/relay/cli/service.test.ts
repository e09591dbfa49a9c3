/** `roost service`: the files that it writes, and what it asks of the service manager. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launchdPlist, systemdUnit, windowsTask } from '../../../server/cli/service.ts';
import { runRelayCommand } from '../../support/relay.ts';

/** Words that each format must write in its own way. */
const ODD = ['--home', '/ho me/%h/$HOME', 'a"b', String.raw`c\d`, '<&>', String.raw`ends\ `.trim()] as const;
const WORDS = [process.execPath, '/opt/roost.mjs', ...ODD] as const;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-service-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Texts of an XML file by the name of their element. */
function textsIn(xml: string, element: string): string[] {
  const texts: string[] = [];
  let open = '';
  const parser = new Parser(
    {
      onopentagname(name) {
        open = name;
        if (name === element) texts.push('');
      },
      ontext(text) {
        if (open === element) texts.push((texts.pop() ?? '') + text);
      },
      onclosetag: () => (open = ''),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return texts;
}

describe('The file of a service', () => {
  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'writes a unit that systemd accepts without a warning',
    async () => {
      const unit = join(folder, 'roost.service');
      const verify = async (text: string) => {
        await writeFile(unit, text);
        const env = { ...process.env, XDG_RUNTIME_DIR: folder };
        const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', unit], { env, encoding: 'utf8' });
        return { status, ours: stderr.split('\n').filter((line) => line.includes('roost.service')) };
      };
      expect(await verify(systemdUnit(WORDS))).toEqual({ status: 0, ours: [] });
      expect((await verify(systemdUnit(['/no/such/node']))).ours).not.toEqual([]);
    },
  );

  it('doubles what systemd would replace, and escapes quotes', () => {
    const [line = ''] = /^ExecStart=.*$/m.exec(systemdUnit(WORDS)) ?? [];
    expect(line).toContain(String.raw`"/ho me/%%h/$$HOME" "a\"b" "c\\d" "<&>" "ends\\"`);
  });

  it('lists every word for launchd as it was given', () => {
    expect(textsIn(launchdPlist(WORDS), 'string')).toEqual(['roost.relay', ...WORDS]);
  });

  it('writes a command line that Windows programs read as it was given', () => {
    const task = windowsTask(WORDS);
    expect(textsIn(task, 'Command')).toEqual([process.execPath]);
    expect(textsIn(task, 'Arguments')[0]).toContain(String.raw`"a\"b" "c\d" "<&>" "ends\\"`);
  });
});

describe.skipIf(process.platform !== 'linux')('The service', () => {
  const file = () => join(folder, 'systemd/user/roost.service');
  const service = (...args: readonly string[]) =>
    runRelayCommand(['service', ...args], {
      PATH: `${folder}:${process.env['PATH']}`,
      XDG_CONFIG_HOME: folder,
      CALLS: join(folder, 'calls'),
    });
  const calls = () => readFile(join(folder, 'calls'), 'utf8');
  const systemctl = async (body: string) => {
    await writeFile(join(folder, 'systemctl'), `#!/bin/sh\necho "$@" >> "$CALLS"\n${body}\n`);
    await chmod(join(folder, 'systemctl'), 0o700);
  };

  it('installs the service with its settings, and removes it with its file', async () => {
    await systemctl('');
    const installed = await service('install', '--port', '4848');
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    expect(await readFile(file(), 'utf8')).toContain('"--port" "4848" "--no-open"');
    expect(await calls()).toBe('--user daemon-reload\n--user enable --now roost.service\n');
    expect(await service('remove')).toMatchObject({ code: 0 });
    expect(existsSync(file())).toBe(false);
    expect(await service('remove')).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no service') });
  });

  it('says what the service manager refused, and has the exit code of its status', async () => {
    await systemctl('echo no bus >&2; exit 3');
    expect(await service('install')).toMatchObject({ code: 1, stderr: expect.stringContaining('no bus') });
    expect(await service('status')).toMatchObject({ code: 3, stdout: expect.stringContaining('no bus') });
    expect(await service('start')).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage') });
    expect(await service('install', '--prot', '1')).toMatchObject({ code: 2 });
  });
});
