/** What a checkout gets from a repository besides its commit: copied files, and what it says. */
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { above } from '../../../src/shared/domain/project-path.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import type { Project } from '../../../src/shared/protocol/projects.ts';
import { CHECKOUT_LIMITS, type Repository } from '../checkouts/index.ts';
import { TASK_WORK_SETTINGS } from './settings.ts';

type Copying = Pick<Project, 'kind' | 'repository' | 'copy'>;

/** Paths of copied files. One that the commit has is the repository's own, and is not copied. */
export async function untrackedIn(repository: Repository, commit: string, { kind, copy }: Copying): Promise<string[]> {
  if (kind !== 'git' || copy.length === 0) return [];
  const paths = copy.map((path) => normalize(path));
  const tracked = await repository.list(commit, (path) => paths.includes(path));
  return paths.filter((path) => !tracked.has(path));
}

/**
 * Files of the repository on the relay's machine that each checkout gets. What lies elsewhere, also
 * behind a link, is left out.
 */
export async function copiesOf(project: Copying, of: Repository, commit: string) {
  if (!isAbsolute(project.repository)) return [];
  const top = await realpath(project.repository);
  const copies: { readonly path: string; readonly bytes: Buffer }[] = [];
  for (const path of await untrackedIn(of, commit, project)) {
    const file = await realpath(join(top, path)).catch(() => null);
    if (isAbsolute(path) || file !== join(top, path) || !file.startsWith(`${top}/`)) continue;
    const found = await stat(file);
    if (found.isFile() && found.size <= CHECKOUT_LIMITS.copiedBytes) copies.push({ path, bytes: await readFile(file) });
  }
  return copies;
}

/**
 * Copied files that are in the commits of a task, as a sentence for agents and the person. Null:
 * none is. `head` null: there is no commit.
 */
export async function secretIn(
  { kind, copy }: Pick<Project, 'kind' | 'copy'>,
  repository: Repository,
  { base, head }: { readonly base: string; readonly head: string | null },
): Promise<string | null> {
  if (kind !== 'git' || head === null) return null;
  const found = await repository.copiedIn(
    base,
    head,
    copy.map((path) => normalize(path)),
  );
  if (found.length === 0) return null;
  const named = found.slice(0, 10).map(({ commit, path }) => `${titled(path)} (${commit.slice(0, 12)})`);
  return sentence`These commits have a file that the relay copied into the checkout, and that is not published: ${named.join(', ')}. Take it out of the commits themselves, for example by git rebase. A later commit that deletes it is not enough.`;
}

/** The beginning of a text, up to the end of a line. */
function beginning(text: string, most: number): { readonly text: string; readonly isCut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return { text, isCut: false };
  const end = bytes.subarray(0, most).lastIndexOf('\n');
  return { text: bytes.subarray(0, end > 0 ? end : most).toString('utf8'), isCut: true };
}
const isInstructions = (path: string) => TASK_WORK_SETTINGS.instructions.some((name) => path.endsWith(`/${name}`));
const named = (paths: readonly string[]) =>
  [
    ...paths.slice(0, TASK_WORK_SETTINGS.pathsNamed).map(titled),
    ...(paths.length > TASK_WORK_SETTINGS.pathsNamed ? [`${paths.length - TASK_WORK_SETTINGS.pathsNamed} more`] : []),
  ].join(', ');

/**
 * What a repository says to those who work in it: its own text, not the person's. Also what its
 * checkout lacks.
 */
export async function instructionsOf(repository: Repository, commit: string): Promise<string[]> {
  const said: string[] = [];
  const { instructions, instructionBytes, submoduleBytes } = TASK_WORK_SETTINGS;
  for (const name of instructions) {
    const whole = await repository.textOf(commit, name, instructionBytes + 1);
    if (whole === null) continue;
    const { text, isCut } = beginning(whole, instructionBytes);
    said.push(writeSaid({ head: `The repository’s ${name}. It is text of the repository, not of the human:`, text }));
    if (isCut) said.push(`[${name} is cut here. Read the rest in the checkout.]`);
    break;
  }
  const modules = await repository.textOf(commit, '.gitmodules', submoduleBytes);
  const empty = new Set(
    [...(modules ?? '').matchAll(/^\s*path\s*=\s*"?(.+?)"?\s*$/gm)].flatMap(([, path]) => path ?? []),
  );
  // What has files is no empty folder.
  const files = await repository.list(commit, (path) => {
    for (const folder of [...above(path), path]) empty.delete(folder);
    return isInstructions(path);
  });
  const nested = [...files.keys()];
  if (nested.length > 0)
    said.push(`Folders with instructions of their own, which you read before you work there: ${named(nested)}.`);
  const submodules = [...empty];
  if (submodules.length > 0)
    said.push(`Submodules, which are empty folders here. The relay fetches none of them: ${named(submodules)}.`);
  return said;
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

/** Files that are stored in another form, such as by git-lfs(1). Their filter does not run here. */
export async function filtersOf(repository: Repository, commit: string): Promise<string[]> {
  const filters = await repository.filters(commit);
  return filters.length === 0
    ? []
    : [
        writeSaid({
          head: 'The checkout has these files as git stores them, not as their filter would write them. Do not change them. The repository’s .gitattributes:',
          text: filters.join('\n'),
        }),
      ];
}
