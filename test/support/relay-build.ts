/**
 * The relay, and what tests run beside it, each as one file made from the sources as they are now: a process starts from
 * it in a fraction of the time that compiling takes.
 */
import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { madeOnce } from './made-once.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What `npm run build` makes. */
export const BUILT_MAIN = join(ROOT, 'dist/server/main.js');
const BUNDLE = 'test/support/bundle.mjs';
const SOURCES = ['server', 'src/domain', 'src/protocol', 'vite.config.ts', 'package-lock.json', BUNDLE];

function build(entry: string, outDir: string): Promise<void> {
  const child = spawn(process.execPath, [join(ROOT, BUNDLE), entry, outDir], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${entry} could not be built\n${said}`))));
  });
}

/** The path of a program made of `entry`, a file of the project, and of all that it imports. */
export async function programOf(entry: string): Promise<string> {
  const name = basename(entry, '.ts');
  return join(await madeOnce(name, [...SOURCES, entry], (folder) => build(entry, folder)), `${name}.js`);
}

/** The path of the relay's main file. */
export const relayMain = (): Promise<string> => programOf('server/main.ts');
