/** Documents as lines, and files as chunks and streams of bytes. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { EXPORT_FORMAT, type Ports, unreadableFile } from './methods.ts';

// Reads all documents, in pages small enough to pass on without blocking a tab.

interface DocumentLines {
  readonly docs: readonly Doc[];
  /**
   * Each document as JSON without line breaks. Lone surrogates are escaped, so UTF-8 can encode it.
   */
  readonly lines: readonly string[];
  readonly of: number;
}

/** At least one page, which may be empty. The page size adapts to the length of the documents. */
export async function* pagesOf(
  read: Ports['read'],
  agentId: AgentId | null,
): AsyncGenerator<DocumentLines, void, undefined> {
  let after: string | null = null;
  let limit: number = EXPORT_FORMAT.firstPage;
  do {
    const page = await read({ after, limit, agentId });
    const lines = page.docs.map((doc) => JSON.stringify(doc));
    yield { docs: page.docs, lines, of: page.of };
    const chars = lines.reduce((sum, line) => sum + line.length, 0);
    const fitting = Math.floor((EXPORT_FORMAT.batchChars * lines.length) / Math.max(1, chars));
    limit = Math.max(1, Math.min(fitting, 2 * limit, EXPORT_FORMAT.batchDocuments));
    after = page.after;
  } while (after !== null);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * The bytes of a file in pieces of `EXPORT_FORMAT.chunkBytes`, whatever the platform's own chunks
 * are.
 */
export async function* fileChunks(file: Blob): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < file.size; at += EXPORT_FORMAT.chunkBytes) {
    let piece: ArrayBuffer;
    try {
      piece = await file.slice(at, at + EXPORT_FORMAT.chunkBytes).arrayBuffer();
    } catch (error) {
      throw unreadableFile(error) ?? error;
    }
    yield new Uint8Array(piece);
  }
}

/** A stream that pulls from `source` on demand, and splits chunks to at most `size` bytes. */
export function streamOf(
  source: AsyncGenerator<Uint8Array, void, undefined>,
  size: number,
): ReadableStream<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (rest.length === 0) {
          const next = await source.next();
          if (next.done) {
            controller.close();
            return;
          }
          rest = next.value;
        }
        controller.enqueue(rest.subarray(0, size));
        rest = rest.subarray(size);
      },
      cancel: async () => void (await source.return()),
    },
    { highWaterMark: 0 },
  );
}

interface ChunkWriter {
  /** Number of bytes put in. */
  readonly bytes: number;
  put(chunk: Uint8Array): Promise<void>;
  /** Flushes the rest. */
  end(): Promise<void>;
}

/** Passes bytes on in pieces of about `size`, each in a buffer of its own. */
export function createChunkWriter(write: (chunk: Uint8Array) => Promise<unknown>, size: number): ChunkWriter {
  let parts: Uint8Array[] = [];
  let buffered = 0;
  let bytes = 0;
  async function end() {
    if (buffered === 0) return;
    const whole = joined(parts);
    parts = [];
    buffered = 0;
    await write(whole);
  }
  return {
    get bytes() {
      return bytes;
    },
    async put(chunk) {
      parts.push(chunk);
      buffered += chunk.length;
      bytes += chunk.length;
      if (buffered >= size) await end();
    },
    end,
  };
}
