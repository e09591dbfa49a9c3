/** What came of the work on tasks: attempts, diffs, requests to merge, and checkouts. */
import { z } from 'zod';
import {
  ATTEMPT_LIMITS,
  attemptsSchema,
  checkoutsSchema,
  diffSchema,
  endedAttemptsSchema,
  executedSchema,
  filePatchSchema,
  mergeSchema,
  projectFilesSchema,
  projectSpentSchema,
  putTokenSchema,
  removeCheckoutSchema,
  revertSchema,
  spawnExecutorSchema,
  tokenSchema,
  wantChangesSchema,
} from '../attempts.ts';
import { foundAnywhereSchema, PROJECT_LIMITS, taskSchema } from '../projects.ts';
import { PROJECT_PATH_LIMITS, projectPathFault } from '../../domain/project-path.ts';
import { contentIdSchema } from '../outward-texts.ts';
import { endpoint, optional, wholeNumber } from './endpoint.ts';
import { UPLOAD_BYTES } from './workspaces.ts';
import { noProject, noTask, projectParams, searchedWords, taskParams } from './projects.ts';

const unreadable = { status: 409, when: '`merge-refused`: the repository cannot be read' } as const;
/** Any path that is listed. */
const listedPath = z
  .string()
  .min(1)
  .max(4 * ATTEMPT_LIMITS.path)
  .refine((path) => !path.includes('\0'), 'there is no such path')
  .describe('the file’s path in the project, with `/` between names');
/** A path that a file may have. */
const newPath = listedPath
  .superRefine((path, context) => {
    const message = projectPathFault(path);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .describe(
    `names with \`/\` between them: at most ${PROJECT_PATH_LIMITS.path} bytes, no backslash, nothing that nobody sees, no \`.git\``,
  );
const noWork = { status: 409, when: '`no-work`: nobody has worked on it, or its work is gone' } as const;
const noRequest = { status: 409, when: '`no-request`: no request is open' } as const;

export const projectWorkEndpoints = {
  attempts: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/tasks/{taskId}/attempts',
    does: 'Lists the attempts at a task, with what came of each.',
    params: taskParams,
    answers: [{ status: 200, when: 'found', body: attemptsSchema }, noTask],
  }),
  find: endpoint({
    method: 'GET',
    path: '/v1/find',
    does: `Finds tasks of all projects as \`…/search\` does, and files of projects and agents whose path contains every word of \`q\`: at most ${PROJECT_LIMITS.foundAnywhere} of each. Files of projects are those that the relay saw last.`,
    query: { q: searchedWords },
    answers: [{ status: 200, when: 'searched', body: foundAnywhereSchema }],
  }),
  endedAttempts: endpoint({
    method: 'GET',
    path: '/v1/attempts',
    does: `Lists attempts of all projects that ended lately, with their receipts in figures: at most ${ATTEMPT_LIMITS.ended}.`,
    query: {
      hours: wholeNumber(
        { min: 1, max: ATTEMPT_LIMITS.endedHours, otherwise: 24 },
        `how far back, 1–${ATTEMPT_LIMITS.endedHours}; default 24`,
      ),
    },
    answers: [{ status: 200, when: 'always', body: endedAttemptsSchema }],
  }),
  projectSpent: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/spent',
    does: 'Says what each attempt at the tasks of a project has cost.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: projectSpentSchema }, noProject],
  }),
  taskDiff: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/tasks/{taskId}/diff',
    does: `Shows what the work on a task changed, compared with where it began: ${ATTEMPT_LIMITS.files} files at most. Further files are asked for by \`from\`. They belong to the same diff if \`base\` and \`head\` are the same.`,
    params: taskParams,
    query: { from: wholeNumber({ min: 0, max: 10_000_000, otherwise: 0 }, 'number of the first file; default 0') },
    answers: [{ status: 200, when: 'found', body: diffSchema }, noTask, noWork],
  }),
  filePatch: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/tasks/{taskId}/diff/file',
    does: 'Shows the patch of one file of a diff, in parts. The parts together are the patch.',
    params: taskParams,
    query: {
      before: optional(contentIdSchema.describe('`content.before` of the file; left out: it was added')),
      after: optional(contentIdSchema.describe('`content.after` of the file; left out: it was deleted')),
      from: wholeNumber({ min: 0, max: 1_000_000_000, otherwise: 0 }, 'byte of the patch; default 0'),
    },
    answers: [
      { status: 200, when: 'found', body: filePatchSchema },
      { status: 404, when: '`no-task`, or `no-such-file`: the project has no such content' },
      noWork,
    ],
  }),
  openRequest: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/request',
    does: 'Opens the request of a task, or sends the open one to the forge again. Where the forge refuses, the request is open in Roost, and `forgeProblem` says why.',
    params: taskParams,
    answers: [{ status: 200, when: 'open', body: taskSchema }, noTask, noWork],
  }),
  mergeRequest: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/request/merge',
    does: 'Accepts the work on a task: merges its branch, and moves the task to done. Nothing is forced.',
    params: taskParams,
    body: mergeSchema,
    answers: [
      { status: 200, when: 'merged', body: taskSchema },
      noTask,
      {
        status: 409,
        when: '`no-request`: no request is open; `merge-conflict`: files changed on both sides, and the sentence names them; `changed-elsewhere`: the branch has newer commits; `merge-refused`: the repository refused it',
      },
    ],
  }),
  revertMerge: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/request/revert',
    does: 'Takes a merge back by a commit on the base branch, and moves the task to review. Takes a revert back in the same way, and moves the task to done. Later changes stay, and nothing is forced.',
    params: taskParams,
    body: revertSchema,
    answers: [
      { status: 200, when: 'reverted', body: taskSchema },
      noTask,
      {
        status: 409,
        when: '`no-request`: it is not merged; `changed-elsewhere`: another commit is the last one; `merge-conflict`: later changes are in the way, and the sentence names their files; `merge-refused`: the repository refused it',
      },
    ],
  }),
  wantChanges: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/request/changes',
    does: 'Asks for changes, in words and by comments on lines. The task returns to ready, and its agent is told.',
    params: taskParams,
    body: wantChangesSchema,
    answers: [
      { status: 200, when: 'said', body: taskSchema },
      { status: 400, when: 'nothing is asked for, or `misfit`: a comment is on a line that is not there' },
      noTask,
      { status: 409, when: '`no-request`: no request is open, and the task is not in review' },
    ],
  }),
  closeRequest: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/request/close',
    does: 'Closes a request without merging. The branch stays. Where the forge refuses, the request is closed in Roost, and `forgeProblem` says why.',
    params: taskParams,
    answers: [{ status: 200, when: 'closed', body: taskSchema }, noTask, noRequest],
  }),
  checkouts: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/checkouts',
    does: 'Lists the checkouts of a project, with their size and what only they have.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: checkoutsSchema }, noProject],
  }),
  removeCheckout: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/checkout/remove',
    does: 'Deletes the checkout of a task. One with files or commits that only it has is deleted only with `lose`.',
    params: taskParams,
    body: removeCheckoutSchema,
    answers: [
      { status: 204, when: 'deleted, or there was none' },
      noTask,
      { status: 409, when: '`unsaved`: something would be lost; `busy`: an agent works in it' },
    ],
  }),
  projectFiles: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/files',
    does: 'Lists the files of a project: those of its folder, or of the base branch of its repository.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: projectFilesSchema }, noProject, unreadable],
  }),
  projectFile: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/file',
    does: 'A file of a project, byte for byte, as a download.',
    raw: true,
    params: projectParams,
    query: { path: listedPath },
    answers: [{ status: 200, when: 'the file' }, { status: 404, when: '`no-project` or `no-such-file`' }, unreadable],
  }),
  putProjectFile: endpoint({
    method: 'PUT',
    path: '/v1/projects/{projectId}/file',
    does: `Stores the body as a file of a folder project: \`application/octet-stream\`, at most ${UPLOAD_BYTES} bytes. It replaces a file of the same name. Tasks that are under way do not see it.`,
    raw: true,
    params: projectParams,
    query: { path: newPath },
    answers: [
      { status: 204, when: 'stored' },
      { status: 400, when: 'the path is not names with / between them, or `misfit`: the project is a repository' },
      noProject,
      {
        status: 409,
        when: '`exists`: a folder has this name, or a file the name of a folder; `full`: the project has as many files or bytes as it can',
      },
      { status: 413, when: 'the file is too large' },
      { status: 415, when: 'the body is not sent as `application/octet-stream`' },
    ],
  }),
  removeProjectFile: endpoint({
    method: 'DELETE',
    path: '/v1/projects/{projectId}/file',
    does: 'Deletes a file of a folder project.',
    params: projectParams,
    query: { path: listedPath },
    answers: [
      { status: 204, when: 'deleted' },
      { status: 404, when: '`no-project` or `no-such-file`' },
    ],
  }),
  token: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/token',
    does: 'Says whether a token is set for the repository of a project.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: tokenSchema }, noProject],
  }),
  putToken: endpoint({
    method: 'PUT',
    path: '/v1/projects/{projectId}/token',
    does: 'Sets the token with which the relay fetches and pushes the repository of a project, and opens requests at its forge. No agent sees it.',
    params: projectParams,
    body: putTokenSchema,
    answers: [
      { status: 200, when: 'set', body: tokenSchema },
      { status: 400, when: '`misfit`: the repository has no address that takes a token' },
      noProject,
    ],
  }),
  removeToken: endpoint({
    method: 'DELETE',
    path: '/v1/projects/{projectId}/token',
    does: 'Deletes the token of a project.',
    params: projectParams,
    answers: [{ status: 204, when: 'deleted, or there was none' }, noProject],
  }),
  spawnExecutor: endpoint({
    method: 'POST',
    path: '/v1/internal/spawn-executor',
    does: 'Has an executor work on a task that the calling agent has claimed, and answers when it has ended. From the first minute on, a space a minute comes before the answer.',
    access: 'client',
    body: spawnExecutorSchema,
    answers: [
      { status: 200, when: 'it has ended', body: executedSchema },
      { status: 403, when: '`other-agent`: the caller is no agent, or has not claimed the task' },
      noTask,
      { status: 409, when: '`not-ready`: the task is in review or done, or a limit of the project is reached' },
    ],
  }),
};
