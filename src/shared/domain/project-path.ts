/** Paths of files in a folder project. The person, agents and the relay follow the same rule. */
import { sentence } from './names.ts';

export const PROJECT_PATH_LIMITS = {
  /** Bytes of a path. A checkout adds its own folder, and a workspace takes 1,000 characters. */
  path: 800,
  /** Bytes of one name in it. */
  name: 255,
  /** Names in it. */
  depth: 25,
} as const;

/** Invisible characters, and those that change the reading direction. */
export const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
/** Names of its own folder, as git reads them on any disk. */
const GITS_OWN = /^(?:\.git|git~\d+)[ .]*(?::.*)?$/i;
/** Characters that a disk of macOS leaves out of a name. */
const LEFT_OUT = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** Whether a name in this path is git’s own folder. */
export const isGitsOwn = (path: string): boolean =>
  path.split('/').some((name) => GITS_OWN.test(name.replaceAll(LEFT_OUT, '')));
/** Stands for bytes that are no text. */
const REPLACEMENT = '\ufffd';

const bytes = (text: string) => new TextEncoder().encode(text).length;

/** Why no file of a folder project may have this path, as a sentence. Null: one may. */
export function projectPathFault(path: string): string | null {
  const names = path.split('/');
  if (
    bytes(path) > PROJECT_PATH_LIMITS.path ||
    names.length > PROJECT_PATH_LIMITS.depth ||
    names.some((name) => bytes(name) > PROJECT_PATH_LIMITS.name)
  )
    return sentence`A path has at most ${PROJECT_PATH_LIMITS.path} bytes and ${PROJECT_PATH_LIMITS.depth - 1} folders, and a name at most ${PROJECT_PATH_LIMITS.name} bytes.`;
  if (
    names.some((name) => name === '' || name === '.' || name === '..') ||
    path.includes('\\') ||
    path.includes(REPLACEMENT) ||
    UNSEEN.test(path)
  )
    return sentence`A path is names with “/” between them, without a backslash or invisible characters.`;
  return isGitsOwn(path) ? sentence`A name such as .git belongs to git.` : null;
}

/** The paths of all folders above. */
export function* above(path: string): Generator<string> {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) yield path.slice(0, end);
}
