/**
 * Writes the household into one file. Runs wherever there are streams; nothing here knows of a
 * page.
 */
import { z } from 'zod';
import { Decrypter, Encrypter } from 'age-encryption';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { lookOf } from '../../../shared/domain/choices.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { chunksOf } from '../../../shared/domain/platform/old-browsers.ts';
import { sentence } from '../../../shared/domain/sentence.ts';
import { createChunkWriter, fileChunks, pagesOf, streamOf } from '../bytes.ts';
import { ARCHIVE, ArchiveError, CUT_SHORT, DAMAGED, type Workers } from '../methods.ts';

// Whose a document is.

/** Is this how somebody looks? It is a setting, and goes where they go. */
export const isLook = (doc: Doc): boolean => isKnown(doc) && doc.type === 'setting' && lookOf(doc) !== null;

/**
 * The agent that a document belongs to, and goes and stays with; null: nobody's, as a session,
 * which everybody shares, or a setting that is not an agent's look. Kinds of a newer app belong to
 * the agent that they name. `forgets`: the agent that each `forget` is about, by its id.
 */
export function belongsTo(doc: Doc, forgets: ReadonlyMap<string, string>): string | null {
  if (isKnown(doc) && doc.type === 'forget') return doc.target.agentId;
  if (isKnown(doc) && doc.type === 'forget-undo') return forgets.get(doc.forgetId) ?? null;
  if (isKnown(doc) && doc.type === 'setting') return lookOf(doc);
  return typeof doc['agentId'] === 'string' ? doc['agentId'] : null;
}

// A household in one file: JSON Lines, gzipped, and under a passphrase wrapped in age's format
// (https://age-encryption.org/v1), so that `age -d copy.jsonl.gz.age | gunzip` gives plain text.
//
// The first line is the header, the last one the footer, and each line between them a document as
// the ledger holds it. The footer has the SHA-256 of all lines before it, line breaks included:
// `head -n -1 copy.jsonl | sha256sum`.

export const headerSchema = z.looseObject({
  roost: z.literal('household'),
  version: z.number().int().min(1),
  exportedAt: z.number().int().min(0).describe('ms since the epoch'),
  documents: z
    .number()
    .int()
    .min(0)
    .describe('how many there were when it was begun; the footer knows how many there are'),
});
export type Header = z.infer<typeof headerSchema>;

export const footerSchema = z.looseObject({
  roost: z.literal('end'),
  documents: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
type Footer = z.infer<typeof footerSchema>;

// A passphrase around the file: age's own format, by the library of age's author.

const MAGIC = 'age-encryption.org/v1\n';
/** The header ends with its authenticator: 32 bytes as 43 characters of base64. */
const HEADER_END = /\n--- [A-Za-z0-9+/]{43}\n/;
/** A header with one passphrase is about 150 bytes; this many are looked at. */
const HEAD_BYTES = 4_096;
const NONCE_BYTES = 16;
/** The payload comes in blocks of 64 KiB, each with its authenticator. */
const BLOCK_BYTES = 64 * 1024 + 16;

// The same characters give the same bytes, whichever way a keyboard composes an accent.
const secretOf = (passphrase: string) => passphrase.normalize('NFC');

/**
 * Encrypts a stream under a passphrase. Stretching it takes a second or so, and 256 MB for a
 * moment.
 */
async function seal(stream: ReadableStream<Uint8Array>, passphrase: string): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(secretOf(passphrase));
  encrypter.setScryptWorkFactor(ARCHIVE.scryptLogN);
  return encrypter.encrypt(stream);
}

const textOf = async (file: Blob, bytes: number) =>
  new TextDecoder('latin1').decode(await file.slice(0, bytes).arrayBuffer());

export async function isSealed(file: Blob): Promise<boolean> {
  return (await textOf(file, MAGIC.length)) === MAGIC;
}

async function headerOf(file: Blob): Promise<string> {
  const head = await textOf(file, HEAD_BYTES);
  const end = HEADER_END.exec(head);
  if (!end && file.size < HEAD_BYTES) throw new ArchiveError('cut-short', CUT_SHORT);
  if (!end) throw new ArchiveError('damaged', DAMAGED);
  if (!head.startsWith('-> scrypt ', MAGIC.length))
    throw new ArchiveError(
      'not-an-archive',
      sentence`This file is sealed for somebody’s key, not under a passphrase. Open it with age first, and choose what comes out of it.`,
    );
  return head.slice(0, end.index + end[0].length);
}

/**
 * The key of a sealed file, from the passphrase that it is under. Takes as long as sealing does.
 */
export async function fileKeyOf(file: Blob, passphrase: string): Promise<Uint8Array> {
  const header = await headerOf(file);
  const decrypter = new Decrypter();
  decrypter.addPassphrase(secretOf(passphrase));
  try {
    return await decrypter.decryptHeader(new TextEncoder().encode(header));
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('no identity matched'))
      throw new ArchiveError(
        'wrong-passphrase',
        sentence`This is not the passphrase of this file. Try again: capitals and blanks count.`,
        { cause: error },
      );
    throw new ArchiveError('damaged', DAMAGED, { cause: error });
  }
}

/** What is inside a sealed file, by its own key. */
export async function* unsealed(file: Blob, fileKey: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  const payload = file.size - (await headerOf(file)).length - NONCE_BYTES;
  if (payload <= 0) throw new ArchiveError('cut-short', CUT_SHORT);
  const blocks = Math.ceil(payload / BLOCK_BYTES);
  const decrypter = new Decrypter();
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  let opened = 0;
  try {
    // Less than a block at a time: a stream that fails forgets the blocks that nobody has taken
    // yet.
    for await (const block of chunksOf(await decrypter.decrypt(streamOf(fileChunks(file), BLOCK_BYTES / 2)))) {
      opened += 1;
      yield block;
    }
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    // A block fails as a whole; where it is the last of several, a cut is likelier than a fault.
    const isEnd = blocks > 1 && opened >= blocks - 1;
    throw isEnd
      ? new ArchiveError('cut-short', CUT_SHORT, { cause: error })
      : new ArchiveError('damaged', DAMAGED, { cause: error });
  }
}

export const writeHousehold: Workers['exportHousehold'] = async ({ passphrase, exportedAt }, { read, write }, tell) => {
  if (passphrase === '')
    throw new ArchiveError(
      'needs-passphrase',
      sentence`An empty passphrase keeps nobody out. Choose one, or make the copy without.`,
    );
  const gzip = new CompressionStream('gzip');
  if (passphrase !== null) tell({ stage: 'key', done: 0, of: 1 });
  const packed = passphrase === null ? gzip.readable : await seal(gzip.readable, passphrase);
  const out = createChunkWriter(write, ARCHIVE.chunkBytes);

  async function produce(): Promise<number> {
    const writer = gzip.writable.getWriter();
    const encoder = new TextEncoder();
    const digest = sha256.create();
    const put = async (lines: readonly string[]) => {
      const bytes = encoder.encode(lines.map((line) => `${line}\n`).join(''));
      digest.update(bytes);
      await writer.write(bytes);
    };
    try {
      let documents = 0;
      let isBegun = false;
      for await (const { lines, of } of pagesOf(read, null)) {
        const header: Header = { roost: 'household', version: ARCHIVE.version, exportedAt, documents: of };
        await put(isBegun ? lines : [JSON.stringify(header), ...lines]);
        isBegun = true;
        documents += lines.length;
        tell({ stage: 'documents', done: documents, of: Math.max(of, documents) });
      }
      const footer: Footer = { roost: 'end', documents, sha256: bytesToHex(digest.digest()) };
      await writer.write(encoder.encode(`${JSON.stringify(footer)}\n`));
      await writer.close();
      return documents;
    } catch (error) {
      // So that the other end stops waiting. Where the stream failed by itself, `error` is that
      // failure.
      await writer.abort(error).catch(() => undefined);
      throw error;
    }
  }

  async function consume(): Promise<void> {
    for await (const chunk of chunksOf(packed)) await out.put(chunk);
    await out.end();
  }

  const [documents] = await Promise.all([produce(), consume()]);
  return { documents, bytes: out.bytes };
};
