/**
 * Makes one file of `entry` and of all that it imports, packages too: `node bundle.mjs entry outDir
 * [cjs]`, in the root of the project. A process that starts from one file does so in half the time
 * of one that reads hundreds. `cjs`: as CommonJS, which can be kept compiled (`compiled.mjs`).
 */
import { build } from 'vite';

const [entry, outDir, format = 'es'] = process.argv.slice(2);
const entryFileNames = format === 'cjs' ? '[name].bundle.cjs' : '[name].js';
// A program starts a few times, so that to minify it takes longer than it saves.
const minify = format === 'cjs' ? {} : { minify: false };
// A part that is loaded later would run the entry again, which `compiled.mjs` does not require.
const output = { format, entryFileNames, codeSplitting: false, ...minify };

await build({
  configFile: 'vite.config.ts',
  logLevel: 'error',
  ssr: { noExternal: true, external: ['pg-native'] },
  build: { ssr: entry, outDir, emptyOutDir: true, sourcemap: false, rolldownOptions: { output } },
});
