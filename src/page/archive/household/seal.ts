/** A passphrase around the file: age's own format, by the library of age's author. */
import { Decrypter, Encrypter } from 'age-encryption';
import { chunksOf } from '../../../shared/domain/platform/old-browsers.ts';
import { fileChunks, streamOf } from '../bytes.ts';
import { ArchiveError, CUT_SHORT, DAMAGED } from '../problem.ts';
import { ARCHIVE } from '../settings.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

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
export async function seal(
  stream: ReadableStream<Uint8Array>,
  passphrase: string,
): Promise<ReadableStream<Uint8Array>> {
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
