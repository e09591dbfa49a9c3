/** The files of a project itself: those of its folder, or of the base branch of its repository. */
import { Readable } from 'node:stream';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { createQueues } from '../../../src/shared/domain/platform/queue.ts';
import type { Projects } from '../board/index.ts';
import { type FileChange, type Repositories, tooMuch, twinsIn } from '../checkouts/index.ts';
import { done, type Done, unable } from './outcome.ts';

export interface ProjectFiles {
  files(projectId: ProjectId): Promise<Done<readonly { readonly path: string; readonly bytes: number }[]>>;
  file(projectId: ProjectId, path: string): Promise<Done<Buffer>>;
  /** Writes a file of a folder project. `bytes` null: deletes it. */
  putFile(projectId: ProjectId, path: string, bytes: Buffer | null): Promise<Done<null>>;
}

export interface ProjectFilesDeps {
  readonly projects: Pick<Projects, 'read'>;
  readonly repositories: Pick<Repositories, 'of'>;
  readonly now: () => number;
}

const NO_FILE = unable('no-such-file', 'There is no such file in the project.');

export function createProjectFiles({ projects, repositories, now }: ProjectFilesDeps): ProjectFiles {
  /** Writes of one project, one after another, because each is a commit on the one before. */
  const inOrder = createQueues<ProjectId>();

  async function baseOf(projectId: ProjectId) {
    const project = await projects.read(projectId);
    if (!project.ok) return unable('no-project', project.detail);
    const repository = await repositories.of(projectId, project.value);
    const { branch, commit } = await repository.base();
    return done({ project: project.value, repository, branch, commit });
  }

  async function put(projectId: ProjectId, path: string, bytes: Buffer | null): Promise<Done<null>> {
    const at = await baseOf(projectId);
    if (!at.ok) return at;
    const { project, repository, commit, branch } = at.value;
    if (project.kind !== 'folder') return unable('misfit', 'The files of a repository are changed by commits.');
    const before = await repository.list(commit);
    if (bytes === null && !before.has(path)) return NO_FILE;
    if (bytes !== null) {
      if ([...before.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)))
        return unable('exists', 'A file and a folder would have the same name.');
      if (twinsIn([...before.keys(), path], (each) => before.has(each)).has(path))
        return unable('exists', sentence`A file of the project has this name in other case or with other accents.`);
      const after = new Map<string, { path: string; bytes: number }>(before);
      const why = tooMuch(after.set(path, { path, bytes: bytes.length }).values());
      if (why !== null) return unable('full', why);
    }
    const changes = Readable.from([bytes === null ? { path, id: null } : { path, bytes }]) as AsyncIterable<FileChange>;
    const message = bytes === null ? `Delete ${path}` : `Write ${path}`;
    const said = { message, by: 'You', at: now(), isNext: true };
    const written = await repository.commitFiles(commit, branch, changes, said);
    // A merge came between.
    return written === null ? await put(projectId, path, bytes) : done(null);
  }

  return {
    async files(projectId) {
      const at = await baseOf(projectId);
      if (!at.ok) return at;
      const listing = await at.value.repository.list(at.value.commit);
      return done([...listing.values()].map(({ path, bytes }) => ({ path, bytes })));
    },
    async file(projectId, path) {
      const at = await baseOf(projectId);
      if (!at.ok) return at;
      const bytes = await at.value.repository.fileOf(at.value.commit, path);
      return bytes ? done(bytes) : NO_FILE;
    },
    putFile: (projectId, path, bytes) => inOrder(projectId, () => put(projectId, path, bytes)),
  };
}
