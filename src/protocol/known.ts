/** Which documents this app knows, apart from their schemas: a page is painted without these. */
import type { Doc, KnownDoc } from './documents.ts';

export const SCHEMA_VERSION = 1;

const TYPES = [
  'agent-identity',
  'agent-change',
  'session',
  'message',
  'queued-message',
  'message-read',
  'setting',
  'forget',
  'forget-undo',
] as const;
export type KnownType = (typeof TYPES)[number];
const types: ReadonlySet<unknown> = new Set(TYPES);

export const isKnownType = (type: unknown): type is KnownType => types.has(type);

export function isKnown(doc: Doc): doc is KnownDoc {
  return isKnownType(doc.type) && doc.schema <= SCHEMA_VERSION;
}
