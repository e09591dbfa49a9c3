/**
 * The person's endpoints for agents' folders. API clients may not call them: a credential is not
 * the person.
 */
import type { Context } from 'hono';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { LISTED_ENTRIES, UPLOAD_BYTES, workspaceEndpoints } from '../../../src/shared/protocol/endpoints/workspaces.ts';
import { RECORDS_NOTHING, type RecordWork } from './record-work.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { agentIdIn } from '../../team/directory/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { WorkspaceError, type Workspace, type Workspaces } from './index.ts';
import { WORKSPACE_LIMITS } from './settings.ts';
import { fileStream, zipOf } from './zip.ts';
import { sentence } from '../../../src/shared/domain/names.ts';

export interface WorkspaceRoutesDeps {
  readonly workspaces: Workspaces;
  readonly directory: Pick<Directory, 'all'>;
  /** Left out: what the person replaces and deletes is not recorded. */
  readonly recordWork?: RecordWork;
}

const STATUS = {
  'bad-path': 400,
  'not-a-file': 400,
  'not-a-folder': 400,
  'not-text': 400,
  changed: 409,
  exists: 409,
  busy: 409,
  'not-empty': 409,
  'no-access': 400,
  misfit: 400,
  'not-found': 404,
  'too-large': 413,
  full: 413,
} as const;

async function orProblem<Value>(does: Promise<Value>): Promise<Value> {
  try {
    return await does;
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error;
    throw problem(STATUS[error.kind], error.kind, error.message, {
      fields: { errors: error.kind === 'bad-path' ? [{ field: 'path', message: error.message }] : [] },
    });
  }
}

/**
 * Headers that make browsers download the file. No browser treats it as a page, script or picture
 * of this origin.
 */
const KEPT = {
  'content-type': 'application/octet-stream',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'no-store',
};
export const keptAs = (name: string) => ({
  ...KEPT,
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16)}`)}`,
});
/** Sent as fast as the client reads. A client that disconnects ends it. */
const streamOf = (chunks: AsyncGenerator<Uint8Array>) =>
  new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
const lastOf = (path: string) => path.split('/').findLast((name) => name !== '') ?? '';

export function createWorkspaceRoutes({
  workspaces,
  directory,
  recordWork = RECORDS_NOTHING,
}: WorkspaceRoutesDeps): readonly Handled[] {
  const uploading = createLimiter(WORKSPACE_LIMITS.uploadsAtOnce);
  async function idOf(called: string, context: Context<Env>): Promise<AgentId> {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Only the household’s page shows agents’ folders.');
    return await agentIdIn(directory, called);
  }
  const of = async (called: string, context: Context<Env>): Promise<Workspace> =>
    workspaces.of(await idOf(called, context));
  /** What was there can be restored. A file that is new needs no recording: it can be deleted. */
  async function recorded<Value>(
    agentId: AgentId,
    does: 'replace' | 'delete',
    path: string,
    act: (workspace: Workspace) => Promise<Value>,
  ): Promise<Value> {
    const workspace = workspaces.of(agentId);
    const isThere = () =>
      workspace
        .read(path, () => Promise.resolve())
        .then(
          () => true,
          () => false,
        );
    if (does === 'replace' && !(await isThere())) return await act(workspace);
    const end = await recordWork(agentId, { kind: 'person', does, path });
    try {
      return await act(workspace);
    } finally {
      await end();
    }
  }
  return answer(workspaceEndpoints, {
    async files({ agentId, path }, context) {
      const workspace = await of(agentId, context);
      const entries = await orProblem(workspace.list(path));
      const shown = entries.slice(0, LISTED_ENTRIES).map(async (entry) => {
        const bytes = entry.kind === 'folder' ? await workspace.below(`${path}/${entry.name}`) : entry.bytes;
        return { ...entry, bytes };
      });
      return {
        entries: await Promise.all(shown),
        more: Math.max(0, entries.length - LISTED_ENTRIES),
        used: await workspace.used(),
      };
    },
    async file({ agentId, path }, context) {
      const workspace = await of(agentId, context);
      // A missing file is reported before anything is sent.
      await orProblem(workspace.read(path, () => Promise.resolve()));
      return new Response(streamOf(fileStream(() => workspace.open(path))), { headers: keptAs(lastOf(path)) });
    },
    async putFile({ agentId, path }, context) {
      const id = await idOf(agentId, context);
      if (context.req.header('content-type') !== 'application/octet-stream')
        throw problem(415, 'not-bytes', 'Send the file as application/octet-stream.');
      // A body is held in memory as a whole, so only a few are accepted at once.
      return await uploading(async () => {
        const bytes = new Uint8Array(await context.req.arrayBuffer());
        if (bytes.length > UPLOAD_BYTES)
          throw problem(413, 'too-large', `A file may be ${UPLOAD_BYTES} bytes long at most.`);
        await orProblem(recorded(id, 'replace', path, (workspace) => workspace.write(path, bytes)));
        return new Response(null, { status: 204 });
      });
    },
    async removeFile({ agentId, path }, context) {
      const id = await idOf(agentId, context);
      await orProblem(recorded(id, 'delete', path, (workspace) => workspace.remove(path)));
      return null;
    },
    async filesZip({ agentId, path }, context) {
      const workspace = await of(agentId, context);
      await orProblem(workspace.list(path));
      const bytes = path === '' ? (await workspace.used()).bytes : await workspace.below(path);
      if (bytes > WORKSPACE_LIMITS.zipBytes)
        throw problem(
          413,
          'too-large',
          sentence`A zip has at most 4 GB, and this folder is larger. Download its folders or files separately.`,
        );
      return new Response(streamOf(zipOf(workspace, path)), {
        headers: keptAs(`${lastOf(path) === '' ? 'files' : lastOf(path)}.zip`),
      });
    },
  });
}
