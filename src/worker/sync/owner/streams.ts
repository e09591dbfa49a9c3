/**
 * Which stream a document goes into: what the page needs before all else, what was said, or the
 * bytes of what was sent along.
 */
import type { Doc } from '../../../shared/protocol/documents.ts';
import { kindOf } from '../../../shared/protocol/documents/kinds.ts';
import type { Stream } from '../contract.ts';
import { SYNC_OWNER } from '../settings.ts';
import { writePayload } from './payload.ts';

export interface Sealing {
  readonly stream: Stream;
  /** See ./payload.ts. */
  readonly payload: Uint8Array;
}

/** Sealed and fetched in this order. */
export const STREAMS: readonly Stream[] = ['people', 'talk', 'attachments'];

export const streamOfDocument = (doc: Doc): Stream => kindOf(doc.type)?.stream ?? 'talk';

/**
 * What is to be sealed of these: by stream, and within each in entries of bounded size, in their
 * order. A document that is larger goes alone.
 */
export function sealingsOf(docs: readonly Doc[]): readonly Sealing[] {
  const { entryDocuments: documents, entryChars: chars } = SYNC_OWNER;
  const cut: { stream: Stream; docs: Doc[] }[] = [];
  for (const stream of STREAMS) {
    let current: Doc[] = [];
    let size = 0;
    for (const doc of docs) {
      if (streamOfDocument(doc) !== stream) continue;
      const length = JSON.stringify(doc).length;
      if (current.length === 0 || current.length >= documents || size + length > chars) {
        current = [];
        size = 0;
        cut.push({ stream, docs: current });
      }
      current.push(doc);
      size += length;
    }
  }
  return cut.map(({ stream, docs }) => ({ stream, payload: writePayload({ docs }) }));
}
