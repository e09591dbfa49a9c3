import { readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import react from '@vitejs/plugin-react';
import type { Plugin, Rolldown } from 'vite';
import { defineConfig } from 'vitest/config';
import { fetchedBy } from './src/service-worker/precache.ts';
import { offlinePage } from './src/service-worker/plugin.ts';
import { notAgain } from './test/faults/plain-record.ts';
import { excluded } from './test/support/guarded.ts';
import LongestFirst from './test/support/longest-first.ts';

/** ms: a busy machine is not a failure. */
const patience = { testTimeout: 60_000, hookTimeout: 60_000 };
const browserPatience = { testTimeout: 120_000, hookTimeout: 120_000 };
/**
 * The groups run one after the other, what is in one side by side: more at once than there are
 * cores, where most of it is waiting.
 */
const group = (groupOrder: number, maxWorkers = Math.max(2, availableParallelism() - 1)) => ({
  sequence: { groupOrder },
  maxWorkers,
});
/**
 * A part of Fireproof that only Node runs names Node's own modules; the browser never asks for
 * them. And what is fetched together is said below: a module of one such part may be asked for by
 * another as well.
 */
const isKnown = ({ code, message }: Rolldown.RolldownLog) =>
  code === 'INEFFECTIVE_DYNAMIC_IMPORT' ||
  (message.includes('externalized for browser compatibility') && message.includes('@adviser/cement'));
const rolldownOptions: Rolldown.InputOptions = {
  checks: { bundlerTimings: false },
  onLog: (level, log, next) => (isKnown(log) ? undefined : next(level, log)),
};

const inPage = (path: string) => fileURLToPath(new URL(`src/page/ui/${path}`, import.meta.url));
/** kB before compression that the parts fetched later may have together. */
const LATER_KB = 1_000;
/** What says which parts are fetched right after the page was painted. */
const LATER = ['later.ts', 'commands/later.ts', 'copies/later.ts', 'devices/later.tsx'].map(inPage);

/**
 * What the page needs before it paints comes in few files, and so does what it fetches right after
 * that: over a slow line each costs a round trip, and every one costs the relay and the browser
 * some milliseconds. React stands apart, since it stays the same when Roost changes.
 */
const pageOptions: Rolldown.InputOptions & { output: Rolldown.OutputOptions } = {
  ...rolldownOptions,
  output: {
    codeSplitting: {
      groups: [
        { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/, tags: ['$initial'], priority: 3 },
        { name: 'shell', tags: ['$initial'], priority: 2 },
        { name: fetchedBy('line', [fileURLToPath(new URL('src/page/main.tsx', import.meta.url))]), priority: 1 },
        { name: fetchedBy('talk', [inPage('chat/conversation.tsx')]), priority: 1 },
        { name: fetchedBy('later', LATER) },
      ],
    },
  },
};

/**
 * The oldest that the page must run in, as the README says: what they lack of syntax and styles is
 * written out. See `src/shared/domain/platform/old-browsers.ts`.
 */
const BROWSERS = ['safari16.4', 'firefox128', 'chrome111'];

/**
 * The page's policy forbids eval; zod would try it once all the same, to find that out, and every
 * console would show it.
 */
const zodWithoutEval: Plugin = {
  name: 'zod-without-eval',
  apply: 'build',
  transform: {
    filter: { id: /\/zod\/v4\/core\/core\.js$/ },
    handler: (code) => `${code}\nglobalConfig.jitless = true;\n`,
  },
};

/** A whole string: in quotes, or a template with nothing to fill in. */
const TEXT = String.raw`(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\`(?:[^\`\\$]|\\.)*\`)`;
const DESCRIBED = new RegExp(String.raw`\.describe\(\s*${TEXT},?\s*\)`, 'g');
/** What an endpoint does, when it gives an answer, and what a record is. */
const EXPLAINED = new RegExp(String.raw`\b(does|when|describe):\s*${TEXT}`, 'g');
/**
 * The wire reference is made from what schemas say of their fields, and endpoints of themselves. No
 * browser shows that, so the page and its workers are built without it.
 */
const withoutDescriptions: Plugin = {
  name: 'without-descriptions',
  apply: 'build',
  transform: {
    filter: { id: /\/src\/shared\/protocol\/.*\.ts$/ },
    handler(code, id) {
      const bare = code.replaceAll(DESCRIBED, '');
      return /\/protocol\/(?:endpoints|documents)\//.test(id) ? bare.replaceAll(EXPLAINED, "$1: ''") : bare;
    },
  },
};

const offline = offlinePage({
  target: BROWSERS,
  serviceWorker: fileURLToPath(new URL('src/service-worker/main.ts', import.meta.url)),
  icon: (name) => readFileSync(new URL(`src/page/ui/shell/icons/${name}.png`, import.meta.url)),
});

/** The mode of a build without compressed files, which are more than half of a build's work. */
const UNCOMPRESSED = 'uncompressed';

/** Of 11: the last step takes twice as long for 1.5 % less. */
const BROTLI_QUALITY = 10;
/** Bytes: what is smaller travels in one packet either way. */
const WORTH_COMPRESSING = 1_000;

/**
 * `name.br` beside every text file, so that no relay compresses the page anew for each browser. It
 * comes last: what others write counts too.
 */
const compressed: Plugin = {
  name: 'compressed',
  apply: 'build',
  writeBundle: {
    order: 'post',
    sequential: true,
    async handler({ dir = '' }) {
      const names = await readdir(dir, { recursive: true });
      const texts = names.filter((name) => /\.(js|css|svg|html|webmanifest)$/.test(name));
      const compress = async (name: string) => {
        const content = await readFile(join(dir, name));
        if (content.length < WORTH_COMPRESSING) return;
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
        };
        await writeFile(join(dir, `${name}.br`), await promisify(brotliCompress)(content, { params }));
      };
      await Promise.all(texts.map(compress));
    },
  },
};

/**
 * V8 keeps a source with one character beyond Latin-1 at two bytes a character. Such characters
 * stand in texts and regular expressions, which read an escape as the same character.
 */
const inLatin: Plugin = {
  name: 'in-latin',
  apply: 'build',
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'chunk')
        file.code = file.code.replace(
          /[^\0-\xFF]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
  },
};

/** Has a native part, so it is installed beside the relay. `pg` only tries to load the other. */
const NOT_BUNDLED = ['@photostructure/sqlite', 'pg-native'];

export default defineConfig(({ isSsrBuild, mode }) => ({
  // React has it itself since 18; wouter asks for the one that was made for older ones.
  resolve: { alias: { 'use-sync-external-store/shim/index.js': 'react' } },
  plugins: isSsrBuild
    ? [inLatin]
    : [react(), zodWithoutEval, withoutDescriptions, offline, ...(mode === UNCOMPRESSED ? [] : [compressed])],
  // One file starts in half the time of hundreds, and it needs no packages beside it. Names stay,
  // so that a reported stack can be read.
  ...(isSsrBuild ? { ssr: { noExternal: true, external: NOT_BUNDLED } } : {}),
  build: isSsrBuild
    ? {
        target: 'node20',
        emptyOutDir: true,
        rolldownOptions: {
          ...rolldownOptions,
          output: { minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } } },
        },
      }
    : {
        // The folder of a build is named by `server/startup/build.mjs`. This is where Vite alone
        // would put one.
        outDir: 'dist/by-hand',
        emptyOutDir: true,
        chunkSizeWarningLimit: LATER_KB,
        // Browsers without it fetch the same a moment later.
        modulePreload: { polyfill: false },
        target: BROWSERS,
        sourcemap: false,
        rolldownOptions: pageOptions,
      },
  // One file: a browser never asks again for a part that it did not get, and a relay may go at any
  // moment.
  worker: {
    format: 'es',
    plugins: () => [zodWithoutEval, withoutDescriptions],
    rolldownOptions: { ...rolldownOptions, output: { codeSplitting: false } },
  },
  test: {
    // Most of what is polled is a page, and each look costs it more than the wait.
    expect: { poll: { timeout: 15_000, interval: 100 } },
    sequence: { sequencer: LongestFirst },
    coverage: { include: ['src/shared/domain/**', 'src/shared/protocol/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          environment: 'node',
          isolate: false,
          ...group(0),
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'ui',
          include: ['test/unit/**/*.test.tsx'],
          environment: './test/support/one-window.ts',
          setupFiles: ['test/support/ui-setup.ts'],
          isolate: false,
          ...group(1),
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'relay',
          include: ['test/relay/**/*.test.ts', 'test/attacks/**/*.test.ts'],
          exclude: [...excluded()],
          environment: 'node',
          globalSetup: ['test/support/quick-folder.ts', 'test/support/postgres-server.ts', 'test/support/prepare.ts'],
          isolate: false,
          ...group(2, availableParallelism() * 3),
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts', 'test/faults/**/*.test.ts'],
          exclude: [...notAgain(), ...excluded()],
          environment: 'node',
          globalSetup: [
            'test/support/built-page.ts',
            'test/support/quick-folder.ts',
            'test/support/postgres-server.ts',
            'test/support/prepare.ts',
          ],
          // What drives the browsers takes a second to load; no file leaves anything behind in the
          // process.
          isolate: false,
          ...group(3, 2),
          ...browserPatience,
        },
      },
    ],
  },
}));
