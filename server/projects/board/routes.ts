/** HTTP routes of projects and their tasks. */
import type { Context } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { projectEndpoints } from '../../../src/shared/protocol/endpoints/projects.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import { misfitIn, problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import type { Comments } from './comments.ts';
import { claimTask } from './claiming.ts';
import type { Changed, Projects, Refused, TaskWork } from './contract.ts';

function problemOf({ reason, detail, field = 'body' }: Refused): HTTPException {
  switch (reason) {
    case 'no-project':
    case 'no-task':
      return problem(404, reason, detail);
    case 'other-agent':
      return problem(403, reason, detail);
    case 'not-ready':
    case 'not-proven':
    case 'unsaved':
    case 'projects-full':
      return problem(409, reason, detail);
    case 'too-many':
      return problem(429, reason, detail);
    case 'misfit':
      return problem(400, reason, detail, { fields: { errors: [{ field, message: detail }] } });
  }
}

function orThrow<Value extends { readonly version: number } | null | object>(outcome: Changed<Value>): Value {
  if (outcome.ok) return outcome.value;
  if (outcome.reason === 'changed-elsewhere')
    throw changedElsewhere(outcome.current as Value & { readonly version: number });
  throw problemOf(outcome);
}

interface RoutesDeps {
  readonly projects: Projects;
  readonly comments: Comments;
  /** Null: agents have no folders here. */
  readonly work: TaskWork | null;
}

export function createProjectRoutes({ projects, comments, work }: RoutesDeps): readonly Handled[] {
  /** The agent that calls with its own credential. Null: the person, from a page. */
  function agentOf(context: Context<Env>) {
    const client = context.get('client');
    if (client === undefined) return null;
    if (client.agentId === null)
      throw problem(403, 'other-agent', 'This needs the credential of an agent. An application has none.');
    return { agentId: client.agentId, credentialId: client.credentialId };
  }
  return answer(projectEndpoints, {
    projects: async () => ({ projects: [...(await projects.list())] }),
    createProject: async ({ body }) => orThrow(await projects.create(body)),
    project: async ({ projectId }) => orThrow(await projects.read(projectId)),
    changeProject: async ({ projectId, body }) => orThrow(await projects.change(projectId, body)),
    removeProject: async ({ projectId, lose }) => orThrow(await projects.remove(projectId, lose === 'true')),
    tasks: async ({ projectId, ...query }) => {
      const { tasks, more } = orThrow(await projects.tasks(projectId, query));
      return { tasks: [...tasks], more };
    },
    async board({ projectId, since, ...page }) {
      const from = since === null ? null : Number(since);
      if (from !== null && !Number.isSafeInteger(from)) throw misfitIn('since', 'is no `asOf` of an earlier answer');
      return orThrow(await projects.board(projectId, { since: from, ...page }));
    },
    async searchTasks({ projectId, q }) {
      const { taskIds, more } = orThrow(await projects.search(projectId, q));
      return { taskIds: [...taskIds], more };
    },
    createTask: async ({ projectId, body }) => orThrow(await projects.createTask(PERSON, projectId, body)),
    task: async ({ projectId, taskId }) => orThrow(await projects.task(projectId, taskId)),
    changeTask: async ({ projectId, taskId, body }) =>
      orThrow(await projects.changeTask(PERSON, projectId, taskId, body)),
    removeTask: async ({ projectId, taskId }) => orThrow(await projects.removeTask(projectId, taskId)),
    moveTask: async ({ projectId, taskId, body }) => orThrow(await projects.move(PERSON, projectId, taskId, body)),
    async comments({ projectId, taskId, before, limit }) {
      const read = orThrow(await comments.read(projectId, taskId, { before, limit }, null));
      return { comments: [...read.comments], more: read.more };
    },
    addComment: async ({ projectId, taskId, body }) =>
      orThrow(await comments.add(PERSON, projectId, taskId, body)).comment,
    meetCriterion: async ({ projectId, taskId, criterionId, body }) =>
      orThrow(await projects.meet(PERSON, projectId, taskId, criterionId, body)),
    async claimTask({ projectId, taskId }, context) {
      const agent = agentOf(context);
      if (agent === null)
        throw problem(403, 'other-agent', 'An agent claims a task, with its own credential. Assign the task to it.');
      await projects.called(agent.credentialId);
      const project = orThrow(await projects.read(projectId));
      const caller = {
        ...{ agentId: agent.agentId, sessionId: null, run: taskId, kind: 'client' as const },
        credential: { credentialId: agent.credentialId, readsSoul: false },
        signal: context.req.raw.signal,
      };
      const claimed = await claimTask({ projects, work }, { holder: agent, caller }, project, taskId);
      if (claimed.ok) return { ...claimed.task, place: claimed.place };
      throw claimed.refused ? problemOf(claimed.refused) : problem(409, 'not-ready', claimed.detail);
    },
    async releaseTask({ projectId, taskId, body }, context) {
      const agent = agentOf(context);
      return orThrow(await projects.release(agent?.agentId ?? PERSON, projectId, taskId, body.note));
    },
  });
}
