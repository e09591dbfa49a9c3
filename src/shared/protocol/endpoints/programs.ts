/** ACP agents that can be an agent's mind. */
import { LIMITS } from '../limits.ts';
import { addProgramSchema, programSchema, programsSchema } from '../programs.ts';
import { endpoint, idText, named } from './endpoint.ts';

const params = { programId: named(idText.max(LIMITS.id), 'of an ACP agent') };
const browsersOnly = { status: 403, when: 'it is no browser that asks' } as const;
const unknown = { status: 404, when: 'there is no such program' } as const;

export const programEndpoints = {
  programs: endpoint({
    method: 'GET',
    path: '/api/agent-programs',
    does: 'ACP agents of this machine that may be an agent’s mind, which of them run, and what else lies on the PATH. Starts nothing.',
    answers: [{ status: 200, when: 'always', body: programsSchema }, browsersOnly],
  }),
  addProgram: endpoint({
    method: 'POST',
    path: '/api/agent-programs',
    does: 'Adds one, and starts it once to see whether it answers. It costs nothing: nothing is asked of its model.',
    heavy: true,
    body: addProgramSchema,
    answers: [
      { status: 201, when: 'it is kept; `state` says whether it answered', body: programSchema },
      { status: 403, when: 'this relay runs no programs for this household, or it is no browser that asks' },
      { status: 409, when: 'one of that name is there, or there is room for no more' },
    ],
  }),
  tryProgram: endpoint({
    method: 'POST',
    path: '/api/agent-programs/{programId}/try',
    does: 'Starts it once more, and ends it when it has begun a session.',
    beginsNothing: true,
    heavy: true,
    params,
    answers: [
      { status: 200, when: 'it was tried; `state` says how that went', body: programSchema },
      unknown,
      browsersOnly,
    ],
  }),
  removeProgram: endpoint({
    method: 'DELETE',
    path: '/api/agent-programs/{programId}',
    does: 'Takes it away, with its variables. What runs of it ends; an agent that has it as mind does not answer until another is chosen.',
    params,
    answers: [{ status: 204, when: 'it is gone' }, unknown, browsersOnly],
  }),
};
