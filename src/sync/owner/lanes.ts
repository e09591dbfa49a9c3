/** Which lane a document goes into: what the page needs before all else, or what was said. */
import type { Doc } from '../../protocol/documents.ts';
import { kindOf } from '../../protocol/known.ts';
import type { Lane } from '../contract.ts';
import { SYNC_OWNER } from '../settings.ts';
import { writePayload } from './payload.ts';

export interface Sealing {
  readonly lane: Lane;
  /** See ./payload.ts. */
  readonly payload: Uint8Array;
}

export const LANES: readonly Lane[] = ['people', 'talk'];

export const laneOfDocument = (doc: Doc): Lane => kindOf(doc.type)?.lane ?? 'talk';

/** What is to be sealed of these: by lane, and within each in entries of bounded size, in their order. A document that is larger goes alone. */
export function sealingsOf(docs: readonly Doc[]): readonly Sealing[] {
  const { entryDocuments: documents, entryChars: chars } = SYNC_OWNER;
  const cut: { lane: Lane; docs: Doc[] }[] = [];
  for (const lane of LANES) {
    let current: Doc[] = [];
    let size = 0;
    for (const doc of docs) {
      if (laneOfDocument(doc) !== lane) continue;
      const length = JSON.stringify(doc).length;
      if (current.length === 0 || current.length >= documents || size + length > chars) {
        current = [];
        size = 0;
        cut.push({ lane, docs: current });
      }
      current.push(doc);
      size += length;
    }
  }
  return cut.map(({ lane, docs }) => ({ lane, payload: writePayload({ docs }) }));
}
