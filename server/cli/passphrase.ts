/** The passphrase of a backup: from the environment, or typed at the terminal, unseen. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { StartError } from '../platform/errors.ts';
import { PASSPHRASE_LEAST, SETTINGS } from '../startup/settings.ts';

const VARIABLE = SETTINGS.backupPassphrase.env;
const HOW = `Set ${VARIABLE}, or run this at a terminal.`;

async function typed(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  const interrupted = new AbortController();
  lines.once('SIGINT', () => interrupted.abort());
  lines.once('close', () => interrupted.abort());
  // From here on the terminal hides what is typed.
  process.stderr.write(question);
  try {
    return await lines.question('', { signal: interrupted.signal });
  } catch (error) {
    throw new StartError('No passphrase was given, and nothing was done.', 1, { cause: error });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/** `twice`: a new one, which a typing error would lose. Throws `StartError` where there is none. */
export async function askPassphrase({ twice }: { readonly twice: boolean }): Promise<string> {
  const given = process.env[VARIABLE] ?? '';
  if (given === '' && !process.stdin.isTTY) throw new StartError(`A backup has a passphrase. ${HOW}`, 2);
  const passphrase = given === '' ? await typed('Passphrase of the backup: ') : given;
  if (twice && passphrase.length < PASSPHRASE_LEAST)
    throw new StartError(`The passphrase needs at least ${PASSPHRASE_LEAST} characters.`, 2);
  if (twice && given === '' && (await typed('The same again: ')) !== passphrase)
    throw new StartError('The two passphrases differ, and nothing was done.', 2);
  return passphrase;
}
