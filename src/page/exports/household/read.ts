/**
 * Reads a household's file from end to end and validates all of it: format, every document, count
 * and digest.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { parseJson } from '../../../shared/domain/platform/json.ts';
import type { Doc, ForgetDoc } from '../../../shared/protocol/documents.ts';
import { chunksOf } from '../../../shared/domain/platform/old-browsers.ts';
import { sentence } from '../../../shared/domain/names.ts';
import { isSeatPosition, LEAD_ID } from '../../../shared/domain/seat.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { Agent, Roster } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { fileChunks, joined } from '../bytes.ts';
import { assertDocument } from '../index.ts';
import { EXPORT_FORMAT, ExportError, DAMAGED, type Workers } from '../methods.ts';
import type { ImportConflict, ExportedAgent } from '../types.ts';
import {
  belongsTo,
  fileKeyOf,
  footerSchema,
  type Header,
  headerSchema,
  isAppearance,
  isSealed,
  unsealed,
} from './write.ts';
import { createConsent, createNewest, type Deciding, isConsented, rosterFrom, union } from './consent.ts';

/** Splits bytes into lines. */
const LINE_BREAK = 0x0a;

interface LineCutter {
  /** The completed lines, without their line breaks. */
  push(chunk: Uint8Array): Uint8Array[];
  /** The bytes after the last line break. */
  rest(): Uint8Array;
}

/** Rejects lines longer than `maxBytes`. No valid file has one, and it must not fill the memory. */
function createLineCutter(maxBytes: number): LineCutter {
  let parts: Uint8Array[] = [];
  let lineBytes = 0;
  const keep = (part: Uint8Array) => {
    lineBytes += part.length;
    if (lineBytes > maxBytes) throw new ExportError('too-large', NOT_OURS);
    parts.push(part);
  };
  const take = () => {
    const line = parts.length === 1 ? parts[0] : undefined;
    const whole = line ?? joined(parts);
    parts = [];
    lineBytes = 0;
    return whole;
  };
  return {
    push(chunk) {
      const lines: Uint8Array[] = [];
      let from = 0;
      for (let at = chunk.indexOf(LINE_BREAK); at >= 0; at = chunk.indexOf(LINE_BREAK, from)) {
        keep(chunk.subarray(from, at));
        lines.push(take());
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
      return lines;
    },
    rest: take,
  };
}

/** Decompresses gzip, and distinguishes a truncated file from a damaged one. */

/** Decompresses chunks of gzip. Errors of `source` pass through; its own are `ExportError`s. */
async function* gunzipped(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = new DecompressionStream('gzip');
  // The platform's byte arrays are typed as possibly shared; these never are.
  const writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>> = stream.writable.getWriter();
  let failure: unknown = null;

  async function feed(): Promise<void> {
    let isEnded = false;
    try {
      for (;;) {
        const next = await source.next().catch((error: unknown) => {
          failure = error;
          throw error;
        });
        if (next.done) break;
        await writer.write(new Uint8Array(next.value));
      }
      isEnded = true;
      await writer.close();
    } catch (error) {
      failure ??= faultOf(error, isEnded);
      // Releases the other end. A stream that failed by itself has nothing to add.
      await writer.abort(error).catch(() => undefined);
    }
  }

  const fed = feed();
  try {
    yield* chunksOf(stream.readable);
  } catch (error) {
    await fed;
    throw failure ?? faultOf(error, false);
  } finally {
    await source.return?.();
  }
  await fed;
  if (failure !== null) throw failure;
}

/**
 * Only Node names the fault. Elsewhere, an error during decompression means damage, and an error at
 * the end means truncation.
 */
function faultOf(error: unknown, isEnded: boolean): ExportError {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  const isCut = code === 'Z_BUF_ERROR' || (isEnded && code === null);
  return isCut
    ? new ExportError('cut-short', DAMAGED, { cause: error })
    : new ExportError('damaged', DAMAGED, { cause: error });
}

interface ReadWhole {
  readonly header: Header;
  readonly documents: number;
  /** The digest of all lines before the footer, in hex. */
  readonly digest: string;
}

const NOT_OURS = sentence`This file is not a copy that Roost made. Choose one whose name ends with .jsonl.gz or .jsonl.gz.age.`;
const ZIP = sentence`This is a zip: one agent’s folder, perhaps. Adopt it into an empty seat instead.`;
const GZIP = [0x1f, 0x8b];
const ZIP_MARK = [0x50, 0x4b];
const LINE_BREAK_BYTES = Uint8Array.of(LINE_BREAK);
const begins = (bytes: Uint8Array, mark: readonly number[]) => mark.every((byte, i) => bytes[i] === byte);

/**
 * Yields the documents in batches, in the order of the file, exactly as they were written.
 * `fileKey`: see `fileKeyOf`; null if the file is not encrypted. Rejects with an `ExportError`,
 * possibly after some batches. The documents are known to be complete only when it resolves.
 */
export async function readHousehold(
  file: Blob,
  fileKey: Uint8Array | null,
  onBatch: (docs: readonly Doc[], header: Header) => Promise<void>,
): Promise<ReadWhole> {
  const digest = sha256.create();
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const cutter = createLineCutter(EXPORT_FORMAT.lineBytes);
  let header: Header | null = null;
  /** The latest line. The last one is the footer, which shows only at the end. */
  let heldLine: Uint8Array | null = null;
  let batch: Doc[] = [];
  let batchBytes = 0;
  let documents = 0;

  async function handOn(head: Header) {
    if (batch.length === 0) return;
    const docs = batch;
    batch = [];
    batchBytes = 0;
    await onBatch(docs, head);
  }

  async function take(line: Uint8Array) {
    digest.update(line).update(LINE_BREAK_BYTES);
    if (header === null) {
      header = headerOf(textOf(decoder, line));
      return;
    }
    documents += 1;
    batch.push(documentOf(textOf(decoder, line)));
    batchBytes += line.length;
    if (batch.length >= EXPORT_FORMAT.batchDocuments || batchBytes >= EXPORT_FORMAT.batchChars) await handOn(header);
  }

  for await (const chunk of plainChunks(file, fileKey))
    for (const line of cutter.push(chunk)) {
      if (heldLine) await take(heldLine);
      heldLine = line;
    }
  const rest = cutter.rest();
  if (rest.length > 0) {
    if (heldLine) await take(heldLine);
    heldLine = rest;
  }
  if (!header) {
    // A header alone is a truncated file. Anything else is not ours.
    if (heldLine) headerOf(textOf(decoder, heldLine));
    throw heldLine ? new ExportError('cut-short', DAMAGED) : new ExportError('not-an-export', NOT_OURS);
  }
  await handOn(header);
  const footer = heldLine ? footerOf(textOf(decoder, heldLine)) : null;
  if (!footer) throw new ExportError('cut-short', DAMAGED);
  const sha = bytesToHex(digest.digest());
  if (footer.documents !== documents || footer.sha256 !== sha) throw new ExportError('damaged', DAMAGED);
  return { header, documents, digest: sha };
}

/** The JSON Lines inside, compressed or not: some browsers unpack gzip when they save a file. */
async function* plainChunks(file: Blob, fileKey: Uint8Array | null): AsyncGenerator<Uint8Array, void, undefined> {
  const source = fileKey ? unsealed(file, fileKey) : fileChunks(file);
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < 2) {
    const next = await source.next();
    if (next.done) break;
    head = joined([head, next.value]);
  }
  if (head.length === 0) return;
  if (begins(head, ZIP_MARK)) throw new ExportError('not-an-export', ZIP);
  const whole = startingWith(head, source);
  yield* begins(head, GZIP) ? gunzipped(whole) : whole;
}

async function* startingWith(
  head: Uint8Array,
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield head;
  yield* rest;
}

/** null if it is not UTF-8: not one of our lines. */
function textOf(decoder: TextDecoder, line: Uint8Array): string | null {
  try {
    return decoder.decode(line);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const jsonOf = (text: string | null): unknown => (text === null ? undefined : parseJson(text));

const versionSchema = headerSchema.pick({ roost: true, version: true });

function headerOf(text: string | null): Header {
  const value = jsonOf(text);
  const version = versionSchema.safeParse(value);
  if (!version.success) throw new ExportError('not-an-export', NOT_OURS);
  if (version.data.version > EXPORT_FORMAT.version)
    throw new ExportError(
      'newer-version',
      sentence`A newer Roost made this. Update Roost on this device, then try again.`,
    );
  const header = headerSchema.safeParse(value);
  if (!header.success) throw new ExportError('damaged', DAMAGED);
  return header.data;
}

function footerOf(text: string | null) {
  const footer = footerSchema.safeParse(jsonOf(text));
  return footer.success ? footer.data : null;
}

function documentOf(text: string | null): Doc {
  const value = jsonOf(text);
  try {
    assertDocument(value);
  } catch (error) {
    throw error instanceof ExportError ? error : new ExportError('damaged', DAMAGED, { cause: error });
  }
  return value;
}

// The first pass over a file validates all of it and compares it with what is here. It writes
// nothing.

/** What importing a file would meet here, as data for the preview. */

/** `here` and `file`: the deciding documents of either side. */
function conflictsBetween(here: Deciding, file: Deciding): ImportConflict[] {
  const both = union(here, file);
  const rosters = { here: rosterFrom(here), file: rosterFrom(file), both: rosterFrom(both) };
  return [...leadConflicts(here, file, rosters), ...seatConflicts(rosters)];
}

interface Rosters {
  readonly here: Roster;
  readonly file: Roster;
  readonly both: Roster;
}

const leadIds = ({ identities }: Deciding) =>
  new Set(identities.filter(({ agentId }) => agentId === LEAD_ID).map(({ _id }) => _id));

function leadConflicts(here: Deciding, file: Deciding, rosters: Rosters): ImportConflict[] {
  const mine = leadIds(here);
  const leads = { here: rosters.here.lead, file: rosters.file.lead, both: rosters.both.lead };
  if (!leads.here || !leads.file || !leads.both || [...leadIds(file)].every((id) => mine.has(id))) return [];
  // If the file's lead would win, it is a change that needs a tick: see ./consent.ts.
  if (leads.here.name !== leads.both.name) return [];
  return [{ kind: 'lead', here: leads.here.name, file: leads.file.name, after: leads.both.name }];
}

const named = ({ agentId, name }: Agent) => ({ agentId, name });

function seatConflicts({ here, file, both }: Rosters): ImportConflict[] {
  return both.waiting.flatMap((waiting): ImportConflict[] => {
    const position = waiting.position;
    const sitting = isSeatPosition(position) ? both.seats.get(position) : undefined;
    if (!isSeatPosition(position) || !sitting) return [];
    const holder = here.seats.get(position)?.agentId;
    const [mine, theirs] = holder === sitting.agentId ? [sitting, waiting] : [waiting, sitting];
    const isNew = file.byId.has(theirs.agentId) && !here.waiting.some(({ agentId }) => agentId === theirs.agentId);
    if (holder !== mine.agentId || !isNew || sitting.agentId !== mine.agentId) return [];
    return [{ kind: 'seat', position, file: named(theirs), here: named(mine), sits: sitting.agentId }];
  });
}

export const openHousehold: Workers['openExport'] = async ({ file, passphrase, here, now }, { compare }, tell) => {
  const sealed = await isSealed(file);
  if (sealed && !passphrase) throw new ExportError('needs-passphrase', 'The file has a passphrase.');
  if (sealed) tell({ stage: 'key', done: 0, of: 1 });
  const fileKey = sealed && passphrase ? await fileKeyOf(file, passphrase) : null;

  const newest = createNewest();
  const consent = createConsent(here, now);
  const kinds = new Map<string, { type: string; documents: number; isKnown: boolean }>();
  const tallies = new Map<string, { messages: number; documents: number; fresh: number }>();
  const forgets = new Map<string, ForgetDoc>();
  const undos: { readonly forgetId: string; readonly isFresh: boolean }[] = [];
  const differing: string[] = [];
  let [done, fresh, same, different, forgotten] = [0, 0, 0, 0, 0];

  function count(agentId: AgentId, doc: Pick<Doc, 'type'>, isFresh: boolean) {
    const tally = tallies.get(agentId) ?? { messages: 0, documents: 0, fresh: 0 };
    tallies.set(agentId, tally);
    tally.documents += 1;
    if (doc.type === 'message') tally.messages += 1;
    if (isFresh) tally.fresh += 1;
  }

  const { header, documents, digest } = await readHousehold(file, fileKey, async (docs, head) => {
    const comparison = await compare(docs);
    const freshIds = new Set(comparison.fresh);
    fresh += comparison.fresh.length;
    same += comparison.same;
    forgotten += comparison.forgotten;
    different += comparison.different.length;
    differing.push(...comparison.different.slice(0, EXPORT_FORMAT.namedIds - differing.length));
    newest.take(docs);
    consent.take(docs.filter(({ _id }) => freshIds.has(_id)));
    for (const doc of docs) {
      const isFresh = freshIds.has(doc._id);
      const kind = kinds.get(doc.type) ?? { type: doc.type, documents: 0, isKnown: isKnown(doc) };
      kinds.set(doc.type, { ...kind, documents: kind.documents + 1, isKnown: kind.isKnown && isKnown(doc) });
      if (isKnown(doc) && doc.type === 'forget') forgets.set(doc._id, doc);
      // An undo may come before the forget it undoes, so its agent is known only at the end.
      if (isKnown(doc) && doc.type === 'forget-undo') undos.push({ forgetId: doc.forgetId, isFresh });
      else {
        const agentId = belongsTo(doc, NOBODY);
        if (agentId !== null) count(agentId, doc, isFresh);
      }
    }
    done += docs.length;
    tell({ stage: 'documents', done, of: Math.max(head.documents, done) });
  });

  for (const { forgetId, isFresh } of undos) {
    const about = forgets.get(forgetId)?.target.agentId;
    if (about) count(about, { type: 'forget-undo' }, isFresh);
  }

  const inFile = newest.now();
  const roster = rosterFrom(inFile);
  const rosterHere = rosterFrom(here);
  const agents = [...roster.byId.values()].map(
    ({ agentId, name, color, position, retired, bornAt, soul }): ExportedAgent => ({
      agentId,
      name,
      color,
      position,
      retired,
      bornAt,
      soulChars: soul.length,
      ...(tallies.get(agentId) ?? { messages: 0, documents: 0, fresh: 0 }),
      isHere: rosterHere.byId.has(agentId),
    }),
  );
  const { changes, needs, agents: agentNeeds, never, unfit } = consent.result();
  const conflicts = [
    ...conflictsBetween(here, inFile),
    ...(never.size > 0 ? [{ kind: 'never' as const, documents: never.size }] : []),
    ...(unfit.size > 0 ? [{ kind: 'unfit' as const, documents: unfit.size }] : []),
    ...(different > 0 ? [{ kind: 'different' as const, documents: different, ids: differing }] : []),
  ];
  return {
    preview: {
      version: header.version,
      exportedAt: header.exportedAt,
      sealed,
      documents,
      kinds: [...kinds.values()].sort((a, b) => b.documents - a.documents),
      agents: agents.sort((a, b) => placeOf(a) - placeOf(b) || a.bornAt - b.bornAt),
      fresh,
      same,
      different,
      forgotten,
      conflicts,
      changes,
    },
    source: {
      fileKey,
      documents,
      digest,
      forgets: new Map([...forgets.values()].map((doc) => [doc._id, doc.target.agentId])),
      needs,
      agents: agentNeeds,
    },
  };
};

const NOBODY: ReadonlyMap<string, string> = new Map();

/** Sort key: the lead, then by seat, then agents without one, then the retired. */
function placeOf({ agentId, position, retired }: ExportedAgent): number {
  if (agentId === LEAD_ID) return -1;
  if (retired) return 10;
  return position ?? 9;
}

/** The second pass over a validated file writes the selected documents to the ledger. */
export const importHousehold: Workers['importExport'] = async (
  { source, withSettings, leaveOut, ticks },
  { append },
  tell,
) => {
  const { forgets, needs } = source;
  const ticked = new Set(ticks);
  const without = new Set([
    ...leaveOut,
    ...[...source.agents].flatMap(([agentId, tick]) => (ticked.has(tick) ? [] : [agentId])),
  ]);
  const isWanted = (doc: Doc) => {
    if (!isConsented(needs, ticked, doc._id)) return false;
    if (doc.type === 'setting' && !isAppearance(doc)) return withSettings;
    const agentId = belongsTo(doc, forgets);
    return agentId === null || !without.has(agentId);
  };
  let [documents, written, leftOut] = [0, 0, 0];
  const { digest } = await readHousehold(source.file, source.fileKey, async (docs) => {
    const wanted = docs.filter(isWanted);
    if (wanted.length > 0) written += (await append(wanted)).written;
    documents += wanted.length;
    leftOut += docs.length - wanted.length;
    tell({ stage: 'documents', done: documents + leftOut, of: source.documents });
  });
  if (digest !== source.digest)
    throw new ExportError(
      'damaged',
      sentence`The file was changed during the import. Open it again; nothing is imported twice.`,
    );
  return { documents, written, leftOut };
};
