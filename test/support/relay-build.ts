/**
 * The relay, and what tests run beside it, each as one file made from the sources as they are now:
 * a process starts from it in a fraction of the time that compiling takes.
 */
import { spawn } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { madeOnce } from './made-once.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What `npm run build` makes. */
export const BUILT_MAIN = join(ROOT, 'dist/server/main.js');
const BUNDLE = 'test/support/bundle.mjs';
const COMPILED = 'test/support/compiled.mjs';
const SOURCES = ['server', 'src/shared/domain', 'src/shared/protocol', 'vite.config.ts', 'package-lock.json', BUNDLE];

/** Runs Node to its end, or until it has said what `enough` finds, and ends it then. */
function node(args: readonly string[], env: NodeJS.ProcessEnv = {}, enough?: RegExp): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (enough?.test(said) && !child.killed) child.kill('SIGTERM');
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`node ${args.join(' ')} ended with ${code}\n${said}`)),
    );
  });
}

/** The path of a program made of `entry`, a file of the project, and of all that it imports. */
export async function programOf(entry: string): Promise<string> {
  const { name } = parse(entry);
  return join(await madeOnce(name, [...SOURCES, entry], (folder) => node([BUNDLE, entry, folder])), `${name}.js`);
}

/** Starts once and ends, so that what V8 has made of it by then is kept beside it. */
async function keepCompiled(main: string, folder: string): Promise<void> {
  const home = join(folder, 'home');
  const args = [main, '--port', '0', '--home', home, '--no-open'];
  await node(args, { KEEP_COMPILED: 'yes', DATABASE_URL: undefined }, /https?:\/\/\S+\s/);
  await rm(home, { recursive: true });
}

/** The path of the relay's main file. */
export async function relayMain(): Promise<string> {
  const made = await madeOnce('relay', [...SOURCES, COMPILED], async (folder) => {
    const main = join(folder, 'main.mjs');
    await node([BUNDLE, 'server/main.ts', folder, 'cjs']);
    await copyFile(join(ROOT, COMPILED), main);
    await keepCompiled(main, folder);
  });
  return join(made, 'main.mjs');
}
