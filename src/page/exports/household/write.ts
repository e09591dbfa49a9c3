/** Writes the household into one file. Needs only web streams and knows nothing of the page. */
import { z } from 'zod';
import { Decrypter, Encrypter } from 'age-encryption';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { appearanceOf } from '../../../shared/domain/choices.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import { chunksOf } from '../../../shared/domain/platform/old-browsers.ts';
import { sentence } from '../../../shared/domain/names.ts';
import { createChunkWriter, fileChunks, pagesOf, streamOf } from '../bytes.ts';
import { EXPORT_FORMAT, ExportError, DAMAGED, type Workers } from '../methods.ts';

// Decides which agent a document belongs to.

/** Is this an agent's look? It is a setting that belongs to the agent. */
export const isAppearance = (doc: Doc): boolean => isKnown(doc) && doc.type === 'setting' && appearanceOf(doc) !== null;

/**
 * The agent that a document belongs to and is exported with; null: none, as for a session, which
 * all agents share, or a setting that is not an agent's look. Kinds of a newer app belong to the
 * agent that they name. `forgets`: the agent that each `forget` is about, by its id.
 */
export function belongsTo(doc: Doc, forgets: ReadonlyMap<string, string | null>): string | null {
  if (isKnown(doc) && doc.type === 'forget') return doc.target.agentId;
  if (isKnown(doc) && doc.type === 'forget-undo') return forgets.get(doc.forgetId) ?? null;
  if (isKnown(doc) && doc.type === 'setting') return appearanceOf(doc);
  return typeof doc['agentId'] === 'string' ? doc['agentId'] : null;
}

// A household in one file: JSON Lines, gzipped, and with a passphrase wrapped in the age format
// (https://age-encryption.org/v1), so that `age -d copy.jsonl.gz.age | gunzip` yields plain text.
//
// The first line is the header, the last one the footer. Each line between them is a document as
// the ledger stores it. The footer has the SHA-256 of all lines before it, line breaks included:
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

// Encrypts the file with a passphrase, in the age format, with the library of age's author.

const MAGIC = 'age-encryption.org/v1\n';
/** The header ends with its authenticator: 32 bytes as 43 characters of base64. */
const HEADER_END = /\n--- [A-Za-z0-9+/]{43}\n/;
/** A header with one passphrase has about 150 bytes. This many are searched. */
const HEAD_BYTES = 4_096;
const NONCE_BYTES = 16;
/** The payload has blocks of 64 KiB, each with its authenticator. */
const BLOCK_BYTES = 64 * 1024 + 16;

// Equal characters give equal bytes, however a keyboard composes an accent.
const secretOf = (passphrase: string) => passphrase.normalize('NFC');

/**
 * Encrypts a stream with a passphrase. Key stretching takes about a second, and 256 MB for a
 * moment.
 */
async function seal(stream: ReadableStream<Uint8Array>, passphrase: string): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(secretOf(passphrase));
  encrypter.setScryptWorkFactor(EXPORT_FORMAT.scryptLogN);
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
  if (!end && file.size < HEAD_BYTES) throw new ExportError('cut-short', DAMAGED);
  if (!end) throw new ExportError('damaged', DAMAGED);
  if (!head.startsWith('-> scrypt ', MAGIC.length))
    throw new ExportError(
      'not-an-export',
      sentence`This file is sealed for somebody’s key, not under a passphrase. Open it with age first, and choose what comes out of it.`,
    );
  return head.slice(0, end.index + end[0].length);
}

/** The key of an encrypted file, derived from its passphrase. Takes as long as encrypting does. */
export async function fileKeyOf(file: Blob, passphrase: string): Promise<Uint8Array> {
  const header = await headerOf(file);
  const decrypter = new Decrypter();
  decrypter.addPassphrase(secretOf(passphrase));
  try {
    return await decrypter.decryptHeader(new TextEncoder().encode(header));
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('no identity matched'))
      throw new ExportError('wrong-passphrase', 'The passphrase does not open the file.', { cause: error });
    throw new ExportError('damaged', DAMAGED, { cause: error });
  }
}

/** Decrypts a file with its own key. */
export async function* unsealed(file: Blob, fileKey: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  const payload = file.size - (await headerOf(file)).length - NONCE_BYTES;
  if (payload <= 0) throw new ExportError('cut-short', DAMAGED);
  const blocks = Math.ceil(payload / BLOCK_BYTES);
  const decrypter = new Decrypter();
  decrypter.addIdentity({ unwrapFileKey: () => fileKey });
  let opened = 0;
  try {
    // Less than a block at a time: a failing stream drops blocks that were not read yet.
    for await (const block of chunksOf(await decrypter.decrypt(streamOf(fileChunks(file), BLOCK_BYTES / 2)))) {
      opened += 1;
      yield block;
    }
  } catch (error) {
    if (error instanceof ExportError) throw error;
    // A block fails as a whole. If it is the last of several, truncation is likelier than damage.
    const isEnd = blocks > 1 && opened >= blocks - 1;
    throw isEnd
      ? new ExportError('cut-short', DAMAGED, { cause: error })
      : new ExportError('damaged', DAMAGED, { cause: error });
  }
}

export const writeHousehold: Workers['exportHousehold'] = async ({ passphrase, exportedAt }, { read, write }, tell) => {
  if (passphrase === '') throw new ExportError('needs-passphrase', 'An empty passphrase protects nothing.');
  const gzip = new CompressionStream('gzip');
  if (passphrase !== null) tell({ stage: 'key', done: 0, of: 1 });
  const packed = passphrase === null ? gzip.readable : await seal(gzip.readable, passphrase);
  const out = createChunkWriter(write, EXPORT_FORMAT.chunkBytes);

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
        const header: Header = { roost: 'household', version: EXPORT_FORMAT.version, exportedAt, documents: of };
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
      // Releases the other end. If the stream failed by itself, `error` is that failure.
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
