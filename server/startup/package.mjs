/**
 * Before `npm pack`: puts the current build into `dist/package`, page and relay, with the licences
 * of the packages that are built into it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { filesAt } from './builds.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'dist/package');
const IMPORTED = /\b(?:from|import)\b[\s(]*'((?:@[\w.-]+\/)?[a-z][\w.-]*)[/']/g;
const LICENCE = /^(licen[cs]e|notice|copying)/i;

const readPackage = (path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));

/** The folder of a package as `from` finds it, or null. */
function installed(name, from) {
  for (let path = from; ; path = dirname(path)) {
    const found = join(path, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
    if (path === root) return null;
  }
}

/** Folders of the packages that page and relay import, and of what those need. */
function builtIn() {
  const files = ['src', 'server'].flatMap((part) => filesAt(join(root, part))).filter((file) => /\.tsx?$/.test(file));
  const names = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(IMPORTED)].map(([, name]) => name));
  const folders = new Set([...new Set(names)].map((name) => installed(name, root)));
  folders.delete(null);
  // The service worker is made by a plugin of it, which stays out.
  folders.delete(installed('vite', root));
  // A set also walks what is added on the way.
  for (const path of folders)
    for (const name of Object.keys(readPackage(path).dependencies ?? {})) {
      const found = installed(name, path);
      if (found) folders.add(found);
    }
  return [...folders].sort();
}

/** The texts of a package's licence, or its name where there is no text. */
function licenceOf(path) {
  const { name, version, license } = readPackage(path);
  const texts = readdirSync(path)
    .filter((file) => LICENCE.test(file))
    .map((file) => readFileSync(join(path, file), 'utf8').trim());
  return [`## ${name} ${version}`, ...(texts.length > 0 ? texts : [`Licence: ${license}`])].join('\n\n');
}

const { status } = spawnSync(process.execPath, [join(root, 'server/startup/build.mjs')], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);
rmSync(folder, { recursive: true, force: true });
for (const part of ['page', 'server'])
  cpSync(join(root, 'dist', part), join(folder, part), { recursive: true, dereference: true });
writeFileSync(join(folder, 'LICENCES.md'), `${builtIn().map(licenceOf).join('\n\n')}\n`);
