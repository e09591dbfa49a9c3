/**
 * What an agent keeps: Markdown files in a memory of its own, and one memory of the team that every
 * agent may read. Rules of paths and edits. Pure.
 */
import { sentence } from './names.ts';
import { projectPathFault } from './project-path.ts';

export const MEMORY_LIMITS = {
  /** Bytes of all files of one memory. */
  bytes: 200_000,
  /** Bytes of one file. */
  fileBytes: 100_000,
  /** Files of one memory. */
  files: 200,
  /** Characters of a path. */
  path: 200,
  /** Characters of `index.md` and pinned files that every prompt has. */
  prompt: 20_000,
  /** Characters of one note of `remember`. */
  note: 4_000,
} as const;

/** The file that every prompt has. */
export const INDEX_FILE = 'index.md';
/** The file to which `remember` adds a note that names no subject. */
export const NOTES_FILE = 'notes.md';
/** Paths that begin so are files of the team's memory. Agents read them and do not change them. */
export const TEAM_FOLDER = 'team/';

/** Models that know a memory tool name its folder. */
const ROOT = /^\/?(?:memories(?:\/|$))?\/?/;
/** The path as it is stored. Models name a file as `/memories/plans.md` or `plans.md`. */
export const memoryPath = (given: string): string => given.trim().replace(ROOT, '');

/** Why no file of a memory may have this path, as a sentence. Null: one may. */
export function memoryPathFault(path: string): string | null {
  if (path.length > MEMORY_LIMITS.path)
    return sentence`A path of a memory has at most ${MEMORY_LIMITS.path} characters.`;
  const fault = projectPathFault(path);
  if (fault !== null) return fault;
  return /\.(?:md|txt)$/i.test(path) ? null : sentence`A memory has files that end in .md or .txt.`;
}

/** The file of a subject: `Maya’s garden` is in `maya-s-garden.md`. */
export function fileOfSubject(subject: string): string {
  const name = subject
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return name === '' ? NOTES_FILE : `${name}.md`;
}

/** An edit of a text. `why`: a sentence for the model that asked for it. */
export type Edited = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string };

const countOf = (text: string, part: string): number => (part === '' ? 0 : text.split(part).length - 1);

/** Replaces the only occurrence of `before`. */
export function replaceOnce(text: string, before: string, after: string): Edited {
  const count = countOf(text, before);
  if (count === 1) return { ok: true, text: text.replace(before, () => after) };
  if (count === 0) return { ok: false, why: 'The file does not contain `old_str`. Nothing was changed.' };
  return { ok: false, why: `The file contains \`old_str\` ${count} times. Name more of the text around it.` };
}

/** Inserts lines after this line. 0: at the beginning. */
export function insertAfter(text: string, line: number, added: string): Edited {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  if (line < 0 || line > lines.length)
    return { ok: false, why: `\`insert_line\` is between 0 and ${lines.length}, the number of lines of the file.` };
  const parts = added.replace(/\n$/, '').split('\n');
  return { ok: true, text: `${[...lines.slice(0, line), ...parts, ...lines.slice(line)].join('\n')}\n` };
}

/** The file with a note at its end. */
export function withNote(text: string, day: string, note: string): string {
  const line = `- ${day}: ${note.trim().replace(/\s*\n\s*/g, ' ')}`;
  return `${text === '' ? '' : text.replace(/\n*$/, '\n')}${line}\n`;
}

/**
 * The new text of a file that was made from `before`, where the file is `now`: what was added at
 * its end since is added to it. Null: the file was changed in another way.
 */
export function withAppended(before: string, after: string, now: string): string | null {
  if (!now.startsWith(before)) return null;
  const added = now.slice(before.length);
  if (added === '') return after;
  return `${after === '' ? '' : after.replace(/\n*$/, '\n')}${added.replace(/^\n+/, '')}`;
}
