/**
 * Values that reach git or an agent's folder. They come in records, which may be anybody's work, so
 * each has its exact form here.
 */
import { z } from 'zod';

/** The id of a commit: SHA-1 or SHA-256, in hexadecimal digits. */
export const commitIdSchema = z
  .string()
  .regex(/^([\da-f]{40}|[\da-f]{64})$/, 'must be the id of a commit: 40 or 64 hexadecimal digits');

/** Characters of a branch’s name, and of a path. */
const BRANCH = 200;
const PATH = 1_000;

const isControl = (char: string) => char < ' ' || char === '\u007f';

/** The rules of git-check-ref-format(1) for a branch. */
function isBranch(name: string): boolean {
  if (name === '' || name === '@' || name.startsWith('-') || name.endsWith('.')) return false;
  if (/[ ~^:?*[\\]|\.\.|@\{/.test(name) || [...name].some(isControl)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
export const branchSchema = z.string().max(BRANCH).refine(isBranch, 'must be a name that git takes for a branch');

/** A path below a folder: it leads neither out of it nor to the folder itself. */
function isBelow(path: string): boolean {
  if ([...path].some(isControl)) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
export const pathBelowSchema = z
  .string()
  .max(PATH)
  .refine(isBelow, 'must be a path below the folder, such as `a/b`, without `.`, `..` and control characters');

/** Below this folder of an agent are its checkouts. */
export const CHECKOUTS_FOLDER = 'projects';
export const checkoutFolderSchema = pathBelowSchema.refine(
  (path) => path.startsWith(`${CHECKOUTS_FOLDER}/`),
  `must be below \`${CHECKOUTS_FOLDER}/\``,
);
