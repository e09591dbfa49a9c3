/**
 * CRC-32 as in zip and gzip: ISO 3309, reflected polynomial 0xEDB88320. It detects damage, not
 * forgery.
 */
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

export function createCrc32(): { update(bytes: Uint8Array): void; value(): number } {
  let crc = 0xffffffff;
  return {
    update(bytes) {
      // Indexed access: an iterator is many times slower.
      for (let at = 0; at < bytes.length; at += 1) crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
    },
    value: () => (crc ^ 0xffffffff) >>> 0,
  };
}
