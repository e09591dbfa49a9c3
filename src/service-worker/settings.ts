/** Names and limits of what makes the page open without its relay. */
export const OFFLINE = {
  /** The service worker's address; at the root, so that all of the page is its own. */
  script: '/service-worker.js',
  /** Where the page itself is kept: the document that every place of it is opened with. */
  shell: '/index.html',
  /**
   * What the build names by its contents lies here: under one name there is one content, for ever.
   */
  hashed: '/assets/',
  /** A cache for each build: this, and the build's version. */
  cache: 'roost-page-',
  /**
   * The Web Lock that an open page holds: this, and its entry script. What it may still ask for is
   * kept.
   */
  lock: 'roost-page:',
  /** ms a navigation waits for the relay before the page is opened as it was kept. */
  navigationMs: 3_000,
  /** A look for a newer build that failed is repeated after so many ms, so many times. */
  lookAgainMs: 5_000,
  looksAgain: 3,
  /** Files that are fetched at once while a build is stored. */
  fetchesAtOnce: 6,
  /** Calls and links, which are the relay's alone. */
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

/** What a service worker tells the pages that are open when it begins: which build is there now. */
export interface BuildNews {
  readonly roostEntry: string;
}
