/** Which documents this app knows. Apart from their schemas, so that a page is painted without them. */
import type { Doc, KnownDoc, KnownType } from './documents.ts';

export const SCHEMA_VERSION = 1;

const KNOWN: Record<KnownType, true> = {
  'agent-identity': true,
  'agent-change': true,
  session: true,
  message: true,
  'queued-message': true,
  'message-read': true,
  setting: true,
  forget: true,
  'forget-undo': true,
};

export const isKnownType = (type: unknown): type is KnownType => typeof type === 'string' && Object.hasOwn(KNOWN, type);

export const isKnown = (doc: Doc): doc is KnownDoc => isKnownType(doc.type) && doc.schema <= SCHEMA_VERSION;
