/**
 * Comments on tasks: one thread per task, which begins with the first comment.
 *
 * In the thread are the agents that the task concerns: the one that works on it or is assigned to
 * it, those that have commented, and those of the project that a comment names with `@`. They are
 * added silently. A comment of the person mentions the agent that works on the task, or is to. So
 * that agent is notified, and woken as far as its limits let mentions do that. Nobody else is.
 */
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { mentionedIn } from '../../../src/shared/domain/mentions.ts';
import { commentsThread, PERSON } from '../../../src/shared/domain/threads.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Threads } from '../../team/threads/index.ts';
import type { Outcome, Projects, Refused } from './contract.ts';

/** Oldest first. `more`: there are earlier ones. */
export interface CommentPage {
  readonly comments: readonly ThreadMessage[];
  readonly more: boolean;
}

export interface Comments {
  /**
   * `by`: `human`, or the id of an agent of the project. Repeated calls with the same `clientId`
   * write one comment. `notes`: what became of the wakes that it asked for.
   */
  add(
    by: string,
    projectId: ProjectId,
    taskId: TaskId,
    comment: { readonly text: string; readonly clientId: string | null },
  ): Promise<Outcome<{ readonly comment: ThreadMessage; readonly notes: readonly string[] }>>;
  /**
   * The newest before number `before`. `reader` in `run` was given them; null: nobody is marked.
   */
  read(
    projectId: ProjectId,
    taskId: TaskId,
    page: { readonly before: number | null; readonly limit: number },
    reader: { readonly agentId: AgentId; readonly run: string } | null,
  ): Promise<Outcome<CommentPage>>;
}

export interface CommentsDeps {
  readonly projects: Pick<Projects, 'read' | 'task'>;
  readonly threads: Pick<Threads, 'attach' | 'send' | 'read'>;
  readonly directory: Pick<Directory, 'all'>;
}

export function createComments({ projects, threads, directory }: CommentsDeps): Comments {
  return {
    async add(by, projectId, taskId, { text, clientId }) {
      const project = await projects.read(projectId);
      if (!project.ok) return project;
      const task = await projects.task(projectId, taskId);
      if (!task.ok) return task;
      const { number, title, claim, assignee } = task.value;
      if (by !== PERSON && !project.value.agents.includes(by))
        return { ok: false, reason: 'other-agent', detail: 'You are not assigned to this project.' };
      const here = (await directory.all()).filter(({ retired }) => !retired);
      const able = here.filter(({ agentId }) => project.value.agents.includes(agentId));
      const isHere = (agentId: AgentId | null | undefined): agentId is AgentId =>
        here.some((member) => member.agentId === agentId);
      const worker = [claim?.agentId, assignee].find(isHere);
      const concerned = [...(worker === undefined ? [] : [worker]), ...mentionedIn(text, able)];
      const agentIds = [...new Set([...concerned, ...(by === PERSON ? [] : [by])])];
      const threadId = commentsThread(taskId);
      await threads.attach({ threadId, title: `#${number} ${title}`.slice(0, LIMITS.threadTitle), agentIds });
      const mentionRefs = by === PERSON && worker !== undefined ? [worker] : [];
      const sent = await threads.send(by, threadId, { text, mentionRefs, clientId });
      if (sent.ok) return { ok: true, value: { comment: sent.message, notes: sent.notes } };
      const reason: Refused['reason'] =
        sent.reason === 'too-many' || sent.reason === 'projects-full' ? sent.reason : 'misfit';
      return { ok: false, reason, detail: sent.detail };
    },
    async read(projectId, taskId, page, reader) {
      const task = await projects.task(projectId, taskId);
      if (!task.ok) return task;
      const threadId = commentsThread(taskId);
      const own = reader && (await threads.read(reader.agentId, threadId, { ...page, run: reader.run }));
      // An agent of the project that is not in the thread may read it, too.
      const read = own?.ok ? own : await threads.read(PERSON, threadId, { ...page, run: null });
      return {
        ok: true,
        value: read.ok ? { comments: read.messages, more: read.more } : { comments: [], more: false },
      };
    },
  };
}
