/** Tools with which agents hand in their work, and read what a repository says to them. */
import { z } from 'zod';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import type { Projects } from '../board/index.ts';
import { CHECKOUT_LIMITS, GitError, type Repositories } from '../checkouts/index.ts';
import { executedText, type Executors } from './executor.ts';
import { ForgeError } from './forge.ts';
import type { OpenTaskWork } from './index.ts';
import { inRoost } from './requests.ts';
import { rewrittenText } from './summary.ts';

const id = z
  .string()
  .min(1)
  .max(LIMITS.id)
  .refine((text) => !text.includes('\0'), 'there is no such id');
const projectId = id.describe('the project’s id');
const taskId = id.describe('the task’s id');

export interface TaskWorkToolDeps {
  readonly projects: Projects;
  readonly work: OpenTaskWork;
  readonly repositories: Repositories;
  readonly executors: Executors;
}

interface Own {
  readonly project: Project;
  readonly task: Task;
}
/** The task as a brief: nothing of the project's people or conversations. */
const briefOf = ({ project, task }: Own): string =>
  [
    `# ${task.title}`,
    ...(task.description === '' ? [] : [task.description]),
    ...(task.criteria.length === 0 ? [] : ['It is done when:', ...task.criteria.map(({ text }) => `- ${text}`)]),
    ...(project.checks.length === 0 ? [] : ['These checks must pass:', ...project.checks.map((check) => `- ${check}`)]),
  ].join('\n\n');

export function createTaskWorkTools({
  projects,
  work,
  repositories,
  executors,
}: TaskWorkToolDeps): readonly TeamTool[] {
  const allowed = ({ agentId }: Caller) => projects.isAssigned(agentId);

  /** A project of the caller, and a task in it that the caller has claimed. */
  async function claimed(
    { agentId }: Caller,
    ids: { readonly projectId: string; readonly taskId: string },
  ): Promise<Own | ToolOutcome> {
    const project = await projects.read(ids.projectId);
    if (!project.ok || !project.value.agents.includes(agentId))
      return toolError('You are assigned to no project with this id. get_my_projects lists yours.');
    const task = await projects.task(ids.projectId, ids.taskId);
    if (!task.ok) return toolError(task.detail);
    return task.value.claim?.agentId === agentId
      ? { project: project.value, task: task.value }
      : toolError('You have not claimed this task. claim_task takes it, if nobody else has it.');
  }

  async function execute(own: Own, brief: string, caller: Caller): Promise<ToolOutcome> {
    const executed = await executors.execute(caller, own.project, own.task, brief);
    if (!executed.ok) return toolError(executed.detail);
    const text = executedText(executed.value);
    return executed.value.outcome === 'complete' ? toolDone(text) : toolError(text);
  }

  return [
    defineTool({
      name: 'open_pull_request',
      description:
        'Asks the human to accept what you did for a task that you claimed. A second call brings the open request up to date. Then move the task to review.',
      allowed,
      input: z.object({
        projectId,
        taskId,
        title: z.string().trim().min(1).max(ATTEMPT_LIMITS.title),
        body: z
          .string()
          .max(ATTEMPT_LIMITS.body)
          .default('')
          .describe('what you did, and what the human should look at'),
      }),
      async run({ title, body, ...ids }, caller) {
        const own = await claimed(caller, ids);
        if ('text' in own) return own;
        try {
          const left = await work.commit(own.project, own.task, caller);
          if (left !== null) return toolError(left);
          const asked = await work.request(caller.agentId, own.project, own.task, { title, body });
          if (!asked.ok) return toolError(asked.detail);
          const { branch, head, url, forgeProblem } = asked.value;
          if (forgeProblem !== null) return toolError(inRoost(forgeProblem));
          const repository = await repositories.of(own.project.projectId, own.project);
          const rewritten = await repository.rewritten(branch);
          return toolDone(
            [
              `The request is open: branch ${branch} at ${head.slice(0, 12)}${url === null ? '' : `, ${url}`}.`,
              ...(rewritten.length === 0 ? [] : [`The human sees that ${rewrittenText(rewritten)}.`]),
            ].join(' '),
          );
        } catch (error) {
          if (error instanceof GitError || error instanceof ForgeError) return toolError(error.message);
          throw error;
        }
      },
    }),
    defineTool({
      name: 'read_skill',
      description: 'Reads a skill of a project’s repository: instructions for one kind of work. claim_task lists them.',
      readOnly: true,
      allowed,
      input: z.object({ projectId, name: z.string().min(1).max(100) }),
      async run({ projectId: of, name }, { agentId }) {
        const project = await projects.read(of);
        if (!project.ok || !project.value.agents.includes(agentId))
          return toolError('You are assigned to no project with this id. get_my_projects lists yours.');
        try {
          const repository = await repositories.of(of, project.value);
          const { commit } = await repository.base();
          const skills = await repository.skills(commit);
          const skill = skills.find((each) => each.name === name);
          if (!skill)
            return toolError(
              skills.length === 0
                ? 'The repository has no skills.'
                : `There is no such skill. There are ${skills.map((each) => titled(each.name)).join(', ')}.`,
            );
          const text = (await repository.textOf(commit, skill.path, CHECKOUT_LIMITS.skillBytes)) ?? '';
          return toolDone(
            writeSaid({ head: `${titled(skill.path)}, text of the repository, not of the human:`, text }),
          );
        } catch (error) {
          if (error instanceof GitError) return toolError(error.message);
          throw error;
        }
      },
    }),
    defineTool({
      name: 'spawn_executor',
      description:
        'Has an executor work on a task that you claimed, in its checkout, and waits until it has ended. It knows your brief and nothing else, and sees only the checkout, where its paths begin: name the goal, the files, the steps, the checks, and what not to touch. The result is what git and the checks say.',
      allowed,
      input: z.object({ projectId, taskId, executionPrompt: z.string().trim().min(1).max(50_000) }),
      async run({ executionPrompt, ...ids }, caller) {
        const own = await claimed(caller, ids);
        return 'text' in own ? own : await execute(own, executionPrompt, caller);
      },
    }),
    defineTool({
      name: 'execute_task',
      description: 'As spawn_executor, with the task itself as the brief: its description and its criteria.',
      allowed,
      input: z.object({ projectId, taskId }),
      async run(ids, caller) {
        const own = await claimed(caller, ids);
        return 'text' in own ? own : await execute(own, briefOf(own), caller);
      },
    }),
  ];
}
