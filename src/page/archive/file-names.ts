/** Names of the files that leave. */
import { ARCHIVE } from './methods.ts';

const day = (time: number) => new Date(time).toISOString().slice(0, 10);

/**
 * `roost-household-2026-11-21.jsonl.gz`, with `.age` where it is under a passphrase; the day is in
 * UTC.
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

// What Windows, macOS or a terminal would choke on: separators, wildcards, controls, direction
// marks, lone surrogates.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[<>:"/\\|?*\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/**
 * Names of devices, with any ending
 * (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
 */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** A name that every file system takes as it is; `fallback` where nothing of `name` can stay. */
export function safeFileName(name: string, fallback: string): string {
  const cleaned = name.normalize('NFC').replace(UNSAFE, '-').replace(/\s+/g, ' ');
  // Cut by characters, so that no pair is halved; dots and blanks at the ends are lost or hidden on
  // some systems.
  const cut = [...cleaned]
    .slice(0, ARCHIVE.fileNameChars)
    .join('')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (!/[^\s.-]/.test(cut)) return fallback;
  return RESERVED.test(cut) ? `_${cut}` : cut;
}
