/** Whether bytes are readable text, and the text itself. */

/** The text of a file in UTF-8, without a byte order mark. Null: the file is not UTF-8 text. */
export function fileText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  return decoded(bytes, 'utf-8');
}

function decoded(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Number of leading bytes that are used to detect an encoding. */
const EXAMINED = 4_096;
/**
 * Share of every second byte that must be zero in UTF-16 without a byte order mark. In most scripts
 * that byte is zero now and then.
 */
const ZEROS = 0.2;
/**
 * Largest share of non-ASCII bytes in a single-byte text. Above it, the text is in another script,
 * or not a text.
 */
const ACCENTED_MOST = 0.4;
/**
 * Control characters that no text has. Texts have tabs, line breaks and form feeds; terminal output
 * also has escapes.
 */
const CONTROL = /[^\P{Cc}\t\n\v\f\r]/u;
const ESCAPE = '\u001b';
const hasControl = (text: string) => CONTROL.test(text.replaceAll(ESCAPE, ''));

/** Detects UTF-16 by its byte order mark, or by where its zeros are. */
function utf16Of(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const head = bytes.subarray(0, EXAMINED);
  const zeros = [0, 0];
  head.forEach((byte, at) => {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  });
  const [even = 0, odd = 0] = zeros;
  if (bytes.length % 2 !== 0 || Math.max(even, odd) < (ZEROS * head.length) / 2 || Math.min(even, odd) > 0) return null;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Like `fileText`, but also reads UTF-16 and Windows-1252, which includes Latin-1. */
export function anyFileText(bytes: Uint8Array): string | null {
  const utf16 = utf16Of(bytes);
  const text = utf16 === null ? fileText(bytes) : decoded(bytes, utf16);
  if (text !== null) return utf16 !== null && hasControl(text) ? null : text;
  if (utf16 !== null || bytes.includes(0)) return null;
  const head = bytes.subarray(0, EXAMINED);
  const accented = head.reduce((count, byte) => count + (byte >= 0x80 ? 1 : 0), 0);
  if (accented > ACCENTED_MOST * head.length) return null;
  const western = decoded(bytes, 'windows-1252');
  return western === null || hasControl(western) ? null : western;
}
