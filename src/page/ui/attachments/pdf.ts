/**
 * What has to be known of a PDF before it is sent: how many pages it has, and whether it is locked.
 * Nothing of it is run or drawn.
 */

/** Bytes of a PDF's tables that are unpacked at most: more than any honest one has. */
const UNPACKED = 60_000_000;

export interface PdfFacts {
  /** Null: it cannot be told. */
  readonly pages: number | null;
  /** Encrypted, with a password or without: models read none that is. */
  readonly locked: boolean;
}

/** One character for one byte. */
const latin = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);

/**
 * As much as can be unpacked, up to `most` bytes: what stands behind it, or a fault in it, ends it.
 */
async function unpacked(bytes: Uint8Array<ArrayBuffer>, most: number): Promise<string> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  const parts: string[] = [];
  let size = 0;
  try {
    while (size < most) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      parts.push(latin(value));
    }
    await reader.cancel();
  } catch {
    // What came before the fault is good.
  }
  return parts.join('');
}

/** `/Type /Page`, and not `/Pages`. */
const pagesIn = (text: string) => text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;

/**
 * ISO 32000: pages are objects of their own, as they are or packed in object streams (7.5.7); the
 * trailer tells of encryption (7.6).
 */
export async function pdfFacts(bytes: Uint8Array<ArrayBuffer>): Promise<PdfFacts> {
  const text = latin(bytes);
  const locked = /\/Encrypt\s*(?:\d+\s+\d+\s+R|<<)/.test(text);
  let pages = pagesIn(text);
  let left = UNPACKED;
  for (const { index } of text.matchAll(/\/Type\s*\/ObjStm/g)) {
    const begins = /stream\r?\n/g;
    begins.lastIndex = index;
    const from = begins.exec(text) ? begins.lastIndex : -1;
    const to = text.indexOf('endstream', from);
    if (from < 0 || to < 0 || left <= 0) break;
    const objects = await unpacked(bytes.subarray(from, to), left);
    left -= objects.length;
    pages += pagesIn(objects);
  }
  return { pages: pages > 0 ? pages : null, locked };
}
