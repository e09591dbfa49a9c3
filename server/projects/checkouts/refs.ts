/** References of the relay's own repositories. */
import type { Lane } from '../../platform/lanes.ts';
import { git, gitText } from '../../platform/git/index.ts';

/** The relay's own repository of one project. */
export interface OwnPlace {
  readonly gitDir: string;
  readonly lane: Lane;
}

export const FOLDER_BRANCH = 'main';
/** The base branch as it was fetched last, and as it is handed to a checkout. */
export const BASE_REF = 'refs/roost/base';
export const BROUGHT_REF = 'refs/roost/brought';
/** The last commit that was taken from a checkout. */
export const TAKEN_REF = 'refs/roost/taken';

/** The commit of a reference. Null: there is no such reference. */
export const commitIfAny = async (own: OwnPlace, ref: string): Promise<string | null> => {
  const { code, out } = await git(['rev-parse', '--verify', '--quiet'], {
    ...own,
    of: [`${ref}^{commit}`],
    codes: [0, 1],
  });
  return code === 0 ? out.toString('utf8').trim() : null;
};
/** The commit of a reference that is there. */
export const commitAt = (own: OwnPlace, ref: string) =>
  gitText(['rev-parse', '--verify'], { ...own, of: [`${ref}^{commit}`] });
