/** Tools with which agents work on the tasks of their projects. Models read the descriptions. */
import { z } from 'zod';
import { type Column, COLUMN_KINDS, type ColumnKind, PRIORITIES } from '../../../src/shared/domain/projects.ts';
import { isNamed } from '../../../src/shared/domain/routine-mappings.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import { addCommentSchema, PROJECT_LIMITS, type Project, type Task } from '../../../src/shared/protocol/projects.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import type { RunScopes } from '../../agents/runs/run-scopes.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { claimTask } from './claiming.ts';
import type { CommentPage, Comments } from './comments.ts';
import type { Changed, Holder, Projects, TaskWork } from './contract.ts';
import { PROJECT_SETTINGS } from './settings.ts';
import { createTaskWords } from './task-words.ts';

const idText = z
  .string()
  .min(1)
  .max(LIMITS.id)
  // The store rejects a query with a NUL.
  .refine((id) => !id.includes('\0'), 'there is no such id');
const projectId = idText.describe('the project’s id');
const taskId = idText.describe('the task’s id');
const note = z.string().trim().max(PROJECT_LIMITS.note).default('');

export interface ProjectToolDeps {
  readonly projects: Projects;
  readonly comments: Comments;
  readonly directory: Pick<Directory, 'all'>;
  /** Null: agents have no folders here, and work on tasks with their other tools. */
  readonly work: TaskWork | null;
  readonly configs: Pick<Configs, 'agent'>;
  readonly scopes: Pick<RunScopes, 'of'>;
}

const NOT_YOURS = toolError('You are assigned to no project with this id. get_my_projects lists yours.');
const NOT_OF_RUN = toolError('This run works on other projects. Take tasks only from those.');

const failed = (outcome: Exclude<Changed<unknown>, { readonly ok: true }>): ToolOutcome =>
  toolError(outcome.reason === 'changed-elsewhere' ? 'The task was changed meanwhile. Read it again.' : outcome.detail);

const holderOf = ({ agentId, kind, runId, credential }: Caller): Holder | null =>
  kind !== 'client' && runId !== undefined
    ? { agentId, runId }
    : credential
      ? { agentId, credentialId: credential.credentialId }
      : null;

/** What a call may do, and what its answer shows. */
function createCalls({ projects, comments, directory, configs, scopes }: ProjectToolDeps) {
  const wordsFor = async ({ agentId }: Caller) => createTaskWords(await directory.all(), agentId);
  /** Offered to agents that are assigned to a project. */
  const allowed = ({ agentId }: Caller) => projects.isAssigned(agentId);

  /** A project that the caller is assigned to. */
  async function own(caller: Caller, id: string): Promise<Project | null> {
    const found = await projects.read(id);
    return found.ok && found.value.agents.includes(caller.agentId) ? found.value : null;
  }
  /**
   * Columns from which the caller's run takes tasks. Undefined: from any. Null: the run is not
   * about this project.
   */
  function columnsFor(caller: Caller, id: string): readonly string[] | undefined | null {
    const columns = scopes.of(caller)?.columns ?? null;
    return columns ? (columns.get(id) ?? null) : undefined;
  }
  /** The first column of this kind to which the caller may move a task. */
  async function columnFor({ agentId }: Caller, project: Project, status: ColumnKind): Promise<Column | ToolOutcome> {
    const columns = project.columns.filter(({ kind }) => kind === status);
    if (columns.length === 0) return toolError(`The project has no column of the kind ${status}.`);
    const allowed = (await configs.agent(agentId)).own.pulse_transitions_to ?? null;
    const column = columns.find((each) => allowed?.some((said) => isNamed(each, said)) ?? true);
    if (column) return column;
    return toolError(
      allowed === null || allowed.length === 0
        ? 'The human lets you move no tasks. Release it with release_task, and say in the note what you did.'
        : `The human lets you move tasks only to ${allowed.map((said) => titled(said)).join(', ')}.`,
    );
  }
  /** The caller works: the claims of an API client last longer. */
  async function seen({ kind, credential }: Caller): Promise<void> {
    if (kind === 'client' && credential) await projects.called(credential.credentialId);
  }
  const tool = <Input extends z.ZodObject>(definition: Parameters<typeof defineTool<Input>>[0]): TeamTool =>
    defineTool<Input>({
      ...definition,
      allowed,
      async run(input, caller) {
        await seen(caller);
        return await definition.run(input, caller);
      },
    });
  /** The newest comments of a task. They count as given to the caller. */
  async function commentsOf({ agentId, run }: Caller, of: Task, before: number | null = null): Promise<CommentPage> {
    const page = { before, limit: PROJECT_SETTINGS.commentsShown };
    const read = await comments.read(of.projectId, of.taskId, page, { agentId, run });
    return read.ok ? read.value : { comments: [], more: false };
  }
  async function shown(caller: Caller, id: string, outcome: Changed<Task>, said: string): Promise<ToolOutcome> {
    if (!outcome.ok) return failed(outcome);
    const project = await own(caller, id);
    return project ? toolDone(`${said}\n${(await wordsFor(caller)).line(project, outcome.value)}`) : NOT_YOURS;
  }

  return { wordsFor, own, columnsFor, columnFor, tool, commentsOf, shown };
}

export function createProjectTools(deps: ProjectToolDeps): readonly TeamTool[] {
  const { projects, comments, scopes, work } = deps;
  const { wordsFor, own, columnsFor, columnFor, tool, commentsOf, shown } = createCalls(deps);
  return [
    tool({
      name: 'get_my_projects',
      description: 'Lists the projects you are assigned to, with their columns and the number of tasks in each.',
      input: z.object({}),
      readOnly: true,
      async run(_, caller) {
        const scope = scopes.of(caller)?.columns;
        const all = (await projects.ofAgent(caller.agentId)).filter(({ projectId: id }) => scope?.has(id) ?? true);
        const words = await wordsFor(caller);
        return toolDone(all.length === 0 ? 'You are assigned to no project.' : all.map(words.project).join('\n'));
      },
    }),
    tool({
      name: 'get_ready_tasks',
      description: 'Lists the tasks of a project that you may claim now, the most urgent first.',
      input: z.object({ projectId }),
      readOnly: true,
      async run({ projectId: id }, caller) {
        const project = await own(caller, id);
        if (!project) return NOT_YOURS;
        const columns = columnsFor(caller, id);
        if (columns === null) return NOT_OF_RUN;
        const ready = await projects.ready(caller.agentId, id, columns);
        if (!ready.ok) return failed(ready);
        const words = await wordsFor(caller);
        if (ready.value.length > 0) return toolDone(ready.value.map((task) => words.line(project, task)).join('\n'));
        const atWork = await projects.atWork(caller.agentId, id);
        return toolDone(`No task is ready for you.${atWork === null ? '' : ` ${atWork}`}`);
      },
    }),
    tool({
      name: 'get_task_context',
      description:
        'Reads everything about a task: description, criteria with evidence, notes, comments, and what came of each attempt.',
      input: z.object({
        projectId,
        taskId,
        commentsBefore: z.number().int().min(1).optional().describe('only comments before this number'),
      }),
      readOnly: true,
      async run(input, caller) {
        const project = await own(caller, input.projectId);
        if (!project) return NOT_YOURS;
        const task = await projects.task(input.projectId, input.taskId);
        if (!task.ok) return failed(task);
        const words = await wordsFor(caller);
        const attempts = (await work?.told(project, task.value, words.nameOf)) ?? '';
        const said = await commentsOf(caller, task.value, input.commentsBefore);
        return toolDone([words.whole(project, task.value, said), ...(attempts === '' ? [] : [attempts])].join('\n'));
      },
    }),
    tool({
      name: 'claim_task',
      description:
        'Claims a ready task, so that nobody else works on it. It is yours while your run lasts; then it returns to its column. Hand it on with transition_task.',
      input: z.object({ projectId, taskId }),
      async run(input, caller) {
        const project = await own(caller, input.projectId);
        if (!project) return NOT_YOURS;
        const holder = holderOf(caller);
        if (!holder) return toolError('Only a run or a client with a credential can claim a task.');
        const columns = columnsFor(caller, input.projectId);
        if (columns === null) return NOT_OF_RUN;
        const claimed = await claimTask({ projects, work }, { holder, caller }, project, input.taskId, columns);
        if (claimed.ok || claimed.refused === null) scopes.of(caller)?.onClaim?.(claimed.ok ? null : claimed.detail);
        if (!claimed.ok) return claimed.refused ? failed(claimed.refused) : toolError(claimed.why);
        const words = await wordsFor(caller);
        const said = await commentsOf(caller, claimed.task);
        const attempts = (await work?.told(project, claimed.task, words.nameOf)) ?? '';
        const parts = ['The task is yours.', claimed.place, words.whole(project, claimed.task, said), attempts];
        return toolDone(parts.filter((part) => part !== '').join('\n'));
      },
    }),
    tool({
      name: 'release_task',
      description:
        'Releases a task that you claimed. It returns to its column. Say in the note what is done and what is left.',
      input: z.object({ projectId, taskId, note }),
      run: async (input, caller) =>
        await shown(
          caller,
          input.projectId,
          await projects.release(caller.agentId, input.projectId, input.taskId, input.note),
          'Released.',
        ),
    }),
    tool({
      name: 'comment_on_task',
      description:
        'Writes a comment on a task of your project. Everybody who works on the project can read it. Name an agent with @ to notify it.',
      input: z.object({ projectId, taskId, text: addCommentSchema.shape.text }),
      async run({ projectId: id, taskId: of, text }, caller) {
        const added = await comments.add(caller.agentId, id, of, { text, clientId: null });
        return added.ok ? toolDone(['Written.', ...added.value.notes].join('\n')) : failed(added);
      },
    }),
    tool({
      name: 'create_task',
      description:
        'Creates a task in the backlog of a project. The human decides when it is ready. With parentTaskId it is a part of a task that you have claimed; where the project allows it, such a part is ready at once.',
      input: z.object({
        projectId,
        title: z.string().trim().min(1).max(PROJECT_LIMITS.title),
        description: z.string().max(PROJECT_LIMITS.text).default(''),
        criteria: z
          .array(z.string().trim().min(1).max(PROJECT_LIMITS.criterion))
          .max(PROJECT_LIMITS.criteria)
          .default([])
          .describe('what must hold when it is done'),
        priority: z.enum(PRIORITIES).default('normal'),
        parentTaskId: taskId.optional().describe('the id of the task that it is a part of'),
      }),
      async run({ projectId: id, criteria, parentTaskId, ...task }, caller) {
        const made = await projects.createTask(caller.agentId, id, {
          ...task,
          ...(parentTaskId === undefined ? {} : { parentTaskId }),
          criteria: criteria.map((text) => ({ text })),
          labels: [],
          blockedBy: [],
          assignee: null,
        });
        return await shown(caller, id, made, 'Created.');
      },
    }),
    tool({
      name: 'transition_task',
      description:
        'Moves a task that you claimed to the first column of a kind. Any kind but in_progress ends your claim. Move it to review when every criterion is met, to blocked when you cannot go on; say why in the note.',
      input: z.object({ projectId, taskId, status: z.enum(COLUMN_KINDS), note }),
      async run({ projectId: id, taskId: task, status, note: said }, caller) {
        const project = await own(caller, id);
        if (!project) return NOT_YOURS;
        const column = await columnFor(caller, project, status);
        if ('text' in column) return column;
        const before = await projects.task(id, task);
        const isOwn = before.ok && before.value.claim?.agentId === caller.agentId;
        const unproven = isOwn && status === 'review' ? await work?.finish(project, before.value, caller) : null;
        if (typeof unproven === 'string') return toolError(`It cannot move to review yet.\n${unproven}`);
        const moved = await projects.move(caller.agentId, id, task, { columnId: column.columnId, note: said });
        const problem = moved.ok && status === 'review' ? ((await work?.moved(project, moved.value)) ?? null) : null;
        return await shown(caller, id, moved, problem === null ? 'Moved.' : `Moved. ${problem}`);
      },
    }),
    tool({
      name: 'meet_criterion',
      description:
        'Says that a criterion of a task that you claimed is met, with what shows it: a file, an output, a source.',
      input: z.object({
        projectId,
        taskId,
        criterion: z.number().int().min(1).max(PROJECT_LIMITS.criteria).describe('its number'),
        evidence: z.string().trim().min(1).max(PROJECT_LIMITS.evidence),
      }),
      async run({ projectId: id, taskId: of, criterion, evidence }, caller) {
        const task = await projects.task(id, of);
        if (!task.ok) return failed(task);
        const criterionId = task.value.criteria[criterion - 1]?.criterionId;
        if (criterionId === undefined) return toolError(`The task has no criterion ${criterion}.`);
        const said = await projects.meet(caller.agentId, id, of, criterionId, { met: true, evidence });
        return await shown(caller, id, said, 'Noted.');
      },
    }),
  ];
}
