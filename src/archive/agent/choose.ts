/** Which files of a zip are an agent. */
import { ArchiveError } from '../problem.ts';
import type { AgentWarning } from '../types.ts';
import { FILES } from './format.ts';
import type { ZipEntry } from './zip.ts';

export interface AgentFiles {
  /** null: there is an identity, which has the soul too. */
  readonly soul: ZipEntry | null;
  readonly identity: ZipEntry | null;
  /** Transcripts, and what else there is. */
  readonly memories: readonly ZipEntry[];
  /** The name of the folder that they are in. */
  readonly folder: string | null;
  readonly warnings: readonly AgentWarning[];
}

const NO_SOUL =
  'There is no SOUL.md in this zip. Put a text file of that name into it, with the words of the soul, and pack it again.';

const lower = (path: string) => path.toLowerCase();
const partsOf = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');
const nameOf = (path: string) => partsOf(path).at(-1) ?? '';
const isNamed = (path: string, name: string) => lower(nameOf(path)) === lower(name);
/** What macOS, Windows and editors leave in zips. */
const isJunk = (path: string) =>
  partsOf(path).some(
    (part) => part === '__MACOSX' || part.startsWith('.') || /^(thumbs\.db|desktop\.ini)$/i.test(part),
  );
const byDepth = (a: ZipEntry, b: ZipEntry) =>
  partsOf(a.path).length - partsOf(b.path).length || (a.path < b.path ? -1 : 1);

/** The shallowest SOUL.md decides which folder it is. Throws an `ArchiveError` where nothing could be a soul. */
export function chooseFiles(entries: readonly ZipEntry[]): AgentFiles {
  const files = entries.filter(({ path }) => !isJunk(path)).sort(byDepth);
  const souls = files.filter(({ path }) => isNamed(path, FILES.soul));
  const texts = files.filter(
    ({ path }) => /\.(md|markdown)$/i.test(path) && !/^(readme|license)\./i.test(nameOf(path)),
  );
  const identities = files.filter(({ path }) => isNamed(path, FILES.identity));
  // Without a SOUL.md, one Markdown file that stands alone is as clear.
  const soul = souls[0] ?? (identities.length === 0 && texts.length === 1 ? texts[0] : undefined);
  const first = soul ?? identities[0];
  if (!first) throw new ArchiveError('not-an-archive', NO_SOUL);

  const folder = partsOf(first.path).slice(0, -1);
  const prefix = folder.map((part) => `${lower(part)}/`).join('');
  const within = (path: string) => partsOf(lower(path)).join('/');
  const isMemory = (path: string) =>
    path === `${prefix}${FILES.more}` ||
    (path.startsWith(`${prefix}${FILES.transcripts}/`) && path.endsWith(FILES.transcriptEnd));
  return {
    soul: soul ?? null,
    identity: identities.find(({ path }) => within(path) === `${prefix}${FILES.identity}`) ?? null,
    memories: files.filter(({ path }) => isMemory(within(path))),
    folder: folder.at(-1) ?? null,
    warnings:
      soul && souls.length > 1
        ? [{ kind: 'several-souls', taken: soul.path, others: souls.slice(1).map(({ path }) => path) }]
        : [],
  };
}
