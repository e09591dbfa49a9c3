/**
 * Files of the person that the relay copied into checkouts, such as `.env`: found again in commits.
 * The relay keeps the ids of their content, and never the content.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { type GitPlace, gitText } from '../../platform/git/index.ts';
import { type FolderFile, idOf, type Listing } from './folder-files.ts';
import { CHECKOUT_LIMITS } from './settings.ts';

const idsIn = (gitDir: string) => join(gitDir, 'roost-copied');

export async function noteCopied(gitDir: string, files: readonly FolderFile[]): Promise<void> {
  const ids = files.filter(({ bytes }) => bytes.length >= CHECKOUT_LIMITS.secretBytes).map(({ bytes }) => idOf(bytes));
  if (ids.length > 0) await appendFile(idsIn(gitDir), `${ids.join('\n')}\n`, { mode: 0o600 });
}

/** Ids of copied content, which no commit may have. */
export const copiedIds = async (gitDir: string): Promise<readonly string[]> =>
  (await readFile(idsIn(gitDir), 'utf8').catch(() => '')).split('\n').filter(Boolean);

export interface Copied {
  readonly commit: string;
  readonly path: string;
}

/**
 * Where the commits after `base` have copied content, or a file at one of these paths. `before`:
 * the files of `base`, which are public already.
 */
export async function copiedIn(
  own: GitPlace & { readonly gitDir: string },
  {
    base,
    head,
    paths,
    before,
  }: {
    readonly base: string;
    readonly head: string;
    readonly paths: readonly string[];
    readonly before: Listing;
  },
): Promise<readonly Copied[]> {
  const ids = new Set(await copiedIds(own.gitDir));
  if (ids.size === 0 && paths.length === 0) return [];
  const commits = await gitText(['rev-list'], { ...own, of: [`${base}..${head}`] });
  const how = ['--stdin', '-r', '-m', '--root', '--no-renames', '--no-abbrev', '-z'];
  const said = await gitText(['diff-tree', ...how], { ...own, input: `${commits}\n` });
  const hits = new Map<string, Copied>();
  let commit = '';
  const parts = said.split('\0');
  for (let part = parts.shift(); part !== undefined && part !== ''; part = parts.shift()) {
    if (!part.startsWith(':')) {
      commit = /^[\da-f]+/.exec(part)?.[0] ?? '';
      continue;
    }
    const [, , , id = '', status] = part.split(' ');
    const path = parts.shift() ?? '';
    if (status === 'D' || before.get(path)?.id === id) continue;
    if (ids.has(id) || (paths.includes(path) && !before.has(path)))
      hits.set(`${commit} ${path}`, { commit, path: path.slice(0, ATTEMPT_LIMITS.path) });
  }
  return [...hits.values()];
}
