/** JSON as UTF-8 bytes: what devices seal for each other. */
import type { z } from 'zod';

export const writeJson = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

/** Null where the bytes are none that this schema reads. */
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
