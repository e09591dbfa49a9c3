/**
 * What the page loads before the worker: from the graph of chunks that the bundler makes, not from
 * a list of file names. Fireproof must stand in no chunk that the page's own thread can reach.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type InlineConfig, type Rolldown } from 'vite';
import { definePart } from './part.ts';

const SHELL_LIMIT_KB = 130;
/** What a browser asks for before it paints: the page, its style sheet, and these. */
const FILES_LIMIT = 8;
/**
 * The worker that every page starts; the others colour code, draw and read exports once somebody
 * wants it.
 */
export const OWNER = /(^|\/)worker-[^/]*\.js$/;

type Output = Rolldown.RolldownOutput['output'][number];
type Chunk = Extract<Output, { type: 'chunk' }>;

async function bundle(page: InlineConfig): Promise<readonly Output[]> {
  const result = await build({ ...page, logLevel: 'error', build: { write: false } });
  const outputs = Array.isArray(result) ? result : [result];
  return outputs.flatMap((output) => ('output' in output ? output.output : []));
}

/** Every chunk reachable from these, by `imports` or also by what is imported later. */
function reachable(
  from: readonly Chunk[],
  chunks: ReadonlyMap<string, Chunk>,
  next: (chunk: Chunk) => readonly string[],
): Chunk[] {
  const seen = new Map(from.map((chunk) => [chunk.fileName, chunk]));
  for (const chunk of seen.values())
    for (const name of next(chunk)) {
      const found = chunks.get(name);
      if (found) seen.set(name, found);
    }
  return [...seen.values()];
}

const gzipKb = (code: string | Uint8Array) => gzipSync(code, { level: 9 }).length / 1000;
const total = (chunks: readonly Chunk[]) => chunks.reduce((sum, chunk) => sum + gzipKb(chunk.code), 0);
const isFireproof = (module: string) =>
  /node_modules\/(@fireproof|@adviser\/cement|prolly-trees|@ipld|multiformats)\//.test(module);
const packageOf = (module: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? '';

/** Throws where there is no entry: then nothing was measured. */
export const pageWeight = definePart({
  name: 'page-weight',
  needs: 'relay',
  full: { root: fileURLToPath(new URL('../../', import.meta.url)) } as InlineConfig,
  smoke: { root: fileURLToPath(new URL('../support/weighed-page', import.meta.url)), configFile: false },
  async run(page) {
    const output = await bundle(page);
    const chunks = new Map(output.flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each] as const] : [])));
    const entries = [...chunks.values()].filter((chunk) => chunk.isEntry);
    if (entries.length === 0) throw new Error('the built page has no entry chunk');
    const shell = reachable(entries, chunks, (chunk) => chunk.imports);
    const later = reachable(entries, chunks, (chunk) => [...chunk.imports, ...chunk.dynamicImports]).filter(
      (chunk) => !shell.includes(chunk),
    );
    const guilty = [...shell, ...later].flatMap((chunk) =>
      chunk.moduleIds.filter(isFireproof).map((module) => `${packageOf(module)} in ${chunk.fileName}`),
    );
    const workers = output.flatMap((each): readonly (readonly [string, number])[] => {
      if (each.type !== 'asset' || !each.fileName.endsWith('.js')) return [];
      return [[each.fileName, gzipKb(typeof each.source === 'string' ? each.source : Buffer.from(each.source))]];
    });
    const owner = workers.find(([name]) => OWNER.test(name));
    if (!owner) throw new Error('the built page has no worker for the ledger');
    return {
      title: 'First load of the built page: weight',
      method: `gzip -9 of ${shell.length} chunks that the page needs before it paints, of ${chunks.size} in all; KB are 1000 bytes`,
      figures: [
        {
          what: 'JavaScript of the shell',
          value: total(shell),
          unit: 'KB',
          beside: { kind: 'limit', what: 'before the worker', value: SHELL_LIMIT_KB },
        },
        {
          what: 'requests before it paints, the page and its style sheet among them',
          value: shell.length + 2,
          unit: '',
          beside: { kind: 'limit', what: 'HTTP/1.1, six at once', value: FILES_LIMIT },
        },
        { what: 'JavaScript loaded when it is needed', value: total(later), unit: 'KB', beside: null },
        {
          what: 'JavaScript of the worker that keeps the ledger',
          value: owner[1],
          unit: 'KB',
          beside: {
            kind: 'peer',
            what: 'what the shell would weigh with the ledger in it',
            value: total(shell) + owner[1],
          },
        },
        ...workers
          .filter((each) => each !== owner)
          .map(([name, kb]) => ({ what: `${name}, once it is needed`, value: kb, unit: 'KB' as const, beside: null })),
      ],
      notes: [
        guilty.length === 0
          ? `Fireproof on the page's own thread: none, in any of ${shell.length + later.length} chunks it can reach`
          : `Fireproof ON THE PAGE'S OWN THREAD: ${[...new Set(guilty)].join(', ')}`,
      ],
    };
  },
});
