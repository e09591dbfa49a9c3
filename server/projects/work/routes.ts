/** Routes of the work on tasks: attempts, diffs, requests to merge, and checkouts. */
import type { HTTPException } from 'hono/http-exception';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { projectWorkEndpoints } from '../../../src/shared/protocol/endpoints/project-work.ts';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { UPLOAD_BYTES } from '../../../src/shared/protocol/endpoints/workspaces.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { slowAnswer } from '../../http/slow-answer.ts';
import type { Projects } from '../board/index.ts';
import { GitError, type Tokens } from '../checkouts/index.ts';
import type { Executors } from './executor.ts';
import { WORKSPACE_LIMITS } from '../../files/workspaces/index.ts';
import { keptAs } from '../../files/workspaces/routes.ts';
import { ForgeError } from './forge.ts';
import type { OpenTaskWork } from './index.ts';
import type { Done, Unable } from './outcome.ts';

const STATUS: { readonly [Reason in Unable['reason']]?: 400 | 404 } = {
  'no-project': 404,
  'no-task': 404,
  'no-such-file': 404,
  misfit: 400,
};
const problemOf = ({ reason, detail }: Unable): HTTPException =>
  problem(STATUS[reason] ?? 409, reason, detail, reason === 'misfit' ? { fields: { errors: [] } } : {});

async function orThrow<Value>(outcome: Promise<Done<Value>>): Promise<Value> {
  try {
    const settled = await outcome;
    if (settled.ok) return settled.value;
    throw problemOf(settled);
  } catch (error) {
    if (error instanceof GitError || error instanceof ForgeError) throw problem(409, 'merge-refused', error.message);
    throw error;
  }
}

export interface TaskWorkRoutesDeps {
  readonly work: OpenTaskWork;
  readonly projects: Projects;
  readonly executors: Executors;
  readonly tokens: Tokens;
  readonly now: () => number;
}

const HOUR_MS = 3_600_000;

export function createTaskWorkRoutes({
  work,
  projects,
  executors,
  tokens,
  now,
}: TaskWorkRoutesDeps): readonly Handled[] {
  // A body is held in memory as a whole, so only a few are accepted at once.
  const uploading = createLimiter(WORKSPACE_LIMITS.uploadsAtOnce);
  async function projectOf(projectId: ProjectId) {
    const project = await projects.read(projectId);
    if (!project.ok) throw problem(404, 'no-project', project.detail);
    return project.value;
  }
  return answer(projectWorkEndpoints, {
    attempts: async ({ projectId, taskId }) => ({ attempts: [...(await orThrow(work.attempts(projectId, taskId)))] }),
    find: ({ q }) => work.find(q),
    async endedAttempts({ hours }) {
      const { attempts, more } = await work.ended(now() - hours * HOUR_MS);
      return { attempts: [...attempts], more };
    },
    projectSpent: async ({ projectId }) => ({ attempts: await orThrow(work.spent(projectId)) }),
    taskDiff: ({ projectId, taskId, from }) => orThrow(work.diff(projectId, taskId, from)),
    filePatch: ({ projectId, taskId, ...file }) => orThrow(work.filePatch(projectId, taskId, file)),
    openRequest: ({ projectId, taskId }) => orThrow(work.openRequest(projectId, taskId)),
    mergeRequest: ({ projectId, taskId, body }) => orThrow(work.merge(projectId, taskId, body.head)),
    revertMerge: ({ projectId, taskId, body }) => orThrow(work.revert(projectId, taskId, body.commit)),
    wantChanges: ({ projectId, taskId, body }) => orThrow(work.wantChanges(projectId, taskId, body)),
    closeRequest: ({ projectId, taskId }) => orThrow(work.closeRequest(projectId, taskId)),
    checkouts: async ({ projectId }) => ({ checkouts: await orThrow(work.checkouts(projectId)) }),
    removeCheckout: ({ projectId, taskId, body }) => orThrow(work.removeCheckout(projectId, taskId, body.lose)),
    async projectFiles({ projectId }) {
      const files = await orThrow(work.files(projectId));
      return {
        files: files.slice(0, ATTEMPT_LIMITS.listed).map((file) => ({ ...file })),
        more: Math.max(0, files.length - ATTEMPT_LIMITS.listed),
      };
    },
    async projectFile({ projectId, path }) {
      const bytes = await orThrow(work.file(projectId, path));
      return new Response(new Uint8Array(bytes), { headers: keptAs(path.split('/').at(-1) ?? path) });
    },
    async putProjectFile({ projectId, path }, context) {
      if (context.req.header('content-type') !== 'application/octet-stream')
        throw problem(415, 'not-bytes', 'Send the file as application/octet-stream.');
      return await uploading(async () => {
        const bytes = Buffer.from(await context.req.arrayBuffer());
        if (bytes.length > UPLOAD_BYTES)
          throw problem(413, 'too-large', `A file may be ${UPLOAD_BYTES} bytes long at most.`);
        await orThrow(work.putFile(projectId, path, bytes));
        return new Response(null, { status: 204 });
      });
    },
    removeProjectFile: ({ projectId, path }) => orThrow(work.putFile(projectId, path, null)),
    async token({ projectId }) {
      await projectOf(projectId);
      const stored = await tokens.of(projectId);
      return { isSet: stored !== null, forge: stored?.forge ?? null };
    },
    async putToken({ projectId, body }) {
      const { repository } = await projectOf(projectId);
      if (!repository.startsWith('https://') && !repository.startsWith('http://'))
        throw problem(400, 'misfit', 'Only a repository with an address takes a token.', {
          fields: { errors: [{ field: 'token', message: 'Only a repository with an address takes a token.' }] },
        });
      await tokens.put(projectId, body);
      return { isSet: true, forge: body.forge };
    },
    async removeToken({ projectId }) {
      await projectOf(projectId);
      await tokens.remove(projectId);
      return null;
    },
    async spawnExecutor({ body: { projectId, taskId, executionPrompt } }, context) {
      const client = context.get('client');
      if (client?.agentId == null) throw problem(403, 'other-agent', 'This needs the credential of an agent.');
      await projects.called(client.credentialId);
      const [project, task] = [await projects.read(projectId), await projects.task(projectId, taskId)];
      if (!project.ok) throw problem(404, 'no-project', project.detail);
      if (!task.ok) throw problem(404, 'no-task', task.detail);
      if (task.value.claim?.agentId !== client.agentId)
        throw problem(403, 'other-agent', 'Your agent has not claimed this task.');
      const executor = {
        agentId: client.agentId,
        signal: context.req.raw.signal,
        ...(client.run === undefined ? {} : { runId: client.run.runId }),
      };
      const work = async () => {
        const executed = await executors.execute(executor, project.value, task.value, executionPrompt);
        if (!executed.ok) throw problem(409, 'not-ready', executed.detail);
        return executed.value;
      };
      return await slowAnswer(work());
    },
  });
}
