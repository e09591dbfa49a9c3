/** Reads one agent from a zip that Roost made, from one packed by hand, or from a Markdown file alone. */
import type { Doc } from '../../protocol/documents.ts';
import { isKnown } from '../../protocol/known.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { createNewest, rosterFrom } from '../household/newest.ts';
import type { Workers } from '../methods.ts';
import { ArchiveError } from '../problem.ts';
import { ARCHIVE } from '../settings.ts';
import type { AgentWarning } from '../types.ts';
import { chooseFiles, type AgentFiles } from './choose.ts';
import { guessName } from './guess-name.ts';
import { readIdentity, readLines } from './memories.ts';
import { byStamp } from './order.ts';
import { readText, withPlainLines } from './text.ts';
import { zipEntries } from './zip.ts';

const TOO_LARGE = 'This file is larger than an agent could be. Choose a zip with one agent’s folder, or a SOUL.md.';
const SOUL_TOO_LONG = `This soul is longer than ${LIMITS.soul.toLocaleString('en')} characters, more than anybody can wake with. Shorten it, and choose it again.`;
const SOUL_EMPTY = 'This soul has no words yet. Write a few sentences on who this is, and choose the file again.';
const HOUSEHOLD = 'This is a copy of a whole household, not of one agent. Import it on the storage page instead.';
const NOT_ONE = 'This file is neither a zip nor text. Choose a zip with one agent’s folder, or a SOUL.md.';
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
