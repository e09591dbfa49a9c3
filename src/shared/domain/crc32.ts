/**
 * CRC-32 as in zip and gzip: ISO 3309, reflected polynomial 0xEDB88320. It detects damage, not
 * forgery. Four bytes are taken at once, each through a table of its own (slicing-by-4, Kounavis
 * and Berry 2005): half the time.
 */
const SLICES = 4;
/** Tables one after the other. Entry `256 * k + n`: the effect of byte n with k zeros behind it. */
const TABLES = new Int32Array(256 * SLICES);
for (let n = 0; n < TABLES.length; n += 1) {
  let crc = n < 256 ? n : (TABLES[n - 256] ?? 0);
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  TABLES[n] = crc;
}
const after = (byte: number, zeros: number): number => TABLES[256 * zeros + (byte & 0xff)] ?? 0;

export function createCrc32(): { update(bytes: Uint8Array): void; value(): number } {
  let crc = ~0;
  return {
    update(bytes) {
      // Indexed access: an iterator is many times slower.
      let at = 0;
      for (; at + SLICES <= bytes.length; at += SLICES) {
        const four =
          (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
        const mixed = crc ^ four;
        crc = after(mixed, 3) ^ after(mixed >>> 8, 2) ^ after(mixed >>> 16, 1) ^ after(mixed >>> 24, 0);
      }
      for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ after(crc ^ (bytes[at] ?? 0), 0);
    },
    value: () => ~crc >>> 0,
  };
}
