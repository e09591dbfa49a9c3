/** What an entry carries, as JSON: documents of the ledger, or what devices tell each other about themselves. */
import { z } from 'zod';
import type { Doc } from '../../protocol/documents.ts';
import { deviceRecordSchema, headSchema, recoveryRecordSchema, type DeviceRecord, type Head, type RecoveryRecord } from './records.ts';

export interface Payload {
  readonly docs?: readonly Doc[];
  readonly devices?: readonly DeviceRecord[];
  readonly heads?: readonly Head[];
  readonly recovery?: RecoveryRecord;
}

/** Documents are parsed by the ledger. What a newer Roost adds is passed over here, and stays in the entry. */
const payloadSchema = z.object({
  docs: z.array(z.unknown()).optional(),
  devices: z.array(deviceRecordSchema).optional(),
  heads: z.array(headSchema).optional(),
  recovery: recoveryRecordSchema.optional(),
});
export type ReadPayload = z.infer<typeof payloadSchema>;

export const writePayload = (payload: Payload): Uint8Array => new TextEncoder().encode(JSON.stringify(payload));

/** Null where the bytes are no payload that this version can read. */
export function readPayload(bytes: Uint8Array): ReadPayload | null {
  try {
    const parsed = payloadSchema.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}
