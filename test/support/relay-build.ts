/**
 * The relay as one file, made from the sources as they are now: a process starts from it in a third of the
 * time that compiling takes. Named by all that decides what is in it; made once, by whoever needs it first.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What `npm run build` makes. */
export const BUILT_MAIN = join(ROOT, 'dist/server/main.js');
/** Inside the project, so that packages are found from there. */
const CACHE = join(ROOT, 'node_modules/.cache/roost-test');
const SOURCES = ['server', 'src/domain', 'src/protocol'];

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(ROOT, 'vite.config.ts')));
  for (const folder of SOURCES) {
    const files = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true });
    const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    for (const path of paths.sort()) hash.update(path).update(await readFile(path));
  }
  return hash.digest('hex').slice(0, 16);
}

function build(outDir: string): Promise<void> {
  const args = [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'error', '--ssr', 'server/main.ts', '--outDir', outDir];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`the relay could not be built\n${said}`))));
  });
}

async function make(): Promise<string> {
  const folder = join(CACHE, `relay-${await hashOfSources()}`);
  const main = join(folder, 'main.js');
  if (existsSync(main)) return main;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  await build(making);
  try {
    await rename(making, folder);
  } catch (error) {
    // Another test process was first.
    if (!existsSync(main)) throw error;
    await rm(making, { recursive: true });
  }
  return main;
}

let made: Promise<string> | null = null;

/** The path of the relay's main file. */
export function relayMain(): Promise<string> {
  return (made ??= make());
}
