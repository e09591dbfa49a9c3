/**
 * Makes one file of `entry` and of all that it imports, packages too: `node bundle.mjs entry outDir`, in the root of the project. A process that starts
 * from one file does so in half the time of one that reads hundreds.
 */
import { build } from 'vite';

const [entry, outDir] = process.argv.slice(2);

await build({
  configFile: 'vite.config.ts',
  logLevel: 'error',
  // PGlite reads files that lie beside its own.
  ssr: { noExternal: true, external: ['@electric-sql/pglite', 'pg-native'] },
  build: { ssr: entry, outDir, emptyOutDir: true, sourcemap: false },
});
