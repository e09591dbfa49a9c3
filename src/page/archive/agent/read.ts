/**
 * Reads one agent from a zip that Roost made, from one packed by hand, or from a Markdown file
 * alone.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { createNewest, rosterFrom } from '../household/newest.ts';
import type { Workers } from '../methods.ts';
import { ArchiveError } from '../problem.ts';
import { ARCHIVE } from '../settings.ts';
import type { AgentWarning } from '../types.ts';
import { byStamp, FILES } from './format.ts';
import { type ZipEntry, zipEntries } from './zip.ts';
import { readIdentity, readLines } from './memories.ts';
import { readText, withPlainLines } from './text.ts';

/** Which files of a zip are an agent. */
interface AgentFiles {
  /** null: there is an identity, which has the soul too. */
  readonly soul: ZipEntry | null;
  readonly identity: ZipEntry | null;
  /** Transcripts, and what else there is. */
  readonly memories: readonly ZipEntry[];
  /** The name of the folder that they are in. */
  readonly folder: string | null;
  readonly warnings: readonly AgentWarning[];
}

const NO_SOUL = sentence`There is no SOUL.md in this zip. Put a text file of that name into it, with the words of the soul, and pack it again.`;

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

/**
 * The shallowest SOUL.md decides which folder it is. Throws an `ArchiveError` where nothing could
 * be a soul.
 */
function chooseFiles(entries: readonly ZipEntry[]): AgentFiles {
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

/** What somebody may be called, from a soul that was written by hand. */

/** Names of files and folders that say what is in them, not who. */
const NO_NAMES = /^(soul|agent|agents|new folder|untitled folder|archive|download|downloads)$/i;

/**
 * The first heading, else `name:` in the front matter, else the name of the folder; null: none of
 * them says.
 */
function guessName(soul: string, folder: string | null): string | null {
  return headingOf(soul) ?? frontMatterName(soul) ?? nameFrom(folder ?? '');
}

function headingOf(soul: string): string | null {
  let fence: string | null = null;
  for (const line of withoutFrontMatter(soul).split('\n')) {
    const mark = /^ {0,3}(```|~~~)/.exec(line)?.[1];
    if (mark && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    if (fence !== null) continue;
    const heading = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/.exec(line)?.[1];
    if (heading !== undefined) return nameFrom(heading);
  }
  return null;
}

const FRONT_MATTER = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/;
const withoutFrontMatter = (soul: string) => soul.replace(FRONT_MATTER, '');

function frontMatterName(soul: string): string | null {
  const value = /^name:[ \t]*(.*)$/im.exec(FRONT_MATTER.exec(soul)?.[1] ?? '')?.[1];
  return value === undefined ? null : nameFrom(value.trim().replace(/^(["'])(.*)\1$/, '$2'));
}

/**
 * Without the marks of Markdown; null where nothing is left, or where it says only what the text
 * is.
 */
function nameFrom(text: string): string | null {
  const plain = text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`~]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LIMITS.name)
    .trim();
  return plain === '' || NO_NAMES.test(plain) ? null : plain;
}

const TOO_LARGE = sentence`This file is larger than an agent could be. Choose a zip with one agent’s folder, or a SOUL.md.`;
const SOUL_TOO_LONG = sentence`This soul is longer than ${LIMITS.soul.toLocaleString('en')} characters, more than anybody can wake with. Shorten it, and choose it again.`;
const SOUL_EMPTY = sentence`This soul has no words yet. Write a few sentences on who this is, and choose the file again.`;
const HOUSEHOLD = sentence`This is a copy of a whole household, not of one agent. Import it under Settings, Export & import instead.`;
const NOT_ONE = sentence`This file is neither a zip nor text. Choose a zip with one agent’s folder, or a SOUL.md.`;
/** Bytes of a character in UTF-8, at most, and a byte order mark. */
const SOUL_BYTES = LIMITS.soul * 4 + 4;

export const readAgent: Workers['readAgent'] = async ({ file, name }, { take }, tell) => {
  if (file.size > ARCHIVE.zipBytes) throw new ArchiveError('too-large', TOO_LARGE);
  const head = new Uint8Array(await file.slice(0, 32).arrayBuffer());
  const isZip = head[0] === 0x50 && head[1] === 0x4b;
  if (
    (head[0] === 0x1f && head[1] === 0x8b) ||
    new TextDecoder('latin1').decode(head).startsWith('age-encryption.org/')
  )
    throw new ArchiveError('not-an-archive', HOUSEHOLD);
  const files = isZip ? chooseFiles(await zipEntries(file)) : bareFile(file, name);
  const warnings: AgentWarning[] = [...files.warnings];

  const identity = files.identity ? await readIdentity(files.identity, warnings) : null;
  const documents = new Map<string, Doc>(identity?.documents.map((doc) => [doc._id, doc]));
  for (const [i, lines] of files.memories.entries()) {
    for (const doc of await readLines(lines, identity?.agentId ?? null, warnings)) documents.set(doc._id, doc);
    tell({ stage: 'documents', done: i + 1, of: files.memories.length });
  }
  const sorted = [...documents.values()].sort(byStamp);
  const newest = createNewest();
  newest.take(sorted);
  const agent = identity ? (rosterFrom(newest.now()).byId.get(identity.agentId) ?? null) : null;

  const written = files.soul ? await readSoul(files.soul, warnings) : null;
  const soul = soulOf(written, agent?.soul ?? null, warnings);
  if (soul.length > LIMITS.soul) throw new ArchiveError('too-large', SOUL_TOO_LONG);
  if (soul.trim() === '') throw new ArchiveError('not-an-archive', SOUL_EMPTY);

  for (const batch of batches(sorted)) await take(batch);
  return {
    agentId: agent?.agentId ?? null,
    name: agent?.name ?? guessName(soul, files.folder),
    soul,
    messages: sorted.filter(({ type }) => type === 'message').length,
    sessions: sorted.filter((doc) => isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'start').length,
    warnings,
  };
};

/** A file that is no zip is the soul itself, and its own name may be whose it is. */
function bareFile(file: Blob, name: string): AgentFiles {
  return {
    soul: { path: name, bytes: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) },
    identity: null,
    memories: [],
    folder: name.replace(/\.[^.]*$/, '') || null,
    warnings: [],
  };
}

async function readSoul(entry: NonNullable<AgentFiles['soul']>, warnings: AgentWarning[]): Promise<string> {
  if (entry.bytes > SOUL_BYTES) throw new ArchiveError('too-large', SOUL_TOO_LONG);
  const read = readText(await entry.read());
  if (!read) throw new ArchiveError('not-an-archive', NOT_ONE);
  if (read.isOther) warnings.push({ kind: 'other-encoding', path: entry.path });
  return read.text;
}

/** As UTF-8 and an editor would have changed it: what is left are changes that a person made. */
const asSaved = (soul: string) => withPlainLines(new TextDecoder('utf-8').decode(new TextEncoder().encode(soul)));

/** The words of SOUL.md, exactly as they were where nobody changed them since. */
function soulOf(written: string | null, kept: string | null, warnings: AgentWarning[]): string {
  if (written === null || kept === null) return written ?? kept ?? '';
  if (written === asSaved(kept)) return kept;
  warnings.push({ kind: 'soul-edited' });
  return written;
}

function* batches(docs: readonly Doc[]): Generator<readonly Doc[], void, undefined> {
  let batch: Doc[] = [];
  let chars = 0;
  for (const doc of docs) {
    batch.push(doc);
    chars += JSON.stringify(doc).length;
    if (batch.length < ARCHIVE.batchDocuments && chars < ARCHIVE.batchChars) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
