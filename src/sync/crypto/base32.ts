/** Crockford's Base32: letters that nobody mistakes for each other, in one case, so that a QR code stays small. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]));
for (const [typed, meant] of [
  ['O', '0'],
  ['I', '1'],
  ['L', '1'],
] as const)
  VALUES.set(typed, VALUES.get(meant) ?? 0);

/** How many letters so many bytes take. */
export const base32Length = (bytes: number) => Math.ceil((bytes * 8) / 5);

export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    held += 8;
    for (; held >= 5; held -= 5) text += ALPHABET.charAt((bits >> (held - 5)) & 31);
  }
  return held > 0 ? text + ALPHABET.charAt((bits << (5 - held)) & 31) : text;
}

/** In any case, with O for 0 and I or L for 1; null where another letter is in it or bits are left over. */
export function fromBase32(text: string): Uint8Array | null {
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of text.toUpperCase()) {
    const value = VALUES.get(letter);
    if (value === undefined) return null;
    bits = ((bits << 5) | value) & 0xfff;
    held += 5;
    if (held >= 8) {
      held -= 8;
      bytes.push((bits >> held) & 0xff);
    }
  }
  return (bits & ((1 << held) - 1)) === 0 ? Uint8Array.from(bytes) : null;
}
