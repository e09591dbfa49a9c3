/** ACP agents that can be an agent's mind. */
import { LIMITS } from '../limits.ts';
import { addProgramSchema, programSchema, programsSchema } from '../programs.ts';
import { browsersOnly, endpoint, idText, named } from './endpoint.ts';

const programParams = { programId: named(idText.max(LIMITS.id), 'the ACP agent’s id') };

const unknownProgram = { status: 404, when: 'there is no such ACP agent' } as const;

export const programEndpoints = {
  programs: endpoint({
    method: 'GET',
    path: '/api/agent-programs',
    does: 'ACP agents on this machine that may drive an agent, which of them run, and which others are on the PATH. This call starts nothing.',
    answers: [{ status: 200, when: 'always', body: programsSchema }, browsersOnly],
  }),
  addProgram: endpoint({
    method: 'POST',
    path: '/api/agent-programs',
    does: 'Adds an ACP agent, and starts it once to see whether it answers. Its model is asked nothing, so this costs nothing.',
    heavy: true,
    body: addProgramSchema,
    answers: [
      { status: 201, when: 'added; `state` says whether it answered', body: programSchema },
      { status: 403, when: 'this relay runs no programs for this household, or the caller is not a browser' },
      { status: 409, when: 'there is one of that name, or the list is full' },
    ],
  }),
  tryProgram: endpoint({
    method: 'POST',
    path: '/api/agent-programs/{programId}/try',
    does: 'Starts an ACP agent once more, and ends it when it has begun a session.',
    beginsNothing: true,
    heavy: true,
    params: programParams,
    answers: [
      { status: 200, when: 'the start was tried; `state` has the outcome', body: programSchema },
      unknownProgram,
      browsersOnly,
    ],
  }),
  removeProgram: endpoint({
    method: 'DELETE',
    path: '/api/agent-programs/{programId}',
    does: 'Removes an ACP agent with its variables, and ends its processes. An agent that it drives does not answer until another mind is chosen.',
    params: programParams,
    answers: [{ status: 204, when: 'removed' }, unknownProgram, browsersOnly],
  }),
};
