/**
 * `roost service install|status|remove`: the relay starts by itself, as a user unit of systemd, an
 * agent of launchd, or a scheduled task of Windows. It runs as this user, with the settings that
 * `install` is given.
 */
import { existsSync } from 'node:fs';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { programAt, startProgram } from '../platform/processes/index.ts';
import { StartError } from '../platform/errors.ts';
import type { Command } from './index.ts';

const NAME = 'roost';
const LABEL = 'roost.relay';
/** ms for an answer of the service manager. */
const MANAGER_MS = 30_000;
/** Seconds for the end of a relay, before it is killed. */
const STOP_SECONDS = 15;

/** What the service runs: Node, the relay's file, and its settings. */
type Words = readonly [node: string, ...rest: string[]];

// The files. Each format has its own way to write a word.

/** A word of `ExecStart` (systemd.service(5)): quoted, with `%` and `$` doubled. */
const systemdWord = (word: string) =>
  `"${word
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$')
    .replaceAll('\n', String.raw`\n`)}"`;

export const systemdUnit = (words: Words): string => `[Unit]
Description=Roost
After=network-online.target

[Service]
ExecStart=${words.map(systemdWord).join(' ')}
Restart=on-failure
TimeoutStopSec=${STOP_SECONDS}
# The relay creates control groups, in which the kernel limits agents' commands.
Delegate=yes

[Install]
WantedBy=default.target
`;

const xmlText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const launchdPlist = (words: Words): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xmlText(word)}</string>`).join('\n')}
  </array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>${STOP_SECONDS}</integer>
</dict>
</plist>
`;

/** A word as Windows programs read it (CommandLineToArgvW). */
const windowsWord = (word: string) => `"${word.replaceAll(/(\\*)"/g, String.raw`$1$1\"`).replace(/(\\+)$/, '$1$1')}"`;

export const windowsTask = ([node, ...rest]: Words): string => `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>${xmlText(node)}</Command>
      <Arguments>${xmlText(rest.map(windowsWord).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`;

// The managers.

interface Manager {
  /** The file of the service. */
  readonly file: string;
  readonly text: (words: Words) => string;
  /** Commands in order, each with its arguments. */
  readonly install: readonly (readonly string[])[];
  readonly status: readonly string[];
  readonly remove: readonly (readonly string[])[];
  /** What the person may still have to do. */
  readonly hint: string;
}

function managerOf(platform: NodeJS.Platform): Manager {
  if (platform === 'darwin') {
    const file = join(homedir(), 'Library/LaunchAgents', `${LABEL}.plist`);
    const domain = `gui/${process.getuid?.() ?? 0}`;
    return {
      ...{ file, text: launchdPlist },
      install: [['launchctl', 'bootstrap', domain, file]],
      status: ['launchctl', 'print', `${domain}/${LABEL}`],
      remove: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
      hint: 'It starts when you log in.',
    };
  }
  if (platform === 'win32') {
    const file = join(homedir(), '.roost-service.xml');
    return {
      ...{ file, text: windowsTask },
      install: [
        ['schtasks', '/Create', '/F', '/TN', NAME, '/XML', file],
        ['schtasks', '/Run', '/TN', NAME],
      ],
      status: ['schtasks', '/Query', '/TN', NAME],
      remove: [
        ['schtasks', '/End', '/TN', NAME],
        ['schtasks', '/Delete', '/F', '/TN', NAME],
      ],
      hint: 'It starts when you log in.',
    };
  }
  const folder = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config');
  const user = ['systemctl', '--user'];
  return {
    ...{ file: join(folder, 'systemd/user', `${NAME}.service`), text: systemdUnit },
    install: [
      [...user, 'daemon-reload'],
      [...user, 'enable', '--now', `${NAME}.service`],
    ],
    status: [...user, 'status', '--no-pager', `${NAME}.service`],
    remove: [[...user, 'disable', '--now', `${NAME}.service`]],
    hint: 'It starts when you log in. To start it with the machine: loginctl enable-linger',
  };
}

/** Runs a command of the manager, and resolves with its exit code and what it printed. */
async function run([program = '', ...options]: readonly string[]): Promise<{ code: number | null; said: string }> {
  if (programAt(program) === null)
    throw new StartError(`There is no ${program} on this machine, so Roost cannot be installed as a service here.`);
  const child = startProgram({ program, options }, { stdio: ['ignore', 'pipe', 'pipe'], timeout: MANAGER_MS });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, said: said.trim() }));
  });
}

async function install({ file, ...manager }: Manager, settings: readonly string[]): Promise<string> {
  // The file itself: npx has a link to it.
  const main = await realpath(process.argv[1] ?? '');
  const words = [process.execPath, main, ...settings, '--no-open'] as const;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, manager.text(words));
  for (const command of manager.install) {
    const { code, said } = await run(command);
    if (code !== 0) throw new StartError(`${file} was written, and ${command.join(' ')} failed: ${said}`);
  }
  return `Roost runs as a service: ${file}. ${manager.hint}`;
}

async function remove({ file, ...manager }: Manager): Promise<string> {
  if (!existsSync(file)) throw new StartError(`There is no service of Roost: ${file} is missing.`);
  for (const command of manager.remove) await run(command);
  await rm(file);
  return 'The service was removed. The home stays.';
}

export const service: Command = async ({ operand, settings, tell }) => {
  const manager = managerOf(process.platform);
  switch (operand) {
    case 'install':
      tell(await install(manager, settings));
      return 0;
    case 'remove':
      tell(await remove(manager));
      return 0;
    case 'status': {
      const { code, said } = await run(manager.status);
      tell(said);
      return code ?? 1;
    }
    default:
      throw new StartError(`Usage: roost service install|status|remove [settings], not "${operand}".`, 2);
  }
};
