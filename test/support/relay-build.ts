/**
 * The relay, and what tests run beside it, each as one file made from the sources as they are now: a process starts from
 * it in a third of the time that compiling takes. Named by all that decides what is in it; made once, by whoever needs
 * it first.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What `npm run build` makes. */
export const BUILT_MAIN = join(ROOT, 'dist/server/main.js');
/** Inside the project, so that packages are found from there. */
const CACHE = join(ROOT, 'node_modules/.cache/roost-test');
const SOURCES = ['server', 'src/domain', 'src/protocol'];

async function hashOfSources(entry: string): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(join(ROOT, 'vite.config.ts')))
    .update(await readFile(join(ROOT, entry)));
  for (const folder of SOURCES) {
    const files = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(path).update(await readFile(path));
  }
  return hash.digest('hex').slice(0, 16);
}

function build(entry: string, outDir: string): Promise<void> {
  const args = [
    join(ROOT, 'node_modules/vite/bin/vite.js'),
    'build',
    '--logLevel',
    'error',
    '--ssr',
    entry,
    '--outDir',
    outDir,
  ];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${entry} could not be built\n${said}`))));
  });
}

async function make(entry: string): Promise<string> {
  const name = basename(entry, '.ts');
  const folder = join(CACHE, `${name}-${await hashOfSources(entry)}`);
  const main = join(folder, `${name}.js`);
  if (existsSync(main)) return main;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  await build(entry, making);
  try {
    await rename(making, folder);
  } catch (error) {
    // Another test process was first.
    if (!existsSync(main)) throw error;
    await rm(making, { recursive: true });
  }
  return main;
}

const made = new Map<string, Promise<string>>();

/** The path of a program made of `entry`, a file of the project, and of the relay's parts that it imports. */
export function programOf(entry: string): Promise<string> {
  const making = made.get(entry) ?? make(entry);
  made.set(entry, making);
  return making;
}

/** The path of the relay's main file. */
export const relayMain = (): Promise<string> => programOf('server/main.ts');
