/** Names of exported files. */
import { ARCHIVE } from './methods.ts';

const day = (time: number) => new Date(time).toISOString().slice(0, 10);

/**
 * `roost-household-2026-11-21.jsonl.gz`, with `.age` if it is encrypted with a passphrase. The day
 * is in UTC.
 */
export function householdFileName({
  exportedAt,
  sealed,
}: {
  readonly exportedAt: number;
  readonly sealed: boolean;
}): string {
  return `roost-household-${day(exportedAt)}.jsonl.gz${sealed ? '.age' : ''}`;
}

/** `Lyra.zip` */
export function agentFileName(name: string): string {
  return `${safeFileName(name, 'agent')}.zip`;
}

/** `Conversation with Lyra.md` */
export function conversationFileName(name: string, ending: 'md' | 'zip'): string {
  return `Conversation with ${safeFileName(name, 'agent')}.${ending}`;
}

// Characters that Windows, macOS or a terminal cannot handle: separators, wildcards, controls,
// direction marks, lone surrogates.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[<>:"/\\|?*\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/**
 * Device names, with any extension
 * (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
 */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** A name that every file system accepts; `fallback` if nothing of `name` remains. */
export function safeFileName(name: string, fallback: string): string {
  const cleaned = name.normalize('NFC').replace(UNSAFE, '-').replace(/\s+/g, ' ');
  // Cut by characters, so that no surrogate pair is split. Some systems drop or hide leading and
  // trailing dots and blanks.
  const cut = [...cleaned]
    .slice(0, ARCHIVE.fileNameChars)
    .join('')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (!/[^\s.-]/.test(cut)) return fallback;
  return RESERVED.test(cut) ? `_${cut}` : cut;
}
