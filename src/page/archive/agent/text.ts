/** Decodes text files as editors save them. */

export interface ReadText {
  /** Without a byte order mark, and with \n line endings. */
  readonly text: string;
  /** Neither UTF-8 nor UTF-16: decoded as Windows-1252. */
  readonly isOther: boolean;
}

export const withPlainLines = (text: string) => text.replace(/\r\n?/g, '\n');

/** null: these bytes are not text. */
export function readText(bytes: Uint8Array): ReadText | null {
  const utf16 =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
  if (utf16) return { text: withPlainLines(new TextDecoder(utf16).decode(bytes)), isOther: false };
  try {
    return { text: withPlainLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), isOther: false };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    if (bytes.includes(0)) return null;
    return { text: withPlainLines(new TextDecoder('windows-1252').decode(bytes)), isOther: true };
  }
}
