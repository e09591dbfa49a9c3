/** Whether bytes are text that people read, and which. */

/** The text of a file in UTF-8; null where it is none. A mark of byte order is left out. */
export function fileText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
