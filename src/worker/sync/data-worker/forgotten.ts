/** Documents in entries that were forgotten for good. */
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { isCovered } from '../../../shared/protocol/documents/kinds.ts';

/** Whether this has what every document has. */
export const isWritten = (
  doc: unknown,
): doc is { readonly type: string; readonly at: string; readonly [field: string]: unknown } =>
  typeof doc === 'object' &&
  doc !== null &&
  'type' in doc &&
  typeof doc.type === 'string' &&
  'at' in doc &&
  typeof doc.at === 'string';

/** Whether a document was forgotten for good. */
export const isForgotten = (doc: unknown, forgets: readonly ForgetDoc[]): boolean =>
  isWritten(doc) && forgets.some((forget) => isCovered(doc, forget));

/** The payload without documents that were forgotten. Null where it has none of them. */
export function withoutForgotten<Payload extends { readonly docs?: readonly unknown[] | undefined }>(
  payload: Payload,
  forgets: readonly ForgetDoc[],
): Payload | null {
  const kept = payload.docs?.filter((doc) => !isForgotten(doc, forgets));
  return !kept || kept.length === payload.docs?.length ? null : { ...payload, docs: kept };
}
