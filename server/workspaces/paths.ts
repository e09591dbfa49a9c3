/** Paths within a workspace: relative, `/` between names, and nothing in them that leads or looks elsewhere. Pure. */
import { WORKSPACE_LIMITS } from './settings.ts';

/** What cannot be seen, or turns the direction of reading, would let a name look like another. */
const UNSEEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;

/** The names of a path, outermost first; a sentence where it is none. An empty path is the workspace itself. */
export function namesOf(path: string): { readonly names: readonly string[] } | { readonly refused: string } {
  const refused = (why: string) => ({ refused: `${JSON.stringify(path.slice(0, 200))} ${why}` });
  if (path.length > WORKSPACE_LIMITS.path) return refused(`is longer than ${WORKSPACE_LIMITS.path} characters.`);
  if (/^[\\/~]|^[A-Za-z]:[\\/]/.test(path))
    return refused('is no path within the folder: say it from the folder on, as in notes/today.md.');
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length > WORKSPACE_LIMITS.depth) return refused(`lies deeper than ${WORKSPACE_LIMITS.depth} folders.`);
  for (const name of names) {
    if (name === '..') return refused('leads out of the folder.');
    if (name.includes('\\')) return refused('has a backslash in it; folders are parted by /.');
    if (UNSEEN.test(name)) return refused('has characters in it that cannot be seen.');
    if (Buffer.byteLength(name) > WORKSPACE_LIMITS.name) return refused('has a name in it that is too long.');
  }
  return { names };
}
