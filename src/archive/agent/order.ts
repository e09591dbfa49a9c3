import type { Doc } from '../../protocol/documents.ts';

/** Oldest first, the same everywhere. */
export const byStamp = (a: Doc, b: Doc) => (a.at === b.at ? (a._id < b._id ? -1 : 1) : a.at < b.at ? -1 : 1);
