/** Errors of workspaces, as sentences for people and models. */
import { codeOf } from '../../platform/errors.ts';

export type WorkspaceFault =
  | 'bad-path'
  | 'not-found'
  | 'not-a-file'
  | 'not-a-folder'
  | 'not-text'
  | 'too-large'
  | 'full'
  | 'exists'
  | 'not-empty'
  | 'busy'
  | 'no-access'
  | 'misfit'
  | 'changed';

export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly kind: WorkspaceFault;
  constructor(kind: WorkspaceFault, message: string) {
    super(message);
    this.kind = kind;
  }
}

export const shownPath = (names: readonly string[]): string => (names.length === 0 ? 'the folder' : names.join('/'));

/**
 * Converts the system's error for a path that cannot be opened. Errors of the system itself stay as
 * they are.
 */
export function missing(error: unknown, names: readonly string[]): unknown {
  const what = shownPath(names);
  switch (codeOf(error)) {
    case 'ENOENT':
      return new WorkspaceError('not-found', `There is no ${what}.`);
    case 'ELOOP':
    case 'EMLINK':
      return new WorkspaceError('not-a-file', `${what} is a link, and links are not followed.`);
    case 'ENOTDIR':
      return new WorkspaceError('not-a-folder', `${what} does not lie in a folder.`);
    case 'ENXIO':
    case 'EISDIR':
      return new WorkspaceError('not-a-file', `${what} is no file.`);
    case 'ENAMETOOLONG':
      return new WorkspaceError('bad-path', `${what} is too long a name.`);
    case 'EACCES':
    case 'EPERM':
      return new WorkspaceError('no-access', `The rights that are set for ${what} forbid this.`);
    case 'ENOTEMPTY':
    case 'EEXIST':
      return new WorkspaceError('changed', `Something came into ${what} meanwhile.`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new WorkspaceError('full', 'The disk is full. Nothing was written.');
    default:
      return error;
  }
}
