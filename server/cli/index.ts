/**
 * Commands beside the relay: `roost NAME [operand] [settings]`. Each is loaded when it is asked
 * for.
 */
import { StartError } from '../platform/errors.ts';
import { type Config, readConfig } from '../startup/config.ts';

interface CommandDeps {
  /** The operand, or empty where the command takes none. */
  readonly operand: string;
  readonly config: Config;
  /** The settings as they were given. */
  readonly settings: readonly string[];
  /** Those of the command's own that were given. */
  readonly flags: readonly string[];
  readonly version: string;
  /** Prints one line. */
  readonly tell: (line: string) => void;
}

/** Resolves with the exit code. Throws `StartError` where it fails. */
export type Command = (deps: CommandDeps) => Promise<number>;

interface Named {
  /** The operand as the help shows it. Null: none. */
  readonly operand: string | null;
  /** Switches that only this command knows. */
  readonly flags?: readonly string[];
  readonly help: string;
  readonly load: () => Promise<Command>;
}

export const COMMANDS: Readonly<Record<string, Named>> = {
  doctor: {
    operand: null,
    help: 'Check this machine: Node, disk, clock, port, store, sandbox, git, model, TLS. Says what to do.',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  service: {
    operand: 'install|status|remove',
    help: 'Start the relay by itself, as this user, with these settings: systemd, launchd or a scheduled task.',
    load: async () => (await import('./service.ts')).service,
  },
  backup: {
    operand: 'FILE',
    help: 'Write the home to an encrypted file, while the relay runs or not.',
    load: async () => (await import('./backup.ts')).backup,
  },
  restore: {
    operand: 'FILE',
    help: 'Put a home back from such a file. The home must be empty.',
    load: async () => (await import('./backup.ts')).restore,
  },
  upgrade: {
    operand: null,
    flags: ['--rehearse'],
    help: 'Open a copy of the home with this version, and serve from it. Then migrate the home, unless --rehearse is given.',
    load: async () => (await import('./upgrade.ts')).upgrade,
  },
};

const commandOf = (name: string) => (Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined);

/** Whether the arguments name a command, and do not ask for help. */
export const isCommand = ([name = '', ...rest]: readonly string[]): boolean =>
  commandOf(name) !== undefined && !rest.includes('--help') && !rest.includes('-h');

/** Runs the command that the arguments name. Resolves with its exit code. Throws `StartError`. */
export async function runCommand(
  args: readonly string[],
  deps: Pick<CommandDeps, 'version' | 'tell'>,
): Promise<number> {
  const [name = '', ...rest] = args;
  const named = commandOf(name);
  if (!named) throw new StartError(`There is no command ${name}. Try --help.`, 2);
  const takesOperand = named.operand !== null;
  const operand = takesOperand ? (rest[0] ?? '-') : '';
  if (operand.startsWith('-')) throw new StartError(`Usage: roost ${name} ${named.operand} [settings]. Try --help.`, 2);
  const isOwn = (word: string) => named.flags?.includes(word) === true;
  const words = rest.slice(takesOperand ? 1 : 0);
  const settings = words.filter((word) => !isOwn(word));
  const config = readConfig(settings, process.env);
  if (config === null) throw new StartError('Try --help.', 2);
  const command = await named.load();
  return await command({ ...deps, operand, config, settings, flags: words.filter(isOwn) });
}
