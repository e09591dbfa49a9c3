/** The kinds of damage that a closed browser profile may meet. */
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The places of a profile, below its directory. `buckets`: databases of storage buckets, of which a
 * sound profile has none.
 */
export const PLACES = {
  indexedDB: 'Default/IndexedDB',
  localStorage: 'Default/Local Storage',
  opfs: 'Default/File System',
  buckets: 'Default/WebStorage',
} as const;
export type PlaceName = keyof typeof PLACES;

export interface Kind {
  readonly name: string;
  /** Nothing is left on the device but the key. */
  readonly needsRelay: boolean;
  /**
   * Harms the profile in `directory`; `older` is a copy of it from before its last documents.
   * Throws where there is nothing of the kind to be harmed.
   */
  harm(directory: string, older: string): Promise<void>;
}

interface Picked {
  readonly place: PlaceName;
  /** Which of the place's files: the largest of those that match. */
  readonly file: RegExp;
}

async function filesOf(
  directory: string,
  place: PlaceName,
): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
  const below = await readdir(join(directory, PLACES[place]), { recursive: true });
  const checked = await Promise.all(
    below.map(async (name) => ({
      path: join(PLACES[place], name),
      found: await stat(join(directory, PLACES[place], name)),
    })),
  );
  return checked.filter(({ found }) => found.isFile()).map(({ path, found }) => ({ path, bytes: found.size }));
}

async function pick(directory: string, { place, file }: Picked): Promise<string> {
  const [found] = (await filesOf(directory, place))
    .filter(({ path }) => file.test(path))
    .sort((a, b) => b.bytes - a.bytes);
  if (!found) throw new Error(`There is no file like ${String(file)} in ${place}.`);
  return found.path;
}

const MANIFEST: Picked = { place: 'indexedDB', file: /leveldb\/MANIFEST/ };

const HARMS: Readonly<Record<string, (directory: string, older: string, path: string) => Promise<void>>> = {
  async flipped(directory, _older, path) {
    const bytes = await readFile(join(directory, path));
    // Two places: one may lie in what is never looked at.
    for (const part of [0.3, 0.6]) {
      const at = Math.min(bytes.length - 1, Math.floor(bytes.length * part));
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    }
    await writeFile(join(directory, path), bytes);
  },
  async cut(directory, _older, path) {
    const bytes = await readFile(join(directory, path));
    await writeFile(join(directory, path), bytes.subarray(0, bytes.length >> 1));
  },
  deleted: (directory, _older, path) => rm(join(directory, path)),
  async 'of before'(directory, older, path) {
    const old = await readFile(join(older, path)).catch(() => new Uint8Array());
    await writeFile(join(directory, path), old);
  },
};

const harmed = (what: string, picked: Picked, how: readonly string[]): Kind[] =>
  how.map((way) => ({
    name: `${what}, ${way}`,
    needsRelay: false,
    async harm(directory, older) {
      await HARMS[way]?.(directory, older, await pick(directory, picked));
    },
  }));

/** The database does not open at all, and one more place is gone. */
const noDatabaseWithout = (place: PlaceName): Kind => ({
  name: `the manifest of IndexedDB, deleted, and ${place} gone`,
  needsRelay: place === 'opfs',
  async harm(directory) {
    await rm(join(directory, await pick(directory, MANIFEST)));
    await rm(join(directory, PLACES[place]), { recursive: true, force: true });
  },
});
const gone = (...places: readonly PlaceName[]): Kind => ({
  name: `${places.join(' and ')} gone`,
  needsRelay: places.includes('indexedDB') && places.includes('opfs'),
  harm: async (directory) => {
    for (const place of places) await rm(join(directory, PLACES[place]), { recursive: true, force: true });
  },
});
const asBefore = (place: PlaceName): Kind => ({
  name: `${place} as it was before the last documents`,
  needsRelay: false,
  async harm(directory, older) {
    await rm(join(directory, PLACES[place]), { recursive: true, force: true });
    await cp(join(older, PLACES[place]), join(directory, PLACES[place]), { recursive: true });
  },
});

/** For a profile that has moved into a storage bucket: that one does not open any more either. */
export async function harmBucket(directory: string): Promise<void> {
  await rm(join(directory, await pick(directory, { place: 'buckets', file: /leveldb\/MANIFEST/ })));
}

const ALL = ['flipped', 'cut', 'deleted', 'of before'];
/** The most telling of them come first: the short form takes so many. */
export const KINDS: readonly Kind[] = [
  gone('indexedDB'),
  ...harmed('a table of IndexedDB', { place: 'indexedDB', file: /leveldb\/\d+\.ldb$/ }, [
    'flipped',
    'deleted',
    'cut',
    'of before',
  ]),
  ...harmed('the log of IndexedDB', { place: 'indexedDB', file: /leveldb\/\d+\.log$/ }, [
    'cut',
    'flipped',
    'deleted',
    'of before',
  ]),
  gone('indexedDB', 'localStorage'),
  gone('indexedDB', 'opfs'),
  gone('localStorage', 'opfs'),
  gone('localStorage'),
  gone('opfs'),
  asBefore('indexedDB'),
  asBefore('localStorage'),
  asBefore('opfs'),
  ...harmed('the manifest of IndexedDB', MANIFEST, ALL),
  ...harmed('CURRENT of IndexedDB', { place: 'indexedDB', file: /leveldb\/CURRENT$/ }, ['flipped', 'cut', 'deleted']),
  ...harmed('a blob of IndexedDB', { place: 'indexedDB', file: /\.blob\// }, ['flipped', 'cut', 'deleted']),
  {
    name: 'all blobs of IndexedDB, deleted',
    needsRelay: false,
    async harm(directory) {
      for (const { path } of await filesOf(directory, 'indexedDB'))
        if (path.includes('.blob/')) await rm(join(directory, path));
    },
  },
  ...harmed('the log of localStorage', { place: 'localStorage', file: /\.(log|ldb)$/ }, ALL),
  ...harmed('the manifest of localStorage', { place: 'localStorage', file: /MANIFEST/ }, ['flipped', 'deleted']),
  ...harmed('a segment in OPFS', { place: 'opfs', file: /\/\d\d\/\d{8}$/ }, ALL),
  ...harmed('the paths of OPFS', { place: 'opfs', file: /Paths\/.*\.(log|ldb)$/ }, ALL),
  ...harmed('the origins of OPFS', { place: 'opfs', file: /Origins\/.*\.(log|ldb)$/ }, ['flipped', 'deleted']),
  noDatabaseWithout('localStorage'),
  noDatabaseWithout('opfs'),
];

/** Throws where there is none. */
export function kindNamed(name: string): Kind {
  const kind = KINDS.find((each) => each.name === name);
  if (!kind) throw new Error(`There is no kind of damage "${name}".`);
  return kind;
}
