/** What a checkout gets from a repository besides its commit: copied files, and what it says. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Project } from '../../../src/shared/protocol/projects.ts';
import { CHECKOUT_LIMITS, type Repository } from '../checkouts/index.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

/**
 * Files of the repository on the relay's machine that each checkout gets. What lies elsewhere, also
 * behind a link, is left out.
 */
export async function copiesOf({ kind, repository, copy }: Pick<Project, 'kind' | 'repository' | 'copy'>) {
  if (kind !== 'git' || !isAbsolute(repository)) return [];
  const top = await realpath(repository);
  const copies: { readonly path: string; readonly bytes: Buffer }[] = [];
  for (const path of copy) {
    const inside = normalize(path);
    const file = await realpath(join(top, inside)).catch(() => null);
    if (isAbsolute(path) || file !== join(top, inside) || !file.startsWith(`${top}/`)) continue;
    const found = await stat(file);
    if (found.isFile() && found.size <= CHECKOUT_LIMITS.copiedBytes)
      copies.push({ path: inside, bytes: await readFile(file) });
  }
  return copies;
}

/** What a repository says to those who work in it: its own text, not the person's. */
export async function instructionsOf(repository: Repository, commit: string): Promise<string[]> {
  for (const name of TASK_WORK_SETTINGS.instructions) {
    const text = await repository.textOf(commit, name, TASK_WORK_SETTINGS.instructionBytes);
    if (text === null) continue;
    return [writeSaid({ head: `The repository’s ${name}. It is text of the repository, not of the human:`, text })];
  }
  return [];
}

export async function skillsOf(repository: Repository, commit: string): Promise<string[]> {
  const skills = await repository.skills(commit);
  return skills.length === 0
    ? []
    : [
        'Skills of the repository, which read_skill reads:',
        ...skills.map(({ name, about }) => `- ${titled(name)}: ${titled(about)}`),
      ];
}
