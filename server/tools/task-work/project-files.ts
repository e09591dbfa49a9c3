/** The files of a project itself: those of its folder, or of the base branch of its repository. */
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { createQueues } from '../../../src/shared/domain/platform/queue.ts';
import type { Projects } from '../../team/projects/index.ts';
import type { Repositories } from '../checkouts/index.ts';
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

  return {
    async files(projectId) {
      const at = await baseOf(projectId);
      return at.ok ? done(await at.value.repository.list(at.value.commit)) : at;
    },
    async file(projectId, path) {
      const at = await baseOf(projectId);
      if (!at.ok) return at;
      const bytes = await at.value.repository.fileOf(at.value.commit, path);
      return bytes ? done(bytes) : unable('no-such-file', 'There is no such file in the project.');
    },
    putFile: (projectId, path, bytes) =>
      inOrder(projectId, async () => {
        const at = await baseOf(projectId);
        if (!at.ok) return at;
        const { project, repository, commit, branch } = at.value;
        if (project.kind !== 'folder') return unable('misfit', 'The files of a repository are changed by commits.');
        const before = await repository.list(commit);
        if (bytes === null && !before.some((file) => file.path === path))
          return unable('no-such-file', 'There is no such file in the project.');
        if (
          bytes !== null &&
          before.some((file) => file.path.startsWith(`${path}/`) || path.startsWith(`${file.path}/`))
        )
          return unable('exists', 'A file and a folder would have the same name.');
        const files: { path: string; bytes: Buffer }[] = [];
        for await (const file of repository.filesOf(commit)) if (file.path !== path) files.push({ ...file });
        if (bytes !== null) files.push({ path, bytes });
        const message = bytes === null ? `Delete ${path}` : `Write ${path}`;
        await repository.commitFiles(commit, branch, files, { message, by: 'You', at: now() });
        return done(null);
      }),
  };
}
