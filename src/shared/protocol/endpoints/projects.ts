/** Projects and their tasks: the person's calls, and those of agents' own credentials. */
import { z } from 'zod';
import {
  addCommentSchema,
  boardSchema,
  changeProjectSchema,
  changeTaskSchema,
  commentsSchema,
  createProjectSchema,
  createTaskSchema,
  foundTasksSchema,
  meetCriterionSchema,
  moveTaskSchema,
  PROJECT_LIMITS,
  projectSchema,
  projectsSchema,
  releaseTaskSchema,
  claimedTaskSchema,
  taskSchema,
  tasksSchema,
} from '../projects.ts';
import { threadMessageSchema } from '../threads.ts';
import { changedElsewhere } from '../version.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';

export const projectParams = {
  projectId: named(idText, 'the project’s id', { type: 'no-project', detail: 'There is no such project.' }),
};
export const taskParams = {
  ...projectParams,
  taskId: named(idText, 'the task’s id', { type: 'no-task', detail: 'There is no such task.' }),
};
export const noProject = { status: 404, when: '`no-project`: there is no such project' } as const;
export const noTask = { status: 404, when: '`no-project` or `no-task`: there is no such project or task' } as const;
const full = { status: 429, when: '`too-many`: there are as many as a relay takes' } as const;
const noRoom = {
  status: 409,
  when: '`projects-full`: the projects of the household take as many bytes as they may',
} as const;
const conflict = { ...changedElsewhere, when: `${changedElsewhere.when}; or \`projects-full\`` } as const;
const misfit = { status: 400, when: '`misfit`: a column, an agent or a task that it names does not exist' } as const;
/** The words of a search. */
export const searchedWords = z
  .string()
  .trim()
  .min(1)
  .max(PROJECT_LIMITS.search)
  .refine((text) => !text.includes('\0'), 'must have no NUL')
  .describe(`the words, at most ${PROJECT_LIMITS.search} characters`);

export const projectEndpoints = {
  projects: endpoint({
    method: 'GET',
    path: '/v1/projects',
    does: 'Lists the projects, with the number of tasks in each column.',
    answers: [{ status: 200, when: 'always', body: projectsSchema }],
  }),
  createProject: endpoint({
    method: 'POST',
    path: '/v1/projects',
    does: 'Creates a project.',
    body: createProjectSchema,
    answers: [{ status: 201, when: 'created', body: projectSchema }, misfit, noRoom, full],
  }),
  project: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}',
    does: 'Reads a project.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: projectSchema }, noProject],
  }),
  changeProject: endpoint({
    method: 'PUT',
    path: '/v1/projects/{projectId}',
    does: 'Changes a project. Fields that are left out stay as they are. Tasks of a column that is removed move to the first column of the kind `backlog`.',
    params: projectParams,
    body: changeProjectSchema,
    answers: [{ status: 200, when: 'changed', body: projectSchema }, misfit, noProject, conflict],
  }),
  removeProject: endpoint({
    method: 'DELETE',
    path: '/v1/projects/{projectId}',
    does: 'Deletes a project with its tasks, its files and its checkouts. Copies that were exported keep the tasks. A repository of the person stays.',
    params: projectParams,
    query: { lose: optional(z.enum(['true', 'false']).describe('`true`: also what is nowhere else')) },
    answers: [
      { status: 204, when: 'deleted' },
      noProject,
      {
        status: 409,
        when: '`unsaved`: files of its folder, unmerged work or what only a checkout has would be lost, and the sentence names it',
      },
    ],
  }),
  tasks: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/tasks',
    does: 'Lists the tasks of a project, oldest first.',
    params: projectParams,
    query: {
      column: optional(named(idText, 'only those in this column')),
      assignee: optional(named(idText, 'only those that are assigned to this agent')),
      label: optional(named(idText, 'only those with this label')),
      after: wholeNumber({ min: 0, max: 1_000_000_000, otherwise: 0 }, 'only those whose number is higher; default 0'),
      limit: wholeNumber({ min: 1, max: 1_000, otherwise: 200 }, 'how many at most, 1–1,000; default 200'),
    },
    answers: [{ status: 200, when: 'found', body: tasksSchema }, noProject],
  }),
  board: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/board',
    does: 'Lists the tasks of a project as cards, which have no text and no history. With `since` it lists what changed since then. A change of the last seconds may be listed again.',
    params: projectParams,
    query: {
      since: optional(named(idText, 'an `asOf` of an earlier answer; left out: all tasks')),
      after: wholeNumber({ min: 0, max: 1_000_000_000, otherwise: 0 }, 'only those whose number is higher; default 0'),
      limit: wholeNumber({ min: 1, max: 10_000, otherwise: 1_000 }, 'how many at most, 1–10,000; default 1,000'),
    },
    answers: [{ status: 200, when: 'found', body: boardSchema }, noProject],
  }),
  searchTasks: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/search',
    does: `Finds the tasks of a project that contain every word of \`q\`, in any case: in the title, the number as \`#12\`, a label, the description, a criterion or a comment. At most ${PROJECT_LIMITS.found} are listed.`,
    params: projectParams,
    query: { q: searchedWords },
    answers: [{ status: 200, when: 'searched', body: foundTasksSchema }, noProject],
  }),
  createTask: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks',
    does: 'Creates a task.',
    params: projectParams,
    body: createTaskSchema,
    answers: [{ status: 201, when: 'created', body: taskSchema }, misfit, noProject, noRoom, full],
  }),
  task: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/tasks/{taskId}',
    does: 'Reads a task.',
    params: taskParams,
    answers: [{ status: 200, when: 'found', body: taskSchema }, noTask],
  }),
  changeTask: endpoint({
    method: 'PUT',
    path: '/v1/projects/{projectId}/tasks/{taskId}',
    does: 'Changes a task. Fields that are left out stay as they are. A criterion whose text changes is not met any more.',
    params: taskParams,
    body: changeTaskSchema,
    answers: [{ status: 200, when: 'changed', body: taskSchema }, misfit, noTask, conflict],
  }),
  removeTask: endpoint({
    method: 'DELETE',
    path: '/v1/projects/{projectId}/tasks/{taskId}',
    does: 'Deletes a task. The agent that works on it is told at its next call.',
    params: taskParams,
    answers: [{ status: 204, when: 'deleted' }, noTask],
  }),
  moveTask: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/move',
    does: 'Moves a task to another column.',
    params: taskParams,
    body: moveTaskSchema,
    answers: [
      { status: 200, when: 'moved', body: taskSchema },
      misfit,
      noTask,
      {
        status: 409,
        when: '`changed-elsewhere`, or `not-proven`: a condition of done does not hold; or `projects-full`',
      },
    ],
  }),
  comments: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/tasks/{taskId}/comments',
    does: 'Reads the newest comments of a task.',
    params: taskParams,
    query: {
      before: optional(wholeNumber({ min: 1, max: 1_000_000_000, otherwise: 1 }, 'only those before this number')),
      limit: wholeNumber({ min: 1, max: 200, otherwise: 50 }, 'how many at most, 1–200; default 50'),
    },
    answers: [{ status: 200, when: 'found', body: commentsSchema }, noTask],
  }),
  addComment: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/comments',
    does: 'Comments on a task. The agent that works on it, or is assigned to it, is notified as by a mention in a thread, within its limits.',
    params: taskParams,
    body: addCommentSchema,
    answers: [{ status: 201, when: 'written', body: threadMessageSchema }, noTask, noRoom],
  }),
  meetCriterion: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/criteria/{criterionId}',
    does: 'Says of one criterion of a task that it is met, with what shows it, or that it is not.',
    params: { ...taskParams, criterionId: named(idText, 'the criterion’s id') },
    body: meetCriterionSchema,
    answers: [{ status: 200, when: 'said', body: taskSchema }, noTask, noRoom],
  }),
  claimTask: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/claim',
    does: 'Claims a task for the calling agent, which must be assigned to the project. A task that the agent holds already is answered as it is. `place` says where the work is done, and how the agent reaches it: by the file tools of `/mcp`, with the same credential. The claim lasts while the agent calls: 15 minutes after its last call of a project, the task returns to its column.',
    access: 'client',
    params: taskParams,
    answers: [
      { status: 200, when: 'claimed', body: claimedTaskSchema },
      { status: 403, when: '`other-agent`: it is no credential of an agent' },
      noTask,
      {
        status: 409,
        when: '`not-ready`: another agent has it, it waits for another task, it is not in a ready column, or its place of work could not be prepared; or `projects-full`',
      },
    ],
  }),
  releaseTask: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/release',
    does: 'Ends the claim of a task. The task returns to the column from which it was claimed. The person may end any claim, an agent its own.',
    access: 'client',
    params: taskParams,
    body: releaseTaskSchema,
    answers: [
      { status: 200, when: 'released, or nobody had it', body: taskSchema },
      { status: 403, when: '`other-agent`: another agent has it' },
      noTask,
    ],
  }),
};
