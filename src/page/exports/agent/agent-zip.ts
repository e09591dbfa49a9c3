/** Reads and writes one agent as a zip of plain files. The format is described below. */
import { z } from 'zod';
import { Zip, ZipDeflate } from 'fflate';
import { sentence } from '../../../shared/domain/names.ts';
import { agentIdSchema, type Doc } from '../../../shared/protocol/documents.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import { parseJson } from '../../../shared/domain/platform/json.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isKnown, kindOf } from '../../../shared/protocol/documents/kinds.ts';
import { LIMITS } from '../../../shared/protocol/limits.ts';
import { parseStamp } from '../../../shared/domain/stamp.ts';
import { EXPORT_FORMAT, ExportError, safeFileName, type Workers } from '../methods.ts';
import { assertDocument } from '../index.ts';
import { belongsTo, isAppearance } from '../household/write.ts';
import type { AgentWarning } from '../types.ts';
import { createNewest, isFitRecord, rosterFrom } from '../household/consent.ts';
import { createChunkWriter, pagesOf } from '../bytes.ts';
import { readText, withPlainLines, type ZipEntry as WholeEntry, zipEntries } from '../zip.ts';

// One agent as a folder of plain files:
//
//     Lyra/README.txt         what this is
//     Lyra/SOUL.md            the soul; alone it is enough to adopt an agent
//     Lyra/identity.json      exact identity: its birth and every change since
//     Lyra/transcripts/2026-11-21-<session>.jsonl   one conversation: a document per line
//     Lyra/memory/index.md    the files of its memory, for reading
//     Lyra/more.jsonl         its other documents, if any, and every version of those files
//
// Lone surrogates cannot be written as UTF-8. SOUL.md has U+FFFD in their places, and identity.json
// has them escaped.

const FILES = {
  readme: 'README.txt',
  soul: 'SOUL.md',
  identity: 'identity.json',
  transcripts: 'transcripts',
  transcriptEnd: '.jsonl',
  memory: 'memory',
  more: 'more.jsonl',
} as const;

const identityFileSchema = z.looseObject({
  roost: z.literal('agent'),
  version: z.number().int().min(1),
  agentId: agentIdSchema,
  name: z.string(),
  /** ms since the epoch */
  exportedAt: z.number(),
  documents: z.array(z.unknown()),
});
type IdentityFile = z.infer<typeof identityFileSchema>;

const readmeOf = (
  name: string,
) => `${name} is an agent of a Roost household. This folder is all of ${name}, in plain files.

SOUL.md         The soul: the words ${name} wakes with. You can read and change it with any editor.
identity.json   Name, seat, birth, and every change since, exactly as the household keeps them.
transcripts     What was said, one file for each session. Each line is one document, as JSON.
memory          The files that ${name} keeps, to read. Roost takes them from more.jsonl, not from here.
more.jsonl      What else belongs to ${name}, with every version of its memory, if there is something.

To give ${name} a home: open Roost, choose an empty seat, choose "Adopt from a file", and pick this zip. If you
have unpacked it and changed something, pack the folder into a zip again first. SOUL.md alone is enough
to begin a new life; the other files bring the memories along.

Nothing in this folder is encrypted. Keep it as you would keep a diary.
`;

/** Oldest first, in an order that is the same everywhere. */
const byStamp = (a: Doc, b: Doc) => (a.at === b.at ? (a._id < b._id ? -1 : 1) : a.at < b.at ? -1 : 1);

// Reads the documents in an agent's folder. Files that are not Roost's are left out with a warning.

const NOBODY: ReadonlyMap<string, string> = new Map();

/**
 * Why a value is no document of this agent; null: it is one. A file about one agent must not
 * contain documents of others.
 */
function faultOf(value: unknown, agentId: AgentId): string | null {
  try {
    assertDocument(value);
  } catch (error) {
    return errorMessage(error);
  }
  const whose = kindOf(value.type)?.whose ?? 'agent';
  if (whose === 'everybody') return null;
  if (whose === 'household' && !isAppearance(value)) return 'a household’s own document';
  if (belongsTo(value, NOBODY) !== agentId) return 'a document of somebody else';
  return value.type !== 'memory' || isFitRecord(value) ? null : 'no file of a memory';
}

function goodOf(values: readonly unknown[], agentId: AgentId, path: string, warnings: AgentWarning[]): Doc[] {
  const good: Doc[] = [];
  const faults: string[] = [];
  for (const value of values) {
    const fault = faultOf(value, agentId);
    if (fault === null) {
      assertDocument(value);
      good.push(value);
    } else faults.push(fault);
  }
  if (faults.length > 0)
    warnings.push({
      kind: 'unreadable',
      path,
      reason: sentence`${faults.length} of ${values.length} entries are not documents of this agent (the first: ${faults[0] ?? ''})`,
    });
  return good;
}

const NO_IDENTITY = sentence`it has no valid identity.json`;

/** The identity; null if the file is not one of Roost's. Rejects if a newer Roost wrote it. */
async function readIdentity(
  entry: ZipEntry,
  warnings: AgentWarning[],
): Promise<{ agentId: AgentId; documents: Doc[] } | null> {
  const refuse = (reason: string) => {
    warnings.push({ kind: 'unreadable', path: entry.path, reason });
    return null;
  };
  const value = parseJson(readText(await entry.read())?.text ?? '');
  const parsed = identityFileSchema.safeParse(value);
  if (!parsed.success) return refuse(NO_IDENTITY);
  const { version, agentId } = parsed.data;
  if (version > EXPORT_FORMAT.version)
    throw new ExportError(
      'newer-version',
      sentence`A newer Roost made this. Update Roost on this device, then try again.`,
    );
  const documents = goodOf(parsed.data.documents, agentId, entry.path, warnings);
  return documents.some(({ type }) => type === 'agent-identity') ? { agentId, documents } : refuse(NO_IDENTITY);
}

/** The documents of a transcript, one per line. Without an identity, their agent is unknown. */
async function readLines(entry: ZipEntry, agentId: AgentId | null, warnings: AgentWarning[]): Promise<Doc[]> {
  if (agentId === null) {
    warnings.push({
      kind: 'unreadable',
      path: entry.path,
      reason: NO_IDENTITY,
    });
    return [];
  }
  const lines = (readText(await entry.read())?.text ?? '').split('\n').filter((line) => line.trim() !== '');
  return goodOf(lines.map(parseJson), agentId, entry.path, warnings);
}

// Reads one agent from a zip that Roost made, from a zip packed by hand, or from a single Markdown
// file.

/** A file of a zip, or the only file there is. */
type ZipEntry = Pick<WholeEntry, 'path' | 'bytes' | 'read'>;

/** The files of an agent in a zip. */
interface AgentFiles {
  /** null: the identity contains the soul too. */
  readonly soul: ZipEntry | null;
  readonly identity: ZipEntry | null;
  /** Transcripts and other documents. */
  readonly memories: readonly ZipEntry[];
  /** Name of the folder that contains them. */
  readonly folder: string | null;
  readonly warnings: readonly AgentWarning[];
}

const NO_SOUL = sentence`There is no SOUL.md in this zip. Add a text file of that name with the soul, and pack it again.`;

const lower = (path: string) => path.toLowerCase();
const partsOf = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');
const nameOf = (path: string) => partsOf(path).at(-1) ?? '';
const isNamed = (path: string, name: string) => lower(nameOf(path)) === lower(name);
/** Files that macOS, Windows and editors leave in zips. */
const isJunk = (path: string) =>
  partsOf(path).some(
    (part) => part === '__MACOSX' || part.startsWith('.') || /^(thumbs\.db|desktop\.ini)$/i.test(part),
  );
const byDepth = (a: ZipEntry, b: ZipEntry) =>
  partsOf(a.path).length - partsOf(b.path).length || (a.path < b.path ? -1 : 1);

/**
 * The SOUL.md nearest to the root decides which folder it is. Throws an `ExportError` if no file
 * could be a soul.
 */
function chooseFiles(entries: readonly ZipEntry[]): AgentFiles {
  const files = entries.filter(({ path }) => !isJunk(path)).sort(byDepth);
  const identities = files.filter(({ path }) => isNamed(path, FILES.identity));
  // An agent may keep a file of the name SOUL.md in its memory.
  const homes = files.filter(({ path }) => isNamed(path, FILES.identity) || isNamed(path, FILES.soul));
  const memoryFolders = new Set(
    homes.map(({ path }) => [...partsOf(lower(path)).slice(0, -1), FILES.memory].join('/')),
  );
  const isKept = (path: string) => {
    const parts = partsOf(lower(path));
    return parts.some((part, i) => part === FILES.memory && memoryFolders.has(parts.slice(0, i + 1).join('/')));
  };
  const texts = files.filter(
    ({ path }) => /\.(md|markdown)$/i.test(path) && !/^(readme|license)\./i.test(nameOf(path)) && !isKept(path),
  );
  const souls = texts.filter(({ path }) => isNamed(path, FILES.soul));
  // Without a SOUL.md, a single Markdown file is just as clear.
  const soul = souls[0] ?? (identities.length === 0 && texts.length === 1 ? texts[0] : undefined);
  const first = soul ?? identities[0];
  if (!first) throw new ExportError('not-an-export', NO_SOUL);

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

/** Guesses a name from a handwritten soul. */

/** File and folder names that describe content, not an agent. */
const NO_NAMES = /^(soul|agent|agents|new folder|untitled folder|archive|download|downloads)$/i;

/**
 * The first heading, else `name:` in the front matter, else the folder's name; null: none of them
 * gives a name.
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
 * The text without Markdown syntax; null if nothing is left, or if it only describes the content.
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

const NOT_ONE = sentence`This file is not one agent. Choose a zip with one agent’s folder, or a SOUL.md.`;
const AGENT_ZIP = {
  entries: EXPORT_FORMAT.zipEntries,
  unpackedBytes: EXPORT_FORMAT.unpackedBytes,
  tooLarge: NOT_ONE,
};
const WRONG_LENGTH = sentence`A soul has at least one word and at most ${LIMITS.soul.toLocaleString('en')} characters. Change it, and choose it again.`;
const HOUSEHOLD = sentence`This is a copy of a whole household, not of one agent. Import it under Settings, Export & import instead.`;
/** At most four UTF-8 bytes per character, and a byte order mark. */
const SOUL_BYTES = LIMITS.soul * 4 + 4;

export const readAgent: Workers['readAgent'] = async ({ file, name }, { take }, tell) => {
  if (file.size > EXPORT_FORMAT.zipBytes) throw new ExportError('too-large', NOT_ONE);
  const head = new Uint8Array(await file.slice(0, 32).arrayBuffer());
  const isZip = head[0] === 0x50 && head[1] === 0x4b;
  if (
    (head[0] === 0x1f && head[1] === 0x8b) ||
    new TextDecoder('latin1').decode(head).startsWith('age-encryption.org/')
  )
    throw new ExportError('not-an-export', HOUSEHOLD);
  const files = isZip ? chooseFiles(await zipEntries(file, AGENT_ZIP)) : bareFile(file, name);
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
  if (soul.length > LIMITS.soul) throw new ExportError('too-large', WRONG_LENGTH);
  if (soul.trim() === '') throw new ExportError('not-an-export', WRONG_LENGTH);

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

/** A file that is no zip is the soul itself. Its file name may be the agent's name. */
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
  if (entry.bytes > SOUL_BYTES) throw new ExportError('too-large', WRONG_LENGTH);
  const read = readText(await entry.read());
  if (!read) throw new ExportError('not-an-export', NOT_ONE);
  if (read.isOther) warnings.push({ kind: 'other-encoding', path: entry.path });
  return read.text;
}

/**
 * The soul after encoding as UTF-8 and after an editor has saved it. Any further difference was
 * made by a person.
 */
const asSaved = (soul: string) => withPlainLines(new TextDecoder('utf-8').decode(new TextEncoder().encode(soul)));

/** The text of SOUL.md; the exact original if nobody has edited it. */
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
    if (batch.length < EXPORT_FORMAT.batchDocuments && chars < EXPORT_FORMAT.batchChars) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

// Writes all documents of one agent into a zip. They pass through memory: one agent's, never the
// household's.

export const writeAgent: Workers['exportAgent'] = async ({ agentId, exportedAt }, { read, write }, tell) => {
  const about: Doc[] = [];
  const more: Doc[] = [];
  const sessions = new Map<string, Doc[]>();
  const newest = createNewest();
  let documents = 0;
  for await (const { docs, of } of pagesOf(read, agentId)) {
    for (const doc of docs) {
      // The folder contains the agent's identity and look. A household's past wish to forget the
      // agent is not part of it.
      if (kindOf(doc.type)?.whose === 'household' && !isAppearance(doc)) continue;
      documents += 1;
      const sessionId = typeof doc['sessionId'] === 'string' ? doc['sessionId'] : null;
      if (doc.type === 'agent-identity' || doc.type === 'agent-change') about.push(doc);
      else if (sessionId === null) more.push(doc);
      else {
        const said = sessions.get(sessionId);
        if (said) said.push(doc);
        else sessions.set(sessionId, [doc]);
      }
    }
    newest.take(docs);
    tell({ stage: 'documents', done: documents, of: Math.max(of, documents) });
  }
  const agent = rosterFrom(newest.now()).byId.get(agentId);
  if (!agent) throw new Error('There is nobody of this id to make a copy of.');

  const out = createChunkWriter(write, EXPORT_FORMAT.chunkBytes);
  const put = createZip(exportedAt, out.put);
  const folder = safeFileName(agent.name, 'agent');
  const identity: IdentityFile = {
    roost: 'agent',
    version: EXPORT_FORMAT.version,
    agentId,
    name: agent.name,
    exportedAt,
    documents: about.sort(byStamp),
  };
  await put.file(`${folder}/${FILES.readme}`, [readmeOf(agent.name)]);
  await put.file(`${folder}/${FILES.soul}`, [agent.soul]);
  await put.file(`${folder}/${FILES.identity}`, [`${JSON.stringify(identity, null, 2)}\n`]);
  const usedNames = new Set<string>();
  const memories = new Set<string>();
  for (const [sessionId, docs] of [...sessions].sort(([, a], [, b]) =>
    startOf(a) === startOf(b) ? 0 : startOf(a) < startOf(b) ? -1 : 1,
  )) {
    const name = free(`${startOf(docs)}-${safeFileName(sessionId, 'session')}`, usedNames);
    await put.file(`${folder}/${FILES.transcripts}/${name}${FILES.transcriptEnd}`, linesOf(docs));
  }
  for (const doc of newest.now().records) {
    if (!isKnown(doc) || doc.type !== 'memory' || doc.value.removed) continue;
    const path = doc.value.path.split('/').map((part) => safeFileName(part, 'file'));
    await put.file(`${folder}/${FILES.memory}/${free(path.join('/'), memories)}`, [doc.value.text]);
  }
  if (more.length > 0) await put.file(`${folder}/${FILES.more}`, linesOf(more));
  await put.end();
  await out.end();
  return { documents, bytes: out.bytes };
};

function* linesOf(docs: Doc[]): Generator<string, void, undefined> {
  for (const doc of docs.sort(byStamp)) yield `${JSON.stringify(doc)}\n`;
}

/**
 * The day on which a session began, in UTC: from its own document, or else from its first message.
 */
function startOf(docs: readonly Doc[]): string {
  const start = docs
    .map((doc) => (isKnown(doc) && doc.type === 'session' && doc.phase.kind === 'start' ? doc.phase.startedAt : null))
    .find((time) => time !== null);
  const first = Math.min(...docs.map((doc) => parseStamp(doc.at)?.time ?? Number.MAX_SAFE_INTEGER));
  const date = new Date(start ?? first);
  return Number.isNaN(date.getTime()) ? 'undated' : date.toISOString().slice(0, 10).replace(/^\+0*/, '');
}

/** Names that differ only in case are the same name on some systems. */
function free(name: string, taken: Set<string>): string {
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    const key = candidate.toLowerCase();
    if (taken.has(key)) continue;
    taken.add(key);
    return candidate;
  }
}

/** The range of years that a zip can store. */
const zipDate = (time: number) => new Date(Math.min(Math.max(time, Date.UTC(1980, 0, 2)), Date.UTC(2099, 11, 30)));

function createZip(time: number, put: (chunk: Uint8Array) => Promise<void>) {
  let made: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    made.push(chunk);
  });
  const encoder = new TextEncoder();
  async function drain() {
    const chunks = made;
    made = [];
    for (const chunk of chunks) await put(chunk);
  }
  return {
    async file(path: string, texts: Iterable<string>) {
      const entry = new ZipDeflate(path, { level: 6 });
      entry.mtime = zipDate(time);
      zip.add(entry);
      for (const text of texts) {
        entry.push(encoder.encode(text));
        await drain();
      }
      entry.push(new Uint8Array(0), true);
      await drain();
    },
    async end() {
      zip.end();
      await drain();
    },
  };
}
