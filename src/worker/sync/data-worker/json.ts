/** JSON as UTF-8 bytes, for payloads that devices seal for each other. */
import type { z } from 'zod';

export const writeJson = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** Null where the bytes do not match the schema. */
export function readJson<Value>(schema: z.ZodType<Value>, bytes: Uint8Array): Value | null {
  try {
    const parsed = schema.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    // Not JSON, or not UTF-8.
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}
