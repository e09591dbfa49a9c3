/** One-time links for the person at the terminal, as text and as a QR code. */
import encodeQR from 'qr';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { SETTINGS, REMOVE, type SettingSpec, STOP } from './settings.ts';

/** A command as the help shows it. */
interface ShownCommand {
  readonly operand: string | null;
  readonly help: string;
}

/** The text of `--help`. */
export function helpText(commands: Readonly<Record<string, ShownCommand>>): string {
  const rows = Object.values(SETTINGS).map((setting: SettingSpec) => {
    const value = setting.value === null ? '' : ` <${setting.value}>`;
    const name = setting.flag === null ? `${setting.env}=<${setting.value ?? ''}>` : `--${setting.flag}${value}`;
    const shown = setting.shownDefault ?? setting.default;
    const notes = [
      ...(setting.flag === null ? ['environment only'] : [setting.env]),
      ...(shown === null ? [] : [`default ${shown}`]),
    ];
    return `  ${name}\n      ${setting.help} [${notes.join('; ')}]`;
  });
  return [
    'Roost: a home for a team of agents, on this machine.',
    '',
    'npx roost [command] [settings], or in a clone: npm start -- [command] [settings]',
    '',
    'Commands. Without one, the relay starts.',
    '',
    ...Object.entries(commands).map(
      ([name, { operand, help }]) => `  ${operand === null ? name : `${name} ${operand}`}\n      ${help}`,
    ),
    '',
    'Settings',
    '',
    ...rows,
    `  --${STOP}\n      End the relay that runs on this home, in good order: nothing that comes due until its next start is made up for.`,
    `  --${REMOVE} <id>\n      Remove a household of this relay with all that the relay has of it, while no relay runs on this home. An unknown id lists those that there are.`,
    '  --help\n      Show this.',
    '',
  ].join('\n');
}

interface TerminalDeps {
  readonly input: NodeJS.EventEmitter & { readonly isTTY?: boolean };
  readonly output: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly newLink: () => Promise<string>;
  /** Whether other machines can open the link too. */
  readonly reachable: boolean;
  /** Prints one line of advice. */
  readonly tell: (line: string) => void;
}

interface Terminal {
  /** Prints a fresh link. `code`: also as a QR code, where the output is a terminal. */
  show(options: { readonly code: boolean }): Promise<string>;
  /** Prints a fresh link for every Enter, where the input is a terminal. */
  listen(): void;
}

/**
 * White on black, whatever the terminal's own colours are: cameras want a dark code on a light
 * ground.
 */
const [PAINT, PLAIN] = ['\u001b[97;40m', '\u001b[0m'];

/** Two rows of the code in one row of text. */
export function codeText(link: string): string {
  const rows = encodeQR(link, 'ascii', { ecc: 'low', border: 2 }).trimEnd().split('\n');
  return rows.map((row) => `  ${PAINT}${row}${PLAIN}\n`).join('');
}

export function createTerminal({ input, output, newLink, reachable, tell }: TerminalDeps): Terminal {
  const isScreen = output.isTTY === true;
  async function print(withCode: boolean): Promise<string> {
    const link = await newLink();
    output.write(`\n  Open Roost:  ${link}\n\n${withCode ? `${codeText(link)}\n` : ''}`);
    return link;
  }
  return {
    show: ({ code }) => print(code && isScreen && reachable),
    listen() {
      if (input.isTTY !== true) return;
      tell(
        `The link works once. Enter prints a fresh one${reachable ? ', with a code for a phone' : '; q and Enter, one with a code for a phone'}; Ctrl+C ends Roost.`,
      );
      input.on('data', (typed: unknown) => {
        const asked = String(typed).trim().toLowerCase() === 'q';
        print(asked || (isScreen && reachable)).catch((error: unknown) => tell(`No link: ${errorMessage(error)}`));
      });
    },
  };
}
