/** What keeps agents from beginning the tasks of a project. */
import { obstaclesSchema } from '../obstacles.ts';
import { endpoint } from './endpoint.ts';
import { noProject, projectParams } from './projects.ts';

export const obstacleEndpoints = {
  obstacles: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/obstacles',
    does: 'Says what keeps agents from beginning the tasks of a project now, and the work on claimed tasks from going on: budgets, quiet hours, sleep, questions that wait for the person. It asks the same parts of the relay that refuse a run.',
    params: projectParams,
    answers: [{ status: 200, when: 'found', body: obstaclesSchema }, noProject],
  }),
};
