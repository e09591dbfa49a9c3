/** Routines of agents on projects. */
import {
  changeMappingSchema,
  createMappingSchema,
  mappingSchema,
  mappingsSchema,
  resolvedMappingsSchema,
} from '../routine-mappings.ts';
import { changedElsewhere } from '../version.ts';
import { endpoint, idText, named } from './endpoint.ts';

const agent = {
  projectId: named(idText, 'the project’s id', { type: 'no-project', detail: 'There is no such project.' }),
  agentId: named(idText, 'the agent’s id, name or seat', { type: 'unknown-agent', detail: 'There is no such agent.' }),
};
const mapping = {
  ...agent,
  mappingId: named(idText, 'the mapping’s id', { type: 'no-mapping', detail: 'The project has no such routine.' }),
};
const notAssigned = {
  status: 404,
  when: '`no-project`, `unknown-agent` or `not-assigned`: there is no such project or agent, or the agent does not work on the project',
} as const;
const noMapping = { status: 404, when: 'as for the list; or `no-mapping`: the routine does not work on it' } as const;
const misfit = {
  status: 400,
  when: '`misfit`: a column of another project, an unknown tool, or a routine of another agent; `errors` names the field',
} as const;

export const mappingEndpoints = {
  mappings: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/agents/{agentId}/routines',
    does: 'Lists the routines of an agent that work on a project, with what the project sets for each.',
    params: agent,
    answers: [{ status: 200, when: 'found', body: mappingsSchema }, notAssigned],
  }),
  createMapping: endpoint({
    method: 'POST',
    path: '/v1/projects/{projectId}/agents/{agentId}/routines',
    does: 'Has a routine of the agent work on the project, from its next due moment on.',
    params: agent,
    body: createMappingSchema,
    answers: [
      { status: 201, when: 'created', body: mappingSchema },
      misfit,
      { status: 404, when: 'as for the list; or `unknown-schedule`: there is no such routine' },
      { status: 409, when: '`mapped-already`: the routine works on the project already' },
      { status: 429, when: '`too-many`: the routine works on as many projects as it can' },
    ],
  }),
  resolveMappings: endpoint({
    method: 'GET',
    path: '/v1/projects/{projectId}/agents/{agentId}/routines/resolve',
    does: 'Says which columns, tools and models the next run of each of these routines has, after mapping, routine, agent and household.',
    params: agent,
    answers: [{ status: 200, when: 'found', body: resolvedMappingsSchema }, notAssigned],
  }),
  changeMapping: endpoint({
    method: 'PUT',
    path: '/v1/projects/{projectId}/agents/{agentId}/routines/{mappingId}',
    does: 'Changes what the project sets for a routine. Fields that are left out stay as they are.',
    params: mapping,
    body: changeMappingSchema,
    answers: [{ status: 200, when: 'changed', body: mappingSchema }, misfit, noMapping, changedElsewhere],
  }),
  removeMapping: endpoint({
    method: 'DELETE',
    path: '/v1/projects/{projectId}/agents/{agentId}/routines/{mappingId}',
    does: 'Has a routine work on the project no more. The routine stays.',
    params: mapping,
    answers: [{ status: 204, when: 'removed' }, noMapping],
  }),
};
