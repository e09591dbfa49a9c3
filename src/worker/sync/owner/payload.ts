/**
 * What an entry carries, as JSON: documents of the ledger, or what devices tell each other about
 * themselves.
 */
import { z } from 'zod';
import { parseStamp } from '../../../shared/domain/stamp.ts';
import { isCovered } from '../../../shared/protocol/documents/kinds.ts';
import type { Doc, ForgetDoc } from '../../../shared/protocol/documents.ts';
import { readJson, writeJson } from './json.ts';
import {
  deviceRecordSchema,
  tipSchema,
  recoveryRecordSchema,
  type DeviceRecord,
  type Tip,
  type RecoveryRecord,
} from './records.ts';

export interface Payload {
  readonly docs?: readonly Doc[];
  readonly devices?: readonly DeviceRecord[];
  readonly tips?: readonly Tip[];
  readonly recovery?: RecoveryRecord;
}

/** Documents are parsed by the ledger. What a newer Roost adds is passed over, and stays. */
const payloadSchema = z.looseObject({
  docs: z.array(z.unknown()).optional(),
  devices: z.array(deviceRecordSchema).optional(),
  tips: z.array(tipSchema).optional(),
  recovery: recoveryRecordSchema.optional(),
});
export type ReadPayload = z.infer<typeof payloadSchema>;

const isWritten = (
  doc: unknown,
): doc is { readonly type: string; readonly at: string; readonly [field: string]: unknown } =>
  typeof doc === 'object' &&
  doc !== null &&
  'type' in doc &&
  typeof doc.type === 'string' &&
  'at' in doc &&
  typeof doc.at === 'string';

/**
 * The payload without what was forgotten for good; null where it holds nothing of that, or cannot
 * be read.
 */
export function withoutForgotten(bytes: Uint8Array, forgets: readonly ForgetDoc[]): Uint8Array | null {
  const payload = readPayload(bytes);
  const kept = payload?.docs?.filter((doc) => !(isWritten(doc) && forgets.some((forget) => isCovered(doc, forget))));
  if (!kept || kept.length === payload?.docs?.length) return null;
  return writeJson({ ...payload, docs: kept });
}

/** The latest that one of its documents is dated, in ms since the epoch; 0: none is. */
export const latestOf = ({ docs = [] }: ReadPayload): number =>
  docs.reduce<number>((latest, doc) => Math.max(latest, isWritten(doc) ? (parseStamp(doc.at)?.time ?? 0) : 0), 0);

export const writePayload = (payload: Payload): Uint8Array => writeJson(payload);

/** Null where the bytes are no payload that this version can read. */
export const readPayload = (bytes: Uint8Array): ReadPayload | null => readJson(payloadSchema, bytes);
