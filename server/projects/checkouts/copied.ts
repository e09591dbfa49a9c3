/**
 * Files of the person that the relay copied into checkouts, such as `.env`: found again in commits.
 * The relay keeps the ids of their content, and never the content.
 */
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { git, type GitPlace, gitText } from '../../platform/git/index.ts';
import { zeroSplitter } from './diffs.ts';
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
    readonly before: (isWanted: (path: string) => boolean) => Promise<Listing>;
  },
): Promise<readonly Copied[]> {
  const ids = new Set(await copiedIds(own.gitDir));
  if (ids.size === 0 && paths.length === 0) return [];
  const commits = await gitText(['rev-list'], { ...own, of: [`${base}..${head}`] });
  const how = ['--stdin', '-r', '-m', '--root', '--no-renames', '--no-abbrev', '-z'];
  const changes = new Map<string, Copied & { readonly id: string }>();
  let commit = '';
  let about: readonly string[] | null = null;
  const output = zeroSplitter((part) => {
    if (about !== null) {
      const [, , , id = '', status] = about;
      const isSuspect = status !== 'D' && (ids.has(id) || paths.includes(part));
      if (isSuspect) changes.set(`${commit} ${part}`, { commit, path: part, id });
      about = null;
    } else if (part.startsWith(':')) about = part.split(' ');
    else commit = /^[\da-f]+/.exec(part)?.[0] ?? '';
  });
  await git(['diff-tree', ...how], { ...own, input: `${commits}\n`, output });
  if (changes.size === 0) return [];
  const changed = new Set([...changes.values()].map(({ path }) => path));
  const known = await before((path) => changed.has(path));
  return [...changes.values()]
    .filter(({ path, id }) => known.get(path)?.id !== id && (ids.has(id) || !known.has(path)))
    .map((change) => ({ commit: change.commit, path: change.path.slice(0, ATTEMPT_LIMITS.path) }));
}
