import { parseDocument, type Doc } from '../protocol/documents.ts';

/**
 * Throws where `value` is no document. The parser's own answer would be an equal one with its fields in
 * another order; this leaves it as it was written.
 */
export function assertDocument(value: unknown): asserts value is Doc {
  parseDocument(value);
}
