/** Names and limits of the page's offline support. */
export const OFFLINE = {
  /** The service worker's URL. It is at the root, so that its scope is the whole page. */
  script: '/service-worker.js',
  /** Where the page's document is stored, with which every address of the page is opened. */
  shell: '/index.html',
  /** Files named by their content are here. One name has one content, forever. */
  hashed: '/assets/',
  /** Prefix of the cache names. The build's version follows. */
  cache: 'roost-page-',
  /**
   * Prefix of the Web Lock that an open page holds. Its entry script follows. Files of these builds
   * are not removed.
   */
  lock: 'roost-page:',
  /** ms a navigation waits for the relay before the stored page is opened. */
  navigationMs: 3_000,
  /** A failed check for a newer build is repeated after this many ms, this many times. */
  recheckMs: 5_000,
  rechecks: 3,
  /** Concurrent fetches while a build is stored. */
  fetchesAtOnce: 6,
  /** Calls and links that only the relay answers. */
  relayOnly: ['/api', '/v1', '/sessions', '/mcp', '/llm', '/enter', '/signed-in'],
} as const;

export interface BuiltFile {
  /** `/assets/index-1a2b.js` */
  readonly path: string;
  /** As in `<script integrity>`: `sha256-…`. */
  readonly integrity: string;
}

/** One build of the page, as its service worker knows it. */
export interface Build {
  readonly version: string;
  /** Path of the script that starts the page. */
  readonly entry: string;
  readonly files: readonly BuiltFile[];
}

/** Sent to open pages when a service worker starts: the current build. */
export interface BuildNews {
  readonly roostEntry: string;
}
