/**
 * Reads texts as memory: the workspace of an agent of OpenClaw and its relatives (`SOUL.md`,
 * `IDENTITY.md`, `USER.md`, `MEMORY.md`, daily notes in `memory`), a memory repository of Letta
 * (`system/persona.md`, with front matter), and any folder of Markdown or plain text.
 */
import { sentence } from '../../../shared/domain/names.ts';
import { safeFileName } from '../methods.ts';
import type { NoteNotTaken } from './conversation.ts';
import { LETTA } from './letta.ts';
import { OPENCLAW } from './openclaw.ts';

const TEXTS = 'Text files';

export interface TextFile {
  readonly path: string;
  readonly text: string;
}
interface FolderFile extends TextFile {
  readonly format: string;
}
interface FolderSoul extends FolderFile {
  readonly name: string | null;
}

const OWN_RULES = sentence`instructions for tools of the other product`;
const ONE_SOUL = sentence`a second text that could be a soul`;

/** Files with which OpenClaw tells an agent how to use its own tools. */
const RULES = /^(AGENTS|TOOLS|HEARTBEAT|BOOTSTRAP|BOOT|CLAUDE|SKILL|README|LICENSE)\.(md|txt)$/i;
const partsOf = (path: string) => path.split('/').filter((part) => part !== '' && part !== '.');
const nameIn = (path: string) => partsOf(path).at(-1) ?? '';
const folderOf = (path: string) => partsOf(path).slice(0, -1).join('/');

/** `- **Name:** Wren`, as IDENTITY.md has it. */
const nameLine = (text: string): string | null =>
  /^[\s>*-]*\*{0,2}name\*{0,2}:?\*{0,2}:?[ \t]*(\S.*)$/im.exec(text)?.[1]?.replace(/[*_`]/g, '').trim() ?? null;

const FRONT_MATTER = /^---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/;

/** Whether `path` is in the folder `root`, at any depth. An empty root holds everything. */
const within = (root: string, path: string) => root === '' || folderOf(path) === root || path.startsWith(`${root}/`);

interface Folder {
  readonly files: FolderFile[];
  readonly soul: FolderSoul | null;
}

export function readFolder(texts: readonly TextFile[], note: NoteNotTaken): Folder {
  const plain = texts.map(({ path, text }) => ({ path: partsOf(path).join('/'), text }));
  const souls = plain.filter(({ path }) => /^soul\.md$/i.test(nameIn(path)));
  const personas = plain.filter(({ path }) => /(^|\/)system\/persona\.md$/i.test(path));
  const [soulFile] = [...souls, ...personas].sort((a, b) => partsOf(a.path).length - partsOf(b.path).length);
  for (const other of [...souls, ...personas]) if (other !== soulFile) note(ONE_SOUL, other.path);
  const isLetta = soulFile !== undefined && personas.includes(soulFile);
  const root = soulFile ? folderOf(soulFile.path).replace(/(^|\/)system$/i, isLetta ? '' : '$&') : commonFolder(plain);
  const format = soulFile ? (isLetta ? LETTA : OPENCLAW) : TEXTS;
  const identity = plain.find(({ path }) => /^identity\.md$/i.test(nameIn(path)) && within(root, path));

  const files: FolderFile[] = [];
  for (const { path, text } of plain) {
    if (path === soulFile?.path || [...souls, ...personas].some((other) => other.path === path)) continue;
    const inside = root !== '' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
    if (format === OPENCLAW && RULES.test(nameIn(path))) note(OWN_RULES, path);
    else files.push({ format, path: memoryPathOf(format, inside), text });
  }
  const name = identity ? nameLine(identity.text) : null;
  const words = soulFile?.text.replace(isLetta ? FRONT_MATTER : '', '') ?? '';
  return {
    files,
    soul: soulFile && words.trim() !== '' ? { format, path: soulFile.path, text: words, name } : null,
  };
}

/** The folder that all files have in common. */
function commonFolder(files: readonly TextFile[]): string {
  const [first = [], ...others] = files.map(({ path }) => partsOf(path).slice(0, -1));
  const shared = first.findIndex((part, n) => others.some((parts) => parts[n] !== part));
  return (shared < 0 ? first : first.slice(0, shared)).join('/');
}

/** A path within the memory, in a folder named after the format. It never leads out of it. */
function memoryPathOf(format: string, path: string): string {
  const safe = partsOf(path).map((part) => safeFileName(part, '..'));
  return [format.toLowerCase().replace(' ', '-'), ...safe].join('/').replace(/\.markdown$/i, '.md');
}
