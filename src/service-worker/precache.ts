/**
 * Stores the files of one build in a cache of their own. Every file is checked against the build's
 * list, so no error page, sign-in page or file of another build can get in. An interrupted download
 * resumes where it stopped. The shell is stored last and marks the build as complete.
 */
import type { Rolldown } from 'vite';
import type { After } from '../shared/domain/platform/timers.ts';
import { type Build, type BuiltFile, OFFLINE } from './settings.ts';

interface PrecacheDeps {
  readonly build: Build;
  readonly caches: CacheStorage;
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  /** Entry scripts of the open pages. */
  readonly openPages: () => Promise<readonly string[]>;
}

interface Precache {
  /** Stores missing files. Rejects if one is unavailable; those stored so far stay. */
  fill(): Promise<void>;
  /** The page's document; undefined if this build is incomplete. */
  shell(): Promise<Response | undefined>;
  /**
   * A stored file. A file named by its content may come from another build, for pages of that build
   * that are still open.
   */
  file(path: string): Promise<Response | undefined>;
  has(path: string): boolean;
  /** Removes builds without open pages. */
  dropOld(): Promise<void>;
}

export function createPrecache({ build, caches, fetch, openPages }: PrecacheDeps): Precache {
  const name = OFFLINE.cache + build.version;
  const paths = new Set(build.files.map(({ path }) => path));
  // `Vary` names request headers that the cache cannot match, such as the encoding.
  const match = async (path: string) => (await caches.open(name)).match(path, { ignoreVary: true });

  async function store(cache: Cache, { path, integrity }: BuiltFile): Promise<void> {
    if (await cache.match(path, { ignoreVary: true })) return;
    const get = (from: RequestCache) =>
      fetch(path, { integrity, credentials: 'same-origin', redirect: 'error', cache: from });
    // The browser's own HTTP cache may have a bad or outdated file under this name.
    const response = path.startsWith(OFFLINE.hashed)
      ? await get('default').catch(() => get('reload'))
      : await get('no-cache');
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`);
    await cache.put(path, response);
  }

  return {
    async fill() {
      const cache = await caches.open(name);
      const shell = build.files.filter(({ path }) => path === OFFLINE.shell);
      const queue = build.files.filter(({ path }) => path !== OFFLINE.shell);
      const take = async () => {
        for (let file = queue.shift(); file; file = queue.shift()) await store(cache, file);
      };
      await Promise.all(Array.from({ length: OFFLINE.fetchesAtOnce }, take));
      for (const file of shell) await store(cache, file);
    },
    shell: () => match(OFFLINE.shell),
    file: (path) => (path.startsWith(OFFLINE.hashed) ? caches.match(path, { ignoreVary: true }) : match(path)),
    has: (path) => path.startsWith(OFFLINE.hashed) || (path !== OFFLINE.shell && paths.has(path)),
    async dropOld() {
      const others = (await caches.keys()).filter((other) => other.startsWith(OFFLINE.cache) && other !== name);
      if (others.length === 0) return;
      // A page whose entry script is in this build finds all its parts here, since the entry script
      // names them.
      const open = (await openPages()).filter((entry) => !paths.has(entry));
      for (const other of others) {
        const cache = await caches.open(other);
        const used = await Promise.all(open.map((entry) => cache.match(entry, { ignoreVary: true })));
        if (used.every((entry) => entry === undefined)) await caches.delete(other);
      }
    },
  };
}

// Which requests the service worker answers.

export type Asked = Pick<Request, 'method' | 'mode' | 'url'>;

interface AnswerDeps<Ask extends Asked> {
  readonly precache: Pick<Precache, 'shell' | 'file' | 'has'>;
  /** Origin of the page. */
  readonly origin: string;
  readonly fetch: (request: Ask) => Promise<Response>;
  readonly after: After;
}

const isRelayOnly = (path: string) =>
  OFFLINE.relayOnly.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));

/** null: the request goes to the network, as if there were no service worker. */
export function createAnswer<Ask extends Asked>({
  precache,
  origin,
  fetch,
  after,
}: AnswerDeps<Ask>): (request: Ask) => Promise<Response> | null {
  /**
   * The relay's own answer, if it arrives in time. A proxy that finds no relay answers with 502,
   * which does not count.
   */
  function fromRelay(request: Ask): Promise<Response | null> {
    return new Promise((resolve) => {
      const cancel = after(OFFLINE.navigationMs, () => resolve(null));
      fetch(request).then(
        (response) => {
          cancel();
          resolve(response.status >= 500 ? null : response);
        },
        // Unreachable: the stored file is the answer.
        () => {
          cancel();
          resolve(null);
        },
      );
    });
  }

  async function document(request: Ask): Promise<Response> {
    const shell = await precache.shell();
    return shell === undefined ? fetch(request) : ((await fromRelay(request)) ?? shell);
  }
  const file = async (request: Ask, path: string) => (await precache.file(path)) ?? fetch(request);

  return (request) => {
    const { origin: asked, pathname } = new URL(request.url);
    if (request.method !== 'GET' || asked !== origin || isRelayOnly(pathname)) return null;
    if (request.mode === 'navigate') return document(request);
    return precache.has(pathname) ? file(request, pathname) : null;
  };
}

// Decides for the build which modules go into one chunk.

type Graph = Pick<Rolldown.ChunkingContext, 'getModuleInfo'>;

/** `start` and all its static imports. */
function withImports(start: readonly string[], graph: Graph): Set<string> {
  const found = new Set(start);
  for (const id of found) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) found.add(next);
  return found;
}

/**
 * Groups, for Rolldown's `codeSplitting`, the modules that these files import dynamically, with all
 * their static imports. What those import dynamically in turn, such as a library for something
 * rarely used, stays separate.
 *
 * @param name of the chunk.
 * @param files their absolute paths.
 */
export function fetchedBy(name: string, files: readonly string[]): (id: string, graph: Graph) => string | null {
  let fetchedPaths: Set<string> | null = null;
  return (id, graph) => {
    fetchedPaths ??= withImports(
      files.flatMap((file) => graph.getModuleInfo(file)?.dynamicallyImportedIds ?? []),
      graph,
    );
    return fetchedPaths.has(id) ? name : null;
  };
}
