/** What keeps agents from beginning the tasks of a project, and how the person has one begun. */
import { obstaclesSchema } from '../obstacles.ts';
import { startTaskSchema, taskSchema } from '../projects.ts';
import { endpoint } from './endpoint.ts';
import { noProject, noTask, projectParams, taskParams } from './projects.ts';

export const obstacleEndpoints = {
  obstacles: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/obstacles',
    does: 'Says what keeps agents from beginning the tasks of a project now, and the work on claimed tasks from going on: budgets, quiet hours, sleep, questions that wait for the person. It asks the same parts of the relay that refuse a run.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: obstaclesSchema }, noProject],
  }),
  startTask: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/tasks/{taskId}/start',
    does: 'Starts an agent on a task, or has it continue one that it has. In a session it gets a message, and otherwise a run. The task is claimed for it before it begins. A repeated call starts nothing more.',
    params: taskParams,
    body: startTaskSchema,
    answers: [
      { status: 200, when: 'the agent has the task, and begins', body: taskSchema },
      noTask,
      {
        status: 409,
        when: '`not-ready`: something is in the way, and the sentence says what helps; `no-copy`: no session runs, and the relay has no snapshot of the agent to work from',
      },
    ],
  }),
};
