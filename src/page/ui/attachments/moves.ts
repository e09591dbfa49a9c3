/** Whether a picture moves, by its first bytes: GIF89a, Animated PNG and animated WebP. Pure. */

/**
 * Bytes of a picture that are looked at: the second moment of one that moves begins within them.
 */
export const LOOKED_AT = 5_000_000;

const includes = (bytes: Uint8Array, text: string, most: number) =>
  String.fromCharCode(...bytes.subarray(0, most)).includes(text);

/**
 * Of GIF: each moment begins with an extension that says how long it stays (GIF89a, section 23).
 */
function momentsOf(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x21); at >= 0 && count < 2; at = bytes.indexOf(0x21, at + 1))
    if (bytes[at + 1] === 0xf9 && bytes[at + 2] === 0x04 && bytes[at + 7] === 0x00) count += 1;
  return count;
}

/** @param bytes the first LOOKED_AT of a file. */
export function moves(bytes: Uint8Array): boolean {
  if (includes(bytes, 'GIF8', 4)) return momentsOf(bytes) > 1;
  // Before the first part of the picture itself.
  if (includes(bytes, 'PNG', 4)) return includes(bytes, 'acTL', 1_024);
  return includes(bytes, 'WEBP', 12) && includes(bytes, 'ANIM', 64);
}
