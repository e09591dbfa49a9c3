/**
 * The oldest browsers of the README, as far as one Chromium can be made like both: what came after
 * Safari 16.4 or Firefox 128 is taken away, in the page before its scripts run and in its workers.
 */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Owner and names. Source: MDN's compatibility data. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  globalThis: [
    'requestIdleCallback',
    'cancelIdleCallback',
    'BarcodeDetector',
    'scheduler',
    'CloseWatcher',
    'showSaveFilePicker',
    'showOpenFilePicker',
    'navigation',
    'URLPattern',
    'Iterator',
    'Float16Array',
    'Temporal',
    'Observable',
    'CookieStore',
    'cookieStore',
    'EyeDropper',
  ],
  'ReadableStream.prototype': ['values', '@asyncIterator'],
  ReadableStream: ['from'],
  'StorageManager.prototype': ['persisted', 'estimate'],
  'FileSystemFileHandle.prototype': ['createWritable', 'move'],
  'Document.prototype': ['startViewTransition', 'caretPositionFromPoint'],
  'Element.prototype': ['checkVisibility', 'setHTML', 'setHTMLUnsafe', 'getHTML', 'moveBefore', 'ariaNotify'],
  'HTMLElement.prototype': ['showPopover', 'hidePopover', 'togglePopover', 'popover'],
  'HTMLDialogElement.prototype': ['requestClose', 'closedBy'],
  URL: ['canParse', 'parse'],
  AbortSignal: ['any'],
  Array: ['fromAsync'],
  Object: ['groupBy'],
  Map: ['groupBy'],
  Promise: ['withResolvers', 'try'],
  RegExp: ['escape'],
  Math: ['sumPrecise', 'f16round'],
  Error: ['isError'],
  Intl: ['DurationFormat'],
  Uint8Array: ['fromBase64', 'fromHex'],
  'Uint8Array.prototype': ['toBase64', 'toHex', 'setFromBase64', 'setFromHex'],
  'ArrayBuffer.prototype': ['transfer', 'transferToFixedLength', 'detached'],
  'Set.prototype': [
    'union',
    'intersection',
    'difference',
    'symmetricDifference',
    'isSubsetOf',
    'isSupersetOf',
    'isDisjointFrom',
  ],
  'Map.prototype': ['getOrInsert', 'getOrInsertComputed'],
  'Blob.prototype': ['bytes', 'textStream'],
  'Response.prototype': ['bytes'],
  'Request.prototype': ['bytes'],
};
const ITERATORS = ['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find'];

/** The source of a script that takes it all away. */
export const MAKE_OLD = `(${String(function makeOld(
  later: Readonly<Record<string, readonly string[]>>,
  iterators: readonly string[],
) {
  const all = globalThis as unknown as Record<string, Record<string, unknown> | undefined>;
  const ofIterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as Record<string, unknown>;
  for (const name of iterators) Reflect.deleteProperty(ofIterators, name);
  for (const [path, names] of Object.entries(later)) {
    const [first = '', inner] = path.split('.');
    const outer = first === 'globalThis' ? globalThis : all[first];
    const owner = inner === undefined ? outer : (outer as Record<string, object> | undefined)?.[inner];
    if (owner)
      for (const name of names) Reflect.deleteProperty(owner, name === '@asyncIterator' ? Symbol.asyncIterator : name);
  }
})})(${JSON.stringify(LATER)}, ${JSON.stringify(ITERATORS)});`;

const integrity = (content: string) => `sha256-${createHash('sha256').update(content).digest('base64')}`;

/**
 * The built Roost with workers that begin by taking it all away. A worker is one file, so nothing
 * of it runs before.
 */
export async function makeOldBuild(): Promise<{ readonly main: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'roost-old-'));
  for (const file of ['package.json', 'CLAUDE.md']) await cp(join(ROOT, file), join(root, file));
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  // What is written anew below would still be served as it was from a compressed copy.
  const filter = (path: string) => !path.endsWith('.br');
  for (const part of ['page', 'server'])
    await cp(await realpath(join(ROOT, 'dist', part)), join(root, 'dist', part), { recursive: true, filter });
  const page = join(root, 'dist/page');
  let serviceWorker = await readFile(join(page, 'service-worker.js'), 'utf8');
  const workers = (await readdir(join(page, 'assets'))).filter((name) => /^(export-)?worker-.*\.js$/.test(name));
  if (workers.length < 2) throw new Error(`the build has other workers than were thought: ${workers.join(', ')}`);
  for (const name of workers) {
    const path = join(page, 'assets', name);
    const [own, old] = await readFile(path, 'utf8').then((code) => [code, MAKE_OLD + code] as const);
    await writeFile(path, old);
    serviceWorker = serviceWorker.replaceAll(integrity(own), integrity(old));
  }
  await writeFile(join(page, 'service-worker.js'), serviceWorker);
  return { main: join(root, 'dist/server/main.js'), remove: () => rm(root, { recursive: true, force: true }) };
}
