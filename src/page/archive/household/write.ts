/**
 * Writes the household into one file. Runs wherever there are streams; nothing here knows of a
 * page.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { chunksOf } from '../../../shared/domain/platform/old-browsers.ts';
import { createChunkWriter } from '../bytes.ts';
import type { Workers } from '../methods.ts';
import { pagesOf } from '../pages.ts';
import { ArchiveError } from '../problem.ts';
import { ARCHIVE } from '../settings.ts';
import type { Footer, Header } from './format.ts';
import { seal } from './seal.ts';

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
