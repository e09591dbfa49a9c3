import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { addProgramSchema, programSchema, programsSchema } from '../programs.ts';
import { ATTACHED_BOUNDS, attachedNameSchema, attachedServerSchema, attachmentSchema, boxSchema } from '../attached.ts';
import { runnerSchema } from '../runners.ts';
import { changedElsewhere, namedVersionSchema } from '../version.ts';
import { endpoint, idText, named } from './endpoint.ts';

const browsersOnly = { status: 403, when: 'it is no browser that asks' } as const;

// ACP agents that can be an agent's mind.

const programParams = { programId: named(idText.max(LIMITS.id), 'of an ACP agent') };

const unknownProgram = { status: 404, when: 'there is no such program' } as const;

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
    params: programParams,
    answers: [
      { status: 200, when: 'it was tried; `state` says how that went', body: programSchema },
      unknownProgram,
      browsersOnly,
    ],
  }),
  removeProgram: endpoint({
    method: 'DELETE',
    path: '/api/agent-programs/{programId}',
    does: 'Takes it away, with its variables. What runs of it ends; an agent that has it as mind does not answer until another is chosen.',
    params: programParams,
    answers: [{ status: 204, when: 'it is gone' }, unknownProgram, browsersOnly],
  }),
};

// MCP servers that the person connects, for agents to use.

const path = '/api/attached/{serverId}';
const params = { serverId: named(idText, 'the server’s id') };
const unknown = { status: 404, when: 'no such server is attached' } as const;
const there = { status: 200, when: 'it is attached', body: attachedServerSchema } as const;

export const attachedEndpoints = {
  attached: endpoint({
    method: 'GET',
    path: '/api/attached',
    does: 'The servers that are attached, with what each offers and what of it agents may use. No secret is told.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          servers: z.array(attachedServerSchema),
          programs: z.boolean().describe('this relay runs programs for this household, in the sandbox at least'),
          why: z.string().optional().describe('why none runs outside the sandbox, as a sentence; left out: they may'),
          folders: z.boolean().describe('those in the sandbox may be shown folders of the machine'),
          sandbox: z.boolean().describe('programs can be held in a sandbox here'),
        }),
      },
      browsersOnly,
    ],
  }),
  runners: endpoint({
    method: 'GET',
    path: '/api/attached-runners',
    does: 'Where programs that fetch others (`npx` and its like) fetch them from, as this machine has it set.',
    answers: [{ status: 200, when: 'always', body: z.object({ runners: z.array(runnerSchema) }) }, browsersOnly],
  }),
  attach: endpoint({
    method: 'POST',
    path: '/api/attached',
    does: 'Attaches a server, and tries it once. Nothing of it may be used until `changeAttached` says so.',
    body: z.strictObject({ name: attachedNameSchema, attachment: attachmentSchema }),
    answers: [
      { status: 201, when: 'it is attached, whether or not it answered', body: attachedServerSchema },
      { status: 409, when: 'one of that name is, or there is room for no more' },
      {
        status: 403,
        when: 'this relay does not run such a program, or call such an address, for this household, or it is no browser that asks',
      },
    ],
  }),
  lookAtAttached: endpoint({
    method: 'POST',
    path: `${path}/look`,
    does: 'Tries it once more, now.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  changeAttached: endpoint({
    method: 'PUT',
    path,
    does: 'Who may use it, and which of its tools. A tool is named with the hash that was looked at: another tool of that name stays off.',
    params,
    body: z.strictObject({
      version: namedVersionSchema,
      agents: z.array(z.string().max(LIMITS.id)).max(100).nullable().optional().describe('null: everybody'),
      tools: z
        .array(z.strictObject({ name: z.string().max(200), hash: z.string().max(200), use: z.boolean() }))
        .max(500)
        .optional(),
      box: boxSchema
        .nullable()
        .optional()
        .describe('of a program: how it is held from now on; null: it runs free. It is started anew'),
    }),
    answers: [
      there,
      { status: 409, when: '`attached-tools`: a tool is not what it was when it was looked at' },
      changedElsewhere,
      unknown,
      { status: 403, when: 'it may not be held so for this household, or it is no browser that asks' },
    ],
  }),
  signInToAttached: endpoint({
    method: 'POST',
    path: `${path}/sign-in`,
    does: 'Begins a sign-in to it (OAuth): its authorisation server is found, and Roost registered there.',
    params,
    answers: [
      {
        status: 200,
        when: 'it was begun',
        body: z.object({ url: z.string().describe('the page on which the person allows it') }),
      },
      { status: 409, when: 'it has no sign-in that can be used, or is a program' },
      unknown,
      browsersOnly,
    ],
  }),
  signOutOfAttached: endpoint({
    method: 'DELETE',
    path: `${path}/sign-in`,
    does: 'Forgets what was allowed, and what is waited for.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  finishSignIn: endpoint({
    method: 'POST',
    path: '/api/attached-sign-ins',
    beginsNothing: true,
    does: 'What the person was sent back with. Only the household that began a sign-in can finish it, once.',
    body: z.strictObject({ query: z.string().max(ATTACHED_BOUNDS.query).describe('without the question mark') }),
    answers: [
      { status: 200, when: 'the server was tried with it', body: attachedServerSchema },
      { status: 409, when: 'none is waited for, it was refused there, or another authorisation server answers' },
      browsersOnly,
    ],
  }),
  detach: endpoint({
    method: 'DELETE',
    path,
    does: 'Takes it away, with its secrets. Nothing of it runs on.',
    params,
    answers: [{ status: 204, when: 'it is gone' }, unknown, browsersOnly],
  }),
};
