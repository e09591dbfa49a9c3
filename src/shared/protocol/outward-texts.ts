/**
 * Values that reach a program, a header, or a path on the relay's machine. They come in records,
 * which may be anybody's work, so each has its exact form here.
 */
import { z } from 'zod';

/** The id of a commit: SHA-1 or SHA-256, in hexadecimal digits. */
export const commitIdSchema = z
  .string()
  .regex(/^([\da-f]{40}|[\da-f]{64})$/, 'must be the id of a commit: 40 or 64 hexadecimal digits');

/** The id of a file’s content. */
export const contentIdSchema = z
  .string()
  .regex(/^([\da-f]{40}|[\da-f]{64})$/, 'must be the id of a file’s content: 40 or 64 hexadecimal digits');

/** Characters of a branch’s name, and of a path. */
const BRANCH = 200;
const PATH = 1_000;

const isControl = (char: string) => char < ' ' || char === '\u007f';

/** Whether git-check-ref-format(1) accepts the name as a branch. */
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

/**
 * A project's id. The relay's repository of it is a folder of this name, also on a disk that tells
 * no capitals apart.
 */
export const projectIdSchema = z
  .string()
  .regex(/^[a-z\d_-]{1,64}$/, 'must have 1 to 64 small letters, digits, `-` and `_`');

/** Text that a program gets as an argument or in a variable, where NUL would end it. */
export const argumentText = (mostCharacters: number) =>
  z
    .string()
    .max(mostCharacters)
    .refine((text) => !text.includes('\0'), 'must not contain the NUL character');

/** The name of an environment variable. */
export const variableNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'must be letters, digits and `_`, and begin with no digit');

/** The name of a header (RFC 9110, 5.1). */
export const headerNameSchema = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^`|~\w-]+$/, 'must be the name of a header');

/** The value of a header (RFC 9110, 5.5), in the characters that all servers take. */
export const headerValueSchema = (mostCharacters: number) =>
  z
    .string()
    .trim()
    .max(mostCharacters)
    .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line without control characters, in Latin letters');

/** Below this folder of an agent are its checkouts. */
export const CHECKOUTS_FOLDER = 'projects';
export const checkoutFolderSchema = pathBelowSchema.refine(
  (path) => path.startsWith(`${CHECKOUTS_FOLDER}/`),
  `must be below \`${CHECKOUTS_FOLDER}/\``,
);
